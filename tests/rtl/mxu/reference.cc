// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/mxu/reference.h"

#include <algorithm>

#include "verif/golden/fused.h"

namespace systole::mxu_test {

State::State(const Preset& preset)
    : p(preset), ub(p.ub_bytes), acc(p.acc_rows * p.cols) {}

int State::Element(const uint8_t* bytes) const {
  return p.cell == Cell::kBf16 ? bytes[0] | bytes[1] << 8
                               : static_cast<int8_t>(bytes[0]);
}

State::Vector State::Walk(const isa::Matmul& d, int64_t p1, int64_t p0,
                          int64_t i, int64_t y, int64_t x) const {
  Vector a(p.rows, 0);
  int r = 0;
  for (int s = 0; s < 4; ++s) {
    for (int64_t j = 0; j < d.seg_len[s]; ++j) {
      const int64_t line = y * d.sy + d.seg_dy[s] + p1 * d.t1_dy;
      const int64_t byte =
          x * d.sx + d.seg_dx[s] + p0 * d.t0_dx + j * p.element_bytes();
      const bool inside =
          line >= 0 && line < d.lines && byte >= 0 && byte < d.line_bytes;
      a[r++] = inside ? Element(&ub.at(d.ub_base + i * d.img_pitch +
                                       line * d.pitch + byte))
                      : d.pad;
    }
  }
  return a;
}

void State::Accumulate(const Vector& a, const std::vector<int>& weights,
                       bool fresh, int64_t row) {
  for (int64_t c = 0; c < p.cols; ++c) {
    int32_t& out = acc[row * p.cols + c];
    int64_t exact = fresh ? 0 : out;
    for (int64_t k = 0; k < p.rows; ++k)
      exact += a[k] * weights[k * p.cols + c];
    out =
        static_cast<int32_t>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
    saturated |= out != exact;
  }
}

void State::AccumulateBf16(const Vector& a, const std::vector<int>& weights,
                           bool fresh, int64_t row) {
  for (int64_t c = 0; c < p.cols; ++c) {
    uint32_t sum = fresh ? 0 : static_cast<uint32_t>(acc[row * p.cols + c]);
    for (int64_t k = 0; k < p.rows; ++k) {
      sum = golden::FusedMultiplyAdd(
          static_cast<uint16_t>(a[k]),
          static_cast<uint16_t>(weights[k * p.cols + c]), sum);
    }
    acc[row * p.cols + c] = static_cast<int32_t>(sum);
  }
}

void State::Execute(const isa::Matmul& d) {
  const bool accumulate = d.header.flags & isa::Matmul::kAccumulate;
  const bool keep = d.header.flags & isa::Matmul::kKeepWeights;
  const bool transpose = Transposes(d);
  std::vector<int> weights(p.rows * p.cols);
  for (int64_t pass = 0; pass < int64_t{d.t1} * d.t0; ++pass) {
    if (pass == 0 ? !keep : !transpose) {
      tile = tiles.front();
      tiles.pop_front();
    }
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t c = 0; c < p.cols; ++c) {
        const int64_t at = tile.transpose ? c * p.cols + r : r * p.cols + c;
        weights[r * p.cols + c] = Element(&tile.bytes[at * p.element_bytes()]);
      }
    }
    std::vector<Vector> vectors;
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x)
          vectors.push_back(Walk(d, pass / d.t0, pass % d.t0, i, y, x));
      }
    }
    if (transpose) {
      std::vector<Vector> columns(p.rows, Vector(p.rows, 0));
      for (size_t i = 0; i < vectors.size(); ++i) {
        for (int64_t j = 0; j < p.rows; ++j) columns[j][i] = vectors[i][j];
      }
      vectors = columns;
    }
    const bool fresh = !accumulate && (pass == 0 || transpose);
    int64_t row = d.acc + (transpose ? pass * p.rows : 0);
    for (const Vector& a : vectors) {
      if (p.cell == Cell::kBf16)
        AccumulateBf16(a, weights, fresh, row++);
      else
        Accumulate(a, weights, fresh, row++);
    }
  }
}

bool Transposes(const isa::Matmul& d) {
  return (d.header.flags & isa::Matmul::kTranspose) != 0;
}
int64_t RowsOf(const Preset& p, const isa::Matmul& d) {
  return Transposes(d) ? int64_t{d.t1} * d.t0 * p.rows
                       : int64_t{d.n} * d.ny * d.nx;
}
int64_t VectorsOf(const Preset& p, const isa::Matmul& d) {
  return Transposes(d) ? RowsOf(p, d) : RowsOf(p, d) * d.t0 * d.t1;
}
int64_t TilesOf(const isa::Matmul& d) {
  return (Transposes(d) ? 1 : int64_t{d.t0} * d.t1) -
         ((d.header.flags & isa::Matmul::kKeepWeights) ? 1 : 0);
}

int Pick(std::mt19937* rng, int low, int high) {
  return low + static_cast<int>((*rng)() % (high - low + 1));
}

