// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Driver backend "iss". Counters that depend on timing stay 0; descriptors
// retire in program order at cycle 0.
#ifndef SYSTOLE_SIM_ISS_ISS_DEVICE_H_
#define SYSTOLE_SIM_ISS_ISS_DEVICE_H_

#include <optional>
#include <string>

#include "sim/iss/iss.h"
#include "systole/device.h"

namespace systole::iss {

class IssDevice : public Device {
 public:
  explicit IssDevice(const DeviceOptions& options);
  // Adds the second core of the chip.
  void Join(IssDevice* second);

  const Preset& preset() const override { return iss_.state().preset; }
  std::string backend() const override { return "iss"; }
  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override;
  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override;
  absl::Status Flip(const BitFlip& flip) override;
  absl::Status Start(const Program& program) override;
  // With check_races it can also return kFailedPrecondition with all violations
  // of the program rules; the program has still run to its end.
  absl::StatusOr<RunStats> Wait() override;
  absl::Status Reset() override;
  std::optional<FaultState> fault() const override { return iss_.fault(); }

  // For tests: the whole state, and the result of the race check.
  Iss& iss() { return iss_; }

 private:
  absl::Status CheckRange(uint64_t addr, size_t bytes) const;
  // Call after an access by the host.
  absl::Status CheckEcc(uint64_t addr, size_t bytes);
  // Executes the next descriptor of the running program.
  Iss::Event Advance();
  // The same; if the program waits for the other core, that core runs.
  Iss::Event AdvanceChip();

  DeviceOptions options_;
  Iss iss_;
  const Program* running_ = nullptr;
  RunStats stats_;              // of the running program
  IssDevice* other_ = nullptr;  // other core of the chip
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_ISS_DEVICE_H_
