// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/line_graph.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/lane_order.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

// Operations of a line that leave room in the instruction memory for two
// groups of rows at a time, and for the same without guards.
constexpr int64_t kMostOperations = 128;

ir::TreeShape ShapeOfReduction(const ir::Node& node) {
  return ir::TreeShapeOf(node.operands[0].type().shape,
                         node.attr<ir::HloDimensionsAttributes>().dimensions);
}

int64_t OperationsOf(const LaneGraph& graph) {
  int64_t count = 0;
  for (Lane lane = 0; lane < graph.size(); ++lane)
    count += graph.node(lane).kind == LaneNode::Kind::kOp;
  return count;
}

class ByLines {
 public:
  ByLines(FusedSpec& spec, const Preset& preset)
      : spec_(spec), preset_(preset) {}

  bool Run() {
    bool any = false;
    for (size_t at = 0; at < spec_.stages.size();) {
      const auto* const reduce =
          std::get_if<FusedSpec::Reduce>(&spec_.stages[at]);
      if (reduce == nullptr || !Fold(*reduce)) {
        ++at;
        continue;
      }
      const int operand = reduce->operand;
      spec_.stages.erase(spec_.stages.begin() + static_cast<int64_t>(at));
      RemoveStore(operand);
      any = true;
    }
    for (FusedSpec::Stage& stage : spec_.stages) {
      auto* const lanes = std::get_if<FusedSpec::Lanes>(&stage);
      if (lanes != nullptr && ReadLines(*lanes)) any = true;
    }
    if (any) RemoveUnreadCopies(spec_);
    return any;
  }

 private:
  // The stage that makes the value, or none.
  FusedSpec::Stage* MakerOf(int value) {
    for (FusedSpec::Stage& stage : spec_.stages) {
      for (const int result : ResultsOf(stage))
        if (result == value) return &stage;
    }
    return nullptr;
  }

  // Whether the stage can go by lines of so many elements.
  bool CanGoBy(int64_t line, const FusedSpec::Lanes& lanes) const {
    if (lanes.line != 0) return lanes.line == line;
    const LaneGraph& graph = lanes.guards() ? lanes.guarded : lanes.graph;
    return line >= preset_.cols && line % preset_.cols == 0 &&
           lanes.elements / spec_.rows % line == 0 &&
           lanes.elements / line >= 2 * preset_.vector_rows() &&
           line / preset_.cols * OperationsOf(graph) <= kMostOperations;
  }

  // Operands that repeat a line.
  bool ReadLines(FusedSpec::Lanes& lanes) {
    bool any = false;
    for (FusedSpec::Lanes::Operand& operand : lanes.operands) {
      FusedSpec::Stage* const maker = MakerOf(operand.value);
      const auto* const copy =
          maker == nullptr ? nullptr : std::get_if<FusedSpec::Copy>(maker);
      if (operand.pattern != Pattern::kStream || copy == nullptr ||
          copy->pieces.size() != 1 || copy->pieces[0].from != 0 ||
          copy->pieces[0].to != 0)
        continue;
      std::vector<CopyDimension> repeated =
          MergedDimensions(copy->pieces[0].dimensions);
      const int whole = copy->operands[copy->pieces[0].operand];
      if (repeated.empty() || spec_.values[whole].by_rows ||
          (repeated.size() == 1 && spec_.rows == 1))
        continue;
      const CopyDimension line = repeated.back();
      repeated.pop_back();
      if (line.from != 1 || line.to != 1 ||
          std::any_of(repeated.begin(), repeated.end(),
                      [](const CopyDimension& d) { return d.from != 0; }) ||
          !CanGoBy(line.size, lanes))
        continue;
      lanes.line = line.size;
      operand.value = whole;
      operand.is_line = any = true;
    }
    if (any) FindShared(lanes);
    return any;
  }

