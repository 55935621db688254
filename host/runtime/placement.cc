// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/placement.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/printable.h"

namespace systole::runtime {
namespace {

using ir::Node;
using ir::Op;

void Add(const Node& node, PlacementShare& share) {
  ++share.operations;
  for (int i = 0; i < node.results(); ++i)
    share.bytes += node.result_type(i).bytes();
}

void CountNode(const Node& node, ModulePlacement& placement) {
  if (node.op == Op::kParameter || node.op == Op::kConstant) return;
  Add(node, placement.host);
  ++placement.host_operations[ir::OpName(node.op)];
  for (const auto& region : node.regions) {
    for (const auto& inner : region->nodes()) CountNode(*inner, placement);
  }
}

void Count(const ir::Module& module, const lanes::DevicePlan& plan,
           ModulePlacement& placement) {
  for (const auto& node : module.nodes()) {
    if (node->op != Op::kParameter && node->op != Op::kConstant)
      ++placement.free;
  }
  std::set<const Node*> placed;
  for (const lanes::PlanStep& step : plan.steps) {
    if (!step.kernel) {
      --placement.free;
      const Node& node = *step.node;
      if (!lanes::IsControl(node)) {
        CountNode(node, placement);
        continue;
      }
      ++placement.control;
      for (const auto& region : node.regions)
        Count(*region, *plan.regions.at(region.get()), placement);
      continue;
    }
    for (const auto& kernel : step.kernels) {
      bool vector = false;
      for (const Node* node : kernel) {
        // Several kernels may have the same broadcast.
        if (!placed.insert(node).second) continue;
        --placement.free;
        if (node->op == Op::kHloMatrixProduct) {
          Add(*node, placement.array);
          placement.array.macs += MacsOf(*node);
        } else {
          Add(*node, placement.vector);
          vector = true;
        }
      }
      placement.kernels += vector ? 1 : 0;
    }
    placement.moved_bytes += step.kernel->load_bytes + step.kernel->store_bytes;
  }
}

std::string HostText(const ModulePlacement& placement) {
  std::vector<std::pair<std::string, int64_t>> most(
      placement.host_operations.begin(), placement.host_operations.end());
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return absl::StrJoin(most, ", ", [](std::string* out, const auto& op) {
    absl::StrAppend(out, op.first, " ", op.second);
  });
}

}  // namespace

int64_t MacsOf(const Node& product) {
  const bool transposed =
      product.attr<ir::HloMatrixProductAttributes>().transposed;
  return product.type.elements() *
         product.operands[1].type().shape[transposed ? 2 : 1];
}

ModulePlacement PlacementOf(const ir::Module& module,
                            const lanes::DevicePlan& plan) {
  ModulePlacement placement;
  Count(module, plan, placement);
  return placement;
}

std::string PlacementText(const std::string& name,
                          const ModulePlacement& placement) {
  std::string text = absl::StrFormat(
      "%s: %d products on the array (%.4g MACs, %.3g result bytes), %d "
      "operations in %d kernels on the vector unit (%.3g result bytes, %.3g "
      "moved), %d without work, %d loops and branches steered, %d operations "
      "on the host (%.3g result bytes)",
      name, placement.array.operations,
      static_cast<double>(placement.array.macs),
      static_cast<double>(placement.array.bytes), placement.vector.operations,
      placement.kernels, static_cast<double>(placement.vector.bytes),
      static_cast<double>(placement.moved_bytes), placement.free,
      placement.control, placement.host.operations,
      static_cast<double>(placement.host.bytes));
  if (placement.host.operations > 0)
    absl::StrAppend(&text, ": ", HostText(placement));
  return text;
}

absl::Status RefuseHost(const std::string& name,
                        const ModulePlacement& placement) {
  if (placement.host.operations == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: %s would run on the host, which is not allowed: %s", name,
      Counted(placement.host.operations, "operation"), HostText(placement)));
}

}  // namespace systole::runtime
