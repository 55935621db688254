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

using Tile = std::vector<int8_t>;  // [Rows][Cols]

// Unified buffer, accumulators, tiles pushed and not yet taken, the tile in the
// array.
struct State {
  explicit State(const Preset& preset);
  void Execute(const isa::Matmul& d);
  const int32_t* Row(int64_t row) const { return &acc[row * p.cols]; }

  const Preset& p;
  std::vector<int8_t> ub;
  std::vector<int32_t> acc;
  std::deque<Tile> tiles;
  Tile tile;
  bool saturated = false;
};

int64_t RowsOf(const isa::Matmul& d);     // accumulator rows
int64_t VectorsOf(const isa::Matmul& d);  // over all passes
int64_t TilesOf(const isa::Matmul& d);    // taken from the FIFO

int Pick(std::mt19937* rng, int low, int high);
Tile RandomTile(std::mt19937* rng, const Preset& p);

// A legal descriptor whose reads stay inside the buffer.
isa::Matmul RandomMatmul(std::mt19937* rng, const Preset& p, bool may_keep);

// `segments` lines side by side at the pitch without bank conflicts; `t0`
// passes of `vectors` vectors.
isa::Matmul StreamingMatmul(const Preset& p, int segments, int vectors, int t0);

// Lines of Rows bytes, one vector each: the plainest matmul.
isa::Matmul PlainMatmul(const Preset& p, int vectors);

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_REFERENCE_H_
