// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PARTITION_SUM_SINKING_H_
#define SYSTOLE_HOST_PARTITION_SUM_SINKING_H_

#include <set>
#include <string>

#include "host/ir/module.h"

namespace systole::partition {

// Puts sums over devices behind transposes and reshapes that alone read them:
// what reads the sum then takes it as the devices have added it, part by part
// if that is all it needs. `sums`: names of all_reduces.
void SinkSums(ir::Module& module, const std::set<std::string>& sums);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_SUM_SINKING_H_
