// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The memory behind the pins of a chip: the model that its preset names. For
// HBM there is one model per core.

#ifndef SYSTOLE_VERIF_TB_MEMORY_H_
#define SYSTOLE_VERIF_TB_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/gen/presets.h"
#include "verif/dram_model/device.h"
#include "verif/hbm_model/device.h"

namespace systole::tb {

class MemoryModel {
 public:
  // stall_rate: random stalls of a DRAM's bus, in 1/256.
  static absl::StatusOr<std::unique_ptr<MemoryModel>> Create(
      const Preset& preset, uint64_t seed, int stall_rate);

  // The model that the preset uses; the other one is null.
  hbm::Device* hbm(int core = 0) {
    return hbm_.empty() ? nullptr : hbm_[core].get();
  }
  dram::Device* dram() { return dram_.get(); }

  // The model's verdict on the chip's accesses: kInternal with the first
  // violation, if there is one.
  absl::Status Check() const;

 private:
  MemoryModel() = default;
  std::vector<std::unique_ptr<hbm::Device>> hbm_;  // one per core
  std::unique_ptr<dram::Device> dram_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_MEMORY_H_
