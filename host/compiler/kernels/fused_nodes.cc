// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Elementwise nodes with as many elements form one stage unless another stage
// lies between them: their levels within the kernel are equal.
#include "host/compiler/kernels/fused_nodes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"
#include "host/compiler/kernels/lane_lowering.h"
#include "host/compiler/kernels/lane_memory.h"
#include "host/compiler/kernels/product_nodes.h"

namespace systole::lanes {
namespace {

// Divisions of which a reciprocal is worth being computed before.
constexpr int64_t kManyTimes = 8, kManyElements = 1 << 13;

using ir::Node;
using ir::Op;
using ir::Value;

class Stages {
 public:
  Stages(const Unit& unit, NodeKinds& kinds, const ValueSlots& slots,
         const Preset& preset, bool by_rows)
      : preset_(preset),
        by_rows_(by_rows),
        unit_(unit),
        nodes_(unit.nodes),
        inside_(nodes_.begin(), nodes_.end()),
        kinds_(kinds),
        slots_(slots) {}

  FusedNodes Make() {
    spec_.rows = lanes::RowsOf(nodes_, kinds_);
    Arrange();
    for (const Nodes& stage : all_.stages) {
      if (IsElementwise(*stage[0])) {
        AddLanes(stage);
      } else if (stage[0]->op == Op::kHloMatrixProduct) {
        AddProduct(*stage[0]);
      } else if (stage[0]->op == Op::kHloReduce) {
        AddReduce(*stage[0]);
      } else {
        AddCopy(*stage[0]);
      }
    }
    RemoveUnreadCopies(spec_);
    for (size_t i = 0; i < spec_.values.size(); ++i) {
      if (spec_.values[i].loaded || spec_.values[i].by_stage)
        all_.inputs.push_back(slot_of_value_[i]);
    }
    for (size_t i = 0; i < spec_.values.size(); ++i) {
      if (spec_.values[i].stored) all_.outputs.push_back(slot_of_value_[i]);
    }
    return std::move(all_);
  }

 private:
  static Value ValueOf(const Node* node) {
    return Value(const_cast<Node*>(node));
  }
  bool IsElementwise(const Node& node) const {
    return kinds_.Of(node) == NodeKind::kElementwise;
  }

  void Arrange() {
    std::unordered_map<const Node*, int> level;
    std::map<int, std::map<int64_t, Nodes>> elementwise;
    std::map<int, Nodes> others;
    for (const Node* node : nodes_) {
      int at = 0;
      for (const Value& operand : node->operands) {
        const Value root = kinds_.Root(operand);
        const auto found = level.find(root.node);
        if (found == level.end()) continue;
        const bool joins =
            IsElementwise(*node) && IsElementwise(*root.node) &&
            root.node->type.elements() == node->type.elements() &&
            SameLane(root.node->type.element, operand.type().element);
        at = std::max(at, found->second + (joins ? 0 : 1));
      }
      level[node] = at;
      if (IsElementwise(*node)) {
        elementwise[at][node->type.elements()].push_back(node);
      } else {
        others[at].push_back(node);
      }
    }
    int last = 0;
    for (const auto& [node, at] : level) last = std::max(last, at);
    for (int at = 0; at <= last; ++at) {
      for (auto& [elements, nodes] : elementwise[at])
        all_.stages.push_back(std::move(nodes));
      for (const Node* node : others[at]) all_.stages.push_back({node});
    }
  }

  // The number of a value that a stage reads. A value that is loaded may have
  // two: cut into rows, and as a whole.
  int Read(const Value& value, bool whole) {
    const auto made = made_.find(slots_.of(value));
    if (made != made_.end()) return made->second;
    const int slot = slots_.load(value);
    const auto [place, added] =
        loaded_.emplace(std::pair(slot, whole || spec_.rows == 1),
                        static_cast<int>(spec_.values.size()));
    if (added) {
      AddValue(slot, value.type().bytes(), !place->first.second);
      spec_.values.back().loaded = true;
    }
    return place->second;
  }
  int Write(const Node& node) {
    const int slot = slots_.of(ValueOf(&node));
    const auto value = static_cast<int>(spec_.values.size());
    AddValue(slot, node.type.bytes(), spec_.rows > 1);
    spec_.values.back().stored = Leaves(node, inside_);
    made_[slot] = value;
    return value;
  }
  void AddValue(int slot, int64_t bytes, bool by_rows) {
    FusedSpec::Value value;
    value.bytes = bytes;
    value.by_rows = by_rows;
    spec_.values.push_back(value);
    slot_of_value_.push_back(slot);
  }

  void AddProduct(const Node& node) {
    FusedSpec::Product product;
    product.node = &node;
    int* const operands[] = {&product.left, &product.right};
    for (int i = 0; i < 2; ++i) {
      const Value& operand = node.operands[i];
      *operands[i] = static_cast<int>(spec_.values.size());
      AddValue(slots_.load(operand), operand.type().bytes(), false);
      spec_.values.back().by_stage = true;
    }
    product.result = Write(node);
    spec_.stages.emplace_back(product);
  }

