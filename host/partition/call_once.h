// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PARTITION_CALL_ONCE_H_
#define SYSTOLE_HOST_PARTITION_CALL_ONCE_H_

#include <vector>

#include "host/partition/scope.h"

namespace systole::partition {

// A call of the script that one device does for all.
bool IsCalledOnce(const ir::Node& node);

// The first device calls, with the whole values, and the others get the results
// from it.
std::vector<Tiles> CallOnce(const ir::Node& node,
                            const std::vector<ir::Value>& operands,
                            Numbers& numbers, Scope& scope);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_CALL_ONCE_H_
