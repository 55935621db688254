// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/count_exchanges.h"

#include <string>

#include "host/runtime/link_collectives.h"

namespace systole::runtime {

void CountExchanges(const ir::Module& module, const CollectiveGroups& groups,
                    const Preset& preset, bool links,
                    ModulePlacement& placement) {
  for (const auto& node : module.nodes()) {
    for (const auto& region : node->regions)
      CountExchanges(*region, groups, preset, links, placement);
    if (!ir::IsCollective(node->op)) continue;
    const CollectiveGroups::Membership member = groups.Of(*node, 0);
    int64_t bytes = 0;
    for (const ir::Value& operand : node->operands)
      bytes += operand.type().bytes();
    const auto members = static_cast<int>(member.all->size());
    const bool alone =
        members < 2 || node->attr<ir::HloCollectiveAttributes>().parts_stay;
    if (!alone &&
        (!links ||
         LinkCollectivesOf(*node, members, *member.sources, preset).empty()))
      continue;
    PlacementShare& host = placement.collectives;
    --host.operations, host.bytes -= bytes;
    const std::string name = ir::OpName(node->op);
    if (alone) {
      ++placement.free;
    } else {
      ++placement.linked.operations, placement.linked.bytes += bytes;
      ++placement.linked_operations[name];
    }
    if (--placement.collective_operations[name] == 0)
      placement.collective_operations.erase(name);
  }
}

}  // namespace systole::runtime
