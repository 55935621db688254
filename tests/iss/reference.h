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
    const uint32_t used =
        d.seg_len[0] + d.seg_len[1] + d.seg_len[2] + d.seg_len[3];
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

  void Do(const isa::Requant& d) {
    const bool raw = d.header.flags & 1, single = d.header.flags & 2,
               lookup = d.header.flags & 4, residual = d.header.flags & 8;
    Require(d.n && d.ny && d.nx && d.cols && d.cols <= p.cols,
            isa::Fault::kIllegalDescriptor);
    Require(!(raw && lookup) && !(raw && residual) && !(lookup && residual),
            isa::Fault::kIllegalDescriptor);
    Require(!residual || p.residual == 1, isa::Fault::kIllegalDescriptor);
    Require(!lookup || !table.empty(), isa::Fault::kIllegalDescriptor);
    if (!raw) Require(d.params % p.rows == 0, isa::Fault::kMisaligned);
    RequireRows(d.acc, int64_t{d.n} * d.ny * d.nx);
    if (!raw)
      Require(d.params + 9 * p.cols <= p.ub_bytes, isa::Fault::kUbRange);
    // The block is read before anything is written.
    std::vector<int32_t> bias, mult;
    std::vector<int> shift;
    for (int64_t c = 0; c < d.cols && !raw; ++c) {
      bias.push_back(ReadUb32(d.params + 4 * c));
      mult.push_back(ReadUb32(d.params + 4 * p.cols + 4 * c));
      shift.push_back(ReadUb(d.params + 8 * p.cols + c));
    }
    int64_t row = d.acc;
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x, ++row) {
          touched.acc_read.insert(row);
          const int64_t dst =
              d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx;
          for (int64_t c = 0; c < d.cols; ++c) {
            const int32_t v = acc[row * p.cols + c];
            if (raw) {
              for (int k = 0; k < 4; ++k)
                WriteUb(
                    dst + 4 * c + k,
                    static_cast<uint8_t>(static_cast<uint32_t>(v) >> 8 * k));
            } else {
              const Big sum = Big{v} + bias[c];
              if (sum != Saturate(sum)) saturated = true;
              uint8_t result = Clamp(
                  Requantise(Saturate(sum), mult[c], shift[c], single) + d.zp,
                  d.clamp_min, d.clamp_max);
              if (residual) {
                const int64_t src = d.src + i * d.src_img_pitch +
                                    y * d.src_pitch + x * d.src_sx + c;
                result = Residual(d, static_cast<int8_t>(result), ReadUb(src));
              }
              WriteUb(dst + c, Ended(result, lookup));
            }
          }
        }
      }
    }
  }

  // An addition whose larger scale gives the factor 1/2, for one of them.
  static uint8_t Residual(const isa::Requant& d, int result, int operand) {
    const bool operand_wide = d.header.flags & 16;
    const bool single = d.header.flags & 32;
    const auto half = [&](Big centred) {
      return Requantise(centred * Pow2(20), 1 << 30, 0, single);
    };
    const auto scaled = [&](Big centred) {
      return Requantise(centred * Pow2(20), static_cast<int32_t>(d.sum_mult1),
                        d.sum_shift1, single);
    };
    const Big y = result - d.zp, o = operand - d.src_zp;
    const Big sum = operand_wide ? half(o) + scaled(y) : half(y) + scaled(o);
    return Clamp(Requantise(Saturate(sum), static_cast<int32_t>(d.sum_mult),
                            d.sum_shift, single) +
                     d.sum_zp,
                 d.sum_min, d.sum_max);
  }

  void Do(const isa::Pool& d) {
    const bool of_sums = d.header.flags & 8;
    Require(d.n && d.ny && d.nx && d.cols && d.cols <= p.cols && d.kh && d.kw,
            isa::Fault::kIllegalDescriptor);
    Require(of_sums ? !(d.header.flags & 1) : d.kh * d.kw <= 256,
            isa::Fault::kIllegalDescriptor);
    Require(!(d.header.flags & 4) || !table.empty(),
            isa::Fault::kIllegalDescriptor);
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x) {
          std::vector<uint8_t> out;
          for (int64_t c = 0; c < d.cols; ++c) {
            std::vector<int> values;
            for (int64_t ky = 0; ky < d.kh; ++ky) {
              for (int64_t kx = 0; kx < d.kw; ++kx) {
                const int64_t line = y * d.sy + d.dy + ky,
                              byte = x * d.src_sx + d.dx + kx * d.kx;
                if (line < 0 || line >= d.lines || byte < 0 ||
                    byte >= d.line_bytes)
                  continue;
                values.push_back(ReadUb(d.src + i * d.src_img_pitch +
                                        line * d.src_pitch + byte + c));
              }
            }
            Big best = values.empty()
                           ? d.clamp_min
                           : *std::max_element(values.begin(), values.end());
            const Big sum = std::accumulate(values.begin(), values.end(), 0);
            const bool average = d.header.flags & 1;
            if (average)
              best = values.empty()
                         ? Big{0}
                         : RoundAway(sum, static_cast<int>(values.size()));
            if (of_sums) {
              Big above = 0;
              for (const int value : values) above += value - d.src_zp;
              best = Requantise(above, static_cast<int32_t>(d.mult), d.shift,
                                d.header.flags & 2) +
                     d.zp;
            }
            out.push_back(Ended(Clamp(best, d.clamp_min, d.clamp_max),
                                d.header.flags & 4));
          }
          for (int64_t c = 0; c < d.cols; ++c) {
            WriteUb(d.dst + i * d.dst_img_pitch + y * d.dst_pitch +
                        x * d.dst_sx + c,
                    out[c]);
          }
        }
      }
    }
  }

  void Do(const isa::Add& d) {
    const bool single = d.header.flags & 2;
    Require(d.ny && d.line_bytes, isa::Fault::kIllegalDescriptor);
    Require(!(d.header.flags & 4) || !table.empty(),
            isa::Fault::kIllegalDescriptor);
    for (int64_t y = 0; y < d.ny; ++y) {
      for (int64_t b = 0; b < d.line_bytes; ++b) {
        const Big a = Requantise(
            (Big{ReadUb(d.src0 + y * d.pitch0 + b)} - d.zp0) * Pow2(20),
            static_cast<int32_t>(d.mult0), d.shift0, single);
        const Big e = Requantise(
            (Big{ReadUb(d.src1 + y * d.pitch1 + b)} - d.zp1) * Pow2(20),
            static_cast<int32_t>(d.mult1), d.shift1, single);
        const Big t =
            Requantise(a + e, static_cast<int32_t>(d.mult), d.shift, single);
        WriteUb(d.dst + y * d.dst_pitch + b,
                Ended(Clamp(t + d.zp, d.clamp_min, d.clamp_max),
                      d.header.flags & 4));
      }
    }
  }

  void Do(const isa::Mul& d) {
    const bool single = d.header.flags & 2;
    Require(d.n && d.ny && d.nx && d.cols && d.cols <= p.cols,
            isa::Fault::kIllegalDescriptor);
    Require(!(d.header.flags & 4) || !table.empty(),
            isa::Fault::kIllegalDescriptor);
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x) {
          for (int64_t c = 0; c < d.cols; ++c) {
            const Big a = ReadUb(d.src0 + i * d.img_pitch0 + y * d.pitch0 +
                                 x * d.sx0 + c) -
                          d.zp0;
            const Big b = ReadUb(d.src1 + i * d.img_pitch1 + y * d.pitch1 +
                                 x * d.sx1 + c) -
                          d.zp1;
            const Big v = Requantise(a * b, static_cast<int32_t>(d.mult),
                                     d.shift, single) +
                          d.zp;
            WriteUb(
                d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx +
                    c,
                Ended(Clamp(v, d.clamp_min, d.clamp_max), d.header.flags & 4));
          }
        }
      }
    }
  }

  void Do(const isa::Table& d) {
    Require(d.src % p.rows == 0, isa::Fault::kMisaligned);
    std::vector<uint8_t> bytes;
    for (int q = 0; q < 256; ++q)
      bytes.push_back(static_cast<uint8_t>(ReadUb(d.src + q)));
    table = bytes;
  }
};

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_REFERENCE_H_
