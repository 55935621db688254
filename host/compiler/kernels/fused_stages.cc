// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fused_stages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/compiler/kernels/reduction_passes.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

void RunSteps(FusedParts& p, const CopySteps& steps, Bytes from, Bytes to,
              int64_t first_from = 0, int64_t first_to = 0) {
  for (const CopyStep& step : steps.steps) {
    const bool in = step.target == CopyStep::Place::kBetween;
    const bool out = step.source == CopyStep::Place::kBetween;
    const int64_t source = out ? p.between.at : from.at + first_from;
    const int64_t target = in ? p.between.at : to.at + first_to;
    p.builder.Run(step.pc, {source + step.from, target + step.to},
                  {out ? p.between : from}, {in ? p.between : to}, step.cycles);
  }
}

class ReduceStage : public FusedStage {
 public:
  ReduceStage(const FusedSpec::Reduce& reduce, int at)
      : reduce_(reduce), at_(at) {}

  absl::Status Place(FusedParts& p) override {
    const ir::Node& node = *reduce_.node;
    const ir::TreeShape tree = TreeOf(node);
    passes_.emplace(node, p.layout.block_rows() * tree.outer / p.spec.rows,
                    tree.count, tree.inner, p.preset, reduce_.left,
                    p.layout.MultipleOfRows() * tree.outer / p.spec.rows,
                    p.layout.LinesOf(reduce_.operand).gap);
    row_ = p.builder.Place("first values", 4 * p.preset.cols);
    if (!passes_->Overwrites() || p.layout.EndsIn(reduce_.operand, at_))
      return absl::OkStatus();
    const int64_t size = ir::ElementBytes(node.type.element);
    const int64_t elements =
        p.layout.block_rows() * p.layout.RowPitch(reduce_.operand) / size;
    copy_ = p.builder.Place("values to reduce",
                            elements * size + p.preset.word_bytes());
    absl::StatusOr<CopySteps> steps = p.copies.Add(size, {{elements, 1, 1}});
    if (!steps.ok()) return steps.status();
    copied_ = *std::move(steps);
    return absl::OkStatus();
  }

  absl::Status AddCode(FusedParts& p) override {
    return passes_->AddCode(p.layout.First(reduce_.first), row_, p.words);
  }

  void Run(FusedParts& p, int64_t block) const override {
    if (block == 0) passes_->Spread(p.builder);
    Bytes values = p.layout.Of(reduce_.operand, block);
    if (copy_) {
      const Bytes copy = {copy_->at, values.count};
      RunSteps(p, copied_, values, copy);
      values = copy;
    }
    const Bytes result = p.layout.Of(reduce_.result, block);
    const int64_t lines = TreeOf(*reduce_.node).outer / p.spec.rows;
    passes_->Run(p.builder, values, p.layout.RowsOf(block) * lines, result,
                 result.at);
  }

 private:
  static ir::TreeShape TreeOf(const ir::Node& node) {
    return ir::TreeShapeOf(node.operands[0].type().shape,
                           node.attr<ir::HloDimensionsAttributes>().dimensions);
  }

  const FusedSpec::Reduce& reduce_;
  const int at_;
  std::optional<ReductionPasses> passes_;
  Bytes row_ = {0, 0};
  std::optional<Bytes> copy_;  // of values that others need as well
  CopySteps copied_;
};

class CopyStage : public FusedStage {
 public:
  explicit CopyStage(const FusedSpec::Copy& copy) : copy_(copy) {}

  absl::Status Place(FusedParts& p) override {
    const int64_t rows = p.layout.block_rows();
    const int64_t rest = p.layout.RowsOf(p.layout.blocks() - 1);
    if (absl::Status s = AddCopies(p, rows, whole_); !s.ok()) return s;
    return rest == rows ? absl::OkStatus() : AddCopies(p, rest, rest_);
  }

  void Run(FusedParts& p, int64_t block) const override {
    const bool rest = p.layout.RowsOf(block) < p.layout.block_rows();
    for (size_t i = 0; i < copy_.pieces.size(); ++i) {
      const Piece& piece = copy_.pieces[i];
      const Bytes from = p.layout.Of(copy_.operands[piece.operand], block);
      const Bytes to = p.layout.Of(copy_.result, block);
      RunSteps(p, rest ? rest_[i] : whole_[i], from, to,
               piece.from * copy_.element_bytes,
               piece.to * copy_.element_bytes);
    }
  }

 private:
  absl::Status AddCopies(FusedParts& p, int64_t rows,
                         std::vector<CopySteps>& added) const {
    const int64_t size = copy_.element_bytes;
    for (const Piece& piece : copy_.pieces) {
      const int value = copy_.operands[piece.operand];
      std::vector<CopyDimension> dimensions = piece.dimensions;
      if (p.spec.values[copy_.result].by_rows) {
        const int64_t from =
            p.spec.values[value].by_rows ? p.layout.RowBytes(value) / size : 0;
        dimensions.insert(dimensions.begin(),
                          {rows, from, p.layout.RowBytes(copy_.result) / size});
      }
      absl::StatusOr<CopySteps> steps = p.copies.Add(size, dimensions);
      if (!steps.ok()) return steps.status();
      p.between.count = std::max(p.between.count, steps->between);
      added.push_back(*std::move(steps));
    }
    return absl::OkStatus();
  }

  const FusedSpec::Copy& copy_;
  // Of a block, and of those at the ends if they have fewer rows.
  std::vector<CopySteps> whole_, rest_;
};

}  // namespace

std::unique_ptr<FusedStage> MakeStage(const FusedSpec::Stage& stage, int at) {
  if (const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage))
    return MakeLanesStage(*lanes);
  if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage))
    return std::make_unique<ReduceStage>(*reduce, at);
  return std::make_unique<CopyStage>(std::get<FusedSpec::Copy>(stage));
}

}  // namespace systole::lanes
