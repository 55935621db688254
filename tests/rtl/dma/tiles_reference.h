// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the weight loader of a bf16 preset must bring to the FIFO, from
// docs/isa.md.

#ifndef SYSTOLE_TESTS_RTL_DMA_TILES_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_DMA_TILES_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::dma_test {

struct TilesBeat {
  std::vector<uint8_t> bytes;
  bool transpose = false, last = false;  // last of its descriptor
};

struct TilesExpected {
  std::vector<TilesBeat> beats;
  size_t complete = 0;  // descriptors
  isa::Fault fault = isa::Fault::kNone;
  uint64_t fault_addr = 0;
};

// Bytes of the two memories by address.
uint8_t HbmByte(uint64_t a);
uint8_t UbByte(uint64_t a);

// `weights` and `tiles` in any order.
TilesExpected TilesReference(const Preset& preset, uint64_t hbm_limit,
                             const std::vector<isa::Descriptor>& list);

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_TILES_REFERENCE_H_
