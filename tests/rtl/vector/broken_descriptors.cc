// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "tests/rtl/vector/random_programs.h"

namespace systole::vector_test {
namespace {

constexpr uint32_t kMaxPitch = (1u << 20) - 1;

}  // namespace

isa::Descriptor Generator::Broken(int of) {
  isa::Requant r = Requant();
  isa::Pool p = Pool();
  isa::Add a = Add();
  isa::Mul m = Mul();
  const uint32_t ub = static_cast<uint32_t>(preset_.ub_bytes);
  const uint32_t cols = static_cast<uint32_t>(preset_.cols);
  const uint32_t bank = static_cast<uint32_t>(preset_.acc_bank_rows());
  switch (of % kBreaks) {
    case 0:
      r.n = 0;
      return r.Encode();
    case 1:
      r.ny = 0;
      return r.Encode();
    case 2:
      r.nx = 0;
      return r.Encode();
    case 3:
      r.cols = 0;
      return r.Encode();
    case 4:
      r.cols = cols + 1;
      return r.Encode();
    case 5:
      r.header.flags &= ~isa::Requant::kRaw;
      r.params += static_cast<uint32_t>(Range(1, preset_.rows - 1));
      return r.Encode();
    case 6:  // across the banks, or beyond the end
      r.acc = bank * static_cast<uint32_t>(Range(1, 2)) -
              static_cast<uint32_t>(Range(1, 3));
      r.n = r.ny = 1;
      r.nx = 4;
      return r.Encode();
    case 7:
      r.acc = static_cast<uint32_t>(Range(
          preset_.acc_rows, std::min<int64_t>(8191, 4 * preset_.acc_rows)));
      return r.Encode();
    case 8:  // more rows than any product of few bits can show
      r.n = 1u << Range(0, 9);
      r.ny = 1u << Range(6, 13);
      r.nx = 1u << Range(6, 13);
      return r.Encode();
    case 9:
      r.header.flags &= ~isa::Requant::kRaw;
      r.params = ub - static_cast<uint32_t>(preset_.rows * Range(0, 8));
      return r.Encode();
    case 10:  // the last result, or one before it
      r.dst = ub - static_cast<uint32_t>(Range(0, 2 * r.nx * cols));
      return r.Encode();
    case 11:
      p.kh = 0;
      return p.Encode();
    case 12:
      p.cols = 0;
      return p.Encode();
    case 13:
      p.kh = static_cast<uint32_t>(Range(17, 31));
      p.kw = static_cast<uint32_t>(Range(16, 31));
      return p.Encode();
    case 14:
      p.src = ub - static_cast<uint32_t>(Range(0, 4 * cols));
      p.dst = static_cast<uint32_t>(Place(first_, 0) & 0xff);
      return p.Encode();
    case 15:
      p.dst = ub - static_cast<uint32_t>(Range(0, 4 * cols));
      return p.Encode();
    case 16:
      a.line_bytes = 0;
      return a.Encode();
    case 17:
      a.src0 = ub - static_cast<uint32_t>(Range(0, 8 * cols));
      a.src1 = ub - static_cast<uint32_t>(Range(0, 8 * cols));
      a.dst =
          static_cast<uint32_t>(params_.begin ? first_.begin : second_.begin);
      return a.Encode();
    case 18:  // a third of several things that exclude each other
      r.header.flags = Chance(50) ? isa::Requant::kRaw | isa::Requant::kTable
                                  : isa::Requant::kResidual |
                                        (Chance(50) ? isa::Requant::kRaw
                                                    : isa::Requant::kTable);
      return r.Encode();
    case 19:
      r.header.flags = isa::Requant::kResidual;
      r.n = r.ny = 1;
      r.nx = static_cast<uint32_t>(Range(1, 12));
      r.acc = 0;
      r.src_sx = r.dst_sx = r.cols;
      r.dst = static_cast<uint32_t>(second_.begin);
      r.src = ub - static_cast<uint32_t>(Range(0, 2 * r.nx * cols));
      return r.Encode();
    case 20:
      p.header.flags = isa::Pool::kSum | isa::Pool::kAverage;
      return p.Encode();
    case 21:
      m.cols = Chance(50) ? 0 : cols + 1;
      return m.Encode();
    case 22:
      (Chance(30) ? m.n : Chance(50) ? m.ny : m.nx) = 0;
      return m.Encode();
    case 23:
      m.n = m.ny = 1;
      m.src0 = m.src1 = static_cast<uint32_t>(first_.begin);
      m.dst = static_cast<uint32_t>(second_.begin);
      (Chance(50) ? m.src0 : m.src1) =
          ub - static_cast<uint32_t>(Range(0, 8 * cols));
      return m.Encode();
    case 24: {
      isa::Table t = Table();
      t.src += static_cast<uint32_t>(Range(1, preset_.rows - 1));
      return t.Encode();
    }
    case 25: {
      isa::Table t = Table();
      t.src = ub - static_cast<uint32_t>(preset_.rows *
                                         Range(0, 256 / preset_.rows - 1));
      return t.Encode();
    }
    default:  // the second line: an operand leaves the buffer, the result too
      a.ny = 2;
      a.line_bytes = static_cast<uint32_t>(Range(1, 4 * cols));
      a.src0 = a.src1 = static_cast<uint32_t>(first_.begin);
      a.dst = static_cast<uint32_t>(second_.begin);
      a.pitch0 = a.line_bytes;
      a.pitch1 = std::min<uint32_t>(
          ub - a.src1 - static_cast<uint32_t>(Range(0, a.line_bytes)),
          kMaxPitch);
      a.dst_pitch = std::min<uint32_t>(
          ub - a.dst + static_cast<uint32_t>(Range(0, 100)), kMaxPitch);
      return a.Encode();
  }
}

}  // namespace systole::vector_test