  void AddReduce(const Node& node) {
    FusedSpec::Reduce reduce;
    reduce.node = &node;
    reduce.operand = Read(node.operands[0], false);
    reduce.first = Read(node.operands[1], true);
    reduce.result = Write(node);
    spec_.stages.emplace_back(reduce);
  }

  void AddCopy(const Node& node) {
    FusedSpec::Copy copy;
    copy.element_bytes = ir::ElementBytes(node.type.element);
    if (spec_.rows > 1) {
      copy.pieces = RowOfMove(node, spec_.rows);
    } else {
      copy.pieces = PiecesOf(node);
    }
    copy.pieces.erase(
        std::remove_if(copy.pieces.begin(), copy.pieces.end(),
                       [](const Piece& piece) { return piece.empty(); }),
        copy.pieces.end());
    // An operand without elements has no piece, and is not loaded.
    std::map<int, int> numbers;
    for (Piece& piece : copy.pieces) {
      const auto [number, added] = numbers.emplace(
          piece.operand, static_cast<int>(copy.operands.size()));
      if (added)
        copy.operands.push_back(Read(node.operands[piece.operand],
                                     NeedsWhole(node, piece.operand)));
      piece.operand = number->second;
    }
    copy.result = Write(node);
    spec_.stages.emplace_back(std::move(copy));
  }

  // The value with one element for each row of lanes, where a broadcast of this
  // unit has one for each line and rows of lanes fill lines; else -1.
  int OfRows(const Value& value) {
    const Node* const node = kinds_.Root(value).node;
    const auto element = node->type.element;
    if (!by_rows_ || node->op != Op::kHloBroadcastInDim ||
        inside_.count(node) == 0 || IsElementwise(*node) ||
        !SameLane(element, value.type().element))
      return -1;
    const int64_t lines = LinesOfBroadcast(*node);
    const int64_t row = lines == 0 ? 1 : node->type.elements() / lines;
    if (lines == 0 || row % preset_.cols != 0 || lines % spec_.rows != 0)
      return -1;
    const auto [place, added] = of_rows_.emplace(slots_.of(ValueOf(node)), -1);
    if (!added) return place->second;
    const int64_t parts = row / preset_.cols;
    FusedSpec::Copy copy;
    copy.element_bytes = ir::ElementBytes(element);
    copy.operands = {Read(node->operands[0], false)};
    Piece piece;
    piece.dimensions = {{lines / spec_.rows, 1, parts}, {parts, 0, 1}};
    copy.pieces = {piece};
    copy.result = static_cast<int>(spec_.values.size());
    AddValue(-1, lines * parts * copy.element_bytes, spec_.rows > 1);
    place->second = copy.result;
    spec_.stages.emplace_back(std::move(copy));
    return place->second;
  }

  void AddLanes(const Nodes& nodes) {
    FusedSpec::Lanes stage, again;  // the same operands and results
    stage.elements = again.elements = nodes[0]->type.elements();
    const std::vector<const Node*> kept = KeptOf(nodes);
    MakeGraph(nodes, kept, stage, stage.graph, stage.stores);
    stage.guarded.set_guarded();
    MakeGraph(nodes, kept, again, stage.guarded, stage.guarded_stores);
    if (stage.guarded.guards().empty()) stage.guarded_stores.clear();
    if (kept.empty()) return;  // nothing needs it
    for (const Node* node : kept) stage.results.push_back(Write(*node));
    spec_.stages.emplace_back(std::move(stage));
  }

  // Whether anything but these nodes needs this node's result.
  bool Leaves(const Node& node, const std::set<const Node*>& nodes) const {
    const std::set<const Node*> users = slots_.users(slots_.of(ValueOf(&node)));
    const bool repeated = unit_.repeated.count(&node) > 0;
    return std::any_of(users.begin(), users.end(), [&](const Node* user) {
      return nodes.count(user) == 0 && (!repeated || inside_.count(user) > 0);
    });
  }

  // A value with the reciprocals of a broadcast's elements, or of a scalar; -1
  // if these are not many times fewer than the stage's.
  int Reciprocal(int value, Pattern pattern, const FusedSpec::Lanes& stage) {
    const auto found = reciprocals_.find(value);
    if (found != reciprocals_.end()) return found->second;
    int from = pattern == Pattern::kSplat ? value : -1;
    FusedSpec::Copy copy;
    for (const FusedSpec::Stage& other : spec_.stages) {
      const auto* made = std::get_if<FusedSpec::Copy>(&other);
      if (made == nullptr || made->result != value || made->pieces.size() != 1)
        continue;
      copy = *made;
      from = copy.operands[copy.pieces[0].operand];
    }
    if (from < 0 || spec_.values[from].bytes % kWord != 0) return -1;
    const int64_t elements = spec_.values[from].bytes / kWord;
    if (elements * kManyTimes > stage.elements ||
        stage.elements < kManyElements)
      return -1;
    const auto add = [&](int like) {
      AddValue(-1, spec_.values[like].bytes, spec_.values[like].by_rows);
      return static_cast<int>(spec_.values.size()) - 1;
    };
    int result = add(from);
    FusedSpec::Lanes divide;
    divide.elements = elements;
    divide.operands = {{from, Storage::kWord, Pattern::kStream}};
    divide.stores = {ToMemory(
        divide.graph, kF32,
        SharedReciprocal(divide.graph, divide.graph.Load({0, Storage::kWord,
                                                          Pattern::kStream})))};
    divide.results = {result};
    spec_.stages.emplace_back(std::move(divide));
    if (from != value) {
      copy.operands[copy.pieces[0].operand] = result;
      result = copy.result = add(value);
      spec_.stages.emplace_back(std::move(copy));
    }
    reciprocals_[value] = result;
    return result;
  }

