// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The sentences of docs/isa.md, one element at a time and without regard to
// speed. It notes every byte that it touches. Shares nothing with sim/iss but
// the descriptor layouts.
#ifndef SYSTOLE_TESTS_ISS_REFERENCE_H_
#define SYSTOLE_TESTS_ISS_REFERENCE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::iss {

class Reference {
 public:
  struct Touched {
    std::set<uint64_t> ub_read, ub_written, hbm_read, hbm_written, acc_read,
        acc_written;
  };

  Reference(const Preset& preset, std::vector<uint8_t> hbm,
            std::vector<uint8_t> ub, std::vector<int32_t> acc)
      : p(preset),
        hbm(std::move(hbm)),
        ub(std::move(ub)),
        acc(std::move(acc)) {}

  // Executes any descriptor but a halt; gives the fault. What is done before a
  // fault stays done.
  std::optional<isa::Fault> Run(const isa::Descriptor& d) {
    touched = {};
    try {
      switch (static_cast<isa::Opcode>(d[0] & 0xFF)) {
        case isa::Opcode::kLoad:
          Do(isa::Load::Decode(d));
          break;
        case isa::Opcode::kStore:
          Do(isa::Store::Decode(d));
          break;
        case isa::Opcode::kWeights:
          Do(isa::Weights::Decode(d));
          break;
        case isa::Opcode::kMatmul:
          Do(isa::Matmul::Decode(d));
          break;
        case isa::Opcode::kRequant:
          Do(isa::Requant::Decode(d));
          break;
        case isa::Opcode::kPool:
          Do(isa::Pool::Decode(d));
          break;
        case isa::Opcode::kAdd:
          Do(isa::Add::Decode(d));
          break;
        case isa::Opcode::kMul:
          Do(isa::Mul::Decode(d));
          break;
        case isa::Opcode::kTable:
          Do(isa::Table::Decode(d));
          break;
        default:
          return isa::Fault::kIllegalOpcode;
      }
    } catch (isa::Fault fault) {
      return fault;
    }
    return std::nullopt;
  }

  const Preset& p;
  std::vector<uint8_t> hbm, ub;  // hbm: all that programs may touch
  std::vector<int32_t> acc;
  std::deque<std::vector<int8_t>> fifo;
  std::vector<int8_t> tile;
  std::vector<uint8_t> table;  // of the vector unit, if it has one
  bool saturated = false;
  Touched touched;

 private:
  using Big = __int128;

  static void Require(bool condition, isa::Fault fault) {
    if (!condition) throw fault;
  }
  static Big FloorDiv(Big a, Big b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
  }  // b > 0
  static Big Pow2(int n) { return Big{1} << n; }
  static Big Saturate(Big v) {
    return v > INT32_MAX ? INT32_MAX : (v < INT32_MIN ? INT32_MIN : v);
  }
  // Rounds a / b to nearest; halves up, or away from zero.
  static Big RoundUp(Big a, Big b) { return FloorDiv(2 * a + b, 2 * b); }
  static Big RoundAway(Big a, Big b) {
    return a < 0 ? -RoundUp(-a, b) : RoundUp(a, b);
  }

  static Big Requantise(Big x, int32_t m, int s, bool single) {
    if (single) return Saturate(RoundUp(x * m, Pow2(31 - s)));
    if (s > 0) x = Saturate(x * Pow2(s));
    x = Saturate(RoundUp(x * m, Pow2(31)));
    return s < 0 ? RoundAway(x, Pow2(-s)) : x;
  }
  static uint8_t Clamp(Big v, int low, int high) {
    if (v < low) v = low;
    if (v > high) v = high;
    return static_cast<uint8_t>(static_cast<int>(v));
  }

  // What a result becomes; `wanted`: the flag, which is bit 2 everywhere.
  uint8_t Ended(uint8_t result, bool wanted) const {
    return wanted ? table[static_cast<int8_t>(result) + 128] : result;
  }

  int8_t ReadUb(int64_t at) {
    Require(at >= 0 && at < p.ub_bytes, isa::Fault::kUbRange);
    touched.ub_read.insert(at);
    return static_cast<int8_t>(ub[at]);
  }
  void WriteUb(int64_t at, uint8_t v) {
    Require(at >= 0 && at < p.ub_bytes, isa::Fault::kUbRange);
    touched.ub_written.insert(at);
    ub[at] = v;
  }
  int32_t ReadUb32(int64_t at) {
    uint32_t v = 0;
    for (int i = 3; i >= 0; --i)
      v = v << 8 | static_cast<uint8_t>(ReadUb(at + i));
    return static_cast<int32_t>(v);
  }
  void RequireRows(int64_t first, int64_t rows) {
    const int64_t half = p.acc_rows / 2;
    const bool low = first + rows <= half;
    const bool high = first >= half && first + rows <= p.acc_rows;
    Require(low || high, isa::Fault::kAccRange);
  }

