// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Describes the compiler's decisions in readable text.
#ifndef HOST_COMPILER_DESCRIBE_H_
#define HOST_COMPILER_DESCRIBE_H_

#include <string>

#include "host/compiler/plan.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// "5 blocks of up to 8x48 positions, 3 column tiles of 9 passes; input whole,
// output resident".
std::string DescribeTiling(const PlanLayer& plan, const Preset& preset,
                           bool matmul);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_DESCRIBE_H_
