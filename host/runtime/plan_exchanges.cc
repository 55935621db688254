// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/plan_exchanges.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "host/compiler/kernels/counted_loop.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/runtime/link_collectives.h"

namespace systole::runtime {

namespace {

// Of an exchange: each is a descriptor, or several, of a program.
constexpr size_t kMostTransfers = 512;

// Whether the turns of a loop are the same for all processes.
bool TurnsAreKnown(const ir::Node& node) {
  if (node.op != ir::Op::kHloWhile) return false;
  const auto loop = lanes::CountedLoopOf(node);
  return loop && node.operands[loop->counter].node->is_constant() &&
         (loop->bound < 0 || node.operands[loop->bound].node->is_constant());
}

}  // namespace

void PlanExchanges::Find(const ir::Module& module, bool together) {
  for (const auto& node : module.nodes()) {
    if (ir::IsCollective(node->op) && GroupsFit(*node, together))
      nodes_.insert(node.get());
    if (!lanes::IsControl(*node)) continue;
    for (const auto& region : node->regions)
      Find(*region, together && TurnsAreKnown(*node));
  }
}

bool PlanExchanges::GroupsFit(const ir::Node& node, bool together) const {
  if (node.attr<ir::HloCollectiveAttributes>().parts_stay) return false;
  const size_t size = groups_.Of(node, 0).all->size();
  if (!together && static_cast<int>(size) != processes_) return false;
  if (node.op == ir::Op::kHloCollectivePermute)
    return processes_ >= 2 && processes_ <= kMostLinkMembers;
  if (size < 2 || size > kMostLinkMembers) return false;
  for (int process = 1; process < processes_; ++process)
    if (groups_.Of(node, process).all->size() != size) return false;
  return true;
}

std::optional<lanes::Exchanges::Member> PlanExchanges::Of(const ir::Node& node,
                                                          int process) const {
  if (nodes_.count(&node) == 0) return std::nullopt;
  const CollectiveGroups::Membership own = groups_.Of(node, process);
  std::vector<int> group(own.all->begin(), own.all->end());
  std::vector<int> sources = *own.sources;
  Member member;
  member.position = own.position;
  if (node.op == ir::Op::kHloCollectivePermute) {
    // All processes are one group, whatever the pairs connect.
    group.resize(processes_);
    std::iota(group.begin(), group.end(), 0);
    sources = SourcesOf(node);
    member.position = process;
  }
  std::vector<LinkCollective> all =
      LinkCollectivesOf(node, static_cast<int>(group.size()), sources, preset_);
  if (all.size() != 1) return std::nullopt;
  member.spec = std::move(all[0].spec);
  if (auto* exchange = std::get_if<compiler::ExchangeSpec>(&member.spec)) {
    // Others are exchanged straight.
    if (!compiler::CheckLevels(group, preset_).ok() ||
        exchange->transfers.size() > kMostTransfers)
      return std::nullopt;
    for (size_t p = 0; p < sources.size(); ++p)
      if (sources[p] < 0) exchange->zeros.push_back(static_cast<int>(p));
  }
  compiler::SetGroup(member.spec, std::move(group), 1);
  member.out_bytes = std::move(all[0].out_bytes);
  member.part_bytes = std::move(all[0].part_bytes);
  return member;
}

std::vector<int> PlanExchanges::SourcesOf(const ir::Node& node) const {
  std::vector<int> sources;
  for (int process = 0; process < processes_; ++process) {
    const CollectiveGroups::Membership own = groups_.Of(node, process);
    const int source = (*own.sources)[own.position];
    sources.push_back(source < 0 ? -1 : (*own.all)[source]);
  }
  return sources;
}

bool PlanExchanges::HasAny() const {
  return std::any_of(
      nodes_.begin(), nodes_.end(),
      [this](const ir::Node* node) { return Of(*node, 0).has_value(); });
}

absl::StatusOr<ExchangingPrograms::Program> ExchangingPrograms::Of(
    const lanes::ExchangingProgram& program, int process,
    const std::vector<int>& cores, int columns) {
  const Key key{&program, process, cores, columns};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
  }
  absl::StatusOr<lanes::KernelProgram> made =
      program.For(process, cores, columns);
  if (!made.ok()) return made.status();
  const std::lock_guard<std::mutex> lock(mutex_);
  return made_[key] =
             std::make_shared<const lanes::KernelProgram>(*std::move(made));
}

}  // namespace systole::runtime
