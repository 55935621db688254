// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fused_stages.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/reduction_passes.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int64_t kManyRowsOfGraph = 64;  // for which longer code pays

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

class LanesStage : public FusedStage {
 public:
  explicit LanesStage(const FusedSpec::Lanes& lanes) : lanes_(lanes) {}

  absl::Status Place(FusedParts& p) override {
    const auto walk = [&](int value, Storage storage, Pattern pattern) {
      const Walk wanted = {p.layout.KindOf(value), storage, pattern};
      const auto found = std::find(walks_.begin(), walks_.end(), wanted);
      if (found == walks_.end()) walks_.push_back(wanted);
      return static_cast<int>(std::find(walks_.begin(), walks_.end(), wanted) -
                              walks_.begin());
    };
    for (const FusedSpec::Lanes::Operand& operand : lanes_.operands) {
      LanePlaces::Operand place;
      const int64_t at = p.layout.First(operand.value).at;
      if (operand.pattern == Pattern::kSplat) {
        const Bytes row =
            p.builder.Place("row of an element", 4 * p.preset.cols);
        place.element = at;
        place.row = row.at;
        splats_.push_back({at, StorageBytes(operand.storage)});
        splats_.push_back(row);
      } else {
        place.stream = {at,
                        walk(operand.value, operand.storage, operand.pattern)};
      }
      places_.operands.push_back(place);
    }
    for (size_t i = 0; i < lanes_.stores.size(); ++i) {
      const int value = lanes_.results[i];
      places_.stores.push_back(
          {p.layout.First(value).at,
           walk(value, lanes_.stores[i].storage, Pattern::kStream)});
    }
    if (walks_.size() > kWalks)
      return absl::OutOfRangeError("too many walks of a graph");
    return absl::OkStatus();
  }

  absl::Status AddCode(FusedParts& p) override {
    absl::StatusOr<LaneCode> code = CodeFor(p);
    if (!code.ok()) return code.status();
    p.words.insert(p.words.end(), code->words.begin(), code->words.end());
    code_ = *std::move(code);
    return absl::OkStatus();
  }

  void Run(FusedParts& p, int64_t block) const override {
    std::vector<Bytes> reads, writes, elements, rows_of;
    for (size_t i = 0; i + 1 < splats_.size(); i += 2) {
      elements.push_back(splats_[i]);
      rows_of.push_back(splats_[i + 1]);
    }
    if (block == 0 && code_.spread >= 0) {
      p.builder.Run(code_.spread, {}, elements, rows_of,
                    20 * static_cast<int64_t>(elements.size()));
    }
    reads = rows_of;
    for (const FusedSpec::Lanes::Operand& operand : lanes_.operands) {
      if (operand.pattern != Pattern::kSplat)
        reads.push_back(p.layout.Of(operand.value, block));
    }
    for (const int value : lanes_.results)
      writes.push_back(p.layout.Of(value, block));
    const int64_t cols = p.preset.cols;
    const int64_t count = ElementsOf(p, p.layout.RowsOf(block));
    const double cycles = code_.row_cycles;
    const auto run = [&](int64_t first, int64_t some, int64_t width) {
      std::vector<int64_t> arguments(kLaneCount + 1);
      for (size_t w = 0; w < walks_.size(); ++w) {
        const auto [kind, storage, pattern] = walks_[w];
        // Elements of a row of lanes.
        const int64_t lanes = pattern == Pattern::kRow ? 1 : cols;
        const int64_t size = StorageBytes(storage);
        const int64_t all = lanes_.elements / cols * lanes;
        arguments[w] = p.layout.Shift(kind, block,
                                      (lanes == cols ? lanes_.elements : all) /
                                          p.spec.rows * size) +
                       first / cols * lanes * size;
        arguments[kStrides + w] = lanes * size;
      }
      arguments[kRowCount] = some;
      arguments[kLaneCount] = width;
      // Lanes without elements would tell of extreme ones.
      if (code_.exact >= 0 && width == cols) {
        std::vector<Bytes> more = writes;
        more.push_back(p.guards);
        return p.builder.Run(code_.main, arguments, reads, more,
                             CyclesOf(cycles, some));
      }
      const int pc = code_.exact >= 0 ? code_.exact : code_.main;
      p.builder.Run(pc, arguments, reads, writes, CyclesOf(cycles, some));
    };
    const int64_t rows = count / cols, rest = count % cols;
    if (rows > 0) run(0, rows, cols);
    if (rest > 0) run(rows * cols, 1, rest);
  }

 private:
  // A walk of the code: how values are addressed, and their elements.
  using Walk = std::tuple<FusedLayout::Kind, Storage, Pattern>;

  int64_t ElementsOf(const FusedParts& p, int64_t rows) const {
    return p.spec.values[lanes_.results[0]].by_rows
               ? rows * (lanes_.elements / p.spec.rows)
               : lanes_.elements;
  }

  absl::StatusOr<LaneCode> CodeFor(const FusedParts& p) const {
    const auto base = static_cast<int>(p.words.size());
    const bool many = ElementsOf(p, p.layout.block_rows()) >=
                      kManyRowsOfGraph * p.preset.cols;
    if (many && !lanes_.guarded_stores.empty()) {
      absl::StatusOr<LaneCode> code =
          EmitGuarded(lanes_.guarded, lanes_.guarded_stores, lanes_.graph,
                      lanes_.stores, places_, p.preset, p.guards.at, base);
      if (!absl::IsResourceExhausted(code.status())) return code;
    }
    return Emit(lanes_.graph, lanes_.stores, places_, p.preset, base,
                Loop::kRows, many);
  }

  const FusedSpec::Lanes& lanes_;
  LanePlaces places_;
  std::vector<Walk> walks_;
  std::vector<Bytes> splats_;  // elements, each before its row
  LaneCode code_;
};

class ReduceStage : public FusedStage {
 public:
  ReduceStage(const FusedSpec::Reduce& reduce, int at)
      : reduce_(reduce), at_(at) {}

  absl::Status Place(FusedParts& p) override {
    const ir::Node& node = *reduce_.node;
    const ir::TreeShape tree = TreeOf(node);
    passes_.emplace(node, p.layout.block_rows() * tree.outer / p.spec.rows,
                    tree.count, tree.inner, p.preset);
    row_ = p.builder.Place("first values", 4 * p.preset.cols);
    if (!passes_->Overwrites() || p.layout.EndsIn(reduce_.operand, at_))
      return absl::OkStatus();
    const int64_t size = ir::ElementBytes(node.type.element);
    const int64_t elements =
        p.layout.block_rows() * p.layout.RowBytes(reduce_.operand) / size;
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
  // Of a block, and of the last one if that has fewer rows.
  std::vector<CopySteps> whole_, rest_;
};

}  // namespace

std::unique_ptr<FusedStage> MakeStage(const FusedSpec::Stage& stage, int at) {
  if (const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage))
    return std::make_unique<LanesStage>(*lanes);
  if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage))
    return std::make_unique<ReduceStage>(*reduce, at);
  return std::make_unique<CopyStage>(std::get<FusedSpec::Copy>(stage));
}

}  // namespace systole::lanes
