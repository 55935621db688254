// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/region_nodes.h"

#include <algorithm>
#include <unordered_map>

#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;
using Values = std::vector<Value>;

bool IsLiftable(const ir::Module& region) {
  return std::all_of(
      region.nodes().begin(), region.nodes().end(), [](const auto& node) {
        if (node->results() != 1 || !node->type.shape.empty() ||
            !FitsLane(node->type.element))
          return false;
        return node->op == Op::kParameter || node->is_constant() ||
               ir::IsElementwiseOp(node->op) || node->op == Op::kHloReshape ||
               node->op == Op::kHloBroadcastInDim ||
               (node->op == Op::kHloBitcastConvert &&
                ir::ElementBytes(node->operands[0].type().element) ==
                    ir::ElementBytes(node->type.element));
      });
}

Value RegionNodes::Add(Node node) {
  node.name = module_.UniqueName(name_);
  if (before_ == nullptr) return module_.Add(std::move(node));
  node.location = before_->location;
  return module_.InsertBefore(before_, std::move(node));
}

Value RegionNodes::Make(Op op, Type type, Values operands,
                        ir::Attributes attributes) {
  return Add(
      {"", op, std::move(type), std::move(operands), std::move(attributes)});
}

Value RegionNodes::Spread(Value scalar, const Ints& shape) {
  if (shape.empty()) return scalar;
  return Make(Op::kHloBroadcastInDim, {scalar.type().element, shape, {}},
              {scalar}, ir::HloDimensionsAttributes{});
}

Value RegionNodes::Number(int32_t number) {
  return Add(ir::MakeConstant("", {ElementType::kInt32, {}, {}},
                              ir::Literal(std::vector<int32_t>{number})));
}

Value RegionNodes::Whole(Op op, Value a, int32_t b) {
  return Make(op, a.type(), {a, Number(b)});
}

Value RegionNodes::Parameter(const Type& type) {
  return Make(Op::kParameter, type, {}, ir::ParameterAttributes{});
}

Values RegionNodes::Lift(const ir::Module& region, const Ints& shape,
                         const Values& parameters) {
  std::unordered_map<const Node*, Value> made;
  size_t next = 0;
  for (const auto& node : region.nodes()) {
    Value& here = made[node.get()];
    if (node->op == Op::kParameter) {
      here = parameters[next++];
      continue;
    }
    Values operands;
    for (const Value& operand : node->operands)
      operands.push_back(made.at(operand.node));
    Node copy = *node;
    copy.operands = operands;
    if (node->is_constant()) {
      here = Spread(Add(std::move(copy)), shape);
    } else if (node->op == Op::kHloReshape ||
               node->op == Op::kHloBroadcastInDim) {
      here = operands[0];
    } else {
      copy.type.shape = shape;
      here = Add(std::move(copy));
    }
  }
  Values results;
  for (const ir::Output& output : region.outputs)
    results.push_back(made.at(output.node.node));
  return results;
}

}  // namespace systole::lanes
