// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Driver backend "iss". Counters that depend on timing stay 0; descriptors
// retire in program order at cycle 0.
#ifndef SYSTOLE_SIM_ISS_ISS_DEVICE_H_
#define SYSTOLE_SIM_ISS_ISS_DEVICE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/iss/iss.h"
#include "systole/device.h"

namespace systole::iss {

class IssDevice : public Device, public Simulator {
 public:
  // chip: by place in the torus.
  explicit IssDevice(const DeviceOptions& options, int chip = 0);
  // Adds the second core of the chip.
  void Join(IssDevice* second);
  // The cores of all chips of a device, row by row of its torus.
  static void Connect(int columns, int rows,
                      const std::vector<IssDevice*>& cores);
  // Owns a core that it is joined with.
  void Keep(std::unique_ptr<IssDevice> core) {
    kept_.push_back(std::move(core));
  }

  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override;
  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override;
  absl::Status Start(const Program& program) override;
  // With check_races it can also return kFailedPrecondition with all violations
  // of the program rules; the program has still run to its end.
  absl::StatusOr<RunStats> Wait() override;
  absl::Status Reset(ResetScope scope) override;

  absl::Status Flip(const BitFlip& flip) override;
  absl::StatusOr<std::vector<LinkInfo>> Links() override;
  absl::StatusOr<Waveform> Replay(const TraceOptions& trace) override;
  absl::StatusOr<Waveform> ReplayAround(int run, uint64_t cycle,
                                        const std::string& what) override;

  // For tests: the whole state, and the result of the race check.
  Iss& iss() { return iss_; }

 private:
  absl::Status CheckRange(uint64_t addr, size_t bytes) const;
  // Call after an access by the host.
  absl::Status CheckEcc(uint64_t addr, size_t bytes);
  void ResetCore();
  // Executes the next descriptor of the running program.
  Iss::Event Advance();
  // The same; while the program waits for other cores, these run.
  Iss::Event AdvanceAll();

  DeviceOptions options_;
  Iss iss_;
  RunStats stats_;  // of the running program
  std::vector<std::unique_ptr<IssDevice>> kept_;
  std::vector<IssDevice*> others_;  // other cores of the chip or the device
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_ISS_DEVICE_H_
