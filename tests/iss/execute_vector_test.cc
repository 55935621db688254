// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random descriptors of the vector unit.
#include "tests/iss/execute_fixture.h"

namespace systole::iss {
namespace {

TEST_P(ExecuteTest, Requant) {
  Rounds(300, [&] {
    isa::Requant d;
    d.header.flags = random_.In(0, 2);
    if (random_.OneIn(3)) {
      d.header.flags = random_.In(0, 1) * 2 + isa::Requant::kResidual +
                       random_.In(0, 3) * isa::Requant::kResidualWide;
      d.src = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 300)
                                : random_.In(0, preset_.ub_bytes / 2);
      d.src_sx = random_.In(0, 2 * preset_.cols),
      d.src_pitch = random_.In(0, 900), d.src_img_pitch = random_.In(0, 4000);
      d.src_zp = random_.In(-128, 127), d.sum_zp = random_.In(-128, 127);
      d.sum_mult1 = random_.In(1 << 30, INT32_MAX),
      d.sum_mult = random_.In(1 << 30, INT32_MAX);
      d.sum_shift1 = random_.In(-6, 0), d.sum_shift = random_.In(-22, -14);
      d.sum_min = random_.In(-128, 0), d.sum_max = random_.In(0, 127);
    } else if (random_.OneIn(3)) {
      d.header.flags = isa::Requant::kTable + random_.In(0, 1) * 2;
    }
    if (random_.OneIn(20)) d.header.flags = random_.In(0, 63);
    const bool raw = d.header.flags & isa::Requant::kRaw;
    d.n = random_.In(1, 3), d.ny = random_.In(1, 4), d.nx = random_.In(1, 5);
    d.cols = random_.OneIn(20) ? random_.In(0, preset_.cols + 3)
                               : random_.In(1, preset_.cols);
    d.acc = AccRow(d.n * d.ny * d.nx);
    RandomDestination(&d, raw ? 4 * d.cols : d.cols);
    d.params = preset_.ub_bytes -
               (random_.OneIn(20) ? random_.In(1, 9) : random_.In(9, 30)) *
                   preset_.rows;
    if (random_.OneIn(20)) d.params += 1;
    d.zp = random_.In(-128, 127), d.clamp_min = random_.In(-128, 127),
    d.clamp_max = random_.In(d.clamp_min, 127);
    for (int64_t c = 0;
         c < preset_.cols && d.params + 9 * preset_.cols <= preset_.ub_bytes;
         ++c) {
      const uint32_t bias =
          random_.OneIn(3) ? random_() : random_.In(-1000, 1000);
      const uint32_t mult =
          random_.OneIn(9) ? random_() : random_.In(1 << 30, INT32_MAX);
      const int shift =
          random_.OneIn(3) ? random_.In(-31, 30) : random_.In(-22, -10);
      for (int i = 0; i < 4; ++i) {
        iss_.state().ub[d.params + 4 * c + i] = bias >> 8 * i;
        iss_.state().ub[d.params + 4 * preset_.cols + 4 * c + i] =
            mult >> 8 * i;
      }
      iss_.state().ub[d.params + 8 * preset_.cols + c] =
          static_cast<uint8_t>(shift);
    }
    return Compare(d.Encode());
  });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kMisaligned,
                       isa::Fault::kAccRange, isa::Fault::kUbRange}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
  EXPECT_GT(saturated_, 0);
}

