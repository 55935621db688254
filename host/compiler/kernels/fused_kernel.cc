// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fused_kernel.h"

#include <memory>
#include <utility>

#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/fused_stages.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/product_blocks.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

class ProductStage : public FusedStage {
 public:
  ProductStage(const FusedSpec::Product& product, ProductBlocks& blocks)
      : product_(product), blocks_(blocks) {}

  absl::Status Place(FusedParts& p) override {
    return blocks_.Place(p.layout.block_rows() * LinesOfRow(p));
  }
  absl::Status AddCode(FusedParts& p) override {
    return blocks_.AddCode(p.words);
  }
  void Run(FusedParts& p, int64_t block) const override {
    const int64_t first = p.layout.FirstRow(block) * LinesOfRow(p);
    blocks_.Block(first, first + p.layout.RowsOf(block) * LinesOfRow(p),
                  p.layout.Of(product_.result, block).at);
  }

 private:
  int64_t LinesOfRow(const FusedParts& p) const {
    return blocks_.lines() / p.spec.rows;
  }

  const FusedSpec::Product& product_;
  ProductBlocks& blocks_;
};

class Fused {
 public:
  Fused(const FusedSpec& spec, const Preset& preset, int64_t origin)
      : spec_(spec),
        preset_(preset),
        builder_(preset, origin),
        product_(ProductOf()),
        layout_(spec, preset, blocks_.get()) {}

  absl::StatusOr<KernelProgram> Compile() {
    for (;;) {
      const absl::Status placed = Place();
      if (placed.ok()) break;
      if (absl::IsOutOfRange(placed) ? layout_.TakeTurns()
          : builder_.Fits().ok()     ? false
                                     : layout_.Shrink())
        continue;
      return absl::ResourceExhaustedError(placed.message());
    }
    if (absl::Status s = AddCode(); !s.ok()) return s;
    AddOperands();
    builder_.SetCode(parts_->words);
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].loaded && !InBlocks(value))
        Load(value, 0, layout_.First(value).at, spec_.values[value].bytes);
    }
    for (int64_t block = 0; block < layout_.blocks(); ++block) Block(block);
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].stored && !InBlocks(value))
        Store(value, 0, layout_.First(value).at, spec_.values[value].bytes);
    }
    return builder_.Finish();
  }

 private:
  const FusedSpec::Product* ProductOf() {
    for (const FusedSpec::Stage& stage : spec_.stages) {
      const auto* product = std::get_if<FusedSpec::Product>(&stage);
      if (product == nullptr) continue;
      blocks_ =
          std::make_unique<ProductBlocks>(*product->node, preset_, builder_);
      return product;
    }
    return nullptr;
  }

  int Values() const { return static_cast<int>(spec_.values.size()); }
  bool InBlocks(int value) const { return layout_.InBlocks(value); }

  absl::Status Place() {
    if (absl::Status s = layout_.Place(builder_); !s.ok()) return s;
    parts_ = std::make_unique<FusedParts>(
        FusedParts{spec_, preset_, builder_, layout_, CopyCode(preset_)});
    parts_->guards = builder_.Place("guards", kGuardBytes);
    stages_.clear();
    FusedStage* array = nullptr;
    for (const FusedSpec::Stage& stage : spec_.stages) {
      if (const auto* product = std::get_if<FusedSpec::Product>(&stage)) {
        stages_.push_back(std::make_unique<ProductStage>(*product, *blocks_));
        array = stages_.back().get();
        continue;
      }
      stages_.push_back(MakeStage(stage, static_cast<int>(stages_.size())));
      if (absl::Status s = stages_.back()->Place(*parts_); !s.ok()) return s;
    }
    if (parts_->between.count > 0)
      parts_->between = builder_.Place("in between", parts_->between.count);
    // The array's operands take all the room that is left.
    if (array == nullptr || !builder_.Fits().ok()) return builder_.Fits();
    return array->Place(*parts_);
  }

  absl::Status AddCode() {
    parts_->words = parts_->copies.words();
    for (const std::unique_ptr<FusedStage>& stage : stages_) {
      if (absl::Status s = stage->AddCode(*parts_); !s.ok()) return s;
    }
    if (parts_->words.size() > vpu::kImemWords)
      return absl::ResourceExhaustedError(
          "the instruction memory is too small");
    return absl::OkStatus();
  }

  void AddOperands() {
    operands_.assign(spec_.values.size(), -1);
    results_ = operands_;
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].loaded || spec_.values[value].by_stage)
        operands_[value] = builder_.AddOperand(spec_.values[value].bytes);
    }
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].stored)
        results_[value] = builder_.AddOperand(spec_.values[value].bytes);
    }
    if (product_ != nullptr)
      blocks_->SetOperands(operands_[product_->left],
                           operands_[product_->right]);
  }

  void Block(int64_t block) {
    for (int value = 0; value < Values(); ++value) {
      if (!spec_.values[value].loaded || !InBlocks(value)) continue;
      Load(value, Offset(value, block), layout_.Of(value, block).at,
           layout_.RowsOf(block) * layout_.RowBytes(value));
    }
    for (size_t i = 0; i < spec_.stages.size(); ++i) {
      const FusedSpec::Stage& stage = spec_.stages[i];
      if (IsOnce(spec_, stage) && !layout_.RunsOnce(ResultsOf(stage)[0], block))
        continue;
      stages_[i]->Run(*parts_, block);
    }
    for (int value = 0; value < Values(); ++value) {
      if (!spec_.values[value].stored || !InBlocks(value)) continue;
      Store(value, Offset(value, block), layout_.Of(value, block).at,
            layout_.RowsOf(block) * layout_.RowBytes(value));
    }
  }
  // `bytes` of a value, at an offset in memory.
  void Load(int value, int64_t offset, int64_t ub, int64_t bytes) {
    const auto [run, repeats] = RunsOf(value, bytes);
    builder_.LoadRuns(operands_[value], offset, ub, run, repeats);
  }
  void Store(int value, int64_t offset, int64_t ub, int64_t bytes) {
    const auto [run, repeats] = RunsOf(value, bytes);
    builder_.StoreRuns(results_[value], offset, ub, run, repeats);
  }
  // Bytes of a run, and how often there is one: of each line if lines lie
  // apart.
  std::pair<int64_t, std::vector<KernelBuilder::Repeat>> RunsOf(
      int value, int64_t bytes) const {
    const FusedLayout::Lines lines = layout_.LinesOf(value);
    if (lines.gap == 0) return {bytes, {}};
    return {lines.bytes,
            {{bytes / lines.bytes, lines.bytes, lines.bytes + lines.gap}}};
  }
  int64_t Offset(int value, int64_t block) const {
    return layout_.FirstRow(block) * layout_.RowBytes(value);
  }

  const FusedSpec& spec_;
  const Preset& preset_;
  KernelBuilder builder_;
  std::unique_ptr<ProductBlocks> blocks_;  // of the product, if there is one
  const FusedSpec::Product* const product_;
  FusedLayout layout_;
  std::unique_ptr<FusedParts> parts_;
  std::vector<std::unique_ptr<FusedStage>> stages_;
  std::vector<int> operands_, results_;  // of the program, by value
};

}  // namespace

absl::StatusOr<KernelProgram> CompileFused(const FusedSpec& spec,
                                           const Preset& preset,
                                           int64_t origin) {
  return Fused(spec, preset, origin).Compile();
}

}  // namespace systole::lanes
