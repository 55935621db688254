// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A simulation of a chip (in SystemC), or of the chips of a torus (Chips), that
// plain C++ can call. Each request advances it until the request is answered.
// A program may have several simulations, one after the other or at the same
// time. Threads take turns, one request at a time.
//
//   auto sim = Simulation::Create({.preset = "edge"});
//   (*sim)->WriteRegister(csr::kProgLen, 12);
//   (*sim)->WaitInterrupt(0);

#ifndef SYSTOLE_VERIF_TB_SIMULATION_H_
#define SYSTOLE_VERIF_TB_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/presets.h"
#include "verif/tb/chips.h"
#include "verif/tb/core_model.h"
#include "verif/tb/memory.h"

namespace systole::tb {

// Size of a core's register block.
inline constexpr uint32_t kRegisterBlockBytes = 4096;

class Simulation {
 public:
  using Options = ChipsOptions;
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
  // Only of one chip.
  MemoryModel& memory();
  ObservedCore& core(int chip = 0);
  // Flips a bit of a core's HBM (hbm::Device::Flip); kUnimplemented without
  // HBM.
  absl::Status Flip(uint64_t addr, int bit, int core = 0, int chip = 0);
  // Of the chip's open trace (ClockedChip::RecordLayer).
  absl::Status RecordLayer(const LayerPlan& plan, int chip = 0);
  void SetCallbacks(
      std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
      std::function<void(uint64_t cycle)> on_progress, int core = 0,
      int chip = 0);
  // Verdict of the memory model (MemoryModel::Check).
  absl::Status CheckMemory(int chip = 0);
  // CPU time of other processes that simulate.
  double other_cpu_seconds() const;

 private:
  class Bench;
  struct Context;
  Simulation(const Preset* preset, const Options& options);
  static absl::Status CheckOptions(const Options& options,
                                   const Preset& preset);
  absl::StatusOr<Outcome> Serve(const ChipRequest& request);
  absl::Status Transport(const ChipRequest& request);
  absl::Status Failed();

  const Preset* preset_;
  int columns_, rows_;
  std::unique_ptr<Chips> chips_;      // several chips
  std::unique_ptr<Context> context_;  // one chip
  std::unique_ptr<Bench> bench_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_SIMULATION_H_
