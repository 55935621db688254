// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operand as [outer][count][inner] elements in blocks, of lines or of bands
// of inner elements, which are loaded while the one before is reduced. Passes
// over a block take several levels of the tree at a time, in registers:
//   levels  2^m elements of each line become one; the last pass adds the first
//           value
//   lanes   inner = 1: lines of up to 16 rows; what is left of a line is in one
//           row, whose lanes are rotated
#include "host/compiler/kernels/reduction_kernel.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
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

constexpr int kMostLevels = 4;       // of a pass
constexpr int64_t kMostChunks = 16;  // rows of a line
constexpr int64_t kBlockBeats = 48;  // at least
constexpr int64_t kMostBlocks = 16;
constexpr int64_t kManyRows = 32;

class Reduction {
 public:
  Reduction(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copies_(preset),
        combiner_(*ir::CombinerOf(*node.regions[0])),
        element_(node.type.element),
        size_(ir::ElementBytes(element_)),
        beat_(builder_.Align(1)),
        shape_(node.operands[0].type().shape),
        dimensions_(node.attr<ir::HloDimensionsAttributes>().dimensions),
        tree_(ir::TreeShapeOf(shape_, dimensions_)) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = Place(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    const int operand = builder_.AddOperand(node_.operands[0].type().bytes());
    const int init = builder_.AddOperand(size_);
    const int result = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words_));
    builder_.Load(init, 0, init_.at, size_);
    builder_.Run(spread_, {}, {init_}, {row_}, 20);
    for (int64_t i = 0; i < blocks_; ++i) {
      Load(operand, i);
      for (const Pass& pass : passes_) Run(pass, i);
    }
    builder_.Store(result, 0, result_.at, node_.type.bytes());
    return builder_.Finish();
  }

 private:
  // `levels` levels of lines of `count` elements; or all of them in the lanes.
  struct Pass {
    int64_t count = 1;
    int levels = 0;
    bool lanes = false, last = false;
    int pc = 0;
    int64_t cycles = 0;  // of a row
  };

  int64_t Wanted() const {
    const int64_t bytes = node_.operands[0].type().bytes();
    return std::clamp<int64_t>(bytes / (kBlockBeats * beat_), 1, kMostBlocks);
  }

  // Blocks of whole beats: of lines, or else of bands.
  void Cut(int64_t wanted) {
    lines_ = tree_.outer;
    band_ = tree_.inner;
    blocks_ = 1;
    if (!tree_.adjacent) return;
    const int64_t line = tree_.count * tree_.inner * size_;
    if (tree_.outer > 1) {
      const int64_t least = beat_ / std::gcd(beat_, line);
      const int64_t lines = (tree_.outer + wanted - 1) / wanted;
      lines_ = std::min(tree_.outer, (lines + least - 1) / least * least);
      blocks_ = (tree_.outer + lines_ - 1) / lines_;
    } else if (tree_.inner * size_ % beat_ == 0) {
      const int64_t beats = tree_.inner * size_ / beat_;
      int64_t bands = std::min(wanted, beats);
      while (beats % bands != 0) ++bands;
      blocks_ = bands;
      band_ = tree_.inner / bands;
    }
  }

  // Smaller blocks where two of them do not fit; or one.
  absl::Status Place() {
    for (const int64_t slots : {2, 1}) {
      int64_t blocks = Wanted();
      do {
        builder_.ReleaseAll();
        Cut(blocks);
        slots_ = std::min(slots, blocks_);
        if (PlaceBlocks()) return absl::OkStatus();
        blocks *= 2;
      } while (blocks <= tree_.outer + tree_.inner);
    }
    return builder_.Fits();
  }

  bool PlaceBlocks() {
    const int64_t bytes = lines_ * tree_.count * band_ * size_;
    pitch_ = builder_.Align(bytes + preset_.word_bytes());
    values_ = builder_.Place("block", slots_ * pitch_);
    if (!tree_.adjacent) loaded_ = builder_.Place("operand", bytes + 4);
    init_ = builder_.Place("first value", size_);
    row_ = builder_.Place("first values", 4 * preset_.cols);
    result_ = builder_.Place("result", node_.type.bytes());
    return builder_.Fits().ok();
  }

  absl::Status AddCode() {
    if (!tree_.adjacent) {
      if (absl::Status s = Arrange(); !s.ok()) return s;
    }
    words_ = copies_.words();
    int64_t count = tree_.count;
    const auto add = [&](Pass pass) -> absl::Status {
      pass.count = count;
      return Emit(pass);
    };
    while (true) {
      Pass pass;
      if (tree_.inner == 1 && count <= kMostChunks * preset_.cols &&
          count > 1) {
        pass.lanes = pass.last = true;
        return add(pass);
      }
      const int64_t half = ir::FirstHalf(count);
      if (half > 0 && 2 * half > count) {  // pairs of some elements
        pass.levels = 1;
        if (absl::Status s = add(pass); !s.ok()) return s;
        count = half;
        continue;
      }
      while (pass.levels < kMostLevels && count >> pass.levels > 1 &&
             !(tree_.inner == 1 &&
               count >> pass.levels <= kMostChunks * preset_.cols))
        ++pass.levels;
      pass.last = count >> pass.levels == 1;
      if (absl::Status s = add(pass); !s.ok()) return s;
      if (pass.last) return absl::OkStatus();
      count >>= pass.levels;
    }
  }

  // Elements between those that a pass combines.
  int64_t Step(const Pass& pass) const {
    const int64_t half = ir::FirstHalf(pass.count);
    return 2 * half > pass.count ? half : pass.count >> pass.levels;
  }

  absl::Status Emit(Pass pass) {
    LaneGraph graph;
    LanePlaces places;
    const int64_t cols = preset_.cols;
    const int64_t distance = pass.lanes ? cols : Step(pass) * band_;
    const auto load = [&](int64_t i) {
      const int operand = static_cast<int>(places.operands.size());
      places.operands.push_back({{i * distance * size_, 0}, 0, 0});
      return FromMemory(
          graph, element_,
          graph.Load({operand, StorageOf(element_), Pattern::kStream}));
    };
    const auto combine = [&](Lane left, Lane right) {
      return Combine(graph, combiner_, element_, left, right);
    };
    Lane lane = pass.lanes ? OfLanes(graph, pass.count, load, combine)
                           : OfLevels(1 << pass.levels, load, combine);
    if (pass.last) {
      const int operand = static_cast<int>(places.operands.size());
      places.operands.push_back({{0, 0}, init_.at, row_.at});
      const LaneLoad splat = {operand, StorageOf(element_), Pattern::kSplat};
      lane = combine(lane, FromMemory(graph, element_, graph.Load(splat)));
    }
    LaneStore store = ToMemory(graph, element_, lane);
    store.first_lane = pass.lanes;
    places.stores = {{0, pass.last ? 1 : 0}};
    const absl::StatusOr<LaneCode> code = lanes::Emit(
        graph, {store}, places, preset_, static_cast<int>(words_.size()),
        Loop::kRows, Rows(pass) >= kManyRows);
    if (!code.ok()) return code.status();
    pass.pc = code->main;
    pass.cycles = 1 + graph.size() / 2;
    if (code->spread >= 0) spread_ = code->spread;
    words_.insert(words_.end(), code->words.begin(), code->words.end());
    passes_.push_back(pass);
    return absl::OkStatus();
  }

  using Load1 = std::function<Lane(int64_t)>;
  using Combine2 = std::function<Lane(Lane, Lane)>;

  static Lane OfLevels(int64_t count, const Load1& load,
                       const Combine2& combine) {
    const std::function<Lane(int64_t, int64_t)> sum = [&](int64_t first,
                                                          int64_t step) {
      return step == count
                 ? load(first)
                 : combine(sum(first, 2 * step), sum(first + step, 2 * step));
    };
    return sum(0, 1);
  }

  // Of up to kMostChunks rows of a line; the result is in lane 0.
  Lane OfLanes(LaneGraph& graph, int64_t count, const Load1& load,
               const Combine2& combine) const {
    const LaneBuilder g{graph};
    const int64_t cols = preset_.cols;
    std::vector<Lane> rows;
    for (int64_t i = 0; i < (count + cols - 1) / cols; ++i)
      rows.push_back(load(i));
    for (int64_t half = ir::FirstHalf(count); half > 0; half /= 2) {
      const int64_t pairs = count - half;
      for (int64_t i = 0; i * cols < pairs; ++i) {
        const Lane other = half >= cols ? rows[i + half / cols]
                                        : g(vpu::Op::kRotl, rows[i], g.K(half));
        const Lane both = combine(rows[i], other);
        const int64_t here = std::min(pairs - i * cols, cols);
        // Lanes without a pair keep their element.
        rows[i] =
            here == std::min(half, cols)
                ? both
                : g(vpu::Op::kSel,
                    g(vpu::Op::kIlt, g(vpu::Op::kIota, g.K(0)), g.K(here)),
                    both, rows[i]);
      }
      count = half;
    }
    return rows[0];
  }

  absl::Status Arrange() {
    std::vector<CopyDimension> dimensions;
    const ir::Ints strides = ir::StridesOf(shape_);
    ir::Ints sizes;
    const ir::Ints order = ir::ReducedFirst(shape_, dimensions_);
    for (const int64_t d : order) sizes.push_back(shape_[d]);
    const ir::Ints dense = ir::StridesOf(sizes);
    for (size_t i = 0; i < order.size(); ++i)
      dimensions.push_back({sizes[i], strides[order[i]], dense[i]});
    absl::StatusOr<CopySteps> steps = copies_.Add(size_, dimensions);
    if (!steps.ok()) return steps.status();
    arrange_ = *std::move(steps);
    if (arrange_.between > 0)
      between_ = builder_.Place("in between", arrange_.between);
    return builder_.Fits();
  }

  int64_t LinesOf(int64_t block) const {
    return InBands() ? lines_ : std::min(lines_, tree_.outer - block * lines_);
  }
  bool InBands() const { return band_ < tree_.inner; }

  void Load(int operand, int64_t block) {
    const int64_t at = values_.at + block % slots_ * pitch_;
    const int64_t line = tree_.count * tree_.inner * size_;
    if (InBands()) {
      builder_.LoadRuns(operand, block * band_ * size_, at, band_ * size_,
                        {{tree_.count, tree_.inner * size_, band_ * size_}});
      return;
    }
    const int64_t bytes = LinesOf(block) * line;
    if (tree_.adjacent)
      return builder_.Load(operand, block * lines_ * line, at, bytes);
    builder_.Load(operand, 0, loaded_.at, bytes);
    for (const CopyStep& step : arrange_.steps) {
      const auto place = [&](CopyStep::Place which) {
        return which == CopyStep::Place::kBetween ? between_
               : which == CopyStep::Place::kFrom  ? loaded_
                                                  : Bytes{at, bytes};
      };
      const Bytes from = place(step.source), to = place(step.target);
      builder_.Run(step.pc, {from.at + step.from, to.at + step.to}, {from},
                   {to}, step.cycles);
    }
  }

  // Elements of a line that a pass keeps, next to each other.
  int64_t Width(const Pass& pass) const {
    if (pass.lanes) return std::min(pass.count, preset_.cols);
    const int64_t half = ir::FirstHalf(pass.count);
    const bool some = 2 * half > pass.count;
    return (some ? pass.count - half : Step(pass)) * band_;
  }
  // Rows are parts of a line, or lines, whichever needs fewer runs.
  bool AlongLines(const Pass& pass) const {
    return !pass.lanes &&
           2 * lines_ < (Width(pass) + preset_.cols - 1) / preset_.cols;
  }
  int64_t Rows(const Pass& pass) const {
    return AlongLines(pass) ? Width(pass) / preset_.cols : lines_;
  }

  void Run(const Pass& pass, int64_t block) {
    const int64_t cols = preset_.cols, width = Width(pass);
    const int64_t pitch = tree_.count * band_;
    const Bytes values = {values_.at + block % slots_ * pitch_, pitch_};
    const int64_t first = InBands() ? block * band_ : block * lines_ * band_;
    const auto start = [&](int64_t line, int64_t element, int64_t rows,
                           int64_t lanes, int64_t row, int64_t to_row) {
      RowsRun run;
      run.place[0] = values.at + (line * pitch + element) * size_;
      run.stride[0] = row * size_;
      run.place[1] = result_.at + (first + line * band_ + element) * size_;
      run.stride[1] = to_row * size_;
      run.rows = rows;
      run.lanes = lanes;
      builder_.Run(pass.pc, ArgumentsOf(run), {values, row_},
                   {pass.last ? result_ : values}, pass.cycles * rows);
    };
    const int64_t lines = LinesOf(block);
    if (!AlongLines(pass)) {
      for (int64_t at = 0; at < width; at += cols)
        start(0, at, lines, std::min(cols, width - at), pitch, band_);
      return;
    }
    const int64_t rows = width / cols, rest = width % cols;
    for (int64_t line = 0; line < lines; ++line) {
      if (rows > 0) start(line, 0, rows, cols, cols, cols);
      if (rest > 0) start(line, rows * cols, 1, rest, 0, 0);
    }
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  CopyCode copies_;
  const ir::Op combiner_;
  const ir::ElementType element_;
  const int64_t size_, beat_;
  const ir::Ints& shape_;
  const ir::Ints& dimensions_;
  const ir::TreeShape tree_;
  // Blocks: lines of each, inner elements of each; how many, in how many slots.
  int64_t lines_ = 1, band_ = 1, blocks_ = 1, slots_ = 1, pitch_ = 0;
  Bytes values_ = {}, loaded_ = {}, between_ = {}, result_ = {};
  Bytes init_ = {}, row_ = {};
  CopySteps arrange_;
  std::vector<uint64_t> words_;
  std::vector<Pass> passes_;
  int spread_ = 0;
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
