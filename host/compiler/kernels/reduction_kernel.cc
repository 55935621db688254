// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operand as [outer][count][inner] elements in blocks, of lines or of bands
// of inner elements, which are loaded while the one before is reduced.
#include "host/compiler/kernels/reduction_kernel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/reduction_passes.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int64_t kBlockBeats = 48;  // at least
constexpr int64_t kMostBlocks = 16;

class Reduction {
 public:
  Reduction(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node),
        preset_(preset),
        builder_(preset, origin),
        copies_(preset),
        size_(ir::ElementBytes(node.type.element)),
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
    passes_->Spread(builder_);
    for (int64_t i = 0; i < blocks_; ++i) {
      Load(operand, i);
      Run(i);
    }
    builder_.Store(result, 0, result_.at, node_.type.bytes());
    return builder_.Finish();
  }

 private:
  int64_t Wanted() const {
    const int64_t bytes = node_.operands[0].type().bytes();
    return std::clamp<int64_t>(bytes / (kBlockBeats * beat_), 1, kMostBlocks);
  }

  // Blocks of whole beats: of lines, or else of bands of a line.
  void Cut(int64_t wanted) {
    lines_ = tree_.outer;
    band_ = tree_.inner;
    bands_ = blocks_ = 1;
    if (!tree_.adjacent) return;
    const int64_t line = tree_.count * tree_.inner * size_;
    if (wanted > tree_.outer && tree_.inner * size_ % beat_ == 0) {
      const int64_t beats = tree_.inner * size_ / beat_;
      bands_ = std::min((wanted + tree_.outer - 1) / tree_.outer, beats);
      while (beats % bands_ != 0) ++bands_;
      band_ = tree_.inner / bands_;
      lines_ = 1;
    } else if (tree_.outer > 1) {
      const int64_t least = beat_ / std::gcd(beat_, line);
      const int64_t lines = (tree_.outer + wanted - 1) / wanted;
      lines_ = std::min(tree_.outer, (lines + least - 1) / least * least);
    }
    blocks_ = (tree_.outer + lines_ - 1) / lines_ * bands_;
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
    passes_.emplace(node_, lines_, tree_.count, band_, preset_);
    return passes_->AddCode(init_, row_, words_);
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

  int64_t FirstLineOf(int64_t block) const { return block / bands_ * lines_; }
  int64_t LinesOf(int64_t block) const {
    return std::min(lines_, tree_.outer - FirstLineOf(block));
  }

  void Load(int operand, int64_t block) {
    const int64_t at = values_.at + block % slots_ * pitch_;
    const int64_t line = tree_.count * tree_.inner * size_;
    const int64_t from = FirstLineOf(block) * line;
    if (bands_ > 1) {
      builder_.LoadRuns(operand, from + block % bands_ * band_ * size_, at,
                        band_ * size_,
                        {{tree_.count, tree_.inner * size_, band_ * size_}});
      return;
    }
    const int64_t bytes = LinesOf(block) * line;
    if (tree_.adjacent) return builder_.Load(operand, from, at, bytes);
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

  void Run(int64_t block) {
    const Bytes values = {values_.at + block % slots_ * pitch_, pitch_};
    const int64_t first =
        FirstLineOf(block) * tree_.inner + block % bands_ * band_;
    passes_->Run(builder_, values, LinesOf(block), result_,
                 result_.at + first * size_);
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  CopyCode copies_;
  const int64_t size_, beat_;
  const ir::Ints& shape_;
  const ir::Ints& dimensions_;
  const ir::TreeShape tree_;
  // Blocks: lines of each, inner elements of each; how many of a line, in all,
  // and in how many slots.
  int64_t lines_ = 1, band_ = 1, bands_ = 1, blocks_ = 1, slots_ = 1,
          pitch_ = 0;
  Bytes values_ = {}, loaded_ = {}, between_ = {}, result_ = {};
  Bytes init_ = {}, row_ = {};
  CopySteps arrange_;
  std::vector<uint64_t> words_;
  std::optional<ReductionPasses> passes_;
};

}  // namespace

bool IsReduction(const ir::Node& node) {
  if (node.op != ir::Op::kHloReduce || node.results() != 1 ||
      !FitsLane(node.type.element) || node.operands[0].type().elements() == 0)
    return false;
  return ir::CombinerOf(*node.regions[0]).has_value();
}

absl::StatusOr<KernelProgram> CompileReduction(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin) {
  return Reduction(node, preset, origin).Compile();
}

}  // namespace systole::lanes
