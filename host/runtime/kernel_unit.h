// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a kernel is of, for reports.
#ifndef SYSTOLE_HOST_RUNTIME_KERNEL_UNIT_H_
#define SYSTOLE_HOST_RUNTIME_KERNEL_UNIT_H_

#include <string>
#include <vector>

#include "host/ir/module.h"

namespace systole::runtime {

using Nodes = std::vector<const ir::Node*>;

// The product of matrices of a kernel, or null.
const ir::Node* ProductOf(const Nodes& nodes);

// "array" and what a kernel of the vector unit computes: "exponential, add x 3,
// 2 others".
std::string UnitOf(const Nodes& nodes);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_KERNEL_UNIT_H_
