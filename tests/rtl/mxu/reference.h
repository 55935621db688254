// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What matmul descriptors do, straight from docs/isa.md, and random legal ones.

#ifndef SYSTOLE_TESTS_RTL_MXU_REFERENCE_H_
#define SYSTOLE_TESTS_RTL_MXU_REFERENCE_H_

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::mxu_test {

// A tile as it comes to the weight FIFO: [Rows][Cols] elements, little endian.
struct Tile {
  std::vector<uint8_t> bytes;
  bool transpose = false;  // stored row c is the array's column c
};

// Unified buffer, accumulators, tiles pushed and not yet taken, the tile in the
// array.
struct State {
  explicit State(const Preset& preset);
  void Execute(const isa::Matmul& d);
  const int32_t* Row(int64_t row) const { return &acc[row * p.cols]; }

  const Preset& p;
  std::vector<uint8_t> ub;
  std::vector<int32_t> acc;  // bf16: the bits of fp32 sums
  std::deque<Tile> tiles;
  Tile tile;
  bool saturated = false;

 private:
  using Vector = std::vector<int>;  // bf16: bits
  Vector Walk(const isa::Matmul& d, int64_t p1, int64_t p0, int64_t i,
              int64_t y, int64_t x) const;
  int Element(const uint8_t* bytes) const;
  void Accumulate(const Vector& a, const std::vector<int>& weights, bool fresh,
                  int64_t row);
  void AccumulateBf16(const Vector& a, const std::vector<int>& weights,
                      bool fresh, int64_t row);
};

bool Transposes(const isa::Matmul& d);
// Accumulator rows; vectors that enter the array over all passes; tiles taken
// from the FIFO.
int64_t RowsOf(const Preset& p, const isa::Matmul& d);
int64_t VectorsOf(const Preset& p, const isa::Matmul& d);
int64_t TilesOf(const isa::Matmul& d);

int Pick(std::mt19937* rng, int low, int high);
Tile RandomTile(std::mt19937* rng, const Preset& p);
// What unified buffers are filled with: any int8; bf16 of middling size, some
// of them special.
void RandomElements(std::mt19937* rng, const Preset& p,
                    std::vector<uint8_t>* bytes);

// A legal descriptor whose reads stay inside the buffer.
isa::Matmul RandomMatmul(std::mt19937* rng, const Preset& p, bool may_keep);

// `segments` lines side by side at the pitch without bank conflicts; `t0`
// passes of `vectors` vectors.
isa::Matmul StreamingMatmul(const Preset& p, int segments, int vectors, int t0);

// Lines of Rows bytes, one vector each: the plainest matmul.
isa::Matmul PlainMatmul(const Preset& p, int vectors);

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_REFERENCE_H_