namespace {

// Exponents around 1, so that sums stay finite; one in `rare` is anything.
uint16_t RandomBf16(std::mt19937* rng, uint32_t rare) {
  const uint32_t bits = (*rng)();
  if (rare != 0 && (*rng)() % rare == 0) {
    constexpr uint16_t kSpecial[] = {0x0000, 0x8000, 0x0001, 0x807F,
                                     0x7F80, 0xFF80, 0x7FC0, 0x7F81};
    return bits % 4 == 0 ? kSpecial[bits >> 8 & 7]
                         : static_cast<uint16_t>(bits >> 16);
  }
  return static_cast<uint16_t>((bits & 0x807F) | (120 + (bits >> 16) % 14)
                                                     << 7);
}

}  // namespace

void RandomElements(std::mt19937* rng, const Preset& p,
                    std::vector<uint8_t>* bytes) {
  if (p.cell == Cell::kInt8) {
    for (uint8_t& v : *bytes) v = static_cast<uint8_t>((*rng)());
    return;
  }
  for (size_t i = 0; i + 1 < bytes->size(); i += 2) {
    const uint16_t v = RandomBf16(rng, 200);
    (*bytes)[i] = static_cast<uint8_t>(v);
    (*bytes)[i + 1] = static_cast<uint8_t>(v >> 8);
  }
}

Tile RandomTile(std::mt19937* rng, const Preset& p) {
  Tile t{std::vector<uint8_t>(p.tile_bytes())};
  const int kind = (*rng)() % 4;
  if (p.cell == Cell::kInt8) {
    for (uint8_t& v : t.bytes)
      v = kind == 0 ? ((*rng)() % 2 ? 0x80 : 0x7F) : (*rng)();
    return t;
  }
  t.transpose = (*rng)() % 2;
  for (size_t i = 0; i < t.bytes.size(); i += 2) {
    const uint16_t v = RandomBf16(rng, kind == 0 ? 30 : 0);
    t.bytes[i] = static_cast<uint8_t>(v);
    t.bytes[i + 1] = static_cast<uint8_t>(v >> 8);
  }
  return t;
}

isa::Matmul RandomMatmul(std::mt19937* rng, const Preset& p, bool may_keep) {
  const int e = static_cast<int>(p.element_bytes());
  const auto even = [rng, e](int low, int high) {
    return Pick(rng, low, high) / e * e;
  };
  while (true) {
    isa::Matmul d;
    if (p.cell == Cell::kBf16 && Pick(rng, 0, 2) == 0)
      d.header.flags |= isa::Matmul::kTranspose;
    if (Pick(rng, 0, 1)) d.header.flags |= isa::Matmul::kAccumulate;
    if (may_keep && Pick(rng, 0, 3) == 0)
      d.header.flags |= isa::Matmul::kKeepWeights;
    d.pitch = even(e, 300);
    d.lines = Pick(rng, 1, 20);
    d.line_bytes = even(e, 260);
    d.img_pitch = even(0, 3000);
    d.ub_base = even(0, static_cast<int>(p.ub_bytes) - 1);
    if (e == 1) d.pad = static_cast<int8_t>((*rng)());
    d.n = Pick(rng, 1, 3);
    d.ny = Pick(rng, 1, 8);
    d.nx = Pick(rng, 1, 8);
    d.sy = Pick(rng, 0, 3);
    d.sx = even(0, 40);
    d.t0 = Pick(rng, 1, 3);
    d.t1 = Pick(rng, 1, 3);
    d.t0_dx = even(0, 40);
    d.t1_dy = Pick(rng, 0, 3);
    int left = static_cast<int>(p.rows);
    const int segments = Pick(rng, 1, 4);
    for (int s = 0; s < segments; ++s) {
      const int most = s == segments - 1 ? left : left / 2 + 1;
      d.seg_len[s] = std::min(Pick(rng, s == 0 ? 1 : 0, most), left);
      left -= static_cast<int>(d.seg_len[s]);
      d.seg_dy[s] = Pick(rng, -4, 6);
      d.seg_dx[s] = even(-60, 120);
    }
    const int bank = static_cast<int>(p.acc_bank_rows());
    const int rows = static_cast<int>(RowsOf(p, d));
    if (rows > bank) continue;
    if (Transposes(d) && int64_t{d.n} * d.ny * d.nx > p.rows) continue;
    d.acc = Pick(rng, 0, 1) * bank + Pick(rng, 0, bank - rows);
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
    d.seg_dx[s] = static_cast<int32_t>(p.element_bytes());
  }
  return d;
}

isa::Matmul PlainMatmul(const Preset& p, int vectors) {
  isa::Matmul d;
  d.pitch = d.line_bytes = p.rows * p.element_bytes();
  d.lines = d.ny = vectors;
  d.n = d.nx = d.t0 = d.t1 = d.sy = 1;
  d.seg_len[0] = p.rows;
  return d;
}

}  // namespace systole::mxu_test