TEST_P(ExecuteTest, Pool) {
  Rounds(200, [&] {
    isa::Pool d;
    d.header.flags = random_.In(0, 1);
    if (random_.OneIn(3)) d.header.flags |= isa::Pool::kTable;
    if (random_.OneIn(3)) {
      d.header.flags =
          isa::Pool::kSum | random_.In(0, 3) * isa::Pool::kSingleRound;
      if (random_.OneIn(20)) d.header.flags |= isa::Pool::kAverage;
      d.src_zp = random_.In(-128, 127), d.zp = random_.In(-128, 127);
      d.mult = random_.In(1 << 30, INT32_MAX), d.shift = random_.In(-12, 2);
    }
    d.n = random_.In(1, 2), d.ny = random_.In(1, 4), d.nx = random_.In(1, 4);
    d.lines = random_.In(0, 8), d.line_bytes = random_.In(0, 80);
    d.src_pitch = random_.In(0, 100), d.src_img_pitch = random_.In(0, 900);
    d.src = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 300)
                              : random_.In(0, preset_.ub_bytes / 2);
    d.sy = random_.In(0, 3), d.src_sx = random_.In(0, 20);
    d.dy = random_.In(-3, 3), d.dx = random_.In(-20, 20);
    d.kh = random_.In(1, 4), d.kw = random_.In(1, 4), d.kx = random_.In(0, 16);
    if (random_.OneIn(20)) d.kh = 17, d.kw = random_.In(15, 16);
    if (random_.OneIn(50)) d.kh = 127, d.kw = 127;
    if (random_.OneIn(40)) d.kw = 0;
    d.cols = random_.In(1, preset_.cols);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    RandomDestination(&d, d.cols);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Add) {
  Rounds(200, [&] {
    isa::Add d;
    d.header.flags = random_.In(0, 3) * isa::Add::kSingleRound;
    d.ny = random_.OneIn(30) ? 0 : random_.In(1, 5),
    d.line_bytes = random_.In(1, 3 * preset_.cols);
    d.pitch0 = d.line_bytes + random_.In(0, 9),
    d.pitch1 = d.line_bytes + random_.In(0, 9);
    d.dst_pitch = d.line_bytes + random_.In(0, 9);
    d.src0 = random_.In(0, 20000), d.src1 = random_.In(20000, 40000),
    d.dst = random_.In(40000, 60000);
    if (random_.OneIn(3)) d.dst = d.src0, d.dst_pitch = d.pitch0;
    if (random_.OneIn(12))
      (random_() & 1 ? d.src0 : d.dst) = preset_.ub_bytes - random_.In(1, 300);
    d.zp0 = random_.In(-128, 127), d.zp1 = random_.In(-128, 127),
    d.zp = random_.In(-128, 127);
    d.mult0 = random_.In(1 << 30, INT32_MAX),
    d.mult1 = random_.In(1 << 30, INT32_MAX),
    d.mult = random_.In(1 << 30, INT32_MAX);
    d.shift0 = random_.In(-31, 0), d.shift1 = random_.In(-6, 0),
    d.shift = random_.In(-21, -10);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Mul) {
  Rounds(200, [&] {
    isa::Mul d;
    d.header.flags = random_.In(0, 3) * isa::Mul::kSingleRound;
    d.n = random_.In(1, 3), d.ny = random_.In(1, 4), d.nx = random_.In(1, 5);
    if (random_.OneIn(30)) (random_() & 1 ? d.n : d.nx) = 0;
    d.cols = random_.OneIn(20) ? random_.In(0, preset_.cols + 3)
                               : random_.In(1, preset_.cols);
    RandomDestination(&d, d.cols);
    d.src0 = random_.In(0, preset_.ub_bytes / 2),
    d.src1 = random_.In(0, preset_.ub_bytes / 2);
    d.sx0 = random_.In(0, 50), d.sx1 = random_.In(0, 1) * 40;
    d.pitch0 = random_.In(0, 300), d.pitch1 = random_.In(0, 1) * 200;
    d.img_pitch0 = random_.In(0, 999), d.img_pitch1 = random_.In(0, 999);
    if (random_.OneIn(3)) {  // in place
      d.src0 = d.dst, d.sx0 = d.dst_sx, d.pitch0 = d.dst_pitch,
      d.img_pitch0 = d.dst_img_pitch;
    }
    if (random_.OneIn(12))
      (random_() & 1 ? d.src0 : d.src1) = preset_.ub_bytes - random_.In(1, 300);
    d.zp0 = random_.In(-128, 127), d.zp1 = random_.In(-128, 127),
    d.zp = random_.In(-128, 127);
    d.mult = random_.In(1 << 30, INT32_MAX), d.shift = random_.In(-14, 2);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Table) {
  Rounds(50, [&] {
    isa::Table d;
    d.src = random_.In(0, preset_.ub_bytes / preset_.rows - 1) * preset_.rows;
    if (random_.OneIn(5))
      d.src =
          preset_.ub_bytes - random_.In(0, 256 / preset_.rows) * preset_.rows;
    if (random_.OneIn(10)) d.src += 1;
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kMisaligned)], 0);
}

}  // namespace
}  // namespace systole::iss
