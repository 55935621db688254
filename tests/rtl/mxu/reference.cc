// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/mxu/reference.h"

#include <algorithm>

namespace systole::mxu_test {

State::State(const Preset& preset)
    : p(preset), ub(p.ub_bytes), acc(p.acc_rows * p.cols) {}

void State::Execute(const isa::Matmul& d) {
  const bool accumulate = d.header.flags & isa::Matmul::kAccumulate;
  const bool keep = d.header.flags & isa::Matmul::kKeepWeights;
  bool first = true;
  std::vector<int> a(p.rows);
  std::vector<int64_t> sum(p.cols);
  for (int64_t p1 = 0; p1 < d.t1; ++p1) {
    for (int64_t p0 = 0; p0 < d.t0; ++p0) {
      if (!(first && keep)) {
        tile = tiles.front();
        tiles.pop_front();
      }
      int64_t row = d.acc;
      for (int64_t i = 0; i < d.n; ++i) {
        for (int64_t y = 0; y < d.ny; ++y) {
          for (int64_t x = 0; x < d.nx; ++x, ++row) {
            std::fill(a.begin(), a.end(), 0);
            int r = 0;
            for (int s = 0; s < 4; ++s) {
              for (int64_t j = 0; j < d.seg_len[s]; ++j) {
                const int64_t line = y * d.sy + d.seg_dy[s] + p1 * d.t1_dy;
                const int64_t byte = x * d.sx + d.seg_dx[s] + p0 * d.t0_dx + j;
                const bool inside = line >= 0 && line < d.lines && byte >= 0 &&
                                    byte < d.line_bytes;
                a[r++] = inside ? ub.at(d.ub_base + i * d.img_pitch +
                                        line * d.pitch + byte)
                                : d.pad;
              }
            }
            std::fill(sum.begin(), sum.end(), 0);
            for (int64_t k = 0; k < p.rows; ++k) {
              for (int64_t c = 0; c < p.cols; ++c)
                sum[c] += a[k] * tile[k * p.cols + c];
            }
            for (int64_t c = 0; c < p.cols; ++c) {
              int32_t& out = acc[row * p.cols + c];
              const int64_t exact =
                  (first && !accumulate ? 0 : int64_t{out}) + sum[c];
              out = static_cast<int32_t>(
                  std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
              saturated |= out != exact;
            }
          }
        }
      }
      first = false;
    }
  }
}

int64_t RowsOf(const isa::Matmul& d) { return int64_t{d.n} * d.ny * d.nx; }
int64_t VectorsOf(const isa::Matmul& d) { return RowsOf(d) * d.t0 * d.t1; }
int64_t TilesOf(const isa::Matmul& d) {
  return int64_t{d.t0} * d.t1 -
         ((d.header.flags & isa::Matmul::kKeepWeights) ? 1 : 0);
}

int Pick(std::mt19937* rng, int low, int high) {
  return low + static_cast<int>((*rng)() % (high - low + 1));
}

Tile RandomTile(std::mt19937* rng, const Preset& p) {
  Tile t(p.tile_bytes());
  const int kind = (*rng)() % 4;
  for (int8_t& v : t)
    v = kind == 0 ? ((*rng)() % 2 ? -128 : 127) : static_cast<int8_t>((*rng)());
  return t;
}

isa::Matmul RandomMatmul(std::mt19937* rng, const Preset& p, bool may_keep) {
  while (true) {
    isa::Matmul d;
    if (Pick(rng, 0, 1)) d.header.flags |= isa::Matmul::kAccumulate;
    if (may_keep && Pick(rng, 0, 3) == 0)
      d.header.flags |= isa::Matmul::kKeepWeights;
    d.pitch = Pick(rng, 1, 300);
    d.lines = Pick(rng, 1, 20);
    d.line_bytes = Pick(rng, 1, 260);
    d.img_pitch = Pick(rng, 0, 3000);
    d.ub_base = Pick(rng, 0, static_cast<int>(p.ub_bytes) - 1);
    d.pad = static_cast<int8_t>((*rng)());
    d.n = Pick(rng, 1, 3);
    d.ny = Pick(rng, 1, 8);
    d.nx = Pick(rng, 1, 8);
    d.sy = Pick(rng, 0, 3);
    d.sx = Pick(rng, 0, 40);
    d.t0 = Pick(rng, 1, 3);
    d.t1 = Pick(rng, 1, 3);
    d.t0_dx = Pick(rng, 0, 40);
    d.t1_dy = Pick(rng, 0, 3);
    int left = static_cast<int>(p.rows);
    const int segments = Pick(rng, 1, 4);
    for (int s = 0; s < segments; ++s) {
      const int most = s == segments - 1 ? left : left / 2 + 1;
      d.seg_len[s] = std::min(Pick(rng, s == 0 ? 1 : 0, most), left);
      left -= static_cast<int>(d.seg_len[s]);
      d.seg_dy[s] = Pick(rng, -4, 6);
      d.seg_dx[s] = Pick(rng, -60, 120);
    }
    const int bank = static_cast<int>(p.acc_bank_rows());
    if (RowsOf(d) > bank) continue;
    d.acc = Pick(rng, 0, 1) * bank +
            Pick(rng, 0, bank - static_cast<int>(RowsOf(d)));
    // Where the last byte that any vector could read ends; now and then the end
    // of the buffer.
    const int64_t top = d.ub_base + int64_t{d.n - 1} * d.img_pitch +
                        int64_t{d.lines - 1} * d.pitch + d.line_bytes;
    if (top > p.ub_bytes) {
      const int64_t base = d.ub_base + p.ub_bytes - top;
      if (base < 0) continue;
      d.ub_base = static_cast<uint32_t>(base);
    }
    return d;
  }
}

isa::Matmul StreamingMatmul(const Preset& p, int segments, int vectors,
                            int t0) {
  isa::Matmul d;
  d.pitch = std::max(2 * p.word_bytes(), p.beat_bytes());
  d.lines = 8;
  d.line_bytes = d.pitch;
  d.n = d.ny = d.t1 = 1;
  d.nx = vectors;
  d.t0 = t0;
  for (int s = 0; s < segments; ++s) {
    d.seg_len[s] = p.rows / segments;
    d.seg_dy[s] = s;
    d.seg_dx[s] = 1;
  }
  return d;
}

isa::Matmul PlainMatmul(const Preset& p, int vectors) {
  isa::Matmul d;
  d.pitch = d.line_bytes = p.rows;
  d.lines = d.ny = vectors;
  d.n = d.nx = d.t0 = d.t1 = d.sy = 1;
  d.seg_len[0] = p.rows;
  return d;
}

}  // namespace systole::mxu_test
