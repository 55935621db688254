// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Small hand-made programs for the `nano` preset: a matrix product from HBM to
// HBM, C = A * W with raw int32 results.

#ifndef SYSTOLE_TESTS_SYSTEM_PROGRAMS_H_
#define SYSTOLE_TESTS_SYSTEM_PROGRAMS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "systole/device.h"

namespace systole::testing {

// Flags of the programs below: who posts to whom.
inline constexpr uint32_t kLoadToMxu = 1u << 0;
inline constexpr uint32_t kMxuToVector = 1u << 1;
inline constexpr uint32_t kVectorToStore = 1u << 2;

struct SmallMatmul {
  static constexpr int kRows = 20, kSize = 8;  // C[20][8] = A[20][8] * W[8][8]
  static constexpr uint64_t kA = 0x1000, kW = 0x2000, kC = 0x3000,
                            kProgram = 0x8000;
  static constexpr int kPitchA = 32, kPitchC = 32;

  std::vector<int8_t> a, w;
  Program program;

  explicit SmallMatmul(uint32_t seed) : a(kRows * kSize), w(kSize * kSize) {
    std::mt19937 rng(seed);
    for (int8_t& v : a) v = static_cast<int8_t>(rng());
    for (int8_t& v : w) v = static_cast<int8_t>(rng());
    program.preset = "nano";
    program.prog_addr = kProgram;
    program.hbm_bytes = 0x10000;
    std::vector<uint8_t> lines(kRows * kPitchA);
    for (int i = 0; i < kRows; ++i) {
      for (int k = 0; k < kSize; ++k)
        lines[i * kPitchA + k] = static_cast<uint8_t>(a[i * kSize + k]);
    }
    program.segments.push_back({"A", kA, lines});
    program.segments.push_back(
        {"W", kW, std::vector<uint8_t>(w.begin(), w.end())});

    load.header.post_mask = kLoadToMxu;
    load.hbm_addr = kA;
    load.len = kRows * kPitchA;
    load.n1 = load.n2 = 1;
    weights.hbm_addr = kW;
    weights.tiles = 1;
    matmul.header.wait_mask = kLoadToMxu;
    matmul.header.post_mask = kMxuToVector;
    matmul.pitch = kPitchA;
    matmul.lines = kRows;
    matmul.line_bytes = kSize;
    matmul.n = matmul.nx = matmul.t0 = matmul.t1 = 1;
    matmul.ny = kRows;
    matmul.sy = 1;
    matmul.seg_len[0] = kSize;
    requant.header.flags = isa::Requant::kRaw;
    requant.header.wait_mask = kMxuToVector;
    requant.header.post_mask = kVectorToStore;
    requant.n = requant.nx = 1;
    requant.ny = kRows;
    requant.dst = 0x1000;
    requant.dst_pitch = kPitchC;
    requant.cols = kSize;
    store.header.wait_mask = kVectorToStore;
    store.hbm_addr = kC;
    store.ub_addr = 0x1000;
    store.len = kRows * kPitchC;
    store.n1 = store.n2 = 1;
    Assemble();
  }

  // Writes the descriptors anew, after a test has changed one.
  void Assemble() {
    program.descriptors = {load.Encode(),   weights.Encode(),
                           matmul.Encode(), requant.Encode(),
                           store.Encode(),  isa::Halt().Encode()};
  }

  int32_t Expected(int row, int col) const {
    int32_t sum = 0;
    for (int k = 0; k < kSize; ++k)
      sum += a[row * kSize + k] * w[k * kSize + col];
    return sum;
  }

  isa::Load load;
  isa::Weights weights;
  isa::Matmul matmul;
  isa::Requant requant;
  isa::Store store;
};

}  // namespace systole::testing

#endif  // SYSTOLE_TESTS_SYSTEM_PROGRAMS_H_
