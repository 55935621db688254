// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/placement.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/printable.h"
#include "host/ir/calls.h"

namespace systole::runtime {
namespace {

// A kernel of less than this part of the cycles is counted, but not named.
constexpr int64_t kLeastShare = 100;

using ir::Node;
using ir::Op;

void Add(const Node& node, PlacementShare& share) {
  ++share.operations;
  for (int i = 0; i < node.results(); ++i)
    share.bytes += node.result_type(i).bytes();
}

void CountNode(const Node& node, ModulePlacement& placement) {
  if (node.op == Op::kParameter || node.op == Op::kConstant) return;
  if (ir::IsCall(node)) {
    ++placement.calls;
    return;
  }
  Add(node, placement.host);
  ++placement.host_operations[ir::OpName(node.op)];
  if (placement.first_host.empty()) {
    placement.first_host = absl::StrCat(
        ir::OpName(node.op), " that makes ", ir::TypeText(node.type),
        node.location.empty() ? "" : " at ", node.location);
  }
  for (const auto& region : node.regions) {
    for (const auto& inner : region->nodes()) CountNode(*inner, placement);
  }
}

void CountCollective(const Node& node, ModulePlacement& placement) {
  ++placement.collectives.operations;
  for (const ir::Value& operand : node.operands)
    placement.collectives.bytes += operand.type().bytes();
  ++placement.collective_operations[ir::OpName(node.op)];
}

void Measure(const std::vector<const Node*>& nodes,
             const lanes::KernelCost& cost, const Preset& preset,
             ModulePlacement& placement,
             std::map<const Node*, size_t>& numbers) {
  constexpr std::array<const char*, isa::kNumQueues> kUnits = {
      "loads", "weights", "the array", "the vector unit", "stores", "sends"};
  int64_t macs = 0;
  for (const Node* node : nodes)
    if (node->op == Op::kHloMatrixProduct) macs += MacsOf(*node);
  placement.array.macs += macs;
  const int64_t bound =
      std::max(macs / preset.macs_per_cycle(), cost.memory_cycles);
  const auto [number, added] =
      numbers.emplace(nodes.back(), placement.all_kernels.size());
  if (added) placement.all_kernels.emplace_back();
  PlacedKernel& kernel = placement.all_kernels[number->second];
  kernel.cycles += cost.cycles;
  kernel.bound += bound;
  if (!added) return;
  kernel.name = nodes.back()->name;
  const auto most = std::max_element(cost.busy.begin(), cost.busy.end());
  kernel.limit = kUnits[most - cost.busy.begin()];
  if (cost.cycles > 0) {
    kernel.busy = std::min(
        1.0, static_cast<double>(*most) / static_cast<double>(cost.cycles));
  }
}

void Count(const ir::Module& module, const lanes::DevicePlan& plan,
           const Preset& preset, ModulePlacement& placement) {
  const auto count = [&](const ir::Module& all) {
    for (const auto& node : all.nodes()) {
      if (node->op != Op::kParameter && node->op != Op::kConstant)
        ++placement.free;
    }
  };
  count(module);
  for (const auto& body : plan.modules) count(*body);
  std::set<const Node*> placed;
  std::map<const Node*, size_t> numbers;  // of kernels, by their last node
  for (const lanes::PlanStep& step : plan.steps) {
    if (!step.kernel) {
      const Node& node = *step.node;
      if (node.op == Op::kHloShard) continue;
      --placement.free;
      if (ir::IsCollective(node.op)) {
        CountCollective(node, placement);
        continue;
      }
      if (!lanes::IsControl(node)) {
        CountNode(node, placement);
        continue;
      }
      ++placement.control;
      for (const auto& region : node.regions)
        Count(*region, *plan.regions.at(region.get()), preset, placement);
      continue;
    }
    for (size_t k = 0; k < step.kernels.size(); ++k) {
      const auto& kernel = step.kernels[k];
      if (ir::IsCollective(kernel.back()->op)) {
        --placement.free;
        CountCollective(*kernel.back(), placement);
        continue;
      }
      Measure(kernel, step.kernel->costs[k], preset, placement, numbers);
      bool vector = false;
      for (const Node* node : kernel) {
        // Several kernels may have the same broadcast.
        if (!placed.insert(node).second) continue;
        --placement.free;
        if (node->op == Op::kHloMatrixProduct) {
          Add(*node, placement.array);
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

std::string ListText(const std::map<std::string, int64_t>& operations) {
  std::vector<std::pair<std::string, int64_t>> most(operations.begin(),
                                                    operations.end());
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
                            const lanes::DevicePlan& plan,
                            const Preset& preset) {
  ModulePlacement placement;
  Count(module, plan, preset, placement);
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
    absl::StrAppend(&text, ": ", ListText(placement.host_operations));
  if (placement.calls > 0)
    absl::StrAppend(&text, "; ", Counted(placement.calls, "call"),
                    " of the script");
  const auto exchanges = [&](const PlacementShare& share, const char* way,
                             const std::map<std::string, int64_t>& all) {
    if (share.operations == 0) return;
    absl::StrAppendFormat(&text, "; %s %s (%.3g bytes of each device): %s",
                          Counted(share.operations, "collective"), way,
                          static_cast<double>(share.bytes), ListText(all));
  };
  exchanges(placement.linked, "over the links", placement.linked_operations);
  exchanges(placement.collectives, "through the host's memory",
            placement.collective_operations);
  return text;
}

std::string SlowKernelsText(const ModulePlacement& placement) {
  const auto share = [](const PlacedKernel& kernel) {
    return static_cast<double>(kernel.bound) /
           static_cast<double>(std::max<int64_t>(1, kernel.cycles));
  };
  std::vector<const PlacedKernel*> slow;
  int64_t cycles = 0, all = 0;
  for (const PlacedKernel& kernel : placement.all_kernels) {
    all += kernel.cycles;
    if (share(kernel) >= kReportedShare) continue;
    slow.push_back(&kernel);
    cycles += kernel.cycles;
  }
  if (slow.empty()) return "";
  std::stable_sort(slow.begin(), slow.end(), [](const auto* a, const auto* b) {
    return a->cycles > b->cycles;
  });
  std::string text = absl::StrFormat(
      "%d of %s, with %.0f %% of the expected cycles, reach less than %.0f %% "
      "of what array and memory allow:",
      slow.size(), Counted(placement.all_kernels.size(), "kernel"),
      100.0 * static_cast<double>(cycles) /
          static_cast<double>(std::max<int64_t>(1, all)),
      100 * kReportedShare);
  int64_t rest = 0;
  for (const PlacedKernel* kernel : slow) {
    if (kernel->cycles * kLeastShare < all) {
      ++rest;
      continue;
    }
    absl::StrAppendFormat(&text, "\n  %s: %d cycles, %.1f %% of its bound; ",
                          kernel->name, kernel->cycles, 100 * share(*kernel));
    if (kernel->busy >= 0.5) {
      absl::StrAppendFormat(
          &text, "%s %s busy in %.0f %% of them", kernel->limit,
          kernel->limit.back() == 's' ? "are" : "is", 100 * kernel->busy);
    } else {
      absl::StrAppendFormat(&text,
                            "its steps wait for each other, no unit is busy in "
                            "half of them (most: %s, %.0f %%)",
                            kernel->limit, 100 * kernel->busy);
    }
  }
  if (rest > 0) {
    absl::StrAppendFormat(&text, "\n  and %s of less than %d %% each",
                          Counted(rest, "kernel"), 100 / kLeastShare);
  }
  return text;
}

absl::Status RefuseHost(const std::string& name,
                        const ModulePlacement& placement) {
  if (placement.host.operations == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: %s would run on the host, which is not allowed: %s; "
      "the first is %s",
      name, Counted(placement.host.operations, "operation"),
      ListText(placement.host_operations), placement.first_host));
}

}  // namespace systole::runtime
