// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/cluster.h"

#include <algorithm>

#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/node_kind.h"

namespace systole::runtime {
namespace {

using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

// A scalar that all elements of a value are, or nothing.
Value ScalarOf(const Value& value) {
  if (value->op != Op::kHloBroadcastInDim) return {};
  const Value& from = value->operands[0];
  return from.type().elements() == 1 ? from : Value();
}
bool IsUniform(const Value& value) {
  return value->is_constant() && lanes::IsUniform(value->literal());
}

// As a module of its own, whose cycles the planner knows.
class Measured : public ClusterCopier {
 public:
  Measured(const Cluster& cluster, const std::vector<Node*>& outputs,
           int64_t elements, ir::Module& module)
      : ClusterCopier(module, cluster, elements) {
    for (Node* node : cluster) {
      Node* const copy = Copy(node);
      if (std::count(outputs.begin(), outputs.end(), node) > 0)
        module.outputs.push_back({copy->name, copy});
    }
  }

 private:
  Value Outer(const Value& value, const Node*) override {
    return Parameter(value, Shape(value.type()));
  }
  Value Scalar(const Value& value) override {
    if (value->is_constant()) {
      Node copy = *value.node;
      copy.name = Name(value.node);
      return into_.Add(std::move(copy));
    }
    return Parameter(value, value.type());
  }
  Node* Put(Node node, const Node*) override {
    return into_.Add(std::move(node));
  }
  Value Parameter(const Value& value, Type type) {
    const std::string name = Name(value.node);
    return into_.Add({name,
                      Op::kParameter,
                      std::move(type),
                      {},
                      ir::ParameterAttributes{name}});
  }
};

}  // namespace

bool IsSplat(const Value& value) {
  return ScalarOf(value).node != nullptr || IsUniform(value);
}

Node* ClusterCopier::Copy(Node* node) {
  Node copy{Name(node), node->op, Shape(node->type), {}, node->attributes};
  copy.location = node->location;
  for (const Value& operand : node->operands)
    copy.operands.push_back(Operand(operand, node));
  return copies_[node] = Put(std::move(copy), node);
}

Value ClusterCopier::Operand(const Value& value, const Node* user) {
  if (inside_.count(value.node) > 0) return copies_.at(value.node);
  if (value.type().rank() == 0) return Scalar(value);
  const auto found = outer_.find({value.node, value.index});
  if (found != outer_.end()) return found->second;
  Value scalar = ScalarOf(value);
  if (scalar.node != nullptr) {
    scalar = Scalar(scalar);
  } else if (IsUniform(value)) {
    const Type type{value.type().element, {}, {}};
    scalar = Put(
        ir::MakeConstant(
            Name(value.node), type,
            ir::Literal::FromBytes(type.element, 1, value->literal().data())),
        user);
  }
  Value part;
  if (scalar.node != nullptr) {
    if (scalar.type().rank() != 0) {
      scalar = Put({Name(scalar.node),
                    Op::kHloReshape,
                    {scalar.type().element, {}, {}},
                    {scalar},
                    ir::NoAttributes{}},
                   user);
    }
    part = Put({Name(value.node),
                Op::kHloBroadcastInDim,
                Shape(value.type()),
                {scalar},
                ir::HloDimensionsAttributes{}},
               user);
  } else {
    part = Outer(value, user);
  }
  return outer_[{value.node, value.index}] = part;
}

int64_t CyclesOf(const Cluster& cluster, const std::vector<Node*>& outputs,
                 int64_t elements, const Preset& preset) {
  ir::Module module("part");
  const Measured measured(cluster, outputs, elements, module);
  const lanes::DevicePlan plan = lanes::PlanFor(module, preset);
  int64_t cycles = 0;
  for (const lanes::PlanStep& step : plan.steps)
    if (step.kernel) cycles += step.kernel->expected_cycles;
  return cycles;
}

}  // namespace systole::runtime
