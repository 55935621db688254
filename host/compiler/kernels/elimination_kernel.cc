// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Solves for one unknown after the other. When an unknown is known, one run
// subtracts its products from all sums that wait for it; these are the rows of
// the run. So each sum is reduced term by term in ascending order, as on the
// host.
#include "host/compiler/kernels/elimination_kernel.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using vpu::Op;

constexpr int64_t kMostEliminations = 16384;  // limit on runs

// Walks: the rows that are written; a word for each row; one row for all of
// them.
enum { kRows, kFactor, kKnown };

class Elimination {
 public:
  Elimination(const ir::Node& node, const Preset& preset)
      : node_(node), preset_(preset), builder_(preset), copier_(preset) {}

  absl::StatusOr<KernelProgram> Compile() {
    const ir::Ints& shape = node_.type.shape;
    const bool solve = node_.op == ir::Op::kHloTriangularSolve;
    n_ = node_.operands[0].type().shape.back();
    const int64_t size = shape[shape.size() - 2] * shape.back();
    batches_ = node_.type.elements() / size;
    width_ = size / n_;
    // Factors and results have one line per unknown.
    const bool turned =
        solve ? !node_.attr<ir::HloTriangularSolveAttributes>().left_side
              : node_.attr<ir::HloCholeskyAttributes>().lower;
    for (const ir::Value& operand : node_.operands)
      loaded_.push_back(Place("operand", operand.type().bytes()));
    const Bytes given = loaded_.back();
    lines_ = turned ? Place("lines", node_.type.bytes()) : given;
    known_ = Place("known", n_ * kWord);
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    if (batches_ * n_ * 3 * ((width_ + preset_.cols - 1) / preset_.cols) >
        kMostEliminations)
      return absl::ResourceExhaustedError("too many runs");
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (size_t i = 0; i < loaded_.size(); ++i) {
      const int64_t bytes = node_.operands[i].type().bytes();
      builder_.AddOperand(bytes);
      builder_.Load(static_cast<int>(i), 0, loaded_[i].at, bytes);
    }
    if (turned) {
      if (absl::Status s = Turn(given, lines_, width_, n_); !s.ok()) return s;
    }
    for (int64_t batch = 0; batch < batches_; ++batch) {
      if (solve) {
        Solve(batch);
      } else if (absl::Status s = Factor(batch); !s.ok()) {
        return s;
      }
    }
    if (turned) {
      if (absl::Status s = Turn(lines_, given, n_, width_); !s.ok()) return s;
    }
    builder_.AddOperand(node_.type.bytes());
    builder_.Store(static_cast<int>(loaded_.size()), 0, given.at,
                   node_.type.bytes());
    return builder_.Finish();
  }

 private:
  // The load of a word that is spread reads a whole row.
  Bytes Place(const char* name, int64_t bytes) {
    return builder_.Place(name, bytes + kWord * preset_.cols);
  }

  absl::Status AddCode() {
    std::vector<uint64_t> words;
    if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    const auto add = [&](int& pc, auto&& make) -> absl::Status {
      LaneGraph graph;
      LanePlaces places;
      std::vector<Lane> loads;
      for (const int walk : {kRows, kFactor, kKnown}) {
        places.operands.push_back({{0, walk}, 0, 0});
        loads.push_back(graph.Load({walk, Storage::kWord, Pattern::kStream}));
      }
      places.stores.push_back({0, kRows});
      const Lane lane = make(graph, loads);
      const absl::StatusOr<LaneCode> code =
          Emit(graph, {{lane, Storage::kWord}}, places, preset_,
               static_cast<int>(words.size()));
      if (!code.ok()) return code.status();
      pc = code->main;
      words.insert(words.end(), code->words.begin(), code->words.end());
      return absl::OkStatus();
    };
    using Loads = const std::vector<Lane>&;
    absl::Status s = add(take_off_, [](LaneGraph& g, Loads x) {
      const Lane factor = g.Make(Op::kBcl, x[kFactor]);
      return g.Make(Op::kFsub, x[kRows], g.Make(Op::kFmul, factor, x[kKnown]));
    });
    const bool solve = node_.op == ir::Op::kHloTriangularSolve;
    const bool is_unit =
        solve && node_.attr<ir::HloTriangularSolveAttributes>().unit_diagonal;
    if (s.ok() && !is_unit) {
      s = add(divide_, [](LaneGraph& g, Loads x) {
        return Divide(g, x[kRows], g.Make(Op::kBcl, x[kFactor]));
      });
    }
    if (s.ok() && !solve) {
      s = add(root_,
              [](LaneGraph& g, Loads x) { return SquareRoot(g, x[kRows]); });
    }
    if (s.ok() && is_unit) {  // all NaNs become one
      s = add(keep_, [](LaneGraph& g, Loads x) {
        return g.Make(Op::kFmax, x[kRows], x[kRows]);
      });
    }
    if (s.ok() && !solve) {
      s = add(clear_, [](LaneGraph& g, Loads x) {
        return g.Make(Op::kIand, x[kRows], g.Constant(0));
      });
    }
    if (s.ok()) builder_.SetCode(std::move(words));
    return s;
  }

