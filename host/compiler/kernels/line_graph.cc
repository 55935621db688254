// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/line_graph.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/lane_order.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
Lane ReduceRows(LaneGraph& graph, std::vector<Lane> rows, int64_t count,
                int64_t cols, const CombineLanes& combine) {
  const LaneBuilder g{graph};
  for (int64_t half = ir::FirstHalf(count); half > 0; half /= 2) {
    const int64_t pairs = count - half;
    for (int64_t i = 0; i * cols < pairs; ++i) {
      const Lane other = half >= cols ? rows[i + half / cols]
                                      : g(vpu::Op::kRotl, rows[i], g.K(half));
      const Lane both = combine(rows[i], other);
      const int64_t here = std::min(pairs - i * cols, cols);
      // Lanes without a pair keep their element.
      rows[i] = here == std::min(half, cols)
                    ? both
                    : g(vpu::Op::kSel,
                        g(vpu::Op::kIlt, g(vpu::Op::kIota, g.K(0)), g.K(here)),
                        both, rows[i]);
    }
    count = half;
  }
  return rows[0];
}

namespace {

// Chunks of a line, whose folds of columns are combined by halves. Two chunks
// are computed at a time, operation by operation, so that neither waits for its
// own result; then what they complete.
class ChunkFolds {
 public:
  using Lanes = std::vector<Lane>;

  // `operations`: of each chunk, in their order; `folded`: of each chunk, the
  // elements of each fold.
  ChunkFolds(const std::vector<Lanes>& operations,
             const std::vector<Lanes>& folded,
             const std::vector<CombineLanes>& combine)
      : operations_(operations),
        folded_(folded),
        combine_(combine),
        half_(ir::FirstHalf(static_cast<int64_t>(folded.size()))) {}

  // The results of the folds.
  Lanes Combined() { return Of(0, 1); }
  const Lanes& order() const { return order_; }

 private:
  // Of the chunks from `first` on that are `step` apart.
  Lanes Of(int64_t first, int64_t step) {
    if (step > half_) {
      Compute({first});
      return folded_[first];
    }
    const int64_t second = first + step;
    if (second >= static_cast<int64_t>(folded_.size()))
      return Of(first, 2 * step);
    if (step == half_) Compute({first, second});
    Lanes left = Of(first, 2 * step);
    const Lanes right = Of(second, 2 * step);
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] = combine_[i](left[i], right[i]);
      order_.push_back(left[i]);
    }
    return left;
  }
  void Compute(const std::vector<int64_t>& chunks) {
    for (size_t i = 0; i < operations_[0].size(); ++i)
      for (const int64_t chunk : chunks)
        order_.push_back(operations_[chunk][i]);
  }

  const std::vector<Lanes>& operations_;
  const std::vector<Lanes>& folded_;
  const std::vector<CombineLanes>& combine_;
  const int64_t half_;
  Lanes order_;
};

// The operations of a stage in the order of one chunk.
std::vector<Lane> OperationsOf(const FusedSpec::Lanes& stage,
                               const LaneGraph& graph,
                               std::vector<LaneStore> stores) {
  for (const FusedSpec::Lanes::Fold& fold : stage.folds)
    stores.push_back(
        {graph.guarded() ? fold.guarded : fold.lane, Storage::kWord});
  std::vector<Lane> operations;
  for (const LaneStep& step : OrderOf(graph, stores)) {
    if (step.store == LaneStep::kCompute) operations.push_back(step.lane);
  }
  return operations;
}

}  // namespace

LineGraph OverLines(const FusedSpec::Lanes& stage, const LaneGraph& from,
                    const std::vector<LaneStore>& stores,
                    const Preset& preset) {
  LineGraph line;
  LaneGraph& to = line.graph;
  if (from.guarded()) to.set_guarded();
  const int64_t chunks = stage.line / stage.chunk;
  std::vector<std::vector<Lane>> lanes(chunks,
                                       std::vector<Lane>(from.size(), -1));
  const size_t folds = stage.folds.size();
  line.stores.resize(folds + stores.size() * chunks);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    std::vector<Lane>& made = lanes[chunk];
    const auto of = [&](Lane lane) { return lane < 0 ? -1 : made[lane]; };
    for (Lane lane = 0; lane < from.size(); ++lane) {
      const LaneNode& node = from.node(lane);
      if (node.kind == LaneNode::Kind::kConstant) {
        made[lane] = to.Constant(node.bits);
      } else if (node.kind == LaneNode::Kind::kOp) {
        made[lane] = to.Make(node.op, of(node.a), of(node.b), of(node.c));
      } else {
        LaneLoad load = node.load;
        const bool shared = load.pattern == Pattern::kSplat ||
                            stage.operands[load.operand].of_line;
        load.operand =
            static_cast<int>(load.operand * chunks + (shared ? 0 : chunk));
        made[lane] = to.Load(load);
      }
    }
    for (const LaneGraph::LaneGuard& guard : from.guards())
      to.Guard(of(guard.lane), of(guard.of));
    for (size_t i = 0; i < stores.size(); ++i) {
      LaneStore& store = line.stores[folds + i * chunks + chunk];
      store = stores[i];
      store.lane = of(store.lane);
    }
  }
  std::vector<CombineLanes> combine;
  std::vector<std::vector<Lane>> folded(chunks);
  for (const FusedSpec::Lanes::Fold& fold : stage.folds) {
    const ir::ElementType element = fold.node->type.element;
    const ir::Op op = *ir::CombinerOf(*fold.node->regions[0]);
    combine.emplace_back([&to, element, op](Lane left, Lane right) {
      return Combine(to, op, element, left, right);
    });
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      folded[chunk].push_back(
          FromMemory(to, element,
                     lanes[chunk][from.guarded() ? fold.guarded : fold.lane]));
    }
  }
  std::vector<Lane> results;
  if (folds > 0 && stage.folds[0].columns) {
    const std::vector<Lane> operations = OperationsOf(stage, from, stores);
    std::vector<std::vector<Lane>> made(chunks);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      for (const Lane lane : operations)
        made[chunk].push_back(lanes[chunk][lane]);
    ChunkFolds all(made, folded, combine);
    results = all.Combined();
    to.SetOrder(all.order());
  }
  auto operand = static_cast<int>(stage.operands.size() * chunks);
  for (size_t i = 0; i < folds; ++i) {
    const ir::ElementType element = stage.folds[i].node->type.element;
    if (stage.folds[i].columns) {
      line.stores[i] = ToMemory(to, element, results[i]);
      continue;
    }
    std::vector<Lane> rows;
    for (const std::vector<Lane>& of_chunk : folded)
      rows.push_back(of_chunk[i]);
    const Lane first = FromMemory(
        to, element, to.Load({operand++, StorageOf(element), Pattern::kSplat}));
    const Lane all =
        ReduceRows(to, std::move(rows), stage.line, preset.cols, combine[i]);
    line.stores[i] = ToMemory(to, element, combine[i](all, first));
    line.stores[i].first_lane = true;
  }
  return line;
}

}  // namespace systole::lanes
