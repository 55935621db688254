// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "host/compiler/geometry.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using compiler::CeilDiv;

class DepthwisePlanner {
 public:
  DepthwisePlanner(const DepthwiseShape& shape, int64_t room, int base,
                   const Preset& preset)
      : shape_(shape),
        room_(room),
        base_(base),
        preset_(preset),
        last_(static_cast<int>(shape.axes.size()) - 1) {}

  std::vector<DepthwisePlan> Plans() {
    std::vector<Tried> plans;
    for (const Cut& cut : Cuts()) {
      std::optional<Tried> plan = PlanFor(cut, nullptr);
      if (plan) plans.push_back(*std::move(plan));
    }
    const auto order = [&] {
      std::stable_sort(
          plans.begin(), plans.end(),
          [](const Tried& a, const Tried& b) { return a.cycles < b.cycles; });
    };
    order();
    // Tiles of the best ones with their code.
    std::vector<Tried> best;
    for (const Tried& tried : plans) {
      if (best.size() == kTriedCuts) break;
      std::optional<Tried> plan = PlanWithCode(tried);
      if (plan) best.push_back(*std::move(plan));
    }
    plans = std::move(best);
    order();
    std::vector<DepthwisePlan> result;
    for (Tried& tried : plans) result.push_back(std::move(tried.plan));
    return result;
  }

 private:
  static constexpr int64_t kMostOutputs = 16, kMostAlong = 14;
  static constexpr int64_t kRunCycles = 56;    // of a run, beside its chunks
  static constexpr int64_t kChunkCycles = 60;  // of a chunk, beside its tiles
  static constexpr int64_t kSpareWords = 160;  // code beside the terms
  static constexpr size_t kTriedTiles = 6, kTriedCuts = 2;

  struct Cut {
    int64_t images, lines, sets;
    bool stacked = false;
  };
  struct Tried {
    DepthwisePlan plan;
    Cut cut;
    double cycles = 0;
  };

  std::vector<Cut> Cuts() const {
    const int64_t lines = shape_.axes[0].positions;
    std::vector<Cut> cuts;
    // Each size once; the next number of parts is up to a quarter larger.
    const auto each = [](int64_t count, int64_t parts, const auto& work) {
      int64_t before = 0;
      for (; parts <= count; parts += std::max(parts / 4, int64_t{1})) {
        const int64_t size = CeilDiv(count, parts);
        if (size != before) work(size);
        before = size;
      }
    };
    for (const int64_t sets : {2, 1}) {
      each(shape_.images, 1, [&](int64_t images) {
        cuts.push_back({images, lines, sets});
        if (images > 1 && CanStack())
          cuts.push_back({images, lines, sets, /*stacked=*/true});
      });
      each(lines, 2, [&](int64_t size) { cuts.push_back({1, size, sets}); });
    }
    return cuts;
  }

  // Images with few lines leave registers half empty. Their results are stored
  // one by one.
  bool CanStack() const {
    const DepthwiseAxis& axis = shape_.axes[0];
    const int64_t line = shape_.image_out() / axis.positions;
    return last_ == 1 && axis.stride == 1 &&
           axis.positions < preset_.vector_rows() &&
           shape_.image_out() % preset_.beat_bytes() == 0 &&
           line * axis.Extent(axis.positions) % preset_.beat_bytes() == 0;
  }

  int64_t Positions(int axis, int64_t lines) const {
    return axis == 0 ? lines : shape_.axes[axis].positions;
  }
  // Lines of the smallest block.
  int64_t LeastLines(int64_t lines) const {
    const int64_t rest = shape_.axes[0].positions % lines;
    return rest > 0 ? rest : lines;
  }

