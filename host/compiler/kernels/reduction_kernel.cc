// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/reduction_kernel.h"

#include <utility>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

class Reduction {
 public:
  Reduction(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        element_(node.type.element),
        size_(ir::ElementBytes(element_)),
        shape_(node.operands[0].type().shape),
        dimensions_(node.attr<ir::HloDimensionsAttributes>().dimensions),
        tree_(ir::TreeShapeOf(shape_, dimensions_)) {}

  absl::StatusOr<KernelProgram> Compile() {
    const int64_t bytes = node_.operands[0].type().bytes();
    const int64_t results = node_.type.bytes();
    const Bytes loaded = builder_.Place("operand", bytes);
    const Bytes values =
        tree_.adjacent ? loaded : builder_.Place("operand in order", bytes);
    const Bytes init = builder_.Place("first value", size_);
    const Bytes row = builder_.Place("first values", 4 * preset_.cols);
    result_ = builder_.Place("result", results);
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    values_ = values;
    if (absl::Status s = AddCode(init.at, row.at); !s.ok()) return s;
    builder_.AddOperand(bytes);
    builder_.AddOperand(size_);
    builder_.AddOperand(results);
    builder_.Load(0, 0, loaded.at, bytes);
    builder_.Load(1, 0, init.at, size_);
    builder_.Run(spread_, {}, {init}, {row}, 20);
    if (!tree_.adjacent) {
      if (absl::Status s = Arrange(loaded, values); !s.ok()) return s;
    }
    int64_t count = tree_.count;
    for (int64_t half = ir::FirstHalf(count); half > 0; half /= 2) {
      Level(half, (count - half) * tree_.inner);
      count = half;
    }
    Last(row);
    builder_.Store(2, 0, result_.at, results);
    return builder_.Finish();
  }

 private:
  absl::Status AddCode(int64_t init, int64_t row) {
    std::vector<uint64_t> words;
    if (!tree_.adjacent) {
      if (absl::Status s = copier_.AddCode(words); !s.ok()) return s;
    }
    const ir::Op op = *ir::CombinerOf(*node_.regions[0]);
    const Storage storage = StorageOf(element_);
    for (const bool last : {false, true}) {
      LaneGraph graph;
      const auto load = [&](int operand, Pattern pattern) {
        return FromMemory(graph, element_,
                          graph.Load({operand, storage, pattern}));
      };
      const Lane left = load(0, Pattern::kStream);
      const Lane right = load(1, last ? Pattern::kSplat : Pattern::kStream);
      const LaneStore store =
          ToMemory(graph, element_, Combine(graph, op, element_, left, right));
      // A level stores to its first operand's walk.
      LanePlaces places;
      places.operands = {{{0, 0}, 0, 0}, {{0, 1}, init, row}};
      places.stores = {{0, last ? 1 : 0}};
      const absl::StatusOr<LaneCode> code =
          Emit(graph, {store}, places, preset_, static_cast<int>(words.size()));
      if (!code.ok()) return code.status();
      (last ? last_ : level_) = code->main;
      if (last) spread_ = code->spread;
      words.insert(words.end(), code->words.begin(), code->words.end());
    }
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  absl::Status Arrange(const Bytes& from, const Bytes& to) {
    BufferCopy copy{from.at, to.at, size_, {}, from, to};
    const ir::Ints strides = ir::StridesOf(shape_);
    ir::Ints sizes;
    const ir::Ints order = ir::ReducedFirst(shape_, dimensions_);
    for (const int64_t d : order) sizes.push_back(shape_[d]);
    const ir::Ints dense = ir::StridesOf(sizes);
    for (size_t i = 0; i < order.size(); ++i)
      copy.dimensions.push_back({sizes[i], strides[order[i]], dense[i]});
    return copier_.Copy(builder_, copy);
  }

  // Applies f to `width` elements of each line and the elements `shift` behind
  // them. Rows are lines or parts of a line, whichever needs fewer runs.
  void Lines(int pc, int64_t width, int64_t pitch, int64_t from_shift,
             int64_t to, int64_t to_pitch, const Bytes& extra) {
    const int64_t cols = preset_.cols;
    const int64_t parts = (width + cols - 1) / cols;
    const bool along = 2 * tree_.outer < parts;
    RowsRun run;
    const auto start = [&](int64_t line, int64_t element, int64_t rows,
                           int64_t lanes, int64_t row, int64_t to_row) {
      run.place[0] = values_.at + (line * pitch + element) * size_;
      run.stride[0] = row * size_;
      if (from_shift > 0) {
        run.place[1] = run.place[0] + from_shift * size_;
        run.stride[1] = run.stride[0];
      } else {
        run.place[1] = to + (line * to_pitch + element) * size_;
        run.stride[1] = to_row * size_;
      }
      run.rows = rows;
      run.lanes = lanes;
      builder_.Run(pc, ArgumentsOf(run), {values_, extra},
                   {from_shift > 0 ? values_ : result_}, 3 * rows);
    };
    if (along) {
      const int64_t rows = width / cols, rest = width % cols;
      for (int64_t line = 0; line < tree_.outer; ++line) {
        if (rows > 0) start(line, 0, rows, cols, cols, cols);
        if (rest > 0) start(line, rows * cols, 1, rest, 0, 0);
      }
      return;
    }
    for (int64_t at = 0; at < width; at += cols) {
      start(0, at, tree_.outer, std::min(cols, width - at), pitch, to_pitch);
    }
  }

  void Level(int64_t half, int64_t width) {
    Lines(level_, width, tree_.count * tree_.inner, half * tree_.inner, 0, 0,
          values_);
  }
  void Last(const Bytes& row) {
    Lines(last_, tree_.inner, tree_.count * tree_.inner, 0, result_.at,
          tree_.inner, row);
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const ir::ElementType element_;
  const int64_t size_;
  const ir::Ints& shape_;
  const ir::Ints& dimensions_;
  const ir::TreeShape tree_;
  Bytes values_ = {}, result_ = {};
  int level_ = 0, last_ = 0, spread_ = 0;
};

}  // namespace

bool IsReduction(const ir::Node& node) {
  if (node.op != ir::Op::kHloReduce || node.results() != 1 ||
      !FitsLane(node.type.element) || node.operands[0].type().elements() == 0)
    return false;
  return ir::CombinerOf(*node.regions[0]).has_value();
}

absl::StatusOr<KernelProgram> CompileReduction(const ir::Node& node,
                                               const Preset& preset) {
  return Reduction(node, preset).Compile();
}

}  // namespace systole::lanes
