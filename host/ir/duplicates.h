// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_DUPLICATES_H_
#define SYSTOLE_HOST_IR_DUPLICATES_H_

#include "host/ir/module.h"

namespace systole::ir {

// Whether the node computes the same whenever its operands are the same, and
// has no other effect. Large constants are not worth a comparison and are not.
bool IsRepeatable(const Node& node);

// Lets nodes that compute the same from the same operands be one: the first of
// them. Nodes that have an effect, exchange data with other devices, or make
// random numbers stay, and so do barriers, with what is behind them. Returns
// the number of nodes that are gone.
int RemoveDuplicates(Module& module);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_DUPLICATES_H_
