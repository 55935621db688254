// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/line_stages.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/ir/hlo/tree.h"

namespace systole::lanes {
namespace {

// Operations of a line that leave room in the instruction memory for two
// groups of rows at a time, and for the same without guards.
constexpr int64_t kMostOperations = 128;
// Of code without guards.
constexpr int64_t kMostUnguarded = 320;
constexpr int64_t kMostFolded = 32;  // chunks

ir::TreeShape ShapeOfReduction(const ir::Node& node) {
  return ir::TreeShapeOf(node.operands[0].type().shape,
                         node.attr<ir::HloDimensionsAttributes>().dimensions);
}

int64_t CountOf(const LaneGraph& graph) {
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
    for (size_t at = 0; at < spec_.stages.size(); ++at) {
      const auto* const reduce =
          std::get_if<FusedSpec::Reduce>(&spec_.stages[at]);
      if (reduce == nullptr) continue;
      const int operand = reduce->operand;
      if (Fold(*reduce)) {
        spec_.stages.erase(spec_.stages.begin() + static_cast<int64_t>(at--));
      } else if (!FoldColumns(at)) {
        continue;
      }
      RemoveStore(operand);
      any = true;
    }
    for (FusedSpec::Stage& stage : spec_.stages) {
      auto* const lanes = std::get_if<FusedSpec::Lanes>(&stage);
      if (lanes == nullptr) continue;
      if (ReadLines(*lanes)) any = true;
      if (ReadOnce(*lanes)) any = true;
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

  // Whether the stage can go by lines of so many elements, rows of lanes.
  bool CanGoBy(int64_t line, const FusedSpec::Lanes& lanes) const {
    if (lanes.line != 0)
      return lanes.line == line && lanes.chunk == preset_.cols &&
             (lanes.folds.empty() || !lanes.folds[0].columns);
    const LaneGraph& graph = lanes.guards() ? lanes.guarded : lanes.graph;
    return line >= preset_.cols && line % preset_.cols == 0 &&
           lanes.elements / spec_.rows % line == 0 &&
           lanes.elements / line >= 2 * preset_.vector_rows() &&
           line / preset_.cols * CountOf(graph) <=
               (lanes.guards() ? kMostOperations : kMostUnguarded);
  }

  // The chunks, of some rows of [count][inner], that a stage can combine; 0:
  // none. They are as many times a power of two as `count` has rows, so that
  // they are what the first levels combine.
  int64_t ChunkOf(const ir::TreeShape& tree,
                  const FusedSpec::Lanes& lanes) const {
    const int64_t line = tree.count * tree.inner;
    if (lanes.line != 0) {
      const bool same = lanes.line == line && lanes.chunk % tree.inner == 0 &&
                        !lanes.folds.empty() && lanes.folds[0].columns;
      return same ? lanes.chunk : 0;
    }
    if (line < preset_.cols || lanes.elements / spec_.rows % line != 0 ||
        std::any_of(lanes.operands.begin(), lanes.operands.end(),
                    [](const auto& operand) {
                      return operand.pattern == Pattern::kRow;
                    }))
      return 0;
    const LaneGraph& graph = lanes.guards() ? lanes.guarded : lanes.graph;
    int64_t best = 0, least = 0;  // rows of lanes
    for (int64_t rows = 1; tree.count % rows == 0; rows *= 2) {
      const int64_t chunks = tree.count / rows, chunk = rows * tree.inner;
      if (chunks < 2) break;
      const int64_t cover = (chunk + preset_.cols - 1) / preset_.cols;
      if (chunks > kMostFolded ||
          chunks * (CountOf(graph) + 1) > kMostOperations ||
          std::max(lanes.elements / line, cover) < preset_.vector_rows())
        continue;
      // What is left has levels of its own.
      const int64_t all = (chunks + 1) * cover;
      if (best == 0 || all < least) {
        best = chunk;
        least = all;
      }
    }
    return best;
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
      lanes.chunk = preset_.cols;
      operand.value = whole;
      operand.is_line = any = true;
    }
    if (any) FindShared(lanes);
    return any;
  }

  // Operands of which each line has one element, such as its sum, that is
  // loaded for each row of lanes otherwise.
  bool ReadOnce(FusedSpec::Lanes& lanes) {
    if (lanes.line != 0) return false;
    int64_t line = 0;
    for (const FusedSpec::Lanes::Operand& operand : lanes.operands) {
      if (operand.pattern != Pattern::kRow) continue;
      FusedSpec::Stage* const maker = MakerOf(operand.value);
      const auto* const copy =
          maker == nullptr ? nullptr : std::get_if<FusedSpec::Copy>(maker);
      if (copy == nullptr || copy->pieces.size() != 1) return false;
      const std::vector<CopyDimension>& of = copy->pieces[0].dimensions;
      const int64_t own = of.back().size * preset_.cols;
      if (of.back().from != 0 || (line != 0 && own != line)) return false;
      line = own;
    }
    if (line <= preset_.cols || !CanGoBy(line, lanes)) return false;
    lanes.line = line;
    lanes.chunk = preset_.cols;
    FindShared(lanes);
    return true;
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
    lanes->chunk = preset_.cols;
    lanes->folds.push_back(fold);
    FindShared(*lanes);
    return true;
  }

  // Lets the stage that makes the operand of a reduction of columns combine its
  // chunks, or one of its own.
  bool FoldColumns(size_t at) {
    const auto reduce = std::get<FusedSpec::Reduce>(spec_.stages[at]);
    const ir::TreeShape tree = ShapeOfReduction(*reduce.node);
    if (tree.inner == 1 || reduce.left != 0) return false;
    FusedSpec::Lanes::Fold fold;
    fold.node = reduce.node;
    fold.columns = true;
    fold.result = static_cast<int>(spec_.values.size());
    FusedSpec::Stage* const maker = MakerOf(reduce.operand);
    auto* lanes =
        maker == nullptr ? nullptr : std::get_if<FusedSpec::Lanes>(maker);
    FusedSpec::Lanes own;
    int64_t chunk = 0;
    if (lanes != nullptr) {
      const auto found = std::find(lanes->results.begin(), lanes->results.end(),
                                   reduce.operand);
      if (found != lanes->results.end()) {
        const auto store = found - lanes->results.begin();
        if (lanes->stores[store].storage == Storage::kWord) {
          chunk = ChunkOf(tree, *lanes);
          fold.lane = lanes->stores[store].lane;
          if (lanes->guards()) fold.guarded = lanes->guarded_stores[store].lane;
        }
      }
    }
    if (chunk == 0) {
      const ir::Type& type = reduce.node->operands[0].type();
      own.elements = type.elements();
      own.operands = {
          {reduce.operand, StorageOf(type.element), Pattern::kStream}};
      fold.lane =
          own.graph.Load({0, StorageOf(type.element), Pattern::kStream});
      fold.guarded = -1;
      lanes = &own;
      chunk = ChunkOf(tree, own);
    }
    if (chunk == 0) return false;
    lanes->line = tree.count * tree.inner;
    lanes->chunk = chunk;
    lanes->folds.push_back(fold);
    auto& now = std::get<FusedSpec::Reduce>(spec_.stages[at]);
    now.operand = fold.result;
    now.left = chunk / tree.inner;
    FindRepeated(*lanes, tree.inner);
    FusedSpec::Value value;
    value.bytes = spec_.values[reduce.operand].bytes;
    value.by_rows = spec_.values[reduce.operand].by_rows;
    spec_.values.push_back(value);
    if (lanes == &own)
      spec_.stages.insert(spec_.stages.begin() + static_cast<int64_t>(at),
                          std::move(own));
    return true;
  }

  // Operands of which all rows of [count][inner] are the same.
  void FindRepeated(FusedSpec::Lanes& lanes, int64_t inner) {
    for (FusedSpec::Lanes::Operand& operand : lanes.operands) {
      FusedSpec::Stage* const maker = MakerOf(operand.value);
      const auto* const copy =
          maker == nullptr ? nullptr : std::get_if<FusedSpec::Copy>(maker);
      if (operand.pattern != Pattern::kStream || copy == nullptr ||
          copy->pieces.size() != 1 || copy->pieces[0].to != 0)
        continue;
      const std::vector<CopyDimension> of =
          MergedDimensions(copy->pieces[0].dimensions);
      operand.of_line =
          !of.empty() && of.back().size == inner &&
          std::all_of(of.begin(), of.end() - 1,
                      [](const CopyDimension& d) { return d.from == 0; });
    }
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
    FusedSpec::Stage* const maker = MakerOf(value);
    if (maker == nullptr || !std::holds_alternative<FusedSpec::Lanes>(*maker))
      return;
    auto& lanes = std::get<FusedSpec::Lanes>(*maker);
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

bool GoByLines(FusedSpec& spec, const Preset& preset) {
  return ByLines(spec, preset).Run();
}

}  // namespace systole::lanes
