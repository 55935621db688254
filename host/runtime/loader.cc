// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/loader.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace systole::runtime {

LoadedModel::~LoadedModel() {
  for (const uint64_t place : places_) pool_->Free(place);
}

absl::StatusOr<uint64_t> LoadedModel::Allocate(uint64_t bytes) {
  const absl::StatusOr<uint64_t> place = pool_->Allocate(bytes);
  if (place.ok()) places_.push_back(*place);
  return place;
}

Loader::Loader(systole::Device& device)
    : device_(device),
      pool_(std::make_shared<MemoryPool>(
          0, device.preset().memory_bytes(),
          std::max<uint64_t>(kMemoryAlignment, device.preset().beat_bytes()))) {
}

absl::StatusOr<std::unique_ptr<LoadedModel>> Loader::Load(
    const CompiledModel& model) {
  auto loaded = std::make_unique<LoadedModel>(pool_);
  const auto allocate = [&](uint64_t bytes) {
    absl::StatusOr<uint64_t> place = loaded->Allocate(bytes);
    if (place.ok()) return place;
    return absl::StatusOr<uint64_t>(
        absl::ResourceExhaustedError(absl::StrFormat(
            "%s: %d bytes of memory, of which %d are a part that "
            "finds no room: other models have %d of %d",
            model.name, model.hbm_bytes(), bytes, pool_->bytes_in_use(),
            device_.preset().memory_bytes())));
  };
  std::array<uint64_t, 2> shared;  // arguments, temporaries
  for (const MemoryUse use : {MemoryUse::kArguments, MemoryUse::kTemporaries}) {
    const uint64_t bytes = model.MostBytes(use);
    if (bytes == 0) continue;
    const absl::StatusOr<uint64_t> place = allocate(bytes);
    if (!place.ok()) return place.status();
    shared[static_cast<int>(use)] = *place;
  }
  for (const Program& program : model.programs) {
    std::vector<uint64_t> addresses;
    for (const MemorySegment& part : program.memory) {
      const auto use = static_cast<size_t>(part.use);
      if (use < shared.size()) {
        addresses.push_back(shared[use]);
        continue;
      }
      const absl::StatusOr<uint64_t> place = allocate(part.bytes);
      if (!place.ok()) return place.status();
      addresses.push_back(*place);
    }
    absl::StatusOr<Program> placed = PlaceProgram(program, addresses);
    if (!placed.ok()) return placed.status();
    if (absl::Status s = device_.Load(*placed); !s.ok()) return s;
    for (size_t i = 0; i < program.segments.size(); ++i) {
      const absl::Status s =
          device_.Write(placed->segments[i].hbm_addr, program.segments[i].data);
      if (!s.ok()) return s;
    }
    loaded->programs_.push_back(*std::move(placed));
  }
  return loaded;
}

}  // namespace systole::runtime
