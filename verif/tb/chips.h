// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The chips of a torus as their host reaches them, wherever they are
// simulated: LocalChips in this process, RemoteChips in processes of their own.
// Either way the chips and the cycles are the same.

#ifndef SYSTOLE_VERIF_TB_CHIPS_H_
#define SYSTOLE_VERIF_TB_CHIPS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/cable.h"
#include "systole/gen/presets.h"
#include "verif/tb/clocked_chip.h"
#include "verif/tb/core_model.h"
#include "verif/tb/memory.h"

namespace systole::tb {

struct ChipsOptions {
  std::string preset = "edge";
  bool checked = false;
  uint64_t seed = 1;
  int stall_rate = 0;  // of the core's streams, the host's AXI channels and a
                       // DRAM's, in 1/256 a cycle
  std::string engine = "verilator", record_file = "";  // see CoreOptions
  // 1 to the number of cores or, with several chips, to the number of chips of
  // a process.
  int threads = 1;
  bool alone = false;  // see CoreOptions
  // More than one chip requires a preset with links. The host finds the links
  // in reset.
  int columns = 1, rows = 1;
  std::vector<Cable> cables;  // empty: those of the torus, chips row by row
  int wire_cycles = 8;        // from a chip to its neighbour
  int wire_errors = 0;        // bits that flip on the way, in 1/2^20
  // That simulate the chips of a torus, over MPI, 1 to the number of chips; 0:
  // this process does.
  int processes = 0;

  int chips() const { return columns * rows; }
  // The chips of process `rank` are those from FirstChip(rank) to
  // FirstChip(rank + 1) - 1.
  int FirstChip(int rank) const { return chips() * rank / processes; }
};

// What the host asks of a chip, one at a time.
struct ChipRequest {
  enum class Kind : uint8_t { kRegister, kMemory, kInterrupt };
  Kind kind = Kind::kRegister;
  bool write = false;
  int chip = 0;
  int core = 0;  // interrupt: of which core
  uint64_t addr = 0;
  // Register: 4. Interrupt: the most cycles to wait; 0: any.
  uint64_t bytes = 0;
  uint8_t* data = nullptr;
};

// kRefused: the chip answered with an error. kNoInterrupt: in that many cycles.
// kFailed: an assertion of the design has failed, in some chip.
enum class Outcome : uint8_t { kDone, kRefused, kNoInterrupt, kFailed };

class Chips {
 public:
  virtual ~Chips() = default;

  // Runs all chips until the request is answered. An error is of the processes
  // that simulate; it is that of all later calls, too.
  virtual absl::StatusOr<Outcome> Serve(const ChipRequest& request) = 0;
  virtual ObservedCore& core(int chip) = 0;
  // hbm::Device::Flip of a core's HBM; kUnimplemented without HBM.
  virtual absl::Status Flip(int chip, int core, uint64_t addr, int bit) = 0;
  // Verdict of the memory model (MemoryModel::Check).
  virtual absl::Status CheckMemory(int chip) = 0;
  // As of ClockedChip::RecordLayer.
  virtual absl::Status RecordLayer(int chip, const LayerPlan& plan) = 0;
  // As of Simulation::SetCallbacks.
  virtual void SetCallbacks(int chip, int core, ClockedChip::OnRetire on_retire,
                            std::function<void(uint64_t)> on_progress) = 0;
  // CPU time of other processes until the last call returned.
  virtual double cpu_seconds() const { return 0; }
};

// A chip of a simulation, and its memory.
struct BuiltChip {
  std::unique_ptr<MemoryModel> memory;
  std::unique_ptr<ClockedChip> chip;
};
absl::StatusOr<BuiltChip> BuildChip(const ChipsOptions& options,
                                    const Preset& preset, int chip);

absl::Status FlipBit(MemoryModel& memory, int core, uint64_t addr, int bit);

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CHIPS_H_
