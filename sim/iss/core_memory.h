// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that a core reaches: its own and, in a chip with two cores, after
// it the other core's.
#ifndef SYSTOLE_SIM_ISS_CORE_MEMORY_H_
#define SYSTOLE_SIM_ISS_CORE_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "sim/iss/sparse_memory.h"

namespace systole::iss {

class CoreMemory {
 public:
  // All of one size, the core's own first.
  explicit CoreMemory(std::vector<std::shared_ptr<SparseMemory>> memories)
      : memories_(std::move(memories)) {}

  uint64_t own_bytes() const { return memories_[0]->capacity(); }
  uint64_t capacity() const { return own_bytes() * memories_.size(); }
  // [address, address + bytes) must be inside.
  void Read(uint64_t address, absl::Span<uint8_t> bytes) const {
    InPieces(address, bytes,
             [](const SparseMemory& memory, uint64_t at, auto piece) {
               memory.Read(at, piece);
             });
  }
  void Write(uint64_t address, absl::Span<const uint8_t> bytes) {
    InPieces(address, bytes, [](SparseMemory& memory, uint64_t at, auto piece) {
      memory.Write(at, piece);
    });
  }
  // What the other core of the chip reaches.
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
      access(*memories_[address / own_bytes()], at, piece);
      bytes.remove_prefix(piece.size());
      address += piece.size();
    }
  }

  std::vector<std::shared_ptr<SparseMemory>> memories_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_CORE_MEMORY_H_
