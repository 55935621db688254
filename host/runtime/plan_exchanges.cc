// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/plan_exchanges.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "host/runtime/link_collectives.h"

namespace systole::runtime {

std::optional<lanes::Exchanges::Member> PlanExchanges::Of(const ir::Node& node,
                                                          int process) const {
  if (node.attr<ir::HloCollectiveAttributes>().parts_stay) return std::nullopt;
  const CollectiveGroups::Membership own = groups_.Of(node, process);
  if (static_cast<int>(own.all->size()) != processes_ || processes_ < 2)
    return std::nullopt;
  std::vector<LinkCollective> all =
      LinkCollectivesOf(node, processes_, *own.sources, preset_);
  if (all.size() != 1 ||
      !std::holds_alternative<compiler::AllReduceSpec>(all[0].spec))
    return std::nullopt;
  Member member;
  member.spec = std::get<compiler::AllReduceSpec>(std::move(all[0].spec));
  member.spec.group.assign(own.all->begin(), own.all->end());
  member.position = own.position;
  member.out_bytes = std::move(all[0].out_bytes);
  member.part_bytes = std::move(all[0].part_bytes);
  return member;
}

bool PlanExchanges::HasAny(const ir::Module& module) const {
  return std::any_of(module.nodes().begin(), module.nodes().end(),
                     [this](const auto& node) {
                       return ir::IsCollective(node->op) && Of(*node, 0);
                     });
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
