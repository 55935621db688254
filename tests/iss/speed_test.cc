// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator is fast enough for whole test sets. The bounds are a tenth of
// what one core of a server of 2023 does.

#include <cstdio>
#include <ctime>

#include "gtest/gtest.h"
#include "sim/iss/iss.h"

namespace systole::iss {
namespace {

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A 3x3 convolution over 16 x 16 positions with padding, Rows channels in: nine
// passes of 256 vectors.
isa::Matmul Convolution(const Preset& preset) {
  isa::Matmul d;
  d.lines = 16, d.line_bytes = 16 * preset.rows, d.pitch = d.line_bytes;
  d.n = 1, d.ny = d.nx = 16, d.sy = 1, d.sx = preset.rows;
  d.t0 = 3, d.t0_dx = preset.rows < 1024 ? preset.rows : 0, d.t1 = 3,
  d.t1_dy = 1;
  d.seg_len[0] = preset.rows, d.seg_dy[0] = -1, d.seg_dx[0] = -preset.rows;
  return d;
}

double MacsPerSecond(const char* name, int rounds) {
  const Preset& preset = *FindPreset(name);
  State state(preset, 1);
  const isa::Matmul matmul = Convolution(preset);
  const Tile tile(preset.tile_bytes(), 3);
  const double start = CpuSeconds();
  for (int i = 0; i < rounds; ++i) {
    for (int t = 0; t < 9; ++t) state.weight_fifo.push_back(tile);
    EXPECT_FALSE(Execute(matmul, &state));
  }
  const double macs =
      static_cast<double>(state.counters.vectors) * preset.rows * preset.cols;
  const double rate = macs / (CpuSeconds() - start);
  std::printf("%s: %.2f million MACs in %.3f s, %.0f million a second\n", name,
              macs * 1e-6, CpuSeconds() - start, rate * 1e-6);
  return rate;
}

TEST(Speed, Matmul) {
  EXPECT_GT(MacsPerSecond("nano", 2000), 5e7);
  EXPECT_GT(MacsPerSecond("edge", 1000), 5e8);
  EXPECT_GT(MacsPerSecond("v1", 10), 5e8);
}

}  // namespace
}  // namespace systole::iss