  bool Fold(const FusedSpec::Reduce& reduce) {
    FusedSpec::Stage* const maker = MakerOf(reduce.operand);
    auto* const lanes =
        maker == nullptr ? nullptr : std::get_if<FusedSpec::Lanes>(maker);
    const ir::TreeShape tree = ShapeOfReduction(*reduce.node);
    if (lanes == nullptr || MakerOf(reduce.first) != nullptr ||
        tree.inner != 1 || !CanGoBy(tree.count, *lanes))
      return false;
    const auto found =
        std::find(lanes->results.begin(), lanes->results.end(), reduce.operand);
    if (found == lanes->results.end()) return false;  // another reduction's
    const auto store = found - lanes->results.begin();
    if (lanes->stores[store].storage != Storage::kWord) return false;
    FusedSpec::Lanes::Fold fold;
    fold.node = reduce.node;
    fold.lane = lanes->stores[store].lane;
    if (lanes->guards()) fold.guarded = lanes->guarded_stores[store].lane;
    fold.first = reduce.first;
    fold.result = reduce.result;
    lanes->line = tree.count;
    lanes->folds.push_back(fold);
    FindShared(*lanes);
    return true;
  }

  // Operands with one element for each row of lanes, all chunks of a line the
  // same.
  void FindShared(FusedSpec::Lanes& lanes) {
    const int64_t chunks = lanes.line / preset_.cols;
    for (FusedSpec::Lanes::Operand& operand : lanes.operands) {
      if (operand.pattern != Pattern::kRow) continue;
      FusedSpec::Stage* const maker = MakerOf(operand.value);
      const auto* const copy =
          maker == nullptr ? nullptr : std::get_if<FusedSpec::Copy>(maker);
      if (copy == nullptr || copy->pieces.size() != 1) continue;
      // Repeated along a dimension of its own, the last one.
      const std::vector<CopyDimension>& of = copy->pieces[0].dimensions;
      operand.of_line = of.back().from == 0 && of.back().size % chunks == 0;
      // From where each line has one.
      if (operand.of_line && of.back().size == chunks && of.size() == 2 &&
          of[0].from == 1) {
        operand.value = copy->operands[0];
        operand.once = true;
      }
    }
  }

  // If nothing needs the value any more.
  void RemoveStore(int value) {
    for (const FusedSpec::Stage& stage : spec_.stages) {
      for (const int operand : OperandsOf(stage))
        if (operand == value) return;
    }
    if (spec_.values[value].stored) return;
    auto& lanes = std::get<FusedSpec::Lanes>(*MakerOf(value));
    const auto at =
        std::find(lanes.results.begin(), lanes.results.end(), value) -
        lanes.results.begin();
    lanes.results.erase(lanes.results.begin() + at);
    lanes.stores.erase(lanes.stores.begin() + at);
    if (lanes.guards())
      lanes.guarded_stores.erase(lanes.guarded_stores.begin() + at);
  }

  FusedSpec& spec_;
  const Preset& preset_;
};

}  // namespace

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

LineGraph OverLines(const FusedSpec::Lanes& stage, const LaneGraph& from,
                    const std::vector<LaneStore>& stores,
                    const Preset& preset) {
  LineGraph line;
  LaneGraph& to = line.graph;
  if (from.guarded()) to.set_guarded();
  const int64_t chunks = stage.line / preset.cols;
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
  auto operand = static_cast<int>(stage.operands.size() * chunks);
  for (size_t i = 0; i < folds; ++i) {
    const FusedSpec::Lanes::Fold& fold = stage.folds[i];
    const ir::ElementType element = fold.node->type.element;
    const ir::Op op = *ir::CombinerOf(*fold.node->regions[0]);
    const auto combine = [&](Lane left, Lane right) {
      return Combine(to, op, element, left, right);
    };
    std::vector<Lane> rows;
    for (const std::vector<Lane>& made : lanes) {
      rows.push_back(FromMemory(
          to, element, made[from.guarded() ? fold.guarded : fold.lane]));
    }
    const Lane first = FromMemory(
        to, element, to.Load({operand++, StorageOf(element), Pattern::kSplat}));
    line.stores[i] = ToMemory(
        to, element,
        combine(ReduceRows(to, rows, stage.line, preset.cols, combine), first));
    line.stores[i].first_lane = true;
  }
  return line;
}

bool GoByLines(FusedSpec& spec, const Preset& preset) {
  return ByLines(spec, preset).Run();
}

}  // namespace systole::lanes
