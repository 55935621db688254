// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Verilated vector unit with models of its ports: a unified buffer and
// accumulators that refuse at random, answer two cycles after the transfer and
// put random data everywhere else.
//
//   auto unit = MakeUnit("mini", seed);
//   unit->memories() = ...;
//   RunResult result = unit->Run(descriptors, stalls);

#ifndef SYSTOLE_TESTS_RTL_VPU_BENCH_H_
#define SYSTOLE_TESTS_RTL_VPU_BENCH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::vpu_test {

inline constexpr int kUnits = 6;  // loads 0, 1, ALUs 0, 1, cross unit, store

struct Memories {
  std::vector<uint8_t> ub;
  std::vector<uint32_t> acc;  // [rows][Cols]
};

// Chance in 256 that a port refuses in a cycle, or that no descriptor is
// offered.
struct Stalls {
  int read = 0, write = 0, acc = 0, start = 0;
};

struct RunResult {
  int64_t cycles = 0;         // to the last completion, the fault or the limit
  std::vector<int64_t> done;  // cycle of each completion
  isa::Fault fault = isa::Fault::kNone;
  int64_t fault_addr = 0;
  bool fault_newest = false;
  int faults = 0;
  // Cycles of the transfers.
  std::vector<int64_t> reads[2], writes, acc_reads;
  std::vector<uint32_t> write_addresses;
  std::array<int64_t, kUnits> busy{};  // rows that a unit started
  int64_t nan = 0, inf = 0;            // elements among what was stored
  int64_t stall_cycles = 0, progress_cycles = 0;
  int64_t two_word_reads = 0;  // windows that need their second word
  std::vector<std::string> protocol_errors;
};

class Unit {
 public:
  virtual ~Unit() = default;
  virtual const Preset& preset() const = 0;
  virtual Memories& memories() = 0;

  // Resets the unit, but not the memories.
  virtual void Reset() = 0;

  // Runs until all descriptors are complete or one faults, then `extra` more
  // cycles. freeze_at >= 0: freeze from that cycle on, until the limit.
  virtual RunResult Run(const std::vector<isa::Descriptor>& descriptors,
                        const Stalls& stalls, int64_t limit = 2'000'000,
                        int64_t freeze_at = -1, int64_t extra = 40) = 0;

  // So many cycles without a descriptor.
  virtual void Idle(int64_t cycles) = 0;
};

std::unique_ptr<Unit> MakeUnit(std::string_view preset, uint32_t seed);

}  // namespace systole::vpu_test

#endif  // SYSTOLE_TESTS_RTL_VPU_BENCH_H_
