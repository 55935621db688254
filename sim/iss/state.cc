// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/state.h"

#include <zlib.h>

#include <cstring>

namespace systole::iss {
namespace {

// Fills a memory before anything is written. The contents differ for each seed,
// so that a program that depends on them is detected.
void FillWithPattern(void* data, size_t bytes, uint64_t seed) {
  auto* to = static_cast<uint8_t*>(data);
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = Pattern(seed, i / 8);
    std::memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

template <typename T>
uint32_t Crc32(const std::vector<T>& v) {
  return static_cast<uint32_t>(crc32_z(
      crc32_z(0, nullptr, 0), reinterpret_cast<const uint8_t*>(v.data()),
      v.size() * sizeof(T)));
}

std::vector<std::shared_ptr<SparseMemory>> Memories(const Preset& p,
                                                    uint64_t seed) {
  std::vector<std::shared_ptr<SparseMemory>> memories;
  for (int64_t core = 0; core < p.chip.cores; ++core, ++seed)
    memories.push_back(std::make_shared<SparseMemory>(
        p.memory_bytes(), seed,
        p.chip.ecc != 0 ? static_cast<uint64_t>(p.beat_bytes()) : 0));
  return memories;
}

}  // namespace

State::State(const Preset& p, uint64_t seed)
    : preset(p),
      hbm(Memories(p, seed)),
      ub(p.ub_bytes),
      acc(p.acc_rows * p.cols),
      hbm_limit(hbm.capacity()),
      vpu(p) {
  FillWithPattern(ub.data(), ub.size(), seed ^ 0x5542);
  FillWithPattern(acc.data(), acc.size() * sizeof acc[0], seed ^ 0x414343);
}

uint32_t State::UbCrc32() const { return Crc32(ub); }
uint32_t State::AccCrc32() const { return Crc32(acc); }

}  // namespace systole::iss
