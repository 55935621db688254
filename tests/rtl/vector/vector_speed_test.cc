// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cycles: what the unit sustains when no port refuses. Figures are printed.

#include <algorithm>
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/rtl/vector/bench.h"
#include "tests/rtl/vector/random_programs.h"

namespace systole::vector_test {
namespace {

class SpeedTest : public testing::TestWithParam<const char*> {
 protected:
  SpeedTest()
      : unit_(MakeUnit(GetParam(), 1)),
        preset_(unit_->preset()),
        cols_(static_cast<uint32_t>(preset_.cols)),
        beats_(static_cast<uint32_t>(preset_.cols / preset_.vector_lanes)) {
    Generator(preset_, 1).FillMemories(&unit_->memories());
  }

  isa::Requant Requant(uint32_t rows) const {
    isa::Requant d;
    d.n = d.ny = 1;
    d.nx = rows;
    d.cols = d.dst_sx = cols_;
    d.params = 0;
    d.dst = static_cast<uint32_t>(preset_.ub_bytes / 2);
    d.clamp_min = -128;
    d.clamp_max = 127;
    return d;
  }

  isa::Pool Pool(uint32_t size, uint32_t k) const {
    isa::Pool d;
    d.n = 1;
    d.ny = d.nx = size;
    d.cols = d.kx = d.src_sx = d.dst_sx = cols_;
    d.kh = d.kw = k;
    d.sy = 1;
    d.lines = size + k;
    d.line_bytes = d.src_pitch = (size + k) * cols_;
    d.dst_pitch = size * cols_;
    d.dst = static_cast<uint32_t>(preset_.ub_bytes / 2);
    return d;
  }

  RunResult Run(const std::vector<isa::Descriptor>& program) {
    RunResult r = unit_->Run(program, Stalls());
    EXPECT_EQ(r.done.size(), program.size());
    EXPECT_TRUE(r.protocol_errors.empty());
    EXPECT_EQ(r.stall_cycles, 0);
    return r;
  }

  void Print(const char* what, double value) {
    std::printf("%-5s %-52s %8.2f\n", GetParam(), what, value);
  }

