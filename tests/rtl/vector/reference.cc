// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/rtl/vector/reference.h"

#include <algorithm>
#include <cstring>

namespace systole::vector_test {
namespace {

using isa::Fault;

int32_t Saturate(__int128 v) {
  return static_cast<int32_t>(std::clamp<__int128>(v, INT32_MIN, INT32_MAX));
}

int32_t Srdhm(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t product = int64_t{a} * int64_t{b};
  const int64_t nudge =
      product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t RoundingDivideByPot(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t remainder = x & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> exponent) +
                              (remainder > threshold ? 1 : 0));
}

uint8_t Clamp(int64_t v, int32_t low, int32_t high) {
  return static_cast<uint8_t>(
      std::min<int64_t>(std::max<int64_t>(v, low), high));
}

// One descriptor's run over the memories.
class Run {
 public:
  Run(const Preset& preset, Memories* memories)
      : preset_(preset), memories_(*memories) {}

  Effect effect;

  void Do(const isa::Requant& d) {
    const int64_t cols = d.cols;
    const bool raw = d.header.flags & isa::Requant::kRaw;
    const bool table = d.header.flags & isa::Requant::kTable;
    const bool residual = d.header.flags & isa::Requant::kResidual;
    if (d.n == 0 || d.ny == 0 || d.nx == 0 || cols == 0 ||
        cols > preset_.cols || raw + table + residual > 1 ||
        (residual && preset_.residual == 0)) {
      return Fail(Fault::kIllegalDescriptor, 0);
    }
    if (!raw && d.params % preset_.rows != 0) {
      return Fail(Fault::kMisaligned, d.params);
    }
    const int64_t bank = preset_.acc_bank_rows();
    const int64_t rows = int64_t{d.n} * d.ny * d.nx;
    if (d.acc >= preset_.acc_rows || d.acc % bank + rows > bank) {
      return Fail(Fault::kAccRange, d.acc);
    }
    std::vector<uint8_t> block(9 * preset_.cols);
    if (!raw) {
      for (int64_t w = 0; w < 9; ++w) {
        if (!Read(d.params + w * preset_.rows, preset_.rows,
                  &block[w * preset_.rows])) {
          return;
        }
      }
    }
    int64_t row = d.acc;
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x, ++row) {
          const int64_t dst =
              d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx;
          const int32_t* acc = &memories_.acc[row * preset_.cols];
          std::vector<uint8_t> out(raw ? 4 * cols : cols);
          std::vector<uint8_t> operand(cols);
          if (residual && !Read(d.src + i * d.src_img_pitch + y * d.src_pitch +
                                    x * d.src_sx,
                                cols, operand.data())) {
            return;
          }
          row_saturated_ = false;
          if (raw) {
            std::memcpy(out.data(), acc, out.size());
          } else {
            for (int64_t c = 0; c < cols; ++c) {
              out[c] = RequantLane(d, acc[c], block, c);
              if (residual) out[c] = Sum(d, out[c], operand[c]);
              if (table) out[c] = Lookup(out[c]);
            }
          }
          for (int64_t at = 0; at < static_cast<int64_t>(out.size());
               at += preset_.cols) {
            const int64_t len =
                std::min<int64_t>(preset_.cols, out.size() - at);
            if (!Write(dst + at, len, &out[at])) return;
          }
          effect.saturated |= row_saturated_;  // of a row that is written
        }
      }
    }
  }

  void Do(const isa::Pool& d) {
    if (d.n == 0 || d.ny == 0 || d.nx == 0 || d.cols == 0 ||
        d.cols > preset_.cols || d.kh == 0 || d.kw == 0 ||
        ((d.header.flags & isa::Pool::kSum)
             ? (d.header.flags & isa::Pool::kAverage) != 0
             : d.kh * d.kw > 256)) {
      return Fail(Fault::kIllegalDescriptor, 0);
    }
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x) {
          if (!Window(d, i, y, x)) return;
        }
      }
    }
  }

  void Do(const isa::Add& d) {
    if (d.ny == 0 || d.line_bytes == 0) {
      return Fail(Fault::kIllegalDescriptor, 0);
    }
    const bool single = d.header.flags & isa::Add::kSingleRound;
    for (int64_t y = 0; y < d.ny; ++y) {
      for (int64_t b = 0; b < d.line_bytes; b += preset_.cols) {
        const int64_t len = std::min<int64_t>(preset_.cols, d.line_bytes - b);
        std::vector<uint8_t> a0(len), a1(len), out(len);
        if (!Read(d.src0 + y * d.pitch0 + b, len, a0.data())) return;
        if (!Read(d.src1 + y * d.pitch1 + b, len, a1.data())) return;
        for (int64_t c = 0; c < len; ++c) {
          const int32_t x0 = (static_cast<int8_t>(a0[c]) - d.zp0) * (1 << 20);
          const int32_t x1 = (static_cast<int8_t>(a1[c]) - d.zp1) * (1 << 20);
          const int64_t sum =
              int64_t{Requantise(x0, static_cast<int32_t>(d.mult0), d.shift0,
                                 single)} +
              Requantise(x1, static_cast<int32_t>(d.mult1), d.shift1, single);
          const int64_t v =
              int64_t{Requantise(Saturate(sum), static_cast<int32_t>(d.mult),
                                 d.shift, single)} +
              d.zp;
          out[c] = Clamp(v, d.clamp_min, d.clamp_max);
          if (d.header.flags & isa::Add::kTable) out[c] = Lookup(out[c]);
        }
        if (!Write(d.dst + y * d.dst_pitch + b, len, out.data())) return;
      }
    }
  }

  void Do(const isa::Mul& d) {
    if (d.n == 0 || d.ny == 0 || d.nx == 0 || d.cols == 0 ||
        d.cols > preset_.cols) {
      return Fail(Fault::kIllegalDescriptor, 0);
    }
    const bool single = d.header.flags & isa::Mul::kSingleRound;
    for (int64_t i = 0; i < d.n; ++i) {
      for (int64_t y = 0; y < d.ny; ++y) {
        for (int64_t x = 0; x < d.nx; ++x) {
          const int64_t cols = d.cols;
          std::vector<uint8_t> a(cols), b(cols), out(cols);
          if (!Read(d.src0 + i * d.img_pitch0 + y * d.pitch0 + x * d.sx0, cols,
                    a.data()) ||
              !Read(d.src1 + i * d.img_pitch1 + y * d.pitch1 + x * d.sx1, cols,
                    b.data())) {
            return;
          }
          for (int64_t c = 0; c < cols; ++c) {
            const int32_t product = (static_cast<int8_t>(a[c]) - d.zp0) *
                                    (static_cast<int8_t>(b[c]) - d.zp1);
            out[c] =
                Clamp(int64_t{Requantise(product, static_cast<int32_t>(d.mult),
                                         d.shift, single)} +
                          d.zp,
                      d.clamp_min, d.clamp_max);
            if (d.header.flags & isa::Mul::kTable) out[c] = Lookup(out[c]);
          }
          if (!Write(
                  d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx,
                  cols, out.data())) {
            return;
          }
        }
      }
    }
  }

  void Do(const isa::Table& d) {
    if (d.src % preset_.rows != 0) return Fail(Fault::kMisaligned, d.src);
    for (int64_t at = 0; at < 256; at += preset_.rows) {
      if (!Read(d.src + at, preset_.rows, &memories_.table[at])) return;
    }
  }

  void Fail(Fault fault, int64_t address) {
    effect.fault = fault;
    effect.fault_addr = address;
  }

 private:
  bool Read(int64_t address, int64_t len, uint8_t* to) {
    if (address + len > preset_.ub_bytes) {
      Fail(Fault::kUbRange, address);
      return false;
    }
    ++effect.reads;
    std::copy_n(memories_.ub.begin() + address, len, to);
    return true;
  }

  bool Write(int64_t address, int64_t len, const uint8_t* from) {
    if (address + len > preset_.ub_bytes) {
      Fail(Fault::kUbRange, address);
      return false;
    }
    ++effect.writes;
    std::copy_n(from, len, memories_.ub.begin() + address);
    return true;
  }

  uint8_t RequantLane(const isa::Requant& d, int32_t acc,
                      const std::vector<uint8_t>& block, int64_t c) {
    int32_t bias, multiplier;
    std::memcpy(&bias, &block[4 * c], 4);
    std::memcpy(&multiplier, &block[4 * (preset_.cols + c)], 4);
    const int shift = static_cast<int8_t>(block[8 * preset_.cols + c]);
    const int64_t exact = int64_t{acc} + bias;
    if (exact != Saturate(exact)) row_saturated_ = true;
    const bool single = d.header.flags & isa::Requant::kSingleRound;
    const int64_t v =
        int64_t{Requantise(Saturate(exact), multiplier, shift, single)} + d.zp;
    return Clamp(v, d.clamp_min, d.clamp_max);
  }

  uint8_t Lookup(uint8_t value) const { return memories_.table[value ^ 0x80]; }

  // A residual addition of a result and an operand.
  static uint8_t Sum(const isa::Requant& d, uint8_t result, uint8_t operand) {
    const bool wide = d.header.flags & isa::Requant::kResidualWide;
    const bool single = d.header.flags & isa::Requant::kResidualSingle;
    const int32_t y = static_cast<int8_t>(result) - d.zp;
    const int32_t o = static_cast<int8_t>(operand) - d.src_zp;
    const int32_t scaled =
        Requantise((wide ? y : o) * (1 << 20),
                   static_cast<int32_t>(d.sum_mult1), d.sum_shift1, single);
    const int64_t sum = int64_t{scaled} + int64_t{wide ? o : y} * (1 << 19);
    return Clamp(
        int64_t{Requantise(Saturate(sum), static_cast<int32_t>(d.sum_mult),
                           d.sum_shift, single)} +
            d.sum_zp,
        d.sum_min, d.sum_max);
  }

  bool Window(const isa::Pool& d, int64_t i, int64_t y, int64_t x) {
    const bool average = d.header.flags & isa::Pool::kAverage;
    const bool sum = d.header.flags & isa::Pool::kSum;
    const bool single = d.header.flags & isa::Pool::kSingleRound;
    std::vector<int32_t> value(d.cols, average || sum ? 0 : INT32_MIN);
    int32_t count = 0;
    for (int64_t ky = 0; ky < d.kh; ++ky) {
      for (int64_t kx = 0; kx < d.kw; ++kx) {
        ++effect.taps;
        const int64_t line = y * d.sy + d.dy + ky;
        const int64_t byte = x * d.src_sx + d.dx + kx * d.kx;
        if (line < 0 || line >= d.lines || byte < 0 || byte >= d.line_bytes) {
          continue;
        }
        std::vector<uint8_t> tap(d.cols);
        if (!Read(d.src + i * d.src_img_pitch + line * d.src_pitch + byte,
                  d.cols, tap.data())) {
          return false;
        }
        ++count;
        for (uint32_t c = 0; c < d.cols; ++c) {
          const int32_t v = static_cast<int8_t>(tap[c]) - (sum ? d.src_zp : 0);
          value[c] = average || sum ? value[c] + v : std::max(value[c], v);
        }
      }
    }
    std::vector<uint8_t> out(d.cols);
    for (uint32_t c = 0; c < d.cols; ++c) {
      int64_t v = value[c];
      if (average) v = Average(value[c], count);
      if (sum) {
        v = int64_t{Requantise(value[c], static_cast<int32_t>(d.mult), d.shift,
                               single)} +
            d.zp;
      }
      out[c] = Clamp(v, d.clamp_min, d.clamp_max);
      if (d.header.flags & isa::Pool::kTable) out[c] = Lookup(out[c]);
    }
    return Write(d.dst + i * d.dst_img_pitch + y * d.dst_pitch + x * d.dst_sx,
                 d.cols, out.data());
  }

  const Preset& preset_;
  Memories& memories_;
  bool row_saturated_ = false;
};

}  // namespace

