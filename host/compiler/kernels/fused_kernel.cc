// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fused_kernel.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/product_blocks.h"
#include "host/compiler/kernels/reduction_passes.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using Kind = FusedLayout::Kind;

constexpr int64_t kManyRows = 64;  // for which longer code pays

// A walk of a graph's code: how values are addressed, and their elements.
using WalkOf = std::pair<Kind, Storage>;

// What a stage has in the kernel.
struct LanesStage {
  LanePlaces places;
  std::vector<WalkOf> walks;
  std::vector<Bytes> splats;  // elements, and then their rows
  LaneCode code;
};
struct ReduceStage {
  std::optional<ReductionPasses> passes;
  Bytes row = {0, 0};
  std::optional<Bytes> copy;  // of values that others need as well
  CopySteps copied;
};
struct CopyStage {
  // Of a block, and of the last one if that has fewer rows.
  std::vector<CopySteps> whole, rest;
};

class Fused {
 public:
  Fused(const FusedSpec& spec, const Preset& preset)
      : spec_(spec),
        preset_(preset),
        builder_(preset),
        product_(ProductOf()),
        layout_(spec, preset, product_.get()) {}

  absl::StatusOr<KernelProgram> Compile() {
    for (;;) {
      const absl::Status placed = Place();
      if (placed.ok()) break;
      const bool fits = builder_.Fits().ok();
      if (fits ? walks_ > kWalks && layout_.TakeTurns() : layout_.Shrink())
        continue;
      return placed;
    }
    if (absl::Status s = AddCode(); !s.ok()) return s;
    AddOperands();
    builder_.SetCode(std::move(words_));
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].loaded && !InBlocks(value))
        builder_.Load(operands_[value], 0, layout_.First(value).at,
                      spec_.values[value].bytes);
    }
    for (int64_t block = 0; block < layout_.blocks(); ++block) Block(block);
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].stored && !InBlocks(value))
        builder_.Store(results_[value], 0, layout_.First(value).at,
                       spec_.values[value].bytes);
    }
    return builder_.Finish();
  }

 private:
  std::unique_ptr<ProductBlocks> ProductOf() {
    for (const FusedSpec::Stage& stage : spec_.stages) {
      if (const auto* product = std::get_if<FusedSpec::Product>(&stage))
        return std::make_unique<ProductBlocks>(*product->node, preset_,
                                               builder_);
    }
    return nullptr;
  }
  int64_t LinesOfRow() const { return product_->lines() / spec_.rows; }

  int Values() const { return static_cast<int>(spec_.values.size()); }
  bool InBlocks(int value) const { return layout_.InBlocks(value); }

  absl::Status Place() {
    if (absl::Status s = layout_.Place(builder_); !s.ok()) return s;
    copies_ = std::make_unique<CopyCode>(preset_);
    lanes_.assign(spec_.stages.size(), {});
    reduces_.clear();
    reduces_.resize(spec_.stages.size());
    copied_.assign(spec_.stages.size(), {});
    between_ = {0, 0};
    guards_ = builder_.Place("guards", kGuardBytes);
    for (size_t i = 0; i < spec_.stages.size(); ++i) {
      const FusedSpec::Stage& stage = spec_.stages[i];
      absl::Status s;
      if (const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage)) {
        s = PlaceLanes(*lanes, lanes_[i]);
      } else if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage)) {
        s = PlaceReduce(*reduce, static_cast<int>(i), reduces_[i]);
      } else if (const auto* copy = std::get_if<FusedSpec::Copy>(&stage)) {
        s = PlaceCopy(*copy, copied_[i]);
      }
      if (!s.ok()) return s;
    }
    if (between_.count > 0)
      between_ = builder_.Place("in between", between_.count);
    if (product_ == nullptr || !builder_.Fits().ok()) return builder_.Fits();
    return product_->Place(layout_.block_rows() * LinesOfRow());
  }

  absl::Status PlaceLanes(const FusedSpec::Lanes& lanes, LanesStage& stage) {
    const auto walk = [&](int value, Storage storage) {
      const WalkOf wanted = {layout_.KindOf(value), storage};
      const auto found =
          std::find(stage.walks.begin(), stage.walks.end(), wanted);
      if (found == stage.walks.end()) stage.walks.push_back(wanted);
      return static_cast<int>(
          std::find(stage.walks.begin(), stage.walks.end(), wanted) -
          stage.walks.begin());
    };
    for (const FusedSpec::Lanes::Operand& operand : lanes.operands) {
      LanePlaces::Operand place;
      const int64_t at = layout_.First(operand.value).at;
      if (operand.pattern == Pattern::kSplat) {
        const Bytes row = builder_.Place("row of an element", 4 * preset_.cols);
        place.element = at;
        place.row = row.at;
        stage.splats.push_back({at, StorageBytes(operand.storage)});
        stage.splats.push_back(row);
      } else {
        place.stream = {at, walk(operand.value, operand.storage)};
      }
      stage.places.operands.push_back(place);
    }
    for (size_t i = 0; i < lanes.stores.size(); ++i) {
      const int value = lanes.results[i];
      stage.places.stores.push_back(
          {layout_.First(value).at, walk(value, lanes.stores[i].storage)});
    }
    walks_ = static_cast<int>(stage.walks.size());
    if (walks_ > kWalks)
      return absl::ResourceExhaustedError("too many walks of a graph");
    return absl::OkStatus();
  }

  absl::Status PlaceReduce(const FusedSpec::Reduce& reduce, int at,
                           ReduceStage& stage) {
    const ir::Node& node = *reduce.node;
    const ir::TreeShape tree = TreeOf(node);
    stage.passes.emplace(node, layout_.block_rows() * tree.outer / spec_.rows,
                         tree.count, tree.inner, preset_);
    stage.row = builder_.Place("first values", 4 * preset_.cols);
    if (!stage.passes->Overwrites() || layout_.EndsIn(reduce.operand, at))
      return absl::OkStatus();
    const int64_t size = ir::ElementBytes(node.type.element);
    const int64_t elements =
        layout_.block_rows() * layout_.RowBytes(reduce.operand) / size;
    stage.copy = builder_.Place("values to reduce",
                                elements * size + preset_.word_bytes());
    absl::StatusOr<CopySteps> steps = copies_->Add(size, {{elements, 1, 1}});
    if (!steps.ok()) return steps.status();
    stage.copied = *std::move(steps);
    return absl::OkStatus();
  }

  static ir::TreeShape TreeOf(const ir::Node& node) {
    return ir::TreeShapeOf(node.operands[0].type().shape,
                           node.attr<ir::HloDimensionsAttributes>().dimensions);
  }

  absl::Status PlaceCopy(const FusedSpec::Copy& copy, CopyStage& stage) {
    const int64_t rows = layout_.block_rows();
    const int64_t rest = layout_.RowsOf(layout_.blocks() - 1);
    if (absl::Status s = AddCopies(copy, rows, stage.whole); !s.ok()) return s;
    return rest == rows ? absl::OkStatus() : AddCopies(copy, rest, stage.rest);
  }
  absl::Status AddCopies(const FusedSpec::Copy& copy, int64_t rows,
                         std::vector<CopySteps>& added) {
    const int64_t size = copy.element_bytes;
    for (const Piece& piece : copy.pieces) {
      const int value = copy.operands[piece.operand];
      std::vector<CopyDimension> dimensions = piece.dimensions;
      if (spec_.values[copy.result].by_rows) {
        const int64_t from =
            spec_.values[value].by_rows ? layout_.RowBytes(value) / size : 0;
        dimensions.insert(dimensions.begin(),
                          {rows, from, layout_.RowBytes(copy.result) / size});
      }
      absl::StatusOr<CopySteps> steps = copies_->Add(size, dimensions);
      if (!steps.ok()) return steps.status();
      between_.count = std::max(between_.count, steps->between);
      added.push_back(*std::move(steps));
    }
    return absl::OkStatus();
  }

  absl::Status AddCode() {
    words_ = copies_->words();
    if (product_ != nullptr) {
      if (absl::Status s = product_->AddCode(words_); !s.ok()) return s;
    }
    for (size_t i = 0; i < spec_.stages.size(); ++i) {
      if (reduces_[i].passes) {
        const auto& reduce = std::get<FusedSpec::Reduce>(spec_.stages[i]);
        if (absl::Status s = reduces_[i].passes->AddCode(
                layout_.First(reduce.first), reduces_[i].row, words_);
            !s.ok())
          return s;
        continue;
      }
      const auto* lanes = std::get_if<FusedSpec::Lanes>(&spec_.stages[i]);
      if (lanes == nullptr) continue;
      absl::StatusOr<LaneCode> code = CodeOf(*lanes, lanes_[i].places);
      if (!code.ok()) return code.status();
      words_.insert(words_.end(), code->words.begin(), code->words.end());
      lanes_[i].code = *std::move(code);
    }
    if (words_.size() > vpu::kImemWords)
      return absl::ResourceExhaustedError(
          "the instruction memory is too small");
    return absl::OkStatus();
  }

  int64_t ElementsOf(const FusedSpec::Lanes& lanes, int64_t rows) const {
    return spec_.values[lanes.results[0]].by_rows
               ? rows * (lanes.elements / spec_.rows)
               : lanes.elements;
  }

  absl::StatusOr<LaneCode> CodeOf(const FusedSpec::Lanes& lanes,
                                  const LanePlaces& places) const {
    const auto base = static_cast<int>(words_.size());
    const bool many =
        ElementsOf(lanes, layout_.block_rows()) >= kManyRows * preset_.cols;
    if (many && !lanes.guarded_stores.empty()) {
      absl::StatusOr<LaneCode> code =
          EmitGuarded(lanes.guarded, lanes.guarded_stores, lanes.graph,
                      lanes.stores, places, preset_, guards_.at, base);
      if (!absl::IsResourceExhausted(code.status())) return code;
    }
    return Emit(lanes.graph, lanes.stores, places, preset_, base, Loop::kRows,
                many);
  }

  void AddOperands() {
    operands_.assign(spec_.values.size(), -1);
    results_ = operands_;
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].loaded || spec_.values[value].streamed)
        operands_[value] = builder_.AddOperand(spec_.values[value].bytes);
    }
    for (int value = 0; value < Values(); ++value) {
      if (spec_.values[value].stored)
        results_[value] = builder_.AddOperand(spec_.values[value].bytes);
    }
    for (const FusedSpec::Stage& stage : spec_.stages) {
      if (const auto* product = std::get_if<FusedSpec::Product>(&stage))
        product_->SetOperands(operands_[product->left],
                              operands_[product->right]);
    }
  }

  void Block(int64_t block) {
    for (int value = 0; value < Values(); ++value) {
      if (!spec_.values[value].loaded || !InBlocks(value)) continue;
      const Bytes to = layout_.Of(value, block);
      builder_.Load(operands_[value], Offset(value, block), to.at, to.count);
    }
    for (size_t i = 0; i < spec_.stages.size(); ++i) {
      const FusedSpec::Stage& stage = spec_.stages[i];
      if (IsOnce(spec_, stage) && !layout_.RunsOnce(ResultsOf(stage)[0], block))
        continue;
      if (const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage)) {
        RunLanes(*lanes, lanes_[i], block);
      } else if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage)) {
        RunReduce(*reduce, reduces_[i], block);
      } else if (const auto* copy = std::get_if<FusedSpec::Copy>(&stage)) {
        RunCopy(*copy, copied_[i], block);
      } else {
        const int64_t first = block * layout_.block_rows() * LinesOfRow();
        product_->Block(first, first + layout_.RowsOf(block) * LinesOfRow(),
                        layout_.Of(ResultsOf(stage)[0], block).at);
      }
    }
    for (int value = 0; value < Values(); ++value) {
      if (!spec_.values[value].stored || !InBlocks(value)) continue;
      const Bytes from = layout_.Of(value, block);
      builder_.Store(results_[value], Offset(value, block), from.at,
                     from.count);
    }
  }
  int64_t Offset(int value, int64_t block) const {
    return block * layout_.block_rows() * layout_.RowBytes(value);
  }

  void RunLanes(const FusedSpec::Lanes& lanes, const LanesStage& stage,
                int64_t block) {
    std::vector<Bytes> reads, writes, elements, rows_of;
    for (size_t i = 0; i + 1 < stage.splats.size(); i += 2) {
      elements.push_back(stage.splats[i]);
      rows_of.push_back(stage.splats[i + 1]);
    }
    if (block == 0 && stage.code.spread >= 0) {
      builder_.Run(stage.code.spread, {}, elements, rows_of,
                   20 * static_cast<int64_t>(elements.size()));
    }
    reads = rows_of;
    for (const FusedSpec::Lanes::Operand& operand : lanes.operands) {
      if (operand.pattern != Pattern::kSplat)
        reads.push_back(layout_.Of(operand.value, block));
    }
    for (const int value : lanes.results)
      writes.push_back(layout_.Of(value, block));
    const int64_t cols = preset_.cols;
    const int64_t count = ElementsOf(lanes, layout_.RowsOf(block));
    const int64_t rows = count / cols, rest = count % cols;
    const int64_t cycles = static_cast<int64_t>(lanes.graph.size()) / 2 + 1;
    const auto run = [&](int64_t first, int64_t some, int64_t width) {
      std::vector<int64_t> arguments(kLaneCount + 1);
      for (size_t w = 0; w < stage.walks.size(); ++w) {
        const auto [kind, storage] = stage.walks[w];
        const int64_t size = StorageBytes(storage);
        arguments[w] =
            layout_.Shift(kind, block, lanes.elements / spec_.rows * size) +
            first * size;
        arguments[kStrides + w] = cols * size;
      }
      arguments[kRowCount] = some;
      arguments[kLaneCount] = width;
      // Lanes without elements would tell of extreme ones.
      if (stage.code.exact >= 0 && width == cols) {
        std::vector<Bytes> more = writes;
        more.push_back(guards_);
        return builder_.Run(stage.code.main, arguments, reads, more,
                            cycles * some);
      }
      const int pc = stage.code.exact >= 0 ? stage.code.exact : stage.code.main;
      builder_.Run(pc, arguments, reads, writes, cycles * some);
    };
    if (rows > 0) run(0, rows, cols);
    if (rest > 0) run(rows * cols, 1, rest);
  }

  void RunReduce(const FusedSpec::Reduce& reduce, const ReduceStage& stage,
                 int64_t block) {
    if (block == 0) stage.passes->Spread(builder_);
    Bytes values = layout_.Of(reduce.operand, block);
    if (stage.copy) {
      const Bytes copy = {stage.copy->at, values.count};
      RunSteps(stage.copied, values, copy);
      values = copy;
    }
    const Bytes result = layout_.Of(reduce.result, block);
    const int64_t lines = TreeOf(*reduce.node).outer / spec_.rows;
    stage.passes->Run(builder_, values, layout_.RowsOf(block) * lines, result,
                      result.at);
  }

  void RunCopy(const FusedSpec::Copy& copy, const CopyStage& stage,
               int64_t block) {
    const bool rest = layout_.RowsOf(block) < layout_.block_rows();
    for (size_t i = 0; i < copy.pieces.size(); ++i) {
      const Piece& piece = copy.pieces[i];
      const Bytes from = layout_.Of(copy.operands[piece.operand], block);
      const Bytes to = layout_.Of(copy.result, block);
      RunSteps(rest ? stage.rest[i] : stage.whole[i], from, to,
               piece.from * copy.element_bytes, piece.to * copy.element_bytes);
    }
  }

  void RunSteps(const CopySteps& steps, Bytes from, Bytes to,
                int64_t first_from = 0, int64_t first_to = 0) {
    for (const CopyStep& step : steps.steps) {
      const bool in = step.target == CopyStep::Place::kBetween;
      const bool out = step.source == CopyStep::Place::kBetween;
      const int64_t source = out ? between_.at : from.at + first_from;
      const int64_t target = in ? between_.at : to.at + first_to;
      builder_.Run(step.pc, {source + step.from, target + step.to},
                   {out ? between_ : from}, {in ? between_ : to}, step.cycles);
    }
  }

  const FusedSpec& spec_;
  const Preset& preset_;
  KernelBuilder builder_;
  const std::unique_ptr<ProductBlocks> product_;
  FusedLayout layout_;
  std::unique_ptr<CopyCode> copies_;
  // By stage; those of another kind are empty.
  std::vector<LanesStage> lanes_;
  std::vector<ReduceStage> reduces_;
  std::vector<CopyStage> copied_;
  std::vector<int> operands_, results_;  // of the program, by value
  Bytes between_ = {0, 0}, guards_ = {0, 0};
  int walks_ = 0;  // of the graph that was placed last
  std::vector<uint64_t> words_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileFused(const FusedSpec& spec,
                                           const Preset& preset) {
  return Fused(spec, preset).Compile();
}

}  // namespace systole::lanes
