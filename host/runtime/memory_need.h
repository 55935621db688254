// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The memory of each device that a compiled hlo module takes, in bytes, as its
// plan says. Values that the host computes take it from the first kernel on
// that reads them.
#ifndef SYSTOLE_HOST_RUNTIME_MEMORY_NEED_H_
#define SYSTOLE_HOST_RUNTIME_MEMORY_NEED_H_

#include <cstdint>

#include "host/compiler/kernels/device_plan.h"
#include "host/ir/module.h"

namespace systole::runtime {

struct MemoryNeed {
  int64_t arguments = 0, results = 0;
  int64_t aliases = 0;  // results in the memory of donated arguments
  // Values that are neither: the most at a time.
  int64_t temporaries = 0;
  // What stays from run to run: descriptors, instructions, constants.
  int64_t code = 0;
  // Arguments, results and temporaries: the most at a time.
  int64_t peak = 0;
};

MemoryNeed MemoryNeedOf(const ir::Module& module,
                        const lanes::DevicePlan& plan);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_MEMORY_NEED_H_