  template <typename D>
  void Dma(const D& d, bool to_ub) {
    const int64_t beat = p.beat_bytes();
    Require(d.len && d.n1 && d.n2, isa::Fault::kIllegalDescriptor);
    Require(d.hbm_addr % beat == 0 && d.ub_addr % beat == 0 &&
                d.hbm_stride1 % beat == 0 && d.ub_stride1 % beat == 0 &&
                d.hbm_stride2 % beat == 0 && d.ub_stride2 % beat == 0,
            isa::Fault::kMisaligned);
    const int64_t whole = (d.len + beat - 1) / beat * beat;
    for (int64_t i2 = 0; i2 < d.n2; ++i2) {
      for (int64_t i1 = 0; i1 < d.n1; ++i1) {
        const int64_t h = d.hbm_addr + i2 * d.hbm_stride2 + i1 * d.hbm_stride1;
        const int64_t u = d.ub_addr + i2 * d.ub_stride2 + i1 * d.ub_stride1;
        Require(h + whole <= static_cast<int64_t>(hbm.size()),
                isa::Fault::kHbmRange);
        Require(u + whole <= p.ub_bytes, isa::Fault::kUbRange);
        for (int64_t b = 0; b < d.len; ++b) {
          if (to_ub) {
            touched.hbm_read.insert(h + b);
            WriteUb(u + b, hbm[h + b]);
          } else {
            touched.hbm_written.insert(h + b);
            hbm[h + b] = static_cast<uint8_t>(ReadUb(u + b));
          }
        }
      }
    }
  }
  void Do(const isa::Load& d) { Dma(d, true); }
  void Do(const isa::Store& d) { Dma(d, false); }

  void Do(const isa::Weights& d) {
    Require(d.tiles, isa::Fault::kIllegalDescriptor);
    Require(d.hbm_addr % p.beat_bytes() == 0, isa::Fault::kMisaligned);
    uint64_t at = d.hbm_addr;
    for (uint32_t t = 0; t < d.tiles; ++t) {
      Require(at + p.rows * p.cols <= hbm.size(), isa::Fault::kHbmRange);
      std::vector<int8_t> w;
      for (int64_t i = 0; i < p.rows * p.cols; ++i, ++at) {
        touched.hbm_read.insert(at);
        w.push_back(static_cast<int8_t>(hbm[at]));
      }
      fifo.push_back(w);
    }
  }

  void Do(const isa::Matmul& d) {
    Require(d.lines && d.line_bytes && d.n && d.ny && d.nx && d.t0 && d.t1,
            isa::Fault::kIllegalDescriptor);
    uint32_t used = 0;
    for (int64_t s = 0; s < 4; ++s) {
      Require(s < p.segments || d.seg_len[s] == 0,
              isa::Fault::kIllegalDescriptor);
      used += d.seg_len[s];
    }
    Require(used > 0 && used <= p.rows, isa::Fault::kIllegalDescriptor);
    RequireRows(d.acc, int64_t{d.n} * d.ny * d.nx);
    bool first = true;
    for (int64_t p1 = 0; p1 < d.t1; ++p1) {
      for (int64_t p0 = 0; p0 < d.t0; ++p0) {
        if (!(first && (d.header.flags & 2))) {
          Require(!fifo.empty(), isa::Fault::kWatchdog);
          tile = fifo.front();
          fifo.pop_front();
        }
        Require(!tile.empty(), isa::Fault::kIllegalDescriptor);
        int64_t row = d.acc;
        for (int64_t i = 0; i < d.n; ++i) {
          for (int64_t y = 0; y < d.ny; ++y) {
            for (int64_t x = 0; x < d.nx; ++x, ++row) {
              std::vector<int8_t> a;
              for (int s = 0; s < 4; ++s) {
                for (int64_t j = 0; j < d.seg_len[s]; ++j) {
                  const int64_t line = y * d.sy + d.seg_dy[s] + p1 * d.t1_dy;
                  const int64_t byte =
                      x * d.sx + d.seg_dx[s] + p0 * d.t0_dx + j;
                  const bool inside = line >= 0 && line < d.lines &&
                                      byte >= 0 && byte < d.line_bytes;
                  a.push_back(inside ? ReadUb(d.ub_base + i * d.img_pitch +
                                              line * d.pitch + byte)
                                     : static_cast<int8_t>(d.pad));
                }
              }
              a.resize(p.rows, 0);
              const bool overwrite = first && !(d.header.flags & 1);
              if (first && !overwrite) touched.acc_read.insert(row);
              touched.acc_written.insert(row);
              for (int64_t c = 0; c < p.cols; ++c) {
                Big sum = overwrite ? 0 : acc[row * p.cols + c];
                for (int64_t r = 0; r < p.rows; ++r)
                  sum += Big{a[r]} * tile[r * p.cols + c];
                if (sum != Saturate(sum)) saturated = true;
                acc[row * p.cols + c] = static_cast<int32_t>(Saturate(sum));
              }
            }
          }
        }
        first = false;
      }
    }
  }

  // reference_vector.h
  void Do(const isa::Requant& d);
  static uint8_t Residual(const isa::Requant& d, int result, int operand);
  void Do(const isa::Pool& d);
  void Do(const isa::Add& d);
  void Do(const isa::Mul& d);
  void Do(const isa::Table& d);
};

}  // namespace systole::iss

#include "tests/iss/reference_vector.h"

#endif  // SYSTOLE_TESTS_ISS_REFERENCE_H_
