// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A stage of a fused kernel that is a graph of lanes.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "host/compiler/kernels/fused_stages.h"
#include "host/compiler/kernels/lane_cost.h"
#include "host/compiler/kernels/lane_groups.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/line_graph.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int64_t kRowsOfModel = 32;      // registers full that are modelled
constexpr int64_t kManyRowsOfGraph = 64;  // for which longer code pays

class LanesStage : public FusedStage {
 public:
  explicit LanesStage(const FusedSpec::Lanes& lanes) : lanes_(lanes) {}

  absl::Status Place(FusedParts& p) override {
    // `elements`: of a row of the code.
    const auto walk = [&](int value, Storage storage, int64_t elements) {
      const Walk wanted = {p.layout.KindOf(value), storage, elements,
                           p.layout.LinesOf(value).gap};
      const auto found = std::find(walks_.begin(), walks_.end(), wanted);
      if (found == walks_.end()) walks_.push_back(wanted);
      return static_cast<int>(std::find(walks_.begin(), walks_.end(), wanted) -
                              walks_.begin());
    };
    for (const FusedSpec::Lanes::Operand& operand : lanes_.operands) {
      LanePlaces::Operand place;
      int64_t size = 0;  // of a chunk
      const int64_t at = p.layout.First(operand.value).at;
      if (operand.pattern == Pattern::kSplat) {
        place = Splat(p, at, operand.storage);
      } else {
        const int64_t lanes = operand.pattern == Pattern::kRow ? 1 : Chunk(p);
        place.stream = {at, kNoWalk};
        const bool fixed =
            p.layout.KindOf(operand.value) == FusedLayout::Kind::kFixed;
        if (!operand.is_line || !fixed)
          place.stream.walk = walk(operand.value, operand.storage,
                                   operand.is_line ? 0
                                   : operand.once  ? 1
                                                   : lanes * Chunks(p));
        size = StorageBytes(operand.storage) * lanes;
      }
      for (int64_t chunk = 0; chunk < Chunks(p); ++chunk) {
        places_.operands.push_back(place);
        place.stream.at += size;
      }
    }
    for (const FusedSpec::Lanes::Fold& fold : lanes_.folds) {
      const Storage storage = StorageOf(fold.node->type.element);
      if (!fold.columns)
        places_.operands.push_back(
            Splat(p, p.layout.First(fold.first).at, storage));
      places_.stores.push_back(
          {p.layout.First(fold.result).at,
           walk(fold.result, storage, fold.columns ? RowOf(p) : 1)});
    }
    for (size_t i = 0; i < lanes_.stores.size(); ++i) {
      const int value = lanes_.results[i];
      const Storage storage = lanes_.stores[i].storage;
      LanePlaces::Stream stream = {p.layout.First(value).at,
                                   walk(value, storage, RowOf(p))};
      for (int64_t chunk = 0; chunk < Chunks(p); ++chunk) {
        places_.stores.push_back(stream);
        stream.at += Chunk(p) * StorageBytes(storage);
      }
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
    for (const int value : Results())
      writes.push_back(p.layout.Of(value, block));
    const int64_t row = RowOf(p);
    const int64_t count = ElementsOf(p, p.layout.RowsOf(block));
    // `some` rows of the code, from an element on; those of a line lie next to
    // each other, others at the distance of lines.
    const auto run = [&](int64_t first, int64_t some, int64_t width,
                         bool in_line = false) {
      std::vector<int64_t> arguments(kLaneCount + 1);
      for (size_t w = 0; w < walks_.size(); ++w) {
        const auto [kind, storage, elements, gap] = walks_[w];
        const int64_t size = StorageBytes(storage);
        const int64_t all = elements == row ? lanes_.elements
                                            : lanes_.elements / row * elements;
        const int64_t gaps = lanes_.elements / row / p.spec.rows * gap;
        arguments[w] =
            p.layout.Shift(kind, block, all / p.spec.rows * size + gaps) +
            (first / row * elements + first % row) * size + first / row * gap;
        arguments[kStrides + w] =
            in_line ? p.preset.cols * size : elements * size + gap;
      }
      arguments[kRowCount] = some;
      arguments[kLaneCount] = width;
      // Lanes without elements would tell of extreme ones.
      if (code_.exact >= 0 && width == p.preset.cols) {
        std::vector<Bytes> more = writes;
        more.push_back(p.guards);
        return p.builder.Run(code_.main, arguments, reads, more,
                             CyclesOfRun(p, code_.main, arguments));
      }
      const int pc = code_.exact >= 0 ? code_.exact : code_.main;
      p.builder.Run(pc, arguments, reads, writes,
                    CyclesOfRun(p, pc, arguments));
    };
    const int64_t rows = count / row, rest = count % row;
    if (IsColumns(p)) return RunColumns(rows, p.preset.cols, run);
    if (rows > 0) run(0, rows, p.preset.cols);
    if (rest > 0) run(rows * row, 1, rest);
  }

 private:
  // A walk of the code: how values are addressed, elements of a row, and bytes
  // between the rows.
  using Walk = std::tuple<FusedLayout::Kind, Storage, int64_t, int64_t>;

  // Of a row of the code, which is a row of lanes or a line: elements, and
  // chunks.
  int64_t RowOf(const FusedParts& p) const {
    return std::max(lanes_.line, p.preset.cols);
  }
  int64_t Chunk(const FusedParts& p) const {
    return lanes_.line > 0 ? lanes_.chunk : p.preset.cols;
  }
  int64_t Chunks(const FusedParts& p) const { return RowOf(p) / Chunk(p); }
  // Whether a row of the code is a row of lanes of each chunk of a line.
  bool IsColumns(const FusedParts& p) const {
    return Chunk(p) != p.preset.cols ||
           std::any_of(lanes_.folds.begin(), lanes_.folds.end(),
                       [](const auto& fold) { return fold.columns; });
  }
  // Runs over lines for each row of lanes of a chunk, or the other way round:
  // over rows of lanes of chunks, for each line.
  bool GoesInLines(int64_t lines, int64_t cols) const {
    return lines < lanes_.chunk / cols;
  }
  template <typename Run>
  void RunColumns(int64_t lines, int64_t cols, const Run& run) const {
    const int64_t rows = lanes_.chunk / cols, rest = lanes_.chunk % cols;
    if (!GoesInLines(lines, cols)) {
      for (int64_t row = 0; row < rows; ++row) run(row * cols, lines, cols);
      if (rest > 0) run(rows * cols, lines, rest);
      return;
    }
    for (int64_t line = 0; line < lines; ++line) {
      run(line * lanes_.line, rows, cols, /*in_line=*/true);
      if (rest > 0) run(line * lanes_.line + rows * cols, 1, rest);
    }
  }

  std::vector<int> Results() const {
    std::vector<int> results = lanes_.results;
    for (const auto& fold : lanes_.folds) results.push_back(fold.result);
    return results;
  }

  LanePlaces::Operand Splat(FusedParts& p, int64_t element, Storage storage) {
    const Bytes row = p.builder.Place("row of an element", 4 * p.preset.cols);
    splats_.push_back({element, StorageBytes(storage)});
    splats_.push_back(row);
    LanePlaces::Operand place;
    place.element = element;
    place.row = row.at;
    return place;
  }

  int64_t ElementsOf(const FusedParts& p, int64_t rows) const {
    return p.spec.values[Results()[0]].by_rows
               ? rows * (lanes_.elements / p.spec.rows)
               : lanes_.elements;
  }

  // Those that all runs have, if they have the same.
  void SetStrides(const FusedParts& p) {
    const auto in_line = [&](int64_t rows) {
      return IsColumns(p) &&
             GoesInLines(ElementsOf(p, rows) / RowOf(p), p.preset.cols);
    };
    const bool some = in_line(p.layout.RowsOf(0));
    for (int64_t block = 1; block < p.layout.blocks(); ++block)
      if (in_line(p.layout.RowsOf(block)) != some) return;
    for (size_t w = 0; w < walks_.size(); ++w) {
      const auto [kind, storage, elements, gap] = walks_[w];
      const int64_t size = StorageBytes(storage);
      places_.strides[w] = some ? p.preset.cols * size : elements * size + gap;
    }
  }

  // Cycles of a run of the code.
  int64_t CyclesOfRun(const FusedParts& p, int pc,
                      const std::vector<int64_t>& arguments) const {
    const int64_t rows = arguments[kRowCount];
    const auto [place, added] = cycles_.emplace(std::pair(pc, rows), 0);
    if (!added) return place->second;
    LaneTiming::Strides strides = LaneTiming::NoStrides();
    for (int walk = 0; walk < kWalks; ++walk)
      strides[ArgumentRegister(kStrides + walk)] = arguments[kStrides + walk];
    // Behind many rows each takes as long as the one before.
    const int64_t all = kRowsOfModel * p.preset.vector_rows();
    const int64_t less =
        rows <= all ? 0
                    : compiler::RoundUp(rows - all, 4 * p.preset.vector_rows());
    std::vector<int64_t> some = arguments;
    some[kRowCount] -= less;
    place->second = RunCycles(p.words, pc, some, p.preset, strides) +
                    CyclesOf(code_.row_cycles, less);
    return place->second;
  }

  absl::StatusOr<LaneCode> CodeFor(const FusedParts& p) {
    const auto base = static_cast<int>(p.words.size());
    int64_t rows = ElementsOf(p, p.layout.block_rows()) / RowOf(p);
    const bool lines = lanes_.line > 0;
    if (IsColumns(p)) rows = std::max(rows, Chunk(p) / p.preset.cols);
    places_.rows = rows;
    SetStrides(p);
    const int64_t pair = 2 * p.preset.vector_rows();
    const bool many = rows >= (lines ? pair : kManyRowsOfGraph);
    // Lines have long code, of which there is no more than has to be.
    const int64_t multiple =
        ElementsOf(p, p.layout.MultipleOfRows()) / RowOf(p);
    const bool whole =
        lines && !IsColumns(p) && multiple > 0 && multiple % pair == 0;
    const RunRows of_run = !many                        ? RunRows::kFew
                           : !whole                     ? RunRows::kMany
                           : multiple % (2 * pair) != 0 ? RunRows::kPairs
                                                        : RunRows::kFours;
    LineGraph exact = {lanes_.graph, lanes_.stores};
    if (lines) exact = OverLines(lanes_, exact.graph, exact.stores, p.preset);
    if (many && lanes_.guards()) {
      LineGraph guarded = {lanes_.guarded, lanes_.guarded_stores};
      if (lines)
        guarded = OverLines(lanes_, guarded.graph, guarded.stores, p.preset);
      absl::StatusOr<LaneCode> code =
          EmitGuarded(guarded.graph, guarded.stores, exact.graph, exact.stores,
                      places_, p.preset, p.guards.at, base, of_run,
                      lines ? RunRows::kFew : RunRows::kMany);
      if (!absl::IsResourceExhausted(code.status())) return code;
    }
    return Emit(exact.graph, exact.stores, places_, p.preset, base, Loop::kRows,
                of_run);
  }

  const FusedSpec::Lanes& lanes_;
  LanePlaces places_;
  std::vector<Walk> walks_;
  std::vector<Bytes> splats_;  // elements, each before its row
  LaneCode code_;
  mutable std::map<std::pair<int, int64_t>, int64_t> cycles_;  // of runs
};

}  // namespace

std::unique_ptr<FusedStage> MakeLanesStage(const FusedSpec::Lanes& lanes) {
  return std::make_unique<LanesStage>(lanes);
}

}  // namespace systole::lanes
