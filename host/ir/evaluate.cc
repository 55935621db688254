// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/evaluate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::ir {

// The results of all nodes have consecutive slots.
struct Evaluation::Plan {
  struct Step {
    const ir::Node* node;
    std::vector<int> operands;  // slots
    int result;                 // slot of the first result
    std::vector<int> dead;      // slots that no later step needs
  };
  std::vector<Step> steps;
  std::vector<int> parameters;  // slots
  std::vector<int> outputs;
  int slots = 0;

  explicit Plan(const Module& module);
};

Evaluation::Plan::Plan(const Module& module) {
  std::unordered_map<const ir::Node*, int> first;
  const auto slot_of = [&](const Value& value) {
    return first.at(value.node) + value.index;
  };
  std::vector<int> last;  // last step that needs a slot
  for (const auto& node : module.nodes()) {
    first[node.get()] = slots;
    if (node->op == Op::kParameter) {
      parameters.push_back(slots);
    } else {
      Step step{node.get(), {}, slots, {}};
      for (const Value& operand : node->operands) {
        step.operands.push_back(slot_of(operand));
        last[step.operands.back()] = static_cast<int>(steps.size());
      }
      steps.push_back(std::move(step));
    }
    slots += node->results();
    // An unused result is dead after the step that computes it.
    last.resize(slots, static_cast<int>(steps.size()) - 1);
  }
  for (const Output& output : module.outputs) {
    outputs.push_back(slot_of(output.node));
    last[outputs.back()] = -1;
  }
  for (int slot = 0; slot < slots; ++slot) {
    if (last[slot] >= 0) steps[last[slot]].dead.push_back(slot);
  }
}

Evaluation::Evaluation(EvaluateOptions options) : options_(std::move(options)) {
  if (!options_.products) options_.products = &HostProducts();
}
Evaluation::~Evaluation() = default;

const Evaluation::Plan& Evaluation::PlanOf(const Module& module) {
  std::unique_ptr<Plan>& plan = plans_[&module];
  if (!plan) plan = std::make_unique<Plan>(module);
  return *plan;
}

bool HostComputes(Op op) { return InfoOf(op).evaluate != nullptr; }

absl::StatusOr<Literals> Evaluation::Node(const ir::Node& node,
                                          const Operands& operands) {
  if (options_.hook && !node.is_constant()) {
    Literals results;
    const absl::StatusOr<bool> computed =
        options_.hook(node, operands, results);
    if (!computed.ok()) return computed.status();
    if (*computed) return results;
  }
  if (!HostComputes(node.op)) {
    return absl::UnimplementedError(
        absl::StrCat("the host does not compute ", OpName(node.op)));
  }
  return InfoOf(node.op).evaluate(node, operands, *this);
}

absl::StatusOr<Literals> Evaluation::Run(const Module& module,
                                         Literals inputs) {
  const Plan& plan = PlanOf(module);
  if (inputs.size() != plan.parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.size(), " inputs for ", plan.parameters.size(), " parameters"));
  }
  Literals values(plan.slots);
  for (size_t i = 0; i < inputs.size(); ++i) {
    values[plan.parameters[i]] = std::move(inputs[i]);
  }
  Operands operands;
  for (const Plan::Step& step : plan.steps) {
    operands.clear();
    for (int slot : step.operands) operands.push_back(&values[slot]);
    dying_.clear();
    for (int slot : step.dead) {
      if (std::count(step.operands.begin(), step.operands.end(), slot) == 1) {
        dying_.push_back(&values[slot]);
      }
    }
    absl::StatusOr<Literals> results = Node(*step.node, operands);
    if (!results.ok()) {
      const std::string& location = step.node->location;
      return absl::Status(results.status().code(),
                          absl::StrCat("node '", step.node->name, "'",
                                       location.empty() ? "" : " at ", location,
                                       ": ", results.status().message()));
    }
    for (size_t i = 0; i < results->size(); ++i) {
      values[step.result + i] = std::move((*results)[i]);
    }
    for (int slot : step.dead) values[slot] = Literal();
  }
  Literals outputs;
  for (int slot : plan.outputs) outputs.push_back(values[slot]);
  return outputs;
}

Literal Evaluation::Take(const Literal* operand) {
  const auto dying = std::find(dying_.begin(), dying_.end(), operand);
  if (dying == dying_.end()) return *operand;
  dying_.erase(dying);
  return std::move(*const_cast<Literal*>(operand));
}

namespace {

// Operations whose evaluators accept one value per lane instead of a scalar.
bool IsElementwise(Op op) {
  if (op == Op::kConstant || op == Op::kParameter) return true;
  return (Op::kHloAdd <= op && op <= Op::kHloBitcastConvert) ||
         op == Op::kHloBroadcastInDim || op == Op::kHloReshape ||
         op == Op::kHloOptimizationBarrier;
}

bool IsElementwise(const Module& region) {
  for (const auto& node : region.nodes()) {
    if (!IsElementwise(node->op)) return false;
    for (int i = 0; i < node->results(); ++i) {
      if (node->result_type(i).elements() != 1) return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<Literals> Evaluation::RunLanes(const Module& region,
                                              int64_t lanes,
                                              const Operands& inputs) {
  const auto values_of = [&](int64_t lane) {
    const std::vector<ir::Node*> parameters = region.inputs();
    Literals values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool whole = lane < 0 || inputs[i]->size() == 1 ||
                         parameters[i]->type.elements() != 1;
      values.push_back(whole ? *inputs[i] : inputs[i]->Slice(lane, 1));
    }
    return values;
  };
  // A hook expects values of the declared types, so it cannot work on lanes.
  if (!options_.hook && IsElementwise(region))
    return Run(region, values_of(-1));
  Literals outputs;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    absl::StatusOr<Literals> results = Run(region, values_of(lane));
    if (!results.ok()) return results.status();
    if (lane == 0) {
      outputs = *std::move(results);
      continue;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].Append((*results)[i]);
    }
  }
  return outputs;
}

absl::StatusOr<Literal> Evaluate(const Node& node, const Operands& operands) {
  absl::StatusOr<Literals> results = Evaluation().Node(node, operands);
  if (!results.ok()) return results.status();
  return std::move((*results)[0]);
}

absl::StatusOr<Literals> EvaluateModule(const Module& module,
                                        const Literals& inputs,
                                        EvaluateOptions options) {
  const std::vector<Node*> parameters = module.inputs();
  if (inputs.size() != parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.size(), " inputs for ", parameters.size(), " parameters"));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = parameters[i]->type;
    if (inputs[i].element() != type.element ||
        inputs[i].size() != type.elements()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", parameters[i]->name, "': ", inputs[i].size(),
                       " values of ", ElementTypeName(inputs[i].element()),
                       " for ", TypeText(type)));
    }
  }
  return Evaluation(std::move(options)).Run(module, inputs);
}

}  // namespace systole::ir