  // Transposes matrices [rows, columns] to [columns, rows].
  absl::Status Turn(const Bytes& from, const Bytes& to, int64_t rows,
                    int64_t columns) {
    const int64_t size = rows * columns;
    const BufferCopy copy{
        from.at,
        to.at,
        kWord,
        {{batches_, size, size}, {rows, columns, 1}, {columns, 1, rows}},
        from,
        to};
    return copier_.Copy(builder_, copy);
  }

  // Runs over `rows` rows of `width` elements, starting at `at` and `pitch`
  // apart, with a factor for each row, starting at `factor`, and one known row.
  void Run(int pc, int64_t at, int64_t rows, int64_t width, int64_t factor = 0,
           int64_t factor_pitch = 0, int64_t known = 0) {
    for (int64_t first = 0; rows > 0 && first < width; first += preset_.cols) {
      RowsRun run;
      run.place[kRows] = at + first * kWord;
      run.place[kFactor] = factor;
      run.place[kKnown] = known + first * kWord;
      run.stride[kRows] = width_ * kWord;
      run.stride[kFactor] = factor_pitch * kWord;
      run.rows = rows;
      run.lanes = std::min(preset_.cols, width - first);
      std::vector<Bytes> reads = {lines_, known_};
      if (loaded_[0].at != lines_.at) reads.push_back(loaded_[0]);
      builder_.Run(pc, ArgumentsOf(run), reads, {lines_}, 4 * rows);
    }
  }

  int64_t Line(int64_t batch, int64_t i) const {
    return lines_.at + (batch * n_ + i) * width_ * kWord;
  }

  void Solve(int64_t batch) {
    const auto& t = node_.attr<ir::HloTriangularSolveAttributes>();
    const bool transposed = t.transpose_a == t.left_side;
    const bool forward = t.lower != transposed;
    const int64_t along = transposed ? 1 : n_, across = transposed ? n_ : 1;
    const int64_t a = loaded_[0].at + batch * n_ * n_ * kWord;
    for (int64_t step = 0; step < n_; ++step) {
      const int64_t k = forward ? step : n_ - 1 - step;
      Run(t.unit_diagonal ? keep_ : divide_, Line(batch, k), 1, width_,
          a + k * (n_ + 1) * kWord);
      const int64_t first = forward ? k + 1 : 0;
      Run(take_off_, Line(batch, first), n_ - 1 - step, width_,
          a + (first * along + k * across) * kWord, along, Line(batch, k));
    }
  }

  // Computes the upper factor in place. A known line is copied first: the load
  // of a word that is spread reads the words after it, which must not change
  // meanwhile.
  absl::Status Factor(int64_t batch) {
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t pivot = Line(batch, k) + k * kWord;
      Run(root_, pivot, 1, 1);
      const int64_t rest = n_ - 1 - k;
      Run(divide_, pivot + kWord, 1, rest, pivot);
      const BufferCopy copy{pivot + kWord,  known_.at, kWord,
                            {{rest, 1, 1}}, lines_,    known_};
      if (absl::Status s = copier_.Copy(builder_, copy); !s.ok()) return s;
      Run(take_off_, Line(batch, k + 1) + (k + 1) * kWord, rest, rest,
          known_.at, 1, known_.at);
      Run(clear_, Line(batch, k), 1, k);
    }
    return absl::OkStatus();
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  int64_t n_ = 0, width_ = 0, batches_ = 0;  // unknowns, elements per line
  std::vector<Bytes> loaded_;
  Bytes lines_ = {}, known_ = {};
  int take_off_ = 0, divide_ = 0, root_ = 0, keep_ = 0, clear_ = 0;
};

}  // namespace

bool IsElimination(const ir::Node& node) {
  return (node.op == ir::Op::kHloTriangularSolve ||
          node.op == ir::Op::kHloCholesky) &&
         node.type.element == ir::ElementType::kFloat32 &&
         node.type.elements() > 0;
}

absl::StatusOr<KernelProgram> CompileElimination(const ir::Node& node,
                                                 const Preset& preset) {
  return Elimination(node, preset).Compile();
}

}  // namespace systole::lanes
