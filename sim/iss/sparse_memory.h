// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A big memory of which little is used. What was never written reads as a
// pattern that the seed chooses.
#ifndef SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_
#define SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace systole::iss {

// The pattern: eight bytes for a seed and a position. Also fills the on-chip
// memories.
uint64_t Pattern(uint64_t seed, uint64_t position);

class SparseMemory {
 public:
  SparseMemory(uint64_t capacity, uint64_t seed);

  uint64_t capacity() const { return capacity_; }
  // [address, address + bytes) must be inside.
  void Read(uint64_t address, absl::Span<uint8_t> bytes) const;
  void Write(uint64_t address, absl::Span<const uint8_t> bytes);
  uint32_t Crc32(uint64_t address, uint64_t bytes) const;

 private:
  static constexpr uint64_t kPageBytes = 1 << 16;
  struct Page {
    uint8_t bytes[kPageBytes];
  };

  // Calls f(page number, offset in the page, offset in the access, bytes) for
  // each page touched.
  template <typename F>
  static void ForEachPage(uint64_t address, uint64_t bytes, F f);
  void Fill(uint64_t page, uint64_t offset, absl::Span<uint8_t> bytes) const;

  uint64_t capacity_;
  uint64_t seed_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_
