// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A Verilated DMA unit between models of a source and a target that hold it off
// at random. The source's bytes are a function of the address, so that every
// beat of the target can be checked as it is written.
//
//   auto unit = MakeUnit(Kind::kLoad, "nano", seed);
//   RunResult result = unit->Run(descriptors, traffic);
//
// Run checks the protocol and the beats against the reference and reports
// through GoogleTest.

#ifndef SYSTOLE_TESTS_RTL_DMA_BENCH_H_
#define SYSTOLE_TESTS_RTL_DMA_BENCH_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/rtl/dma/reference.h"

namespace systole::dma_test {

// Chances in 256 a cycle.
struct Traffic {
  int hold_start = 0;   // no descriptor is offered
  int hold_read = 0;    // the source refuses
  int hold_answer = 0;  // the source answers later (never for stores)
  int hold_write = 0;   // the target refuses; weights: the FIFO is not drained
  int latency = 2;      // of the source, at least (2 for stores)
  int64_t fifo = 0;     // beats of the weight FIFO; 0: as the preset says
  bool freeze_on_fault = true;
  int64_t freeze_at = -1;     // cycle, or never
  int64_t limit = 1000000;    // cycles
  bool block_writes = false;  // the target takes nothing at all
  int64_t cut_at = -1;  // no more from that cycle on, whatever is under way
};

struct RunResult {
  int64_t cycles = 0;
  std::vector<int64_t> reads, writes, done;  // cycles
  int64_t most_in_flight = 0;                // beats asked for and not written
  int64_t most_started = 0;                  // descriptors started and not done
  int64_t full = 0;                          // cycles of full_o
  int64_t table_reads = 0;                   // beats
  int faults = 0;
  isa::Fault fault = isa::Fault::kNone;
  uint64_t fault_addr = 0;
  bool fault_newest = false;
};

class Unit {
 public:
  virtual ~Unit() = default;
  virtual const Preset& preset() const = 0;
  virtual Kind kind() const = 0;
  uint64_t hbm_base = 0;  // a multiple of the beat
  uint64_t hbm_limit = uint64_t{1} << 36;

  // Whatever is under way, nothing of it shows from its first edge on.
  virtual void Reset() = 0;

  // Until all is done, or for 60 cycles after a fault or the freeze, or to the
  // limit.
  virtual RunResult Run(const std::vector<isa::Descriptor>& descriptors,
                        const Traffic& traffic) = 0;
};

std::unique_ptr<Unit> MakeUnit(Kind kind, std::string_view preset,
                               uint32_t seed);

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_BENCH_H_
