// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Matmul of the int8 cell. A pass gathers its vectors into a dense matrix and
// multiplies it by the tile.

#include <algorithm>

#include "sim/iss/execute.h"
#include "sim/iss/gather.h"

namespace systole::iss {
namespace {

// sum[v][c] = sum over r of a[v][r] * w[r][c], for kVectors vectors and kCols
// columns. At most 256 products of at most 2^14: exact in 32 bits.
template <int kVectors, int kCols>
inline void Multiply(const int8_t* a, const int32_t* w, int64_t rows,
                     int64_t cols, int32_t (*sum)[kCols]) {
  for (int v = 0; v < kVectors; ++v) std::fill(sum[v], sum[v] + kCols, 0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const int32_t x = a[v * rows + r];
      for (int c = 0; c < kCols; ++c) sum[v][c] += x * w[r * cols + c];
    }
  }
}

// Adds with saturation. Returns whether any value saturated.
template <int kCols>
inline bool Accumulate(const int32_t* sum, int32_t* acc) {
  int32_t over = 0;
  for (int c = 0; c < kCols; ++c) {
    const int32_t wrapped = static_cast<int32_t>(static_cast<uint32_t>(acc[c]) +
                                                 static_cast<uint32_t>(sum[c]));
    const int32_t overflow =
        (acc[c] ^ wrapped) & (sum[c] ^ wrapped);  // sign bit
    const int32_t limit = (acc[c] >> 31) ^ INT32_MAX;
    over |= overflow;
    acc[c] = overflow < 0 ? limit : wrapped;
  }
  return over < 0;
}

// Computes a pass, kCols columns at a time. Returns whether an accumulator
// saturated.
template <int kCols>
bool RunIntPass(const int8_t* a, const int32_t* w, int64_t vectors,
                const Preset& preset, bool overwrite, int32_t* acc) {
  constexpr int kVectors = 4;
  const int64_t rows = preset.rows, cols = preset.cols;
  bool saturated = false;
  const auto finish = [&](const int32_t* sum, int64_t v, int64_t c) {
    int32_t* to = acc + v * cols + c;
    if (overwrite) {
      std::copy(sum, sum + kCols, to);
    } else {
      saturated |= Accumulate<kCols>(sum, to);
    }
  };
  for (int64_t c = 0; c < cols; c += kCols) {
    int32_t sum[kVectors][kCols];
    int64_t v = 0;
    for (; v + kVectors <= vectors; v += kVectors) {
      Multiply<kVectors, kCols>(a + v * rows, w + c, rows, cols, sum);
      for (int k = 0; k < kVectors; ++k) finish(sum[k], v + k, c);
    }
    for (; v < vectors; ++v) {
      Multiply<1, kCols>(a + v * rows, w + c, rows, cols, sum);
      finish(sum[0], v, c);
    }
  }
  return saturated;
}

}  // namespace

Result Execute(const isa::Matmul& d, State* state) {
  const Preset& preset = state->preset;
  if (preset.cell == Cell::kBf16) return ExecuteBf16(d, state);
  if (IsIllegal(d, preset)) return Trap{isa::Fault::kIllegalDescriptor};
  const int64_t vectors = int64_t{d.n} * d.ny * d.nx;
  if (Result r = CheckAccRows(*state, d.acc, vectors)) return r;

  const bool accumulate = (d.header.flags & isa::Matmul::kAccumulate) != 0;
  const bool keep = (d.header.flags & isa::Matmul::kKeepWeights) != 0;
  const auto run = preset.cols >= 32 ? RunIntPass<32> : RunIntPass<8>;
  const Gather gather(d, *state);
  std::vector<int8_t> a(vectors * preset.rows);
  std::vector<int32_t> w(preset.tile_bytes());
  for (int64_t p1 = 0; p1 < d.t1; ++p1) {
    for (int64_t p0 = 0; p0 < d.t0; ++p0) {
      const bool first = p1 == 0 && p0 == 0;
      if (first && keep) {
        if (!state->tile) return Trap{isa::Fault::kIllegalDescriptor};
      } else if (Result r = TakeTile(p1 * d.t0 + p0, state)) {
        return r;
      }
      std::copy(state->tile->begin(), state->tile->end(), w.begin());
      if (Result r = gather.Pass(p1, p0, reinterpret_cast<uint8_t*>(a.data())))
        return r;
      if (run(a.data(), w.data(), vectors, preset, first && !accumulate,
              state->acc_row(d.acc).data())) {
        state->acc_saturated = true;
      }
      state->counters.vectors += vectors;
    }
  }
  return std::nullopt;
}

}  // namespace systole::iss
