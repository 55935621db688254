// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The vector unit against the reference: random programs with random stalls,
// divisions by every count, faults, freezes.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/rtl/vector/bench.h"
#include "tests/rtl/vector/random_programs.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole::vector_test {
namespace {

constexpr Stalls kNoStalls;

// For the message of a failure.
void Print(const isa::Descriptor& d) {
  switch (static_cast<isa::Opcode>(d[0] & 0xff)) {
    case isa::Opcode::kRequant: {
      const isa::Requant r = isa::Requant::Decode(d);
      std::printf(
          "  requant flags %u n %u ny %u nx %u cols %u acc %u dst %u pitch %u "
          "sx %u params %u\n",
          r.header.flags, r.n, r.ny, r.nx, r.cols, r.acc, r.dst, r.dst_pitch,
          r.dst_sx, r.params);
      break;
    }
    case isa::Opcode::kPool: {
      const isa::Pool p = isa::Pool::Decode(d);
      std::printf(
          "  pool flags %u n %u ny %u nx %u cols %u kh %u kw %u src %u dst "
          "%u\n",
          p.header.flags, p.n, p.ny, p.nx, p.cols, p.kh, p.kw, p.src, p.dst);
      break;
    }
    case isa::Opcode::kMul: {
      const isa::Mul m = isa::Mul::Decode(d);
      std::printf(
          "  mul flags %u n %u ny %u nx %u cols %u src0 %u src1 %u dst %u\n",
          m.header.flags, m.n, m.ny, m.nx, m.cols, m.src0, m.src1, m.dst);
      break;
    }
    case isa::Opcode::kTable:
      std::printf("  table src %u\n", isa::Table::Decode(d).src);
      break;
    default: {
      const isa::Add a = isa::Add::Decode(d);
      std::printf("  add flags %u ny %u line_bytes %u src0 %u src1 %u dst %u\n",
                  a.header.flags, a.ny, a.line_bytes, a.src0, a.src1, a.dst);
    }
  }
}

std::string FirstDifference(const Memories& got, const Memories& want) {
  for (size_t i = 0; i < want.ub.size(); ++i) {
    if (got.ub[i] != want.ub[i]) {
      return "byte " + std::to_string(i) + ": " +
             std::to_string(static_cast<int8_t>(got.ub[i])) + ", expected " +
             std::to_string(static_cast<int8_t>(want.ub[i]));
    }
  }
  return "";
}

// Runs a program and compares memory, completions, faults and transfers.
void RunAndCompare(Unit& unit, const std::vector<isa::Descriptor>& program,
                   const Stalls& stalls, RunResult* result = nullptr) {
  Memories want = unit.memories();
  std::vector<int64_t> written;  // after each descriptor
  Effect effect;
  int64_t writes = 0, reads = 0;
  bool saturated = false;
  for (const isa::Descriptor& d : program) {
    effect = Execute(unit.preset(), d, &want);
    writes += effect.writes;
    reads += effect.reads;
    saturated |= effect.saturated;
    if (effect.fault != isa::Fault::kNone) break;
    written.push_back(writes);
  }
  const RunResult r = unit.Run(program, stalls);
  if (result) *result = r;
  for (const std::string& error : r.protocol_errors) ADD_FAILURE() << error;
  const std::string difference = FirstDifference(unit.memories(), want);
  EXPECT_EQ(difference, "");
  if (!difference.empty()) {
    for (const isa::Descriptor& d : program) Print(d);
  }
  EXPECT_EQ(r.written, written) << "writes accepted at each completion";
  EXPECT_EQ(static_cast<int64_t>(r.writes.size()), writes);
  if (effect.fault == isa::Fault::kNone) {  // parameters may come twice
    EXPECT_GE(static_cast<int64_t>(r.reads[0].size()), reads);
  }
  EXPECT_EQ(r.saturated > 0, saturated);
  EXPECT_EQ(r.faults, effect.fault != isa::Fault::kNone ? 1 : 0);
  EXPECT_EQ(r.fault, effect.fault);
  EXPECT_EQ(r.fault_addr, effect.fault_addr);
  EXPECT_FALSE(r.fault_newest);
}

class VectorTest : public testing::TestWithParam<const char*> {
 protected:
  // Cases of a test: fewer on large presets, whose memories take long to fill,
  // and ten times as many in the long form.
  int Cases(int nano) {
    nano = nano * systole::testing_options::Sized(1, 10) / 2;
    const int64_t bytes = FindPreset(GetParam())->ub_bytes;
    return static_cast<int>(
        std::max<int64_t>(4, nano * FindPreset("nano")->ub_bytes / bytes));
  }
};

TEST_P(VectorTest, RandomPrograms) {
  for (const uint64_t s : systole::testing_options::Seeds(Cases(800))) {
    const uint32_t seed = static_cast<uint32_t>(s);
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto unit = MakeUnit(GetParam(), seed);
    Generator generator(unit->preset(), seed);
    generator.FillMemories(&unit->memories());
    Stalls stalls;
    const int heavy = seed % 3 * 100;  // none, some, most
    if (heavy) {
      stalls.read = generator.Range(0, heavy);
      stalls.write = generator.Range(0, heavy);
      stalls.acc = generator.Range(0, heavy);
      stalls.start = generator.Range(0, heavy);
    }
    RunAndCompare(*unit, generator.Program(8), stalls);
    if (HasFailure()) return;
  }
}

// The last of many rows touches the parameter block of the next requant, which
// has fetched it by then: anywhere around it. The rows before are far away, or
// all in the last one's place.
TEST_P(VectorTest, LateWritesIntoTheNextBlock) {
  const Preset& preset = *FindPreset(GetParam());
  const int64_t word = preset.rows, rows = 60, gap = 16 * word;
  const int64_t first = 10 * word, block = 2 * rows * gap;
  if (word > 32) GTEST_SKIP() << "takes long";
  ASSERT_LE(block + 40 * word, preset.ub_bytes);
  std::mt19937 random(7);
  const auto value = [&random](int32_t bound) {
    return static_cast<int32_t>(random() % (2 * bound)) - bound;
  };
  const int64_t step = std::max<int64_t>(1, word / 4);
  for (const int kind : {0, 1, 2}) {
    const bool raw = kind > 0;
    const int64_t bytes = raw ? 4 * word : word, apart = kind == 2 ? 0 : gap;
    for (int64_t at = -bytes - word; at < 10 * word; at += step) {
      for (const int64_t end : {at + bytes, at + bytes + 1}) {
        const int64_t from = end - bytes;
        // Shifts that are not shifts give unspecified results.
        if (end > 8 * word && from < 9 * word) continue;
        SCOPED_TRACE((raw ? "raw at " : "at ") + std::to_string(from));
        auto unit = MakeUnit(GetParam(), 1);
        Memories& memories = unit->memories();
        for (int32_t& sum : memories.acc) sum = value(1 << 20);
        for (const int64_t params : {first, block}) {
          for (int64_t c = 0; c < preset.cols; ++c) {
            const int32_t bias = value(1 << 20), multiplier = 1 << 30;
            std::memcpy(&memories.ub[params + 4 * c], &bias, 4);
            std::memcpy(&memories.ub[params + 4 * (word + c)], &multiplier, 4);
            memories.ub[params + 8 * word + c] = static_cast<uint8_t>(-13);
          }
        }
        isa::Requant a, b;
        a.header.flags = raw ? isa::Requant::kRaw : 0;
        a.n = a.ny = b.n = b.ny = 1;
        a.nx = static_cast<uint32_t>(rows);
        b.nx = 4;
        a.cols = b.cols = b.dst_sx = static_cast<uint32_t>(preset.cols);
        a.dst_sx = static_cast<uint32_t>(apart);
        a.params = static_cast<uint32_t>(first);
        b.params = static_cast<uint32_t>(block);
        a.dst = static_cast<uint32_t>(block + from - (rows - 1) * apart);
        b.dst = static_cast<uint32_t>(block + 20 * word);
        a.clamp_min = b.clamp_min = -128;
        a.clamp_max = b.clamp_max = 127;
        RunAndCompare(*unit, {a.Encode(), b.Encode()}, Stalls());
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(VectorTest, Faults) {
  const int cases = Cases(160);
  for (const uint64_t s : systole::testing_options::Seeds(cases, 50000)) {
    const uint32_t seed = static_cast<uint32_t>(s);
    const int of = static_cast<int>(s % 50000);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", break " +
                 std::to_string(of % Generator::kBreaks));
    auto unit = MakeUnit(GetParam(), seed);
    Generator generator(unit->preset(), seed);
    generator.FillMemories(&unit->memories());
    std::vector<isa::Descriptor> program =
        generator.Program(static_cast<int>(generator.Range(0, 2)));
    program.push_back(generator.Broken(of));
    program.push_back(
        generator.Requant().Encode());  // never runs after a fault
    Stalls stalls;
    if (of % 2) stalls = {100, 100, 100, 100};
    RunAndCompare(*unit, program, stalls);
    // Usable again after a reset.
    unit->Reset();
    RunAndCompare(*unit, generator.Program(2), stalls);
    if (HasFailure()) return;
  }
}

TEST_P(VectorTest, FreezeStopsAccesses) {
  for (const uint64_t s : systole::testing_options::Seeds(Cases(32), 60000)) {
    const uint32_t seed = static_cast<uint32_t>(s);
    const int of = static_cast<int>(s % 60000);
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto unit = MakeUnit(GetParam(), seed);
    Generator generator(unit->preset(), seed);
    generator.FillMemories(&unit->memories());
    Stalls stalls;
    if (of % 2) stalls = {60, 60, 60, 60};
    const std::vector<isa::Descriptor> program = generator.Program(6);
    const RunResult r = unit->Run(program, stalls, /*limit=*/1500,
                                  /*freeze_at=*/generator.Range(1, 600));
    for (const std::string& error : r.protocol_errors) ADD_FAILURE() << error;
    EXPECT_EQ(r.faults, 0);
    unit->Reset();
    RunAndCompare(*unit, generator.Program(2), stalls);
    if (HasFailure()) return;
  }
}

// Behind a reset in the middle of anything, a fault too, all is as new.
TEST_P(VectorTest, ResetsAtAnyTime) {
  for (const uint64_t s : systole::testing_options::Seeds(Cases(150), 70000)) {
    const uint32_t seed = static_cast<uint32_t>(s);
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto unit = MakeUnit(GetParam(), seed);
    Generator generator(unit->preset(), seed);
    generator.FillMemories(&unit->memories());
    Stalls stalls;
    if (seed % 2) stalls = {60, 60, 60, 60};
    for (int i = 0; i < 3; ++i) {
      std::vector<isa::Descriptor> program = generator.Program(4);
      if (i == 2) program[1] = generator.Broken(static_cast<int>(seed));
      const RunResult r = unit->Run(
          program, stalls, /*limit=*/generator.Range(1, i == 2 ? 800 : 200));
      for (const std::string& error : r.protocol_errors) ADD_FAILURE() << error;
      unit->Reset();
    }
    RunAndCompare(*unit, generator.Program(2), stalls);
    if (HasFailure()) return;
  }
}

// The watchdog counts from when all ports refuse.
TEST_P(VectorTest, NoProgressWhereNothingMoves) {
  for (uint32_t seed = 1; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto unit = MakeUnit(GetParam(), seed);
    Generator generator(unit->preset(), seed);
    generator.FillMemories(&unit->memories());
    const RunResult r = unit->Run({generator.Requant().Encode()},
                                  {256, 256, 256, 0}, /*limit=*/300);
    EXPECT_TRUE(r.done.empty());
    EXPECT_LT(r.last_progress, 60);
    if (HasFailure()) return;
  }
}

// All sums of one count that lie beside a step of the average, and both ends.
std::vector<int> SumsAtSteps(int count) {
  std::vector<int> sums = {-128 * count};
  for (int sum = -128 * count + 1; sum <= 127 * count; ++sum) {
    if (Average(sum, count) != Average(sum - 1, count)) {
      sums.push_back(sum - 1);
      sums.push_back(sum);
    }
  }
  sums.push_back(127 * count);
  return sums;
}

// The quotient rises with the sum, so an average that is right on both sides of
// each of its steps, and at both ends, is right for all sums. The taps that lie
// in an image are a rectangle of at most 31 x 31: not every count exists. The
// long form has all; else one count of three, on other presets than nano, whose
// lanes are the same, one of nine (vector_recip_test has every count and sum).
TEST_P(VectorTest, AverageOfEveryCountAndSum) {
  auto unit = MakeUnit(GetParam(), 1);
  const int cols = static_cast<int>(unit->preset().cols);
  const int half = static_cast<int>(unit->preset().ub_bytes) / 2;
  const bool nano = std::string(GetParam()) == "nano";
  const int step = systole::testing_options::Sized(nano ? 3 : 9, 1);
  int counts = 0;
  int64_t averages = 0;
  for (int count = 1; count <= 256; count += step) {
    int kw = 31;
    while (count % kw != 0) --kw;
    const int kh = count / kw;
    if (kh > 31) continue;
    ++counts;
    const std::vector<int> sums = SumsAtSteps(count);
    const int room = half / (count * cols);  // windows in half the buffer
    for (size_t at = 0; at < sums.size(); at += room * cols) {
      const int windows =
          std::min<int>(room, (sums.size() - at + cols - 1) / cols);
      isa::Pool d;
      d.header.flags = isa::Pool::kAverage;
      d.cols = d.kx = d.dst_sx = static_cast<uint32_t>(cols);
      d.kh = d.lines = static_cast<uint32_t>(kh);
      d.kw = static_cast<uint32_t>(kw);
      d.src_sx = static_cast<uint32_t>(kw * cols);
      d.src_pitch = d.line_bytes = d.src_sx * windows;
      d.n = d.ny = 1;
      d.nx = static_cast<uint32_t>(windows);
      d.dst = static_cast<uint32_t>(half);
      d.clamp_min = -128;
      d.clamp_max = 127;
      for (int lane = 0; lane < windows * cols; ++lane) {
        int sum = sums[std::min(at + lane, sums.size() - 1)];
        for (int tap = 0; tap < count; ++tap) {
          const int value = sum / (count - tap);
          sum -= value;
          unit->memories().ub[tap / kw * d.src_pitch + lane / cols * d.src_sx +
                              tap % kw * cols + lane % cols] =
              static_cast<uint8_t>(value);
        }
        ++averages;
      }
      RunAndCompare(*unit, {d.Encode()}, kNoStalls);
      ASSERT_FALSE(HasFailure()) << "count " << count;
    }
  }
  std::printf("%d counts, %ld averages\n", counts, static_cast<long>(averages));
}

// Sums beyond 16 bits, and what the zero point of as many taps is.
TEST_P(VectorTest, SumsOfManyTaps) {
  auto unit = MakeUnit(GetParam(), 1);
  Generator generator(unit->preset(), 7);
  generator.FillMemories(&unit->memories());
  const uint32_t cols = 8;  // so that any buffer holds the window
  for (const uint32_t side : {17u, 40u, 60u}) {
    for (const int zero_point : {-128, 3, 127}) {
      isa::Pool d;
      d.header.flags = isa::Pool::kSum;
      d.cols = d.kx = cols;
      d.kh = d.kw = d.lines = side;
      d.src_pitch = d.line_bytes = side * cols;
      d.n = d.ny = d.nx = 1;
      d.dst = static_cast<uint32_t>(unit->preset().ub_bytes) - cols;
      d.src_zp = zero_point;
      d.mult = 1 << 30;
      d.shift = side == 17 ? -8 : side == 40 ? -10 : -12;
      d.clamp_min = -128;
      d.clamp_max = 127;
      RunAndCompare(*unit, {d.Encode()}, kNoStalls);
      ASSERT_FALSE(HasFailure()) << side << " " << zero_point;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, VectorTest, testing::ValuesIn(Presets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace systole::vector_test
