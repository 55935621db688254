// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The vector unit's part of reference.h, which includes this.
#ifndef SYSTOLE_TESTS_ISS_REFERENCE_VECTOR_H_
#define SYSTOLE_TESTS_ISS_REFERENCE_VECTOR_H_

#include "tests/iss/reference.h"

namespace systole::iss {

inline void Reference::Do(const isa::Requant& d) {
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
  if (!raw) Require(d.params + 9 * p.cols <= p.ub_bytes, isa::Fault::kUbRange);
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
              WriteUb(dst + 4 * c + k,
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
inline uint8_t Reference::Residual(const isa::Requant& d, int result,
                                   int operand) {
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

inline void Reference::Do(const isa::Pool& d) {
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
          out.push_back(
              Ended(Clamp(best, d.clamp_min, d.clamp_max), d.header.flags & 4));
        }
        for (int64_t c = 0; c < d.cols; ++c) {
          WriteUb(
              d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx + c,
              out[c]);
        }
      }
    }
  }
}

inline void Reference::Do(const isa::Add& d) {
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
      WriteUb(
          d.dst + y * d.dst_pitch + b,
          Ended(Clamp(t + d.zp, d.clamp_min, d.clamp_max), d.header.flags & 4));
    }
  }
}

inline void Reference::Do(const isa::Mul& d) {
  const bool single = d.header.flags & 2;
  Require(d.n && d.ny && d.nx && d.cols && d.cols <= p.cols,
          isa::Fault::kIllegalDescriptor);
  Require(!(d.header.flags & 4) || !table.empty(),
          isa::Fault::kIllegalDescriptor);
  for (int64_t i = 0; i < d.n; ++i) {
    for (int64_t y = 0; y < d.ny; ++y) {
      for (int64_t x = 0; x < d.nx; ++x) {
        for (int64_t c = 0; c < d.cols; ++c) {
          const Big a =
              ReadUb(d.src0 + i * d.img_pitch0 + y * d.pitch0 + x * d.sx0 + c) -
              d.zp0;
          const Big b =
              ReadUb(d.src1 + i * d.img_pitch1 + y * d.pitch1 + x * d.sx1 + c) -
              d.zp1;
          const Big v =
              Requantise(a * b, static_cast<int32_t>(d.mult), d.shift, single) +
              d.zp;
          WriteUb(
              d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx + c,
              Ended(Clamp(v, d.clamp_min, d.clamp_max), d.header.flags & 4));
        }
      }
    }
  }
}

inline void Reference::Do(const isa::Table& d) {
  Require(d.src % p.rows == 0, isa::Fault::kMisaligned);
  std::vector<uint8_t> bytes;
  for (int q = 0; q < 256; ++q)
    bytes.push_back(static_cast<uint8_t>(ReadUb(d.src + q)));
  table = bytes;
}

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_REFERENCE_VECTOR_H_