  // Tiles with their expected cycles a block; the code is not there yet.
  using Tiles = std::multimap<double, DepthwisePlan>;
  Tiles TilesOf(const DepthwiseBlock& block) const {
    Tiles tiles;
    for (int rows = last_; rows >= std::max(0, last_ - 1); --rows) {
      DepthwisePlan plan;
      plan.block = block;
      plan.splits = shape_.input_parts() > 1;
      const int64_t shrink =
          StorageBytes(shape_.input) / StorageBytes(ElementOf(plan));
      for (const int64_t stride : block.in) plan.in.push_back(stride / shrink);
      plan.image_in = block.image_in / shrink;
      plan.rows_axis = rows;
      plan.tiles_axis = last_ == 0 ? -1 : rows == last_ ? last_ - 1 : last_;
      const DepthwiseAxis& dense = shape_.axes[last_];
      const int64_t least = LeastLines(block.lines),
                    lines = WorkOf(shape_, block).lines;
      if (dense.stride == 1)
        plan.beside = std::clamp<int64_t>(preset_.cols / shape_.channels, 1,
                                          Positions(last_, least));
      plan.width =
          CeilDiv(shape_.channels, CeilDiv(shape_.channels, preset_.cols));
      const int64_t most_outer =
          last_ == 0 ? 1 : Positions(last_ - 1, last_ == 1 ? least : lines);
      const int64_t most_inner =
          Positions(last_, last_ == 0 ? least : lines) / plan.beside;
      for (int64_t a = 1; a <= std::min(kMostAlong, most_outer); ++a) {
        for (int64_t b = 1; b <= std::min(kMostAlong, most_inner); ++b) {
          if (a * b > (Rounds() ? kMostOutputs - 3 : kMostOutputs)) break;
          plan.tile = TileOf(plan, a, b);
          if (a * b * plan.tile.taps() *
                  static_cast<int64_t>(shape_.passes.size()) >
              vpu::kImemWords - base_ - kSpareWords)
            break;
          plan.code.tile_cycles = TileCycles(plan, lines);
          plan.code.chunk_cycles = kChunkCycles;
          tiles.emplace(BlockCycles(plan), plan);
        }
      }
    }
    return tiles;
  }

  DepthwiseTile TileOf(const DepthwisePlan& plan, int64_t a, int64_t b) const {
    const DepthwiseBlock& block = plan.block;
    DepthwiseTile tile;
    for (int i = 0; i < 2; ++i) {
      const int axis = last_ - 1 + i;
      if (axis < 0) continue;
      const DepthwiseAxis& x = shape_.axes[axis];
      const int64_t step = axis == last_ ? plan.beside : 1;
      tile.axes[i] = {i == 0 ? a : b, x.taps, step * x.stride * plan.in[axis],
                      x.dilation * plan.in[axis], step * block.out[axis]};
    }
    for (int axis = 0; axis + 1 < last_; ++axis) {
      std::vector<int64_t> outer;
      for (const int64_t at : tile.outer) {
        for (int64_t t = 0; t < shape_.axes[axis].taps; ++t)
          outer.push_back(at + t * shape_.axes[axis].dilation * plan.in[axis]);
      }
      tile.outer = std::move(outer);
    }
    tile.passes = shape_.passes;
    tile.input = ElementOf(plan);
    tile.part = block.images * plan.image_in;
    tile.result = shape_.result;
    const auto step = [&](int axis, int64_t& in, int64_t& out) {
      if (axis < 0) return;
      const DepthwiseTile::Axis& x = tile.axes[axis == last_ ? 1 : 0];
      in = x.outputs * x.window;
      out = x.outputs * x.out;
    };
    step(plan.rows_axis, tile.row_in, tile.row_out);
    step(plan.tiles_axis, tile.tile_in, tile.tile_out);
    tile.chunk_in = plan.width * StorageBytes(tile.input);
    tile.chunk_out = plan.width * StorageBytes(shape_.result);
    tile.chunk_weights = plan.width * StorageBytes(Storage::kHalf);
    tile.weights_line =
        plan.beside * shape_.channels * StorageBytes(Storage::kHalf);
    return tile;
  }

  Storage ElementOf(const DepthwisePlan& plan) const {
    return plan.splits ? Storage::kHalf : shape_.input;
  }
  // Whether elements are rounded when they are loaded into a register.
  bool Rounds() const {
    return shape_.input == Storage::kWord && shape_.input_parts() == 1;
  }

