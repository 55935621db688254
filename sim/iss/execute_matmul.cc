// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// matmul. A pass gathers its vectors into a dense matrix, then multiplies that
// by the tile.

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/iss/execute.h"

namespace systole::iss {
namespace {

constexpr int kSegments = 4;

// Bytes j of segment s at output position (i, y, x) in pass (p1, p0), as
// docs/isa.md has them.
class Gather {
 public:
  Gather(const isa::Matmul& d, const State& state) : d_(d), state_(state) {}

  // Fills [n*ny*nx][Rows].
  Result Pass(int64_t p1, int64_t p0, int8_t* a) const {
    const int64_t rows = state_.preset.rows;
    for (int64_t i = 0; i < d_.n; ++i) {
      for (int64_t y = 0; y < d_.ny; ++y) {
        for (int64_t x = 0; x < d_.nx; ++x, a += rows) {
          int8_t* to = a;
          for (int s = 0; s < kSegments; ++s) {
            if (Result r =
                    Window(i, y * d_.sy + d_.seg_dy[s] + p1 * d_.t1_dy,
                           int64_t{d_.seg_dx[s]} + x * d_.sx + p0 * d_.t0_dx,
                           d_.seg_len[s], to)) {
              return r;
            }
            to += d_.seg_len[s];
          }
          std::fill(to, a + rows, int8_t{0});
        }
      }
    }
    return std::nullopt;
  }

 private:
  // Bytes first .. first + len - 1 of a line, padding where there are none.
  Result Window(int64_t i, int64_t line, int64_t first, int64_t len,
                int8_t* to) const {
    int64_t from = 0, until = 0;  // the bytes of the window that exist
    if (line >= 0 && line < d_.lines) {
      from = std::clamp<int64_t>(-first, 0, len);
      until = std::clamp<int64_t>(d_.line_bytes - first, from, len);
    }
    if (from < until) {
      const uint64_t address =
          d_.ub_base + i * d_.img_pitch + line * d_.pitch + first + from;
      if (Result r = CheckWindow(state_, address, until - from)) return r;
      std::memcpy(to + from, &state_.ub[address], until - from);
    }
    std::fill(to, to + from, static_cast<int8_t>(d_.pad));
    std::fill(to + until, to + len, static_cast<int8_t>(d_.pad));
    return std::nullopt;
  }

  const isa::Matmul& d_;
  const State& state_;
};

// sum[v][c] = sum over r of a[v][r] * w[r][c] for kVectors vectors and kCols
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

// Adds with saturation; whether any value saturated.
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

// A pass, kCols columns at a time. Whether an accumulator saturated.
template <int kCols>
bool RunPass(const int8_t* a, const int32_t* w, int64_t vectors,
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

bool IsIllegal(const isa::Matmul& d, const Preset& preset) {
  for (uint32_t count : {d.lines, d.line_bytes, d.n, d.ny, d.nx, d.t0, d.t1}) {
    if (count == 0) return true;
  }
  const uint32_t used =
      d.seg_len[0] + d.seg_len[1] + d.seg_len[2] + d.seg_len[3];
  return used == 0 || used > preset.rows;
}

}  // namespace

Result Execute(const isa::Matmul& d, State* state) {
  const Preset& preset = state->preset;
  if (IsIllegal(d, preset)) return Trap{isa::Fault::kIllegalDescriptor};
  const int64_t vectors = int64_t{d.n} * d.ny * d.nx;
  if (Result r = CheckAccRows(*state, d.acc, vectors)) return r;

  const bool accumulate = (d.header.flags & isa::Matmul::kAccumulate) != 0;
  const bool keep = (d.header.flags & isa::Matmul::kKeepWeights) != 0;
  const auto run = preset.cols >= 32 ? RunPass<32> : RunPass<8>;
  const Gather gather(d, *state);
  std::vector<int8_t> a(vectors * preset.rows);
  std::vector<int32_t> w(preset.tile_bytes());
  for (int64_t p1 = 0; p1 < d.t1; ++p1) {
    for (int64_t p0 = 0; p0 < d.t0; ++p0) {
      const bool first = p1 == 0 && p0 == 0;
      if (first && keep) {
        if (!state->tile) return Trap{isa::Fault::kIllegalDescriptor};
      } else {
        // A tile that no weights descriptor before this one pushes: the array
        // would wait for ever.
        if (state->weight_fifo.empty())
          return Trap{isa::Fault::kWatchdog,
                      static_cast<uint64_t>(p1 * d.t0 + p0)};
        state->tile = std::move(state->weight_fifo.front());
        state->weight_fifo.pop_front();
      }
      std::copy(state->tile->begin(), state->tile->end(), w.begin());
      if (Result r = gather.Pass(p1, p0, a.data())) return r;
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
