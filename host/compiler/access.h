// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes of a descriptor. Dependences, costs and reports all use
// these functions, so lowering does not state accesses itself.
#ifndef HOST_COMPILER_ACCESS_H_
#define HOST_COMPILER_ACCESS_H_

#include <cstdint>
#include <vector>

#include "host/kernels/declaration.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

enum class Space : uint8_t { kUb, kAcc, kHbm };

// count[2] x count[1] x count[0] runs of `len` bytes (accumulators: rows),
// `stride` apart. It covers at least what the descriptor touches.
struct Access {
  Space space = Space::kUb;
  bool write = false;
  int64_t base = 0;
  int64_t len = 0;
  int64_t count[3] = {1, 1, 1};
  int64_t stride[3] = {0, 0, 0};

  template <class F>  // f(begin, end)
  void ForEachRun(F f) const {
    for (int64_t k = 0; k < count[2]; ++k) {
      for (int64_t j = 0; j < count[1]; ++j) {
        for (int64_t i = 0; i < count[0]; ++i) {
          const int64_t at =
              base + i * stride[0] + j * stride[1] + k * stride[2];
          f(at, at + len);
        }
      }
    }
  }
  bool Contains(int64_t address) const;
};

// Accesses that a kernel declares for a run.
std::vector<Access> AccessesOf(const std::vector<kernels::Effect>& effects);

isa::Queue QueueOf(const isa::Descriptor& descriptor);
isa::Opcode OpcodeOf(const isa::Descriptor& descriptor);
int TagOf(const isa::Descriptor& descriptor);

// Flags between cores that a descriptor waits for, and that it posts, its own
// core's or another one's, as masks.
uint32_t SharedWaitsOf(const isa::Descriptor& descriptor);
uint32_t SharedPostsOf(const isa::Descriptor& descriptor);

// Empty for a vrun: only the writer of its vector program knows what it
// touches.
std::vector<Access> AccessesOf(const isa::Descriptor& descriptor,
                               const Preset& preset);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_ACCESS_H_
