// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random descriptors of each operation but the vector unit's, and what no other
// test has.
#include "tests/iss/execute_fixture.h"

namespace systole::iss {
namespace {

TEST_P(ExecuteTest, Load) {
  Rounds(150, [&] { return Compare(RandomDma<isa::Load>().Encode()); });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kMisaligned,
                       isa::Fault::kUbRange, isa::Fault::kHbmRange}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
}

TEST_P(ExecuteTest, Store) {
  Rounds(150, [&] {
    isa::Store d = RandomDma<isa::Store>();
    d.hbm_addr %= kHbmBytes / 2;  // not over its own program
    return Compare(d.Encode());
  });
}

TEST_P(ExecuteTest, Weights) {
  Rounds(60, [&] {
    isa::Weights d;
    d.hbm_addr = random_.OneIn(10) ? random_.In(0, kHbmBytes)
                                   : random_.In(0, 400) * beat_;
    d.tiles = random_.In(0, 4);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
}

TEST_P(ExecuteTest, Matmul) {
  Rounds(preset_.rows > 8 ? 120 : 400, [&] {
    isa::Matmul d;
    d.lines = random_.In(1, 7), d.line_bytes = random_.In(1, 3 * preset_.rows);
    d.pitch = d.line_bytes + random_.In(0, 9);
    d.img_pitch = d.lines * d.pitch + random_.In(0, 9);
    d.ub_base = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 500)
                                  : random_.In(0, preset_.ub_bytes / 2);
    d.pad = random_.In(-128, 127);
    d.n = random_.In(1, 3), d.ny = random_.In(1, 5), d.nx = random_.In(1, 5);
    d.sy = random_.In(0, 3), d.sx = random_.In(0, 2 * preset_.rows);
    d.t0 = random_.In(1, 3), d.t0_dx = random_.In(0, 2 * preset_.rows);
    d.t1 = random_.In(1, 2), d.t1_dy = random_.In(0, 3);
    d.acc = AccRow(d.n * d.ny * d.nx);
    int64_t left = preset_.rows;
    for (int s = 0; s < 4; ++s) {
      d.seg_len[s] = random_.In(0, left);
      left -= d.seg_len[s];
      d.seg_dy[s] = random_.In(-4, 4),
      d.seg_dx[s] = random_.In(-2 * preset_.rows, 2 * preset_.rows);
    }
    if (random_.OneIn(30)) d.seg_len[3] += preset_.rows;
    if (random_.OneIn(50)) d.ny = 0;
    d.header.flags = random_.In(0, 1) * isa::Matmul::kAccumulate;
    if (random_.OneIn(20))
      d.header.flags |= isa::Matmul::kKeepWeights;  // illegal: nothing was
                                                    // taken since the start
    const int tiles = d.t0 * d.t1 - (random_.OneIn(30) ? 1 : 0);
    return Compare(d.Encode(), tiles);
  });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kAccRange,
                       isa::Fault::kUbRange, isa::Fault::kWatchdog}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
  EXPECT_GT(saturated_, 0);
}

INSTANTIATE_TEST_SUITE_P(Presets, ExecuteTest,
                         ::testing::Values("nano", "edge"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::iss
