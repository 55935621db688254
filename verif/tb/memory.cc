// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/memory.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::tb {

absl::StatusOr<std::unique_ptr<MemoryModel>> MemoryModel::Create(
    const Preset& preset, uint64_t seed, int stall_rate) {
  std::unique_ptr<MemoryModel> memory(new MemoryModel);
  if (preset.chip.memory == Memory::kAxi) {
    dram::Device::Options options;
    options.bytes = preset.memory_bytes();
    options.beat_bytes = static_cast<int>(preset.beat_bytes());
    options.seed = seed;
    options.stall_rate = stall_rate;
    memory->dram_ = std::make_unique<dram::Device>(options);
    return memory;
  }
  hbm::Device::Options options;
  options.pcs = static_cast<int>(preset.chip.hbm_pcs);
  options.seed = seed;
  options.ecc = preset.chip.ecc != 0;
  for (int64_t core = 0; core < preset.chip.cores; ++core, ++options.seed) {
    auto hbm = hbm::Device::Create(options);
    if (!hbm.ok()) return hbm.status();
    memory->hbm_.push_back(std::move(*hbm));
  }
  return memory;
}

absl::Status MemoryModel::Check() const {
  if (dram_ != nullptr) {
    if (dram_->violation_count() == 0) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat(dram_->violation_count(),
                     " violations of AXI4 at the DRAM, the first: ",
                     dram_->violations()[0]));
  }
  for (const auto& hbm : hbm_) {
    const hbm::ViolationLog& log = hbm->log();
    if (log.count() == 0) continue;
    return absl::InternalError(
        absl::StrCat(log.count(), " violations of the HBM timing, the first: ",
                     log.violations().empty() ? "" : log.violations()[0].text));
  }
  return absl::OkStatus();
}

}  // namespace systole::tb
