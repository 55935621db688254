// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/sparse_memory.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace systole::iss {

uint64_t Pattern(uint64_t seed, uint64_t position) {
  // Two rounds of a multiply and a fold; only has to look random.
  uint64_t x =
      (position + 1) * 0xD6E8FEB86659FD93u ^ (seed + 1) * 0xA0761D6478BD642Fu;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

SparseMemory::SparseMemory(uint64_t capacity, uint64_t seed)
    : capacity_(capacity),
      seed_(seed),
      pages_((capacity + kPageBytes - 1) / kPageBytes) {}

template <typename F>
void SparseMemory::ForEachPage(uint64_t address, uint64_t bytes, F f) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t offset = (address + done) % kPageBytes;
    const uint64_t size = std::min(bytes - done, kPageBytes - offset);
    f((address + done) / kPageBytes, offset, done, size);
    done += size;
  }
}

void SparseMemory::Fill(uint64_t page, uint64_t offset,
                        absl::Span<uint8_t> bytes) const {
  const uint64_t first = page * kPageBytes + offset;
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    const uint64_t at = first + i;
    bytes[i] = static_cast<uint8_t>(Pattern(seed_, at / 8) >> (at % 8 * 8));
  }
}

void SparseMemory::Read(uint64_t address, absl::Span<uint8_t> bytes) const {
  assert(address <= capacity_ && bytes.size() <= capacity_ - address);
  ForEachPage(
      address, bytes.size(),
      [&](uint64_t page, uint64_t offset, uint64_t done, uint64_t size) {
        if (pages_[page] != nullptr) {
          std::memcpy(bytes.data() + done, pages_[page]->bytes + offset, size);
        } else {
          Fill(page, offset, bytes.subspan(done, size));
        }
      });
}

void SparseMemory::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  assert(address <= capacity_ && bytes.size() <= capacity_ - address);
  ForEachPage(
      address, bytes.size(),
      [&](uint64_t page, uint64_t offset, uint64_t done, uint64_t size) {
        if (pages_[page] == nullptr) {
          pages_[page] = std::make_unique<Page>();
          Fill(page, 0, pages_[page]->bytes);
        }
        std::memcpy(pages_[page]->bytes + offset, bytes.data() + done, size);
      });
}

uint32_t SparseMemory::Crc32(uint64_t address, uint64_t bytes) const {
  uLong crc = crc32_z(0, nullptr, 0);
  std::vector<uint8_t> buffer;
  ForEachPage(address, bytes,
              [&](uint64_t page, uint64_t offset, uint64_t, uint64_t size) {
                const uint8_t* data = pages_[page] != nullptr
                                          ? pages_[page]->bytes + offset
                                          : nullptr;
                if (data == nullptr) {
                  buffer.resize(size);
                  Fill(page, offset, absl::MakeSpan(buffer));
                  data = buffer.data();
                }
                crc = crc32_z(crc, data, size);
              });
  return static_cast<uint32_t>(crc);
}

}  // namespace systole::iss