  // Whether all rows of all elements lie in one bank of the unified buffer, so
  // that the two units that load take turns.
  bool IsOneBank(const DepthwiseTile& tile) const {
    const int64_t turn = preset_.word_bytes() * preset_.ub_banks;
    const auto whole = [&](int64_t bytes) { return bytes % turn == 0; };
    bool one = whole(tile.row_in);
    for (const DepthwiseTile::Axis& axis : tile.axes)
      one = one && whole(axis.window) && whole(axis.tap);
    return one && std::all_of(tile.outer.begin(), tile.outer.end(), whole);
  }

  // Of the busiest unit.
  int64_t TileCycles(const DepthwisePlan& plan, int64_t lines) const {
    const DepthwiseTile& tile = plan.tile;
    const int64_t rows = plan.RowsOf(shape_, lines, preset_).rows;
    const auto places = [](const DepthwiseTile::Axis& axis) {
      std::set<int64_t> at;
      for (int64_t o = 0; o < axis.outputs; ++o)
        for (int64_t t = 0; t < axis.taps; ++t)
          at.insert(o * axis.window + t * axis.tap);
      return static_cast<int64_t>(at.size());
    };
    const int64_t passes = static_cast<int64_t>(shape_.passes.size()),
                  outputs = tile.outputs();
    const int64_t elements = static_cast<int64_t>(tile.outer.size()) *
                             places(tile.axes[0]) * places(tile.axes[1]);
    const int64_t operations =
        outputs * (passes * tile.taps() + 1) + (Rounds() ? elements : 0);
    const int64_t weights =
        std::max<int64_t>(0, passes * tile.taps() * tile.axes[0].outputs - 10);
    const int64_t loads = passes * elements;
    return std::max({operations * CeilDiv(rows, preset_.sublanes) / 2,
                     (loads * rows + weights) / (IsOneBank(tile) ? 1 : 2),
                     outputs * rows,
                     operations + loads + outputs + 3 * weights}) +
           8;
  }

  // Of the vector unit, for a block, with the plan's code.
  double BlockCycles(const DepthwisePlan& plan) const {
    const DepthwiseWork work = WorkOf(shape_, plan.block);
    const int64_t lines = work.lines;
    int64_t places = 1;
    for (int axis = 0; axis + 1 < last_; ++axis)
      places *= Positions(axis, lines);
    const DepthwiseParts rows = plan.RowsOf(shape_, lines, preset_).parts;
    double cycles = 0;
    const auto each = [](const DepthwiseParts& parts, const auto& work) {
      if (parts.whole() > 0) work(parts.whole());
      if (parts.number() > parts.whole()) work(int64_t{1});
    };
    each(plan.TilesOf(shape_, lines), [&](int64_t tiles) {
      each(plan.ChunksOf(shape_), [&](int64_t chunks) {
        const auto add = [&](int64_t runs, int64_t times) {
          cycles += static_cast<double>(
              runs * places *
              (plan.RunCycles(tiles, times, chunks) + kRunCycles));
        };
        if (plan.RepeatsImages(work.images, rows))
          return add(rows.number(), work.images);
        each(rows, [&](int64_t times) { add(work.images, times); });
      });
    });
    return cycles;
  }

