// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/local_chips.h"

namespace systole::tb {

absl::StatusOr<BuiltChip> BuildChip(const ChipsOptions& options,
                                    const Preset& preset, int chip) {
  BuiltChip built;
  const uint64_t seed = options.seed + chip;
  auto memory = MemoryModel::Create(preset, seed, options.stall_rate);
  if (!memory.ok()) return memory.status();
  built.memory = *std::move(memory);
  auto core = CreateCoreModel(
      {options.preset, options.checked, seed, options.stall_rate,
       options.engine, options.record_file,
       options.chips() > 1 ? 1 : options.threads, options.alone},
      built.memory.get());
  if (!core.ok()) return core.status();
  built.chip = std::make_unique<ClockedChip>(
      *std::move(core), static_cast<int>(preset.chip.cores),
      static_cast<int>(preset.axi_bytes()), options.stall_rate,
      options.seed + 2 * chip);
  return built;
}

absl::Status FlipBit(MemoryModel& memory, int core, uint64_t addr, int bit) {
  hbm::Device* hbm = memory.hbm(core);
  if (hbm != nullptr) return hbm->Flip(addr, bit);
  return absl::UnimplementedError(
      "bits of a DRAM at an AXI4 port cannot be turned");
}

absl::StatusOr<std::unique_ptr<Chips>> LocalChips::Create(
    const ChipsOptions& options, const Preset& preset) {
  std::vector<std::unique_ptr<MemoryModel>> memories;
  std::vector<std::unique_ptr<ClockedChip>> chips;
  for (int i = 0; i < options.chips(); ++i) {
    auto built = BuildChip(options, preset, i);
    if (!built.ok()) return built.status();
    memories.push_back(std::move(built->memory));
    chips.push_back(std::move(built->chip));
  }
  return std::unique_ptr<Chips>(
      new LocalChips(options, preset, std::move(memories), std::move(chips)));
}

LocalChips::LocalChips(const ChipsOptions& options, const Preset& preset,
                       std::vector<std::unique_ptr<MemoryModel>> memories,
                       std::vector<std::unique_ptr<ClockedChip>> chips)
    : memories_(std::move(memories)),
      windows_(options, preset, std::move(chips), nullptr),
      on_progress_(memories_.size()) {
  windows_.on_progress = [this](int chip, uint64_t cycle) {
    for (const auto& report : on_progress_[chip]) {
      if (report) report(cycle);
    }
  };
}

}  // namespace systole::tb