  // Nodes whose results something outside of their stage needs.
  std::vector<const Node*> KeptOf(const Nodes& nodes) const {
    const std::set<const Node*> inside(nodes.begin(), nodes.end());
    std::vector<const Node*> kept;
    for (const Node* node : nodes) {
      if (Leaves(*node, inside)) kept.push_back(node);
    }
    return kept;
  }

  void MakeGraph(const Nodes& nodes, const std::vector<const Node*>& kept,
                 FusedSpec::Lanes& stage, LaneGraph& graph,
                 std::vector<LaneStore>& stores) {
    std::map<int, Lane> lanes;  // by slot
    // Operands, by value and how it is read.
    std::map<std::tuple<int, Pattern, Storage>, int> loaded;
    const auto load = [&](int value, Storage storage, Pattern pattern) {
      const auto [place, added] =
          loaded.emplace(std::tuple(value, pattern, storage),
                         static_cast<int>(stage.operands.size()));
      if (added) stage.operands.push_back({value, storage, pattern});
      return graph.Load({place->second, storage, pattern});
    };
    // One element in all lanes of its row.
    const auto along = [&](Lane loaded) {
      return graph.node(loaded).load.pattern == Pattern::kRow
                 ? graph.Make(vpu::Op::kBcl, loaded)
                 : loaded;
    };
    const auto lane_of = [&](const Value& operand) {
      const int slot = slots_.of(operand);
      const auto found = lanes.find(slot);
      if (found != lanes.end()) return found->second;
      if (const ir::Literal* splat = kinds_.Splat(operand))
        return OfLiteral(graph, *splat);
      const ir::Type& type = operand.type();
      const Storage storage = StorageOf(type.element);
      if (const int value = OfRows(operand); value >= 0) {
        return FromMemory(graph, type.element,
                          along(load(value, storage, Pattern::kRow)));
      }
      const bool splat = type.elements() == 1 && stage.elements > 1;
      const Pattern pattern = splat ? Pattern::kSplat : Pattern::kStream;
      return FromMemory(graph, type.element,
                        load(Read(operand, splat), storage, pattern));
    };
    // The reciprocal of a divisor that is the same for many; else -1.
    const auto reciprocal_of = [&](const Node& node,
                                   const std::vector<Lane>& operands) {
      if (node.op != Op::kHloDivide || node.type.element != kF32) return -1;
      const LaneNode* divisor = &graph.node(operands[1]);
      if (divisor->kind == LaneNode::Kind::kOp && divisor->op == vpu::Op::kBcl)
        divisor = &graph.node(divisor->a);
      if (divisor->kind != LaneNode::Kind::kLoad) return -1;
      const auto operand = stage.operands[divisor->load.operand];
      const int value = Reciprocal(operand.value, operand.pattern, stage);
      if (value < 0) return -1;
      const Lane r = load(value, Storage::kWord, operand.pattern);
      return graph.guarded() ? along(r) : -1;
    };
    for (const Node* node : nodes) {
      std::vector<Lane> operands;
      for (const Value& operand : node->operands)
        operands.push_back(lane_of(operand));
      Lane lane = -1;
      if (node->op == Op::kHloBroadcastInDim) {
        lane = operands[0];
      } else if (const Lane r = reciprocal_of(*node, operands); r >= 0) {
        lane = DivideShared(graph, operands[0], operands[1], r);
      } else {
        lane = Lower(graph, *node, operands);
      }
      lanes[slots_.of(ValueOf(node))] = lane;
      if (std::find(kept.begin(), kept.end(), node) != kept.end())
        stores.push_back(ToMemory(graph, node->type.element, lane));
    }
  }

  const Preset& preset_;
  const bool by_rows_;
  const Unit& unit_;
  const Nodes& nodes_;
  const std::set<const Node*> inside_;
  NodeKinds& kinds_;
  const ValueSlots& slots_;
  FusedNodes all_;
  FusedSpec& spec_ = all_.spec;
  std::vector<int> slot_of_value_;
  std::map<int, int> made_;     // values by slot
  std::map<int, int> of_rows_;  // likewise
  std::map<std::pair<int, bool>, int> loaded_;
  std::map<int, int> reciprocals_;  // values by value
};

}  // namespace

FusedNodes StagesOf(const Unit& unit, NodeKinds& kinds, const ValueSlots& slots,
                    const Preset& preset, bool by_rows) {
  return Stages(unit, kinds, slots, preset, by_rows).Make();
}

}  // namespace systole::lanes
