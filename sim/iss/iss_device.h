// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Driver backend "iss". Counters that depend on timing stay 0, descriptors
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
  // The second core of the chip.
  void Join(IssDevice* second);

  const Preset& preset() const override { return iss_.state().preset; }
  std::string backend() const override { return "iss"; }
  absl::Status Write(uint64_t addr, absl::Span<const uint8_t> bytes) override;
  absl::Status Read(uint64_t addr, absl::Span<uint8_t> bytes) override;
  absl::Status Flip(const BitFlip& flip) override;
  absl::Status Start(const Program& program) override;
  // With check_races also kFailedPrecondition, with every violation of the
  // rules for programs. The program has then run to its end all the same.
  absl::StatusOr<RunStats> Wait() override;
  absl::Status Reset() override;
  std::optional<FaultState> fault() const override { return iss_.fault(); }

  // For tests: all state, and what the race check found.
  Iss& iss() { return iss_; }

 private:
  absl::Status CheckRange(uint64_t addr, size_t bytes) const;
  // After the host's access.
  absl::Status CheckEcc(uint64_t addr, size_t bytes);
  // The next descriptor of the program that runs.
  Iss::Event Advance();
  // The same, but where it waits for the other core, that goes on.
  Iss::Event AdvanceChip();

  DeviceOptions options_;
  Iss iss_;
  const Program* running_ = nullptr;
  RunStats stats_;              // of it
  IssDevice* other_ = nullptr;  // core of the chip
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_ISS_DEVICE_H_
