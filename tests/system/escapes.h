// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The ways out of a context's memory, each with the fault that it must end in.

#ifndef SYSTOLE_TESTS_SYSTEM_ESCAPES_H_
#define SYSTOLE_TESTS_SYSTEM_ESCAPES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/scalar/command_queue.h"
#include "systole/gen/isa.h"

namespace systole {

// kEnd is the end of the second context, which is the test's: another one's
// memory lies below it, the host's own above.
inline constexpr uint64_t kBytes = 0x20000, kFirst = 0x100000,
                          kSecond = kFirst + kBytes, kEnd = kSecond + kBytes;
inline constexpr uint64_t kProgram = kSecond + 0x1000;
inline constexpr uint32_t kLine = 256;

struct Escape {
  const char* name;
  std::vector<isa::Descriptor> program;  // at kProgram
  isa::Fault cause;
  uint32_t queue, index;
  uint64_t address;
  // What is different of the launch.
  std::function<void(scalar::Launch*)> launch = nullptr;
};

// `memory`: of a core; `rings`: where the firmware's own memory begins.
std::vector<Escape> Escapes(uint64_t memory, uint64_t rings);

}  // namespace systole

#endif  // SYSTOLE_TESTS_SYSTEM_ESCAPES_H_
