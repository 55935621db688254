// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_RUNTIME_COUNT_EXCHANGES_H_
#define SYSTOLE_HOST_RUNTIME_COUNT_EXCHANGES_H_

#include "host/ir/module.h"
#include "host/runtime/placement.h"
#include "host/runtime/rendezvous.h"

namespace systole::runtime {

// Which of the collectives a board's cores do themselves, if there is a board
// and every process is on the device of its number. A group of one has nothing
// to exchange.
// All are counted as the host's before.
void CountExchanges(const ir::Module& module, const CollectiveGroups& groups,
                    const Preset& preset, bool links,
                    ModulePlacement& placement);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COUNT_EXCHANGES_H_
