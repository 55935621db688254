// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator is fast enough for whole test sets and for training: a billion
// bf16 products a second on `lite` and `v2`. The bounds are at most a tenth of
// what one core of a server of 2023 does.

#include <cstdio>
#include <ctime>
#include <string>

#include "gtest/gtest.h"
#include "host/program/vpu_asm.h"
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
  const int64_t channels = preset.rows * preset.element_bytes();
  isa::Matmul d;
  d.lines = 16, d.line_bytes = 16 * channels, d.pitch = d.line_bytes;
  d.n = 1, d.ny = d.nx = 16, d.sy = 1, d.sx = channels;
  d.t0 = 3, d.t0_dx = channels, d.t1 = 3, d.t1_dy = 1;
  d.seg_len[0] = preset.rows, d.seg_dy[0] = -1, d.seg_dx[0] = -channels;
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
  EXPECT_GT(MacsPerSecond("mini", 2000), 5e7);
  EXPECT_GT(MacsPerSecond("lite", 400), 1e9);
  EXPECT_GT(MacsPerSecond("v2", 100), 1e9);
}

// Rows of the body's instructions a second.
double RowsPerSecond(const std::string& body, int instructions) {
  constexpr int kRounds = 5000;
  State state(*FindPreset("v2"), 1);
  const auto code = vpu::Assemble(
      "li s2, 512\nld32 v0, s1, s2\nld32 v8, s1, s2\nli s3, 5000\nloop:\n" +
          body + "\naddi s3, s3, -1\nbne s3, s0, loop\nhalt\n",
      "speed");
  EXPECT_TRUE(code.ok()) << code.status();
  const DataSegment segment = vpu::Segment("", 0, code->words);
  std::copy(segment.data.begin(), segment.data.end(), state.ub.begin());
  isa::Vload load;
  load.count = static_cast<uint32_t>(code->words.size());
  isa::Vrun run;
  run.args[0] = 4096;
  EXPECT_FALSE(Execute(load, &state));
  const double start = CpuSeconds();
  EXPECT_FALSE(Execute(run, &state));
  const double rate = 8.0 * kRounds * instructions / (CpuSeconds() - start);
  std::printf("v2, %s: %.1f million rows a second\n", body.c_str(),
              rate * 1e-6);
  return rate;
}

TEST(Speed, VectorUnit) {
  EXPECT_GT(
      RowsPerSecond("ld32 v0, s1, s2\nfadd v16, v0, v8\nst32 v16, s1, s2", 3),
      2e6);
  EXPECT_GT(RowsPerSecond("exp2 v32, v0", 1), 1e5);
}

}  // namespace
}  // namespace systole::iss
