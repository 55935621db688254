// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A large memory that is mostly unused. Bytes that were never written read as a
// pattern chosen by the seed.
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

// The pattern: eight bytes for a seed and a position. On-chip memories are
// filled with it too.
uint64_t Pattern(uint64_t seed, uint64_t position);

class SparseMemory {
 public:
  // ecc_beat: bytes per beat of a memory with ECC; 0: no ECC.
  SparseMemory(uint64_t capacity, uint64_t seed, uint64_t ecc_beat = 0);

  uint64_t capacity() const { return capacity_; }
  // [address, address + bytes) must be inside. Returns the first word that ECC
  // cannot correct.
  std::optional<uint64_t> Read(uint64_t address, absl::Span<uint8_t> bytes,
                               bool counted = true) const;
  std::optional<uint64_t> Write(uint64_t address,
                                absl::Span<const uint8_t> bytes);
  // Flips one of the 64 bits at the address; with ECC bits 64 to 71 are check
  // bits.
  void Flip(uint64_t address, int bit);
  EccCounts TakeEcc() { return std::exchange(ecc_, {}); }
  uint32_t Crc32(uint64_t address, uint64_t bytes) const;

 private:
  static constexpr uint64_t kPageBytes = 1 << 16;
  struct Page {
    uint8_t bytes[kPageBytes];
  };

  // Calls f(page number, offset in the page, offset in the access, bytes) for
  // each page of the access.
  template <typename F>
  static void ForEachPage(uint64_t address, uint64_t bytes, F f);
  void Fill(uint64_t page, uint64_t offset, absl::Span<uint8_t> bytes) const;
  void Put(uint64_t address, absl::Span<const uint8_t> bytes);
  // Checks a whole beat that is read.
  std::optional<uint64_t> ReadBeat(uint64_t beat, bool counted) const;

  uint64_t capacity_;
  uint64_t seed_;
  std::vector<std::unique_ptr<Page>> pages_;

  // ECC: the pages hold the data as written. This map holds the wrong bits of
  // each word, by address.
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
