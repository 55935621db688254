// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A SystemC simulation of one chip that plain C++ can call. It is elaborated
// once, and each request advances it until the request is answered. Every
// Simulation has its own simulation context, so a program may hold several, one
// after the other or at the same time. Threads take turns, one request at a
// time.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/presets.h"
#include "verif/tb/core_model.h"
#include "verif/tb/memory.h"

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
    int threads = 1;     // 1 to the number of cores
    bool alone = false;  // see CoreOptions
  };
  static absl::StatusOr<std::unique_ptr<Simulation>> Create(
      const Options& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Each request fails with kInternal from the cycle on in which an assertion
  // of the design failed (CoreModel::failed).
  //
  // The requests go through the AXI4-Lite and AXI4 pins; in a chip with two
  // cores they use the host's address maps (docs/chip.md). kOutOfRange when the
  // chip answers with an error.
  absl::StatusOr<uint32_t> ReadRegister(uint32_t offset);
  absl::Status WriteRegister(uint32_t offset, uint32_t value);
  absl::Status ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes);
  absl::Status WriteMemory(uint64_t addr, absl::Span<const uint8_t> bytes);
  // Waits until the core's interrupt line is high. kDeadlineExceeded after
  // max_cycles (0: no limit).
  absl::Status WaitInterrupt(uint64_t max_cycles, int core = 0);

  const Preset& preset() const { return *preset_; }
  MemoryModel& memory() { return *memory_; }
  CoreModel& core();
  void SetCallbacks(
      std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
      std::function<void(uint64_t cycle)> on_progress, int core = 0);
  // Verdict of the memory model (MemoryModel::Check).
  absl::Status CheckMemory() const { return memory_->Check(); }

 private:
  class Bench;
  struct Context;
  Simulation(const Preset* preset, std::unique_ptr<MemoryModel> memory);
  absl::Status Transport(bool registers, bool write, uint64_t addr,
                         uint8_t* data, uint64_t bytes);
  absl::Status Failed();

  const Preset* preset_;
  std::unique_ptr<MemoryModel> memory_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_SIMULATION_H_
