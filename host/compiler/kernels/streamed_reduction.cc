// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Let P be the largest power of two up to the count. The tree's first level
// combines elements i and P + i, as many as there are; the next m levels
// combine those that are P / 2^m apart. A block has some rows of each of these
// 2^m runs, and those of the first level's partners:
//
//   rows of run 0 | of run 1 | ...     partners of run 0 | of run 1 | ...
//
// so the rows with a partner are the first ones of a block.
#include "host/compiler/kernels/streamed_reduction.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/reduction_passes.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int kStreamedLevels = 4;
constexpr int64_t kLeastBeats = 256;  // of an operand
constexpr int64_t kStreamedBlocks = 16;
constexpr int64_t kManyStreamedRows = 32;

ir::TreeShape TreeOf(const ir::Node& node) {
  return ir::TreeShapeOf(node.operands[0].type().shape,
                         node.attr<ir::HloDimensionsAttributes>().dimensions);
}

// Rows of whole beats.
int64_t LeastRows(const ir::Node& node, int64_t beat) {
  const int64_t line = TreeOf(node).inner * ir::ElementBytes(node.type.element);
  return beat / std::gcd(beat, line);
}

// The largest power of two up to the count.
int64_t PowerOf(int64_t count) {
  const int64_t half = ir::FirstHalf(count);
  return 2 * half == count ? count : half;
}

class StreamedReduction {
 public:
  StreamedReduction(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node),
        preset_(preset),
        builder_(preset, origin),
        size_(ir::ElementBytes(node.type.element)),
        count_(TreeOf(node).count),
        inner_(TreeOf(node).inner),
        line_(inner_ * size_),
        power_(PowerOf(count_)),
        least_(LeastRows(node, builder_.Align(1))) {}

