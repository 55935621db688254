// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A vector unit, of the int8 or of the bf16 cores, as its tests see it: runs
// descriptors between models of the unified buffer and the accumulators.

#ifndef SYSTOLE_TESTS_RTL_VECTOR_UNIT_H_
#define SYSTOLE_TESTS_RTL_VECTOR_UNIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::vector_unit {

// Chance in 256 that a port refuses in a cycle, or that no descriptor is
// offered.
struct Stalls {
  int read = 0, write = 0, acc = 0, start = 0;
};

struct RunResult {
  int64_t cycles = 0;         // to the last completion, the fault or the limit
  std::vector<int64_t> done;  // cycle of each completion
  std::vector<int64_t> written;  // writes accepted before each completion
  isa::Fault fault = isa::Fault::kNone;
  int64_t fault_addr = 0;
  bool fault_newest = false;
  int faults = 0;
  // Cycles of the transfers.
  std::vector<int64_t> reads[2], writes, acc_reads;
  std::vector<uint32_t> write_addresses;
  int64_t stall_cycles = 0;
  int64_t last_progress = -1;  // cycle
  std::vector<std::string> protocol_errors;
};

template <typename Memories, typename Result>
class Unit {
 public:
  virtual ~Unit() = default;
  virtual const Preset& preset() const = 0;
  virtual Memories& memories() = 0;

  // Resets the unit, but not the memories. Whatever is under way, nothing of it
  // shows from the first edge on.
  virtual void Reset() = 0;

  // So many cycles without a descriptor.
  virtual void Idle(int64_t cycles) = 0;

  // Runs until all descriptors are complete or one faults, then `extra` more
  // cycles; or to the limit. freeze_at >= 0: freeze from that cycle on, until
  // the limit.
  virtual Result Run(const std::vector<isa::Descriptor>& descriptors,
                     const Stalls& stalls, int64_t limit = 2'000'000,
                     int64_t freeze_at = -1, int64_t extra = 40) = 0;
};

}  // namespace systole::vector_unit

#endif  // SYSTOLE_TESTS_RTL_VECTOR_UNIT_H_