  std::optional<Tried> PlanFor(const Cut& cut, const DepthwisePlan* made) {
    DepthwiseBlock block =
        DepthwiseBlockOf(shape_, cut.images, cut.lines, preset_);
    if (cut.stacked) Stack(shape_, block);
    Tried tried{{}, cut};
    double work = 0;
    if (made != nullptr) {
      tried.plan = *made;
      work = BlockCycles(*made);
    } else {
      const Tiles tiles = TilesOf(block);
      if (tiles.empty()) return std::nullopt;
      tried.plan = tiles.begin()->second;
      work = tiles.begin()->first;
    }
    tried.plan.sets = cut.sets;
    const DepthwiseLoad load = DepthwiseLoadOf(
        shape_, block, 0, cut.lines < shape_.axes[0].positions ? cut.lines : 0,
        preset_);
    const int64_t staged = load.aligned ? 0 : block.in_bytes;
    const int64_t table =
        StorageBytes(shape_.weights) * shape_.taps() * shape_.channels +
        shape_.taps() * tried.plan.tile.weights_line * 3;
    const int64_t parts =
        tried.plan.splits ? shape_.input_parts() * tried.plan.tile.part : 0;
    const int64_t bytes = parts +
                          cut.sets * (block.in_bytes + block.out_bytes +
                                      staged + preset_.beat_bytes()) +
                          table;
    if (bytes > room_) return std::nullopt;
    const auto beat = static_cast<double>(preset_.beat_bytes());
    const auto in = static_cast<double>(block.in_bytes) / beat,
               out = static_cast<double>(block.out_bytes) / beat;
    if (staged > 0) work += 2 * in;
    // A store of each part, of a row of words.
    if (tried.plan.splits)
      work += static_cast<double>(shape_.input_parts() * block.in_bytes /
                                  preset_.word_bytes());
    const auto blocks =
        static_cast<double>(CeilDiv(shape_.images, cut.images) *
                            CeilDiv(shape_.axes[0].positions, cut.lines));
    constexpr double kBlock = 60;  // until a block's work has begun
    tried.cycles = cut.sets == 1
                       ? blocks * (in + work + out + kBlock)
                       : in + out + blocks * std::max(work + kBlock, in + out);
    return tried;
  }

  std::optional<Tried> PlanWithCode(const Tried& tried) {
    const Tiles tiles = TilesOf(tried.plan.block);
    std::optional<Tried> best;
    size_t emitted = 0;
    for (const auto& [cycles, choice] : tiles) {
      if (emitted == kTriedTiles) break;
      bool works = false;
      for (int variant = 0; variant < 12; ++variant) {
        DepthwisePlan plan = choice;
        plan.tile.by_element = variant % 2 == 0;
        plan.tile.ahead = 4 * (1 + variant / 2 % 3);
        plan.tile.holds = variant < 6;
        const int64_t rows =
            plan.RowsOf(shape_, WorkOf(shape_, plan.block).lines, preset_).rows;
        absl::StatusOr<DepthwiseCode> code =
            EmitDepthwise(plan.tile, rows, preset_, base_);
        if (!code.ok()) continue;
        works = true;
        plan.code = *std::move(code);
        if (IsOneBank(plan.tile))
          plan.code.tile_cycles =
              std::max(plan.code.tile_cycles, plan.code.loads * rows);
        std::optional<Tried> next = PlanFor(tried.cut, &plan);
        if (next && (!best || next->cycles < best->cycles))
          best = std::move(next);
      }
      if (works) ++emitted;
    }
    return best;
  }

  const DepthwiseShape& shape_;
  const int64_t room_;
  const int base_;
  const Preset& preset_;
  const int last_;  // axis
};

}  // namespace

int64_t DepthwisePlan::SpanOf(int axis) const {
  const bool dense = axis + 1 == static_cast<int>(block.in.size());
  return dense ? tile.axes[1].outputs * beside : tile.axes[0].outputs;
}

DepthwisePlan::Rows DepthwisePlan::RowsOf(const DepthwiseShape& shape,
                                          int64_t lines,
                                          const Preset& preset) const {
  const int64_t count =
      rows_axis == 0 ? lines : shape.axes[rows_axis].positions;
  const int64_t span = SpanOf(rows_axis);
  const int64_t groups = CeilDiv(count, span * preset.vector_rows());
  const int64_t rows = std::min(CeilDiv(count, span * groups), count / span);
  return {{count, rows * span}, rows};
}

DepthwiseParts DepthwisePlan::TilesOf(const DepthwiseShape& shape,
                                      int64_t lines) const {
  if (tiles_axis < 0) return {1, 1};
  const int64_t count =
      tiles_axis == 0 ? lines : shape.axes[tiles_axis].positions;
  return {count, SpanOf(tiles_axis)};
}

std::vector<DepthwisePlan> DepthwisePlans(const DepthwiseShape& shape,
                                          int64_t room, int base,
                                          const Preset& preset) {
  return DepthwisePlanner(shape, room, base, preset).Plans();
}

}  // namespace systole::lanes
