// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Matmul of the bf16 cell, and tiles. Sums are chains of fused multiply-adds in
// the order of the array's rows: docs/numerics.md.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/iss/execute.h"
#include "sim/iss/gather.h"
#include "sim/iss/vpu_lanes.h"

namespace systole::iss {
namespace {

void ToFloat(const uint8_t* from, int64_t elements, float* to) {
  for (int64_t i = 0; i < elements; ++i) {
    uint16_t v;
    std::memcpy(&v, from + 2 * i, sizeof v);
    to[i] = Bf16(v);
  }
}

// Computes the chains of kVectors vectors and kCols columns over the first
// `used` rows; `acc` is both the start and the result. A NaN in a chain stays a
// NaN, so its bits matter only at the end.
template <int kVectors, int kCols>
inline void Multiply(const float* a, const float* w, int64_t rows, int64_t used,
                     int64_t cols, bool overwrite, float* acc) {
  float sum[kVectors][kCols];
  for (int v = 0; v < kVectors; ++v) {
    for (int c = 0; c < kCols; ++c)
      sum[v][c] = overwrite ? 0.0f : acc[v * cols + c];
  }
  for (int64_t r = 0; r < used; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const float x = a[v * rows + r];
      for (int c = 0; c < kCols; ++c)
        sum[v][c] = std::fma(x, w[r * cols + c], sum[v][c]);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    for (int c = 0; c < kCols; ++c)
      acc[v * cols + c] = FloatOf(Canonical(sum[v][c]));
  }
}

bool IsZero(const float* values, int64_t count) {
  return std::all_of(values, values + count,
                     [](float v) { return BitsOf(v) == 0; });
}

// Number of rows that must be added. After the last row that has a value other
// than +0 in vectors or weights, one row of zeros has the same effect as all of
// them.
int64_t UsedRows(const float* a, const float* w, int64_t vectors,
                 const Preset& preset) {
  const int64_t rows = preset.rows, cols = preset.cols;
  int64_t used = rows;
  while (used > 0 && IsZero(w + (used - 1) * cols, cols)) --used;
  for (int64_t v = 0; v < vectors; ++v) {
    int64_t last = rows;
    while (last > used && BitsOf(a[v * rows + last - 1]) == 0) --last;
    used = last;
  }
  return std::min(rows, used + 1);
}

// Whether columns of zeros leave sums of +0 unchanged: no infinity or NaN.
bool IsFinite(const float* a, int64_t count) {
  return std::all_of(a, a + count, [](float v) { return std::isfinite(v); });
}

template <int kCols>
bool IsIdle(const float* w, int64_t used, int64_t cols, int64_t vectors,
            bool overwrite, const float* acc) {
  for (int64_t r = 0; r < used; ++r) {
    if (!IsZero(w + r * cols, kCols)) return false;
  }
  for (int64_t v = 0; v < vectors && !overwrite; ++v) {
    if (!IsZero(acc + v * cols, kCols)) return false;
  }
  return true;
}

template <int kCols>
void RunFloatPass(const float* a, const float* w, int64_t vectors,
                  const Preset& preset, bool overwrite, float* acc) {
  constexpr int kVectors = 4;
  const int64_t rows = preset.rows, cols = preset.cols;
  const int64_t used = UsedRows(a, w, vectors, preset);
  const bool finite = IsFinite(a, vectors * rows);
  for (int64_t c = 0; c < cols; c += kCols) {
    if (finite &&
        IsIdle<kCols>(w + c, used, cols, vectors, overwrite, acc + c)) {
      for (int64_t v = 0; v < vectors; ++v)
        std::fill_n(acc + v * cols + c, kCols, 0.0f);
      continue;
    }
    int64_t v = 0;
    for (; v + kVectors <= vectors; v += kVectors) {
      Multiply<kVectors, kCols>(a + v * rows, w + c, rows, used, cols,
                                overwrite, acc + v * cols + c);
    }
    for (; v < vectors; ++v) {
      Multiply<1, kCols>(a + v * rows, w + c, rows, used, cols, overwrite,
                         acc + v * cols + c);
    }
  }
}

// A Rows x Rows matrix; row j has element j of each of `vectors` vectors.
void Transpose(const std::vector<float>& a, int64_t vectors, int64_t rows,
               std::vector<float>* to) {
  to->assign(rows * rows, 0.0f);
  for (int64_t i = 0; i < vectors; ++i) {
    for (int64_t j = 0; j < rows; ++j) (*to)[j * rows + i] = a[i * rows + j];
  }
}

// Faults on the first odd value.
template <typename Values>
Result CheckEven(const Values& values) {
  for (int64_t value : values) {
    if (value % 2 != 0)
      return Trap{isa::Fault::kMisaligned, static_cast<uint64_t>(value)};
  }
  return std::nullopt;
}

}  // namespace

Result ExecuteBf16(const isa::Matmul& d, State* state) {
  const Preset& preset = state->preset;
  const bool accumulate = (d.header.flags & isa::Matmul::kAccumulate) != 0;
  const bool keep = (d.header.flags & isa::Matmul::kKeepWeights) != 0;
  const bool transpose = (d.header.flags & isa::Matmul::kTranspose) != 0;
  const int64_t vectors = int64_t{d.n} * d.ny * d.nx;
  const int64_t passes = int64_t{d.t1} * d.t0;
  if (IsIllegal(d, preset) || d.pad != 0 ||
      (transpose && vectors > preset.rows))
    return Trap{isa::Fault::kIllegalDescriptor};
  if (Result r = CheckEven(std::initializer_list<int64_t>{
          d.ub_base, d.pitch, d.img_pitch, d.line_bytes, d.sx, d.t0_dx,
          d.seg_dx[0], d.seg_dx[1], d.seg_dx[2], d.seg_dx[3]}))
    return r;
  const int64_t acc_rows = transpose ? passes * preset.rows : vectors;
  if (Result r = CheckAccRows(*state, d.acc, acc_rows)) return r;

  // Vectors per pass.
  const int64_t entering = transpose ? preset.rows : vectors;
  const auto run = preset.cols >= 32 ? RunFloatPass<32> : RunFloatPass<8>;
  const Gather gather(d, *state);
  std::vector<uint8_t> bytes(vectors * preset.rows * preset.element_bytes());
  std::vector<float> block(vectors * preset.rows), transposed;
  std::vector<float> w(preset.rows * preset.cols);
  std::vector<float> acc(entering * preset.cols);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const bool takes = pass == 0 ? !keep : !transpose;
    if (takes) {
      if (Result r = TakeTile(pass, state)) return r;
    } else if (!state->tile) {
      return Trap{isa::Fault::kIllegalDescriptor};
    }
    ToFloat(reinterpret_cast<const uint8_t*>(state->tile->data()),
            preset.rows * preset.cols, w.data());
    if (Result r = gather.Pass(pass / d.t0, pass % d.t0, bytes.data()))
      return r;
    ToFloat(bytes.data(), vectors * preset.rows, block.data());
    if (transpose) Transpose(block, vectors, preset.rows, &transposed);
    // Each pass of a transposing matmul has its own accumulator rows.
    const bool overwrite = !accumulate && (pass == 0 || transpose);
    int32_t* rows =
        state->acc_row(d.acc + (transpose ? pass * preset.rows : 0)).data();
    std::memcpy(acc.data(), rows, 4 * acc.size());
    run(transpose ? transposed.data() : block.data(), w.data(), entering,
        preset, overwrite, acc.data());
    std::memcpy(rows, acc.data(), 4 * acc.size());
    for (size_t e = 0; e < acc.size(); ++e) {
      state->counters.mxu_nan += IsNan(rows[e]);
      state->counters.mxu_inf += IsInfinite(rows[e]);
    }
    state->counters.vectors += entering;
  }
  return std::nullopt;
}

Result Execute(const isa::Tiles& d, State* state) {
  const Preset& preset = state->preset;
  if (d.tiles == 0 || d.rows == 0 || d.rows > preset.rows || d.cols == 0 ||
      d.cols > preset.cols)
    return Trap{isa::Fault::kIllegalDescriptor};
  if (Result r = CheckEven(
          std::initializer_list<int64_t>{d.ub_addr, d.pitch, d.tile_stride}))
    return r;
  const bool transpose = (d.header.flags & isa::Tiles::kTranspose) != 0;
  for (uint64_t t = 0; t < d.tiles; ++t) {
    Tile tile(preset.tile_bytes(), 0);
    for (uint64_t i = 0; i < d.rows; ++i) {
      const uint64_t row = d.ub_addr + t * d.tile_stride + i * d.pitch;
      if (Result r = CheckWindow(*state, row, 2 * d.cols)) return r;
      for (uint64_t j = 0; j < d.cols; ++j) {
        const uint64_t at =
            transpose ? j * preset.cols + i : i * preset.cols + j;
        std::memcpy(&tile[2 * at], &state->ub[row + 2 * j], 2);
      }
    }
    state->weight_fifo.push_back(std::move(tile));
  }
  return std::nullopt;
}

}  // namespace systole::iss
