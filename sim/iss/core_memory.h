// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a core can access: its own and, in a chip with two cores, the
// other core's memory after it.
#ifndef SYSTOLE_SIM_ISS_CORE_MEMORY_H_
#define SYSTOLE_SIM_ISS_CORE_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "sim/iss/sparse_memory.h"

namespace systole::iss {

class CoreMemory {
 public:
  // All memories have the same size; the core's own one comes first.
  explicit CoreMemory(std::vector<std::shared_ptr<SparseMemory>> memories)
      : memories_(std::move(memories)) {}

  uint64_t own_bytes() const { return memories_[0]->capacity(); }
  uint64_t capacity() const { return own_bytes() * memories_.size(); }
  // [address, address + bytes) must be inside. counted: a read in which ECC
  // corrects a bit is counted.
  void Read(uint64_t address, absl::Span<uint8_t> bytes,
            bool counted = true) const {
    InPieces(address, bytes,
             [counted](const SparseMemory& memory, uint64_t at, auto piece) {
               return memory.Read(at, piece, counted);
             });
  }
  void Write(uint64_t address, absl::Span<const uint8_t> bytes) {
    InPieces(address, bytes, [](SparseMemory& memory, uint64_t at, auto piece) {
      return memory.Write(at, piece);
    });
  }
  // Flips a bit in the core's own memory.
  void Flip(uint64_t address, int bit) { memories_[0]->Flip(address, bit); }
  // The first word that ECC could not correct since the last call.
  std::optional<uint64_t> TakeBad() {
    return std::exchange(bad_, std::nullopt);
  }
  // Counts of its own memory since the last call.
  EccCounts TakeEcc() { return memories_[0]->TakeEcc(); }
  // The core's own one.
  std::shared_ptr<SparseMemory> own() const { return memories_[0]; }
  // The memory as the other core of the chip sees it.
  CoreMemory Reversed() const {
    return CoreMemory({memories_.rbegin(), memories_.rend()});
  }

 private:
  template <typename Span, typename Access>
  void InPieces(uint64_t address, Span bytes, Access access) const {
    while (!bytes.empty()) {
      const uint64_t at = address % own_bytes();
      const Span piece =
          bytes.first(std::min<uint64_t>(own_bytes() - at, bytes.size()));
      const uint64_t memory = address / own_bytes();
      const std::optional<uint64_t> bad = access(*memories_[memory], at, piece);
      if (bad && !bad_) bad_ = *bad + memory * own_bytes();
      bytes.remove_prefix(piece.size());
      address += piece.size();
    }
  }

  std::vector<std::shared_ptr<SparseMemory>> memories_;
  mutable std::optional<uint64_t> bad_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_CORE_MEMORY_H_
