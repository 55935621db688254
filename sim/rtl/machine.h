// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The simulated chips whose cores were opened together, and their links.

#ifndef SYSTOLE_SIM_RTL_MACHINE_H_
#define SYSTOLE_SIM_RTL_MACHINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/driver/links.h"
#include "verif/tb/simulation.h"

namespace systole {

class RtlDevice;

class Machine : private LinkRegisters {
 public:
  // firmware: of a scalar unit, instead of the built-in one; may be empty.
  Machine(std::shared_ptr<tb::Simulation> simulation, const Torus& torus,
          std::vector<uint32_t> firmware)
      : simulation_(std::move(simulation)),
        torus_(torus),
        firmware_(std::move(firmware)) {}

  // Trains the links, if there are several chips, and places the chips.
  absl::Status Start();
  // Boots the cores that were added, side by side.
  absl::Status Boot();
  // All cores that were added and all links, whatever they do. kInternal names
  // a core that does not come out of its reset.
  absl::Status Reset();

  bool linked() const { return torus_.chips() > 1; }
  // By place, row by row.
  int chip_at(int place) const { return chip_at_[place]; }
  const std::shared_ptr<tb::Simulation>& simulation() const {
    return simulation_;
  }
  // In the order of Device::OpenCores.
  void Add(RtlDevice* core) { cores_.push_back(core); }
  void Remove(RtlDevice* core);

  absl::StatusOr<std::vector<LinkCounts>> CountsOf(int chip) {
    return ReadLinkCounts(*this, chip);
  }
  absl::StatusOr<std::vector<LinkInfo>> LinksOf(int chip) {
    return ReadLinks(*this, chip);
  }
  absl::StatusOr<std::string> DownOf(int chip) {
    return DescribeDown(*this, chip);
  }

 private:
  int chips() const override { return torus_.chips(); }
  absl::StatusOr<uint32_t> Read(int chip, uint32_t offset) override {
    return simulation_->ReadRegister(offset, chip);
  }
  absl::Status Write(int chip, uint32_t offset, uint32_t value) override {
    return simulation_->WriteRegister(offset, value, chip);
  }

  std::shared_ptr<tb::Simulation> simulation_;
  Torus torus_;
  std::vector<uint32_t> firmware_;
  std::vector<int> chip_at_;
  std::vector<RtlDevice*> cores_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_MACHINE_H_
