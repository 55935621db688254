// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A SystemC simulation of a chip, or of the chips of a torus, that plain C++
// can call. It is elaborated once, and each request advances it until the
// request is answered. Every Simulation has its own simulation context, so a
// program may have several, one after the other or at the same time. Threads
// take turns, one request at a time.
//
//   auto sim = Simulation::Create({.preset = "edge"});
//   (*sim)->WriteRegister(csr::kProgLen, 12);
//   (*sim)->WaitInterrupt(0);

#ifndef SYSTOLE_VERIF_TB_SIMULATION_H_
#define SYSTOLE_VERIF_TB_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/presets.h"
#include "verif/tb/core_model.h"
#include "verif/tb/memory.h"
#include "verif/tb/wires.h"

namespace systole::tb {

// Size of a core's register block.
inline constexpr uint32_t kRegisterBlockBytes = 4096;

class Simulation {
 public:
  struct Options {
    std::string preset = "edge";
    bool checked = false;
    uint64_t seed = 1;
    int stall_rate = 0;  // of the core's streams, the host's AXI channels and a
                         // DRAM's, in 1/256 a cycle
    std::string engine = "verilator", record_file = "";  // see CoreOptions
    // 1 to the number of cores or, with several chips, to the number of chips.
    int threads = 1;
    bool alone = false;  // see CoreOptions
    // More than one chip requires a preset with links. The host finds the links
    // in reset.
    int columns = 1, rows = 1;
    int wire_cycles = 8;  // from a chip to its neighbour
    int wire_errors = 0;  // bits that flip on the way, in 1/2^20
  };
  static absl::StatusOr<std::unique_ptr<Simulation>> Create(
      const Options& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // If an assertion of the design has failed (CoreModel::failed), each request
  // fails with kInternal from that cycle on.
  //
  // The requests go through the AXI4-Lite and AXI4 pins. In a chip with two
  // cores they use the host's address maps (docs/chip.md). kOutOfRange if the
  // chip answers with an error. Chips are numbered row by row.
  absl::StatusOr<uint32_t> ReadRegister(uint32_t offset, int chip = 0);
  absl::Status WriteRegister(uint32_t offset, uint32_t value, int chip = 0);
  absl::Status ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes,
                          int chip = 0);
  absl::Status WriteMemory(uint64_t addr, absl::Span<const uint8_t> bytes,
                           int chip = 0);
  // Waits until the core's interrupt line is high. kDeadlineExceeded after
  // max_cycles (0: no limit).
  absl::Status WaitInterrupt(uint64_t max_cycles, int core = 0, int chip = 0);

  const Preset& preset() const { return *preset_; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  MemoryModel& memory(int chip = 0) { return *memories_[chip]; }
  CoreModel& core(int chip = 0);
  void SetCallbacks(
      std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
      std::function<void(uint64_t cycle)> on_progress, int core = 0,
      int chip = 0);
  // Verdict of the memory model (MemoryModel::Check).
  absl::Status CheckMemory(int chip = 0) const {
    return memories_[chip]->Check();
  }

 private:
  class Bench;
  struct Context;
  Simulation(const Preset* preset, const Options& options,
             std::vector<std::unique_ptr<MemoryModel>> memories);
  absl::Status Transport(int chip, bool registers, bool write, uint64_t addr,
                         uint8_t* data, uint64_t bytes);
  // The chip with a failed assertion, or -1.
  int FailedChip();
  absl::Status Failed();

  const Preset* preset_;
  int columns_, rows_;
  std::vector<std::unique_ptr<MemoryModel>> memories_;  // one per chip
  std::unique_ptr<Context> context_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_SIMULATION_H_
