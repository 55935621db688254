// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the operations of a program say about the range of their results.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_KNOWN_RANGE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_KNOWN_RANGE_H_

#include "host/ir/module.h"

namespace systole::lanes {

// Whether the node subtracts from each element the largest one of its line, or
// something larger, as a softmax does before its exponential: no result is
// above 0. NaN may be.
bool SubtractsLargest(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_KNOWN_RANGE_H_
