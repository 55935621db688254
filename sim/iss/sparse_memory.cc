// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/sparse_memory.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "systole/gen/hbm.h"

namespace systole::iss {
namespace {

constexpr uint64_t kWordBytes = 8;  // covered by one set of check bits

int WrongBits(uint64_t data, uint8_t check) {
  return __builtin_popcountll(data) + __builtin_popcount(check);
}

}  // namespace

uint64_t Pattern(uint64_t seed, uint64_t position) {
  // Two rounds of multiply and fold; the result only has to look random.
  uint64_t x =
      (position + 1) * 0xD6E8FEB86659FD93u ^ (seed + 1) * 0xA0761D6478BD642Fu;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

SparseMemory::SparseMemory(uint64_t capacity, uint64_t seed, uint64_t ecc_beat)
    : capacity_(capacity),
      seed_(seed),
      pages_((capacity + kPageBytes - 1) / kPageBytes),
      ecc_beat_(ecc_beat) {}

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

std::optional<uint64_t> SparseMemory::Read(uint64_t address,
                                           absl::Span<uint8_t> bytes,
                                           bool counted) const {
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
  if (wrong_.empty() || bytes.empty()) return std::nullopt;

  // Words with two wrong bits are returned uncorrected.
  std::optional<uint64_t> bad;
  const uint64_t end = address + bytes.size();
  for (uint64_t beat = address / ecc_beat_; beat * ecc_beat_ < end; ++beat) {
    const std::optional<uint64_t> found = ReadBeat(beat, counted);
    if (found && !bad) bad = found;
  }
  const uint64_t first = address / kWordBytes * kWordBytes;
  for (auto it = wrong_.lower_bound(first);
       it != wrong_.end() && it->first < end; ++it) {
    if (WrongBits(it->second.data, it->second.check) < 2) continue;
    for (uint64_t i = 0; i < kWordBytes; ++i) {
      const uint64_t at = it->first + i;
      if (at >= address && at < end)
        bytes[at - address] ^= static_cast<uint8_t>(it->second.data >> (8 * i));
    }
  }
  return bad;
}

// Returns the first word with two wrong bits. A beat with corrected bits is
// counted with the address of that word or, if there is none, of the first word
// with one wrong bit.
std::optional<uint64_t> SparseMemory::ReadBeat(uint64_t beat,
                                               bool counted) const {
  std::optional<uint64_t> fixed, bad;
  for (auto it = wrong_.lower_bound(beat * ecc_beat_);
       it != wrong_.end() && it->first < (beat + 1) * ecc_beat_; ++it) {
    auto& first =
        WrongBits(it->second.data, it->second.check) < 2 ? fixed : bad;
    if (!first) first = it->first;
  }
  if (!counted) return bad;
  EccCounts now;
  if (fixed) {
    now.corrected = 1;
    now.first = now.last = bad.value_or(*fixed);
  }
  if (bad) {
    now.uncorrected = 1;
    now.bad = *bad;
  }
  ecc_.Add(now);
  return bad;
}

void SparseMemory::Flip(uint64_t address, int bit) {
  const uint64_t word = address / kWordBytes * kWordBytes;
  if (ecc_beat_ == 0) {
    uint8_t byte = 0;
    Read(word + bit / 8, {&byte, 1});
    byte = static_cast<uint8_t>(byte ^ 1 << bit % 8);
    Put(word + bit / 8, {&byte, 1});
    return;
  }
  Wrong& wrong = wrong_[word];
  if (bit < 64) {
    wrong.data ^= uint64_t{1} << bit;
  } else {
    wrong.check = static_cast<uint8_t>(wrong.check ^ 1 << (bit - 64));
  }
  if (WrongBits(wrong.data, wrong.check) == 0) wrong_.erase(word);
}

// A write of a part of a burst reads, corrects and writes the whole beat. A
// beat that cannot be corrected is not changed.
std::optional<uint64_t> SparseMemory::Write(uint64_t address,
                                            absl::Span<const uint8_t> bytes) {
  if (wrong_.empty() || bytes.empty()) {
    Put(address, bytes);
    return std::nullopt;
  }
  std::optional<uint64_t> bad;
  const uint64_t end = address + bytes.size();
  for (uint64_t beat = address / ecc_beat_; beat * ecc_beat_ < end; ++beat) {
    const uint64_t from = std::max(address, beat * ecc_beat_);
    const uint64_t to = std::min(end, (beat + 1) * ecc_beat_);
    const bool partial =
        from % hbm::kBurstBytes != 0 || to % hbm::kBurstBytes != 0;
    const std::optional<uint64_t> found =
        partial ? ReadBeat(beat, /*counted=*/true) : std::nullopt;
    if (found) {
      if (!bad) bad = found;
      continue;
    }
    wrong_.erase(wrong_.lower_bound(partial ? beat * ecc_beat_ : from),
                 wrong_.lower_bound(partial ? (beat + 1) * ecc_beat_ : to));
    Put(from, bytes.subspan(from - address, to - from));
  }
  return bad;
}

void SparseMemory::Put(uint64_t address, absl::Span<const uint8_t> bytes) {
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