int32_t Requantise(int32_t x, int32_t multiplier, int shift, bool single) {
  if (single) {
    const int n = 31 - shift;
    const __int128 product = __int128{x} * multiplier;
    return Saturate((product + (__int128{1} << (n - 1))) >> n);
  }
  const int left = std::max(shift, 0), right = std::max(-shift, 0);
  const int32_t shifted = Saturate(__int128{x} * (__int128{1} << left));
  return RoundingDivideByPot(Srdhm(shifted, multiplier), right);
}

int32_t Average(int32_t sum, int32_t count) {
  if (count == 0) return 0;
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

Effect Execute(const Preset& preset, const isa::Descriptor& descriptor,
               Memories* memories) {
  Run run(preset, memories);
  switch (static_cast<isa::Opcode>(descriptor[0] & 0xff)) {
    case isa::Opcode::kRequant:
      run.Do(isa::Requant::Decode(descriptor));
      break;
    case isa::Opcode::kPool:
      run.Do(isa::Pool::Decode(descriptor));
      break;
    case isa::Opcode::kAdd:
      run.Do(isa::Add::Decode(descriptor));
      break;
    case isa::Opcode::kMul:
      run.Do(isa::Mul::Decode(descriptor));
      break;
    case isa::Opcode::kTable:
      run.Do(isa::Table::Decode(descriptor));
      break;
    default:
      run.Fail(Fault::kIllegalDescriptor, 0);
  }
  return run.effect;
}

}  // namespace systole::vector_test
