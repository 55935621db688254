// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Passes of the array that start from what an earlier pass has left.
#ifndef SYSTOLE_HOST_COMPILER_SUM_CHAINS_H_
#define SYSTOLE_HOST_COMPILER_SUM_CHAINS_H_

#include <vector>

#include "host/compiler/sequence.h"

namespace systole::compiler {

// Of each step of a bf16 core: the step whose sums it starts from, the latest
// one with the same accumulators; or -1.
std::vector<int> SumChains(const std::vector<Step>& steps);

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_SUM_CHAINS_H_