  absl::StatusOr<KernelProgram> Compile() {
    while (levels_ > 0 && power_ >> levels_ < least_) --levels_;
    runs_ = int64_t{1} << levels_;
    run_ = power_ >> levels_;
    if (absl::Status s = Place(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    operand_ = builder_.AddOperand(node_.operands[0].type().bytes());
    const int init = builder_.AddOperand(size_);
    const int result = builder_.AddOperand(node_.type.bytes());
    builder_.SetCode(std::move(words_));
    builder_.Load(init, 0, first_.at, size_);
    last_->Spread(builder_);
    for (int64_t row = 0, i = 0; row < run_; row += rows_, ++i)
      Block(row, blocks_.at + i % slots_ * 2 * block_bytes_);
    last_->Run(builder_, kept_, 1, result_, result_.at);
    builder_.Store(result, 0, result_.at, node_.type.bytes());
    return builder_.Finish();
  }

 private:
  absl::Status Place() {
    rows_ = std::max(least_, run_ / kStreamedBlocks);
    for (;; rows_ /= 2) {
      builder_.ReleaseAll();
      block_bytes_ = runs_ * rows_ * line_;
      slots_ = std::min<int64_t>(2, run_ / rows_);
      blocks_ = builder_.Place(
          "blocks", slots_ * 2 * block_bytes_ + preset_.word_bytes());
      kept_ = builder_.Place("values", run_ * line_ + preset_.word_bytes());
      first_ = builder_.Place("first value", size_);
      row_ = builder_.Place("first values", 4 * preset_.cols);
      result_ = builder_.Place("result", node_.type.bytes());
      if (builder_.Fits().ok() || rows_ / 2 < least_) return builder_.Fits();
    }
  }

  absl::Status AddCode() {
    if (absl::Status s = AddPairs(); !s.ok()) return s;
    levels_code_.emplace(node_, 1, runs_, rows_ * inner_, preset_,
                         /*adds_first=*/false);
    last_.emplace(node_, 1, run_, inner_, preset_);
    if (absl::Status s = levels_code_->AddCode(first_, row_, words_); !s.ok())
      return s;
    return last_->AddCode(first_, row_, words_);
  }

  // Combines elements with their partners, in place.
  absl::Status AddPairs() {
    const ir::ElementType element = node_.type.element;
    LaneGraph graph;
    LanePlaces places;
    const auto load = [&](int64_t at) {
      const int operand = static_cast<int>(places.operands.size());
      places.operands.push_back({{at, 0}, 0, 0});
      return FromMemory(
          graph, element,
          graph.Load({operand, StorageOf(element), Pattern::kStream}));
    };
    const Lane here = load(0);
    const Lane both = Combine(graph, *ir::CombinerOf(*node_.regions[0]),
                              element, here, load(block_bytes_));
    const LaneStore store = ToMemory(graph, element, both);
    places.stores = {{0, 1}};
    const absl::StatusOr<LaneCode> code =
        Emit(graph, {store}, places, preset_, 0, Loop::kRows,
             runs_ * rows_ * inner_ >= kManyStreamedRows * preset_.cols);
    if (!code.ok()) return code.status();
    words_ = code->words;
    return absl::OkStatus();
  }

  // Rows from `row` on of each run.
  void Block(int64_t row, int64_t at) {
    const int64_t bytes = rows_ * line_;
    builder_.LoadRuns(operand_, row * line_, at, bytes,
                      {{runs_, run_ * line_, bytes}});
    const int64_t partners = std::clamp<int64_t>(count_ - power_ - row, 0,
                                                 (runs_ - 1) * run_ + rows_);
    const int64_t whole =  // runs of which all rows have one
        std::min(runs_, (partners + run_ - rows_) / run_);
    const int64_t rest =
        whole < runs_ ? std::clamp<int64_t>(partners - whole * run_, 0, rows_)
                      : 0;
    const int64_t from = (power_ + row) * line_, to = at + block_bytes_;
    if (whole > 0)
      builder_.LoadRuns(operand_, from, to, bytes,
                        {{whole, run_ * line_, bytes}});
    if (rest > 0)
      builder_.Load(operand_, from + whole * run_ * line_, to + whole * bytes,
                    rest * line_);
    const Bytes block = {at, 2 * block_bytes_};
    Pairs(block, (whole * rows_ + rest) * inner_);
    levels_code_->Run(builder_, {at, block_bytes_}, 1, kept_,
                      kept_.at + row * line_);
  }

  void Pairs(Bytes block, int64_t elements) {
    const int64_t cols = preset_.cols;
    const auto start = [&](int64_t first, int64_t rows, int64_t lanes) {
      RowsRun run;
      run.place[0] = run.place[1] = block.at + first * size_;
      run.stride[0] = run.stride[1] = cols * size_;
      run.rows = rows;
      run.lanes = lanes;
      builder_.Run(0, ArgumentsOf(run), {block}, {block}, 2 * rows);
    };
    const int64_t rows = elements / cols, rest = elements % cols;
    if (rows > 0) start(0, rows, cols);
    if (rest > 0) start(rows * cols, 1, rest);
  }

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  const int64_t size_, count_, inner_, line_;  // bytes of element and line
  const int64_t power_, least_;
  int levels_ = kStreamedLevels;
  int64_t runs_ = 1, run_ = 1;  // how many, and rows of each
  int64_t rows_ = 1;            // of each run in a block
  int64_t slots_ = 1, block_bytes_ = 0;
  Bytes blocks_ = {}, kept_ = {}, first_ = {}, row_ = {}, result_ = {};
  int operand_ = 0;
  std::vector<uint64_t> words_;
  std::optional<ReductionPasses> levels_code_, last_;
};

}  // namespace

bool IsStreamed(const ir::Node& node, const Preset& preset) {
  const ir::TreeShape tree = TreeOf(node);
  const int64_t beat = KernelBuilder(preset).Align(1);
  return tree.adjacent && tree.outer == 1 && tree.inner > 1 &&
         tree.inner * ir::ElementBytes(node.type.element) % beat != 0 &&
         node.operands[0].type().bytes() >= kLeastBeats * beat &&
         PowerOf(tree.count) / 2 >= LeastRows(node, beat);
}

absl::StatusOr<KernelProgram> CompileStreamedReduction(const ir::Node& node,
                                                       const Preset& preset,
                                                       int64_t origin) {
  return StreamedReduction(node, preset, origin).Compile();
}

}  // namespace systole::lanes
