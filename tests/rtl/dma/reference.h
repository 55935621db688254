// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the DMA units must do with a list of descriptors, beat by beat, written
// from docs/isa.md and docs/dma.md.

#ifndef SYSTOLE_TESTS_RTL_DMA_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_DMA_REFERENCE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::dma_test {

enum class Kind { kLoad = 0, kStore = 1, kWeights = 2 };

struct Beat {
  uint64_t source = 0, target = 0;  // byte addresses; weights have no target
  int64_t bytes = 0;                // written, from the first on
  bool last = false;                // of the descriptor
};

struct Expected {
  std::vector<Beat> beats;      // before the fault, if there is one
  std::vector<int64_t> begins;  // first beat of each descriptor
  int64_t complete = 0;         // descriptors before the fault
  isa::Fault fault = isa::Fault::kNone;
  uint64_t fault_addr = 0;
};

// The numbers in the unified buffer at this address: one in 64 is anything,
// the others are small.
uint32_t EntryAt(uint64_t ub_address);

Expected Reference(Kind kind, const Preset& preset, uint64_t hbm_limit,
                   const std::vector<isa::Descriptor>& descriptors,
                   uint64_t hbm_base = 0);

// A descriptor that does not fault. Strides are anything from 0 (or below the
// run) to what the memories hold. In bf16 cores one in three is indexed.
isa::Descriptor RandomDescriptor(Kind kind, const Preset& preset,
                                 uint64_t hbm_limit, std::mt19937* random);

// One that does, in a random way.
isa::Descriptor FaultyDescriptor(Kind kind, const Preset& preset,
                                 uint64_t hbm_limit, std::mt19937* random);

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_REFERENCE_H_
