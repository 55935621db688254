// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/hlo/processes.h"

#include "absl/strings/str_cat.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {

using ir::Op;

Processes::Processes(int replicas, int partitions)
    : replicas_(replicas),
      partitions_(partitions),
      evaluations_(static_cast<size_t>(replicas) * partitions) {}

absl::Status Processes::status() const {
  if (!status_.ok()) return status_;
  for (const Evaluation& evaluation : evaluations_)
    if (!evaluation.status().ok()) return evaluation.status();
  return absl::OkStatus();
}

void Processes::Fail(const Node& node, absl::StatusCode code,
                     const std::string& why) {
  if (!status_.ok()) return;
  status_ = absl::Status(
      code, absl::StrCat("golden model: node '", node.name, "': ", why));
}

// Each process continues while its own condition holds.
ByProcess Processes::Loop(const Node& node, const ByProcess& operands) {
  ByProcess done, running = operands;
  while (!running.empty() && status().ok()) {
    ByProcess next;
    for (const auto& [process, goes_on] : Run(*node.regions[0], running)) {
      const bool again = status().ok() && goes_on[0].bits[0] != 0;
      (again ? next : done)[process] = running.at(process);
    }
    running = Run(*node.regions[1], next);
    for (auto& [process, state] : running) {
      const Tensors captured = Rest(operands.at(process), node.results());
      state.insert(state.end(), captured.begin(), captured.end());
    }
  }
  done.merge(running);
  for (auto& [process, state] : done) state.resize(node.results());
  return done;
}

ByProcess Processes::Branch(const Node& node, const ByProcess& operands) {
  const auto branches = static_cast<int64_t>(node.regions.size());
  std::map<int64_t, ByProcess> taken;
  for (const auto& [process, values] : operands) {
    const uint64_t bits = values[0].bits[0];
    int64_t branch = Whole(values[0].element, bits);
    if (node.op == Op::kHloIf) {
      branch = bits != 0 ? 0 : 1;
    } else if (branch < 0 || branch >= branches) {
      branch = branches - 1;
    }
    taken[branch][process] = Rest(values, 1);
  }
  ByProcess results;
  for (const auto& [branch, inputs] : taken)
    results.merge(Run(*node.regions[branch], inputs));
  return results;
}

ByProcess Processes::Results(const Node& node, const ByProcess& operands) {
  if (ir::IsCollective(node.op)) return Exchanged(node, operands, *this);
  switch (node.op) {
    case Op::kHloWhile:
      return Loop(node, operands);
    case Op::kHloIf:
    case Op::kHloCase:
      return Branch(node, operands);
    default:
      break;
  }
  ByProcess results;
  for (const auto& [process, values] : operands) {
    if (node.op == Op::kHloPartitionId || node.op == Op::kHloReplicaId) {
      Tensor id(node.type.element, node.type.shape);
      id.bits[0] = node.op == Op::kHloPartitionId ? process % partitions_
                                                  : process / partitions_;
      results[process] = {id};
    } else {
      results[process] = evaluations_[process].Results(node, values);
    }
  }
  return results;
}

ByProcess Processes::Run(const ir::Module& module, const ByProcess& inputs) {
  std::map<const Node*, ByProcess> values;
  size_t next = 0;
  for (const auto& node : module.nodes()) {
    ByProcess& own = values[node.get()];
    if (node->op == Op::kParameter) {
      for (const auto& [process, given] : inputs) own[process] = {given[next]};
      ++next;
      continue;
    }
    ByProcess operands;
    for (const auto& [process, given] : inputs) {
      Tensors& list = operands[process];
      for (const ir::Value& operand : node->operands)
        list.push_back(values[operand.node][process][operand.index]);
    }
    own = Results(*node, operands);
    if (!status().ok()) break;
  }
  ByProcess outputs;
  for (const auto& [process, given] : inputs) {
    Tensors& list = outputs[process];
    for (const ir::Output& output : module.outputs) {
      const ByProcess& made = values[output.node.node];
      const auto found = made.find(process);
      const ir::Type& type = output.node.type();
      list.push_back(found != made.end() ? found->second[output.node.index]
                                         : Tensor(type.element, type.shape));
    }
  }
  return outputs;
}

}  // namespace systole::golden::hlo
