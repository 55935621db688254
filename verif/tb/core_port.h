// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A core of a simulated chip, in its own address maps: its registers from 0;
// its own memory from 0, followed by the other core's. Cores are numbered chip
// by chip.
//
//   std::shared_ptr<tb::Simulation> chip = ...;
//   tb::CorePort second(chip, 1);
//   second.WriteRegister(csr::kProgLen, 12);
//   second.WaitInterrupt(0);

#ifndef SYSTOLE_VERIF_TB_CORE_PORT_H_
#define SYSTOLE_VERIF_TB_CORE_PORT_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "verif/tb/simulation.h"

namespace systole::tb {

class CorePort {
 public:
  explicit CorePort(std::shared_ptr<Simulation> device, int core = 0)
      : device_(std::move(device)),
        chip_(core / static_cast<int>(device_->preset().chip.cores)),
        core_(core % static_cast<int>(device_->preset().chip.cores)) {}

  absl::StatusOr<uint32_t> ReadRegister(uint32_t offset) {
    return device_->ReadRegister(Register(offset), chip_);
  }
  absl::Status WriteRegister(uint32_t offset, uint32_t value) {
    return device_->WriteRegister(Register(offset), value, chip_);
  }
  absl::Status ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes) {
    return InPieces(addr, bytes, [this](uint64_t at, auto piece) {
      return device_->ReadMemory(at, piece, chip_);
    });
  }
  absl::Status WriteMemory(uint64_t addr, absl::Span<const uint8_t> bytes) {
    return InPieces(addr, bytes, [this](uint64_t at, auto piece) {
      return device_->WriteMemory(at, piece, chip_);
    });
  }
  // Flips a bit of the core's own HBM (hbm::Device::Flip); kUnimplemented
  // without HBM.
  absl::Status Flip(uint64_t addr, int bit) {
    return device_->Flip(addr, bit, core_, chip_);
  }
  absl::Status WaitInterrupt(uint64_t max_cycles) {
    return device_->WaitInterrupt(max_cycles, core_, chip_);
  }
  // plan.core: this one.
  absl::Status RecordLayer(LayerPlan plan) const {
    plan.core = core_;
    return device_->RecordLayer(plan, chip_);
  }
  void SetCallbacks(
      std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
      std::function<void(uint64_t cycle)> on_progress) {
    device_->SetCallbacks(std::move(on_retire), std::move(on_progress), core_,
                          chip_);
  }

  int number() const { return core_; }  // in the chip
  int chip() const { return chip_; }
  const Preset& preset() const { return device_->preset(); }
  Simulation& device() { return *device_; }
  // The model of the chip.
  ObservedCore& core() const { return device_->core(chip_); }
  absl::Status CheckMemory() const { return device_->CheckMemory(chip_); }

 private:
  uint32_t Register(uint32_t offset) const {
    return offset + static_cast<uint32_t>(core_) * kRegisterBlockBytes;
  }
  // Core 1 sees the two memories in the opposite order.
  template <typename Span, typename Access>
  absl::Status InPieces(uint64_t addr, Span bytes, Access access) {
    const uint64_t own = preset().memory_bytes();
    while (!bytes.empty() && addr < own * preset().chip.cores) {
      const uint64_t rest = own - addr % own;
      const uint64_t at = core_ == 0 ? addr : (addr + own) % (2 * own);
      const Span piece = bytes.first(std::min<uint64_t>(rest, bytes.size()));
      if (absl::Status s = access(at, piece); !s.ok()) return s;
      bytes.remove_prefix(piece.size());
      addr += piece.size();
    }
    if (bytes.empty()) return absl::OkStatus();
    return absl::OutOfRangeError("an address outside the chip's memory");
  }

  std::shared_ptr<Simulation> device_;
  int chip_, core_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CORE_PORT_H_
