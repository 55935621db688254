// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the send unit must do with a list of descriptors, byte by byte, written
// from docs/isa.md and docs/reference/isa.md.

#ifndef SYSTOLE_TESTS_RTL_DMA_SEND_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_DMA_SEND_REFERENCE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::dma_test {

struct SendWorld {
  const Preset* preset = nullptr;
  int columns = 2, rows = 2;                   // of the torus
  uint64_t base = 0, end = uint64_t{1} << 24;  // of accesses at destinations
};

// A byte that arrives, or a post. Addresses in bytes.
struct Sent {
  bool post = false;
  int x = 0, y = 0, core = 0, tie = 0;  // destination, and way
  uint64_t address = 0;  // at the destination; post: number of the flag
  uint64_t source = 0;   // in the unified buffer
  bool run_end = false;  // the last byte of its run
  bool last = false;     // the last of its descriptor
};

struct SendExpected {
  std::vector<Sent> sent;  // of the runs before the fault, if there is one
  int64_t complete = 0;    // descriptors before the fault
  isa::Fault fault = isa::Fault::kNone;
  uint64_t fault_addr = 0;
};

SendExpected SendReference(const SendWorld& world,
                           const std::vector<isa::Descriptor>& descriptors);

// A descriptor that does not fault, one in five of them without data.
isa::Send RandomSend(const SendWorld& world, std::mt19937* random);

// One that does, in a random way.
isa::Send FaultySend(const SendWorld& world, std::mt19937* random);

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_SEND_REFERENCE_H_
