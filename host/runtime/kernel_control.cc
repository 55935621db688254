// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops and branches of KernelExecutor: the regions' plans, one turn after the
// other.
#include <utility>

#include "host/runtime/kernel_executor.h"

namespace systole::runtime {

using ir::Literal;

absl::StatusOr<PlacedValues> KernelExecutor::RunRegion(
    const ir::Module& region, const lanes::DevicePlan& plan,
    PlacedValues inputs) {
  const lanes::DevicePlan& inner = *plan.regions.at(&region);
  const auto [constants, added] = constants_.try_emplace(&inner);
  if (added) {
    for (const auto& [slot, literal] : inner.constants)
      constants->second.push_back(OnHost(literal));
  }
  return Run(inner, std::move(inputs), constants->second);
}

// Reads both bounds once, instead of evaluating a condition per iteration.
absl::StatusOr<std::optional<int64_t>> KernelExecutor::TurnsOf(
    const lanes::PlanStep& step, const PlacedValues& values) {
  if (!step.loop) return std::nullopt;
  const lanes::CountedLoop& loop = *step.loop;
  const auto number = [&](int operand) -> absl::StatusOr<int64_t> {
    const ir::Type& type = step.node->operands[operand].type();
    const absl::StatusOr<Literal> literal = ToHost(*values[operand], type);
    if (!literal.ok()) return literal.status();
    return type.element == ir::ElementType::kInt32
               ? int64_t{literal->values<int32_t>()[0]}
               : int64_t{literal->values<uint32_t>()[0]};
  };
  const absl::StatusOr<int64_t> first = number(loop.counter);
  if (!first.ok()) return first.status();
  absl::StatusOr<int64_t> end = loop.number;
  if (loop.bound >= 0) end = number(loop.bound);
  if (!end.ok()) return end.status();
  return loop.Turns(*first, *end,
                    step.node->operands[loop.counter].type().element);
}

// Evaluates a loop's condition.
absl::StatusOr<bool> KernelExecutor::Condition(const ir::Module& condition,
                                               const lanes::DevicePlan& plan,
                                               const PlacedValues& values) {
  const absl::StatusOr<PlacedValues> goes_on =
      RunRegion(condition, plan, values);
  if (!goes_on.ok()) return goes_on.status();
  const absl::StatusOr<Literal> truth =
      ToHost(*(*goes_on)[0], condition.outputs[0].node.type());
  if (!truth.ok()) return truth.status();
  return bool{truth->values<ir::Bool>()[0]};
}

// The loop's values come first, then the other values that the regions read.
absl::StatusOr<PlacedValues> KernelExecutor::Repeat(
    const lanes::PlanStep& step, const lanes::DevicePlan& plan,
    PlacedValues values) {
  const ir::Node& node = *step.node;
  const size_t carried = node.results();
  const absl::StatusOr<std::optional<int64_t>> turns = TurnsOf(step, values);
  if (!turns.ok()) return turns.status();
  for (int64_t turn = 0;; ++turn) {
    absl::StatusOr<bool> goes_on = *turns && turn < **turns;
    if (!*turns) goes_on = Condition(*node.regions[0], plan, values);
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) break;
    PlacedValues rest(values.begin() + static_cast<int64_t>(carried),
                      values.end());
    absl::StatusOr<PlacedValues> next =
        RunRegion(*node.regions[1], plan, std::move(values));
    if (!next.ok()) return next.status();
    values = *std::move(next);
    values.insert(values.end(), rest.begin(), rest.end());
  }
  values.resize(carried);
  return values;
}

absl::Status KernelExecutor::RunControl(const lanes::PlanStep& step,
                                        const lanes::DevicePlan& plan,
                                        PlacedValues& values) {
  const ir::Node& node = *step.node;
  PlacedValues inputs;
  for (const int slot : step.inputs) inputs.push_back(values[slot]);
  for (const int slot : step.dead) values[slot] = nullptr;
  absl::StatusOr<PlacedValues> results;
  if (node.op == ir::Op::kHloWhile) {
    results = Repeat(step, plan, std::move(inputs));
  } else {
    const absl::StatusOr<Literal> which =
        ToHost(*inputs[0], node.operands[0].type());
    if (!which.ok()) return which.status();
    int64_t branch = 0;
    const auto count = static_cast<int64_t>(node.regions.size());
    if (node.op == ir::Op::kHloIf) {
      branch = which->values<ir::Bool>()[0] ? 0 : 1;
    } else {
      branch = which->values<int32_t>()[0];
      if (branch < 0 || branch >= count) branch = count - 1;
    }
    inputs.erase(inputs.begin());
    results = RunRegion(*node.regions[branch], plan, std::move(inputs));
  }
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < step.outputs.size(); ++i)
    values[step.outputs[i]] = std::move((*results)[i]);
  return absl::OkStatus();
}

}  // namespace systole::runtime
