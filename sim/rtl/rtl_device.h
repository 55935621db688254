// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Driver backend "rtl": one core of a chip. It reaches registers and HBM
// through the pins of the Verilated chip in its SystemC test bench. replay.cc
// replays programs; firmware.cc runs programs through a scalar unit's firmware.

#ifndef SYSTOLE_SIM_RTL_RTL_DEVICE_H_
#define SYSTOLE_SIM_RTL_RTL_DEVICE_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/scalar/command_queue.h"
#include "sim/rtl/environment.h"
#include "sim/rtl/machine.h"
#include "sim/rtl/scalar_port.h"
#include "sim/rtl/snapshot.h"
#include "sim/rtl/tracer.h"
#include "systole/device.h"
#include "verif/tb/core_port.h"

namespace systole {

class RtlDevice : public Device, public Simulator {
 public:
  // number: of the core, as Device::OpenCores returns them.
  RtlDevice(const DeviceOptions& options, const Environment& environment,
            std::shared_ptr<Machine> machine, int number);
  ~RtlDevice() override;

  // Once, behind the links' start.
  absl::Status Identify();
  // Call Configure on all cores of a chip, then Ready on each: the cores boot
  // in parallel. `firmware`: of a scalar unit, instead of the built-in one; may
  // be empty.
  absl::Status Configure(const std::vector<uint32_t>& firmware);
  absl::Status Ready();
  // A scalar unit, whatever it does, is held in reset until Configure.
  absl::Status TakeFromFirmware();
  absl::Status SoftReset();
  absl::Status AwaitReset();  // of one that has begun

  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override;
  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override;
  absl::Status Start(const Program& program) override;
  absl::StatusOr<RunStats> Wait() override;
  absl::Status Reset(ResetScope scope) override;

  absl::Status Flip(const BitFlip& flip) override;
  absl::StatusOr<std::vector<LinkInfo>> Links() override {
    return machine_->LinksOf(chip());
  }
  absl::StatusOr<Waveform> Replay(const TraceOptions& trace) override;
  absl::StatusOr<Waveform> ReplayAround(int run, uint64_t cycle,
                                        const std::string& what) override;

 private:
  // A snapshot of a program's start, and the result of the program.
  struct Kept {
    int run = 0;
    std::unique_ptr<Snapshot> snapshot;
    std::vector<Retire> retires;
    std::string end;  // as DescribeEnd returns it
    uint64_t cycles = 0;
  };

  absl::Status CheckRange(uint64_t addr, size_t bytes) const;
  absl::StatusOr<uint64_t> Read64(uint32_t offset);
  absl::Status WaitOrStop(RunStats& stats);
  // Whether the program still runs after an interrupt. If so, the interrupt is
  // cleared.
  absl::StatusOr<bool> StillRuns();
  absl::StatusOr<RunStats> Finish(const Program& program, absl::Status status,
                                  RunStats stats);
  absl::StatusOr<CounterSample> ReadSample();
  absl::StatusOr<EccCounts> ReadEcc();
  absl::Status ReadState();
  absl::Status FailedStatus(const Program& program) const;
  uint64_t now() const { return sim_.core().cycles() - start_cycle_; }

  // firmware.cc: chips with a scalar unit.
  absl::Status BeginBoot(const std::vector<uint32_t>& firmware);
  // A failure of the firmware, with its file and its trace log.
  absl::Status WithLog(const absl::Status& status);
  absl::Status Launch(const Program& program);
  absl::Status ReadCompletion();
  absl::Status CancelLaunch();

  // replay.cc
  absl::Status KeepStart(const Program& program);
  void KeepEnd();
  void ReplayFailure();
  std::string RunAgain(const Program& program, const std::string& order);
  std::string DescribeEnd() const;

  DeviceOptions options_;
  std::shared_ptr<Machine> machine_;
  int number_;
  std::string folder_;    // for waveforms of replays
  bool written_ = false;  // the host has written since the last bit flip
  // Its run counts the programs of the process.
  std::optional<TraceOptions> process_trace_;
  tb::CorePort sim_;
  // Only for chips with a scalar unit: port_, queue_.
  std::unique_ptr<ScalarPort> port_;
  std::unique_ptr<scalar::CommandQueue> queue_;
  uint32_t launched_ = 0;  // tag of the running launch; 0: none
  // SMEM errors, from the last completion: number corrected since boot, address
  // of the last one, and how many of them ReadEcc has reported.
  uint32_t smem_corrected_ = 0, smem_last_ = 0, smem_told_ = 0;
  uint64_t start_cycle_ = 0;
  double start_cpu_ = 0;
  std::vector<Retire> retires_;
  std::optional<Tracer> tracer_;
  std::deque<Kept> kept_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_RTL_DEVICE_H_
