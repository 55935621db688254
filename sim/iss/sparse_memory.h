// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A big memory of which little is used. What was never written reads as a
// pattern that the seed chooses.
#ifndef SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_
#define SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "systole/device.h"

namespace systole::iss {

// The pattern: eight bytes for a seed and a position. Also fills the on-chip
// memories.
uint64_t Pattern(uint64_t seed, uint64_t position);

class SparseMemory {
 public:
  // ecc_beat: bytes of a beat of a memory with ECC, 0: without.
  SparseMemory(uint64_t capacity, uint64_t seed, uint64_t ecc_beat = 0);

  uint64_t capacity() const { return capacity_; }
  // [address, address + bytes) must be inside. The first word that ECC cannot
  // correct.
  std::optional<uint64_t> Read(uint64_t address, absl::Span<uint8_t> bytes,
                               bool counted = true) const;
  std::optional<uint64_t> Write(uint64_t address,
                                absl::Span<const uint8_t> bytes);
  // Turns a bit of the 8 bytes there: 0 to 63, with ECC to 71.
  void Flip(uint64_t address, int bit);
  EccCounts TakeEcc() { return std::exchange(ecc_, {}); }
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
  void Put(uint64_t address, absl::Span<const uint8_t> bytes);
  // Looks at a whole beat that is read.
  std::optional<uint64_t> ReadBeat(uint64_t beat, bool counted) const;

  uint64_t capacity_;
  uint64_t seed_;
  std::vector<std::unique_ptr<Page>> pages_;

  // ECC: the pages hold what was written, this the bits that are wrong, by the
  // address of their word.
  struct Wrong {
    uint64_t data = 0;
    uint8_t check = 0;
  };
  uint64_t ecc_beat_;
  std::map<uint64_t, Wrong> wrong_;
  mutable EccCounts ecc_;
};

}  // namespace systole::iss

#endif  // SYSTOLE_SIM_ISS_SPARSE_MEMORY_H_