  std::unique_ptr<Unit> unit_;
  const Preset& preset_;
  uint32_t cols_;
  uint32_t beats_;  // cycles that a micro-op takes the lanes
};

TEST_P(SpeedTest, RequantTakesARowACycle) {
  const uint32_t rows = static_cast<uint32_t>(preset_.acc_bank_rows());
  const RunResult r = Run({Requant(rows).Encode()});
  // An idle unit fetches the parameters at once.
  EXPECT_EQ(r.reads[0].front(), 2);
  EXPECT_EQ(r.acc_reads.back() - r.acc_reads.front(), (rows - 1) * beats_);
  EXPECT_EQ(r.writes.back() - r.writes.front(), (rows - 1) * beats_);
  Print("requant, one descriptor: cycles a row",
        double(r.writes.back() - r.writes.front()) / (rows - 1));
  Print("requant, start to completion, beyond its rows",
        r.cycles - rows * beats_);
}

TEST_P(SpeedTest, RequantsFollowClosely) {
  for (const uint32_t rows : {49u, 16u, 4u}) {
    std::vector<isa::Descriptor> program(20, Requant(rows).Encode());
    const RunResult r = Run(program);
    int64_t gap = 0;
    for (size_t i = 10 * rows; i < r.acc_reads.size(); ++i) {
      gap =
          std::max<int64_t>(gap, r.acc_reads[i] - r.acc_reads[i - 1] - beats_);
    }
    std::printf("%-5s gap between requants of %u rows: %ld cycles\n",
                GetParam(), rows, static_cast<long>(gap));
    EXPECT_LE(gap, rows >= 49 ? 2 : 30);
  }
}

TEST_P(SpeedTest, RawTakesAWindowACycle) {
  isa::Requant d = Requant(64);
  d.header.flags = isa::Requant::kRaw;
  d.dst_sx = 4 * cols_;
  const RunResult r = Run({d.Encode()});
  EXPECT_EQ(r.writes.back() - r.writes.front(), (4 * 64 - 1) * beats_);
  Print("raw: cycles a row",
        double(r.writes.back() - r.writes.front() + beats_) / 64);
}

TEST_P(SpeedTest, PoolTakesATapACycle) {
  for (const uint8_t flags : {uint8_t{0}, isa::Pool::kAverage}) {
    for (const uint32_t k : {1u, 2u, 3u}) {
      isa::Pool d = Pool(8, k);
      d.header.flags = flags;
      const RunResult r = Run({d.Encode()});
      EXPECT_EQ(r.reads[0].back() - r.reads[0].front(),
                (64 * k * k - 1) * beats_);
      const std::string what = std::string(flags ? "average" : "maximum") +
                               " pool " + std::to_string(k) + "x" +
                               std::to_string(k) + ": cycles a tap";
      Print(what.c_str(),
            double(r.reads[0].back() - r.reads[0].front() + beats_) /
                (64 * k * k));
    }
  }
}

TEST_P(SpeedTest, AddTakesThreeCyclesAVector) {
  isa::Add d;
  d.ny = 4;
  d.line_bytes = d.pitch0 = d.pitch1 = d.dst_pitch = 50 * cols_;
  d.src1 = 200 * cols_;
  d.dst = 400 * cols_;
  const RunResult r = Run({d.Encode()});
  const double cycles = r.writes.back() - r.writes.front() + 3;
  EXPECT_LE(cycles, (3 * 200 + 3) * beats_);
  Print("add: cycles a vector", cycles / 200);
}

TEST_P(SpeedTest, MulTakesTwoCyclesAVector) {
  isa::Mul d;
  d.n = 1;
  d.ny = 4;
  d.nx = 50;
  d.cols = d.sx0 = d.dst_sx = cols_;
  d.pitch0 = d.dst_pitch = 50 * cols_;
  d.src1 = 300 * cols_;  // the same vector for all
  d.dst = 400 * cols_;
  const RunResult r = Run({d.Encode()});
  EXPECT_EQ(r.writes.back() - r.writes.front(), 2 * (200 - 1) * beats_);
  Print("mul: cycles a vector",
        double(r.writes.back() - r.writes.front() + 2 * beats_) / 200);
}

TEST_P(SpeedTest, ATableCostsNothingButItsLoading) {
  isa::Table table;
  isa::Requant d = Requant(200);
  const int64_t plain = Run({d.Encode()}).cycles;
  d.header.flags = isa::Requant::kTable;
  const RunResult r = Run({table.Encode(), d.Encode(), d.Encode()});
  EXPECT_LE(r.done[0], 100 + 5 * 256 / preset_.rows);
  EXPECT_LE(r.done[1] - r.done[0], plain + 10);
  EXPECT_LE(r.done[2] - r.done[1], (200 + 2) * beats_);
  Print("table: cycles to load", static_cast<double>(r.done[0]));
}

TEST_P(SpeedTest, AResidualAdditionCostsNoPass) {
  if (preset_.residual == 0) GTEST_SKIP() << "no such unit";
  const uint32_t rows = 200;
  isa::Requant d = Requant(rows);
  d.header.flags = isa::Requant::kResidual;
  d.src_sx = cols_;
  d.src = static_cast<uint32_t>(preset_.ub_bytes / 4);
  const RunResult r = Run({d.Encode()});
  const double cycles = double(r.writes.back() - r.writes.front()) / (rows - 1);
  // Of the results that may be in flight nearly all are.
  EXPECT_LE(cycles, 1.25 * beats_);
  Print("requant with an addition: cycles a row", cycles);
}

INSTANTIATE_TEST_SUITE_P(Presets, SpeedTest, testing::ValuesIn(Presets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::vector_test
