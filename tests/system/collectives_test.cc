// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// All-reduces, reduce-scatters and all-gathers over the cores of chips,
// compared with the order of the specification (docs/collectives.md).
//   --backend=iss|rtl --preset=minichip

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "systole/collective.h"
#include "tests/system/torus_test.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

using compiler::AllReduceSpec;
using Operation = AllReduceSpec::Operation;
using Phase = AllReduceSpec::Phase;
using Type = AllReduceSpec::Type;
using ::testing::HasSubstr;

int64_t BytesOf(Type type) { return type == Type::kBf16 ? 2 : 4; }

// The specification, written anew: values of an element of a vector of so many
// at each position, as bits.
uint32_t Reference(const AllReduceSpec& spec, int64_t elements, int64_t element,
                   std::vector<uint32_t> bits) {
  const auto combine = [&](uint32_t a, uint32_t b) -> uint32_t {
    if (spec.type == Type::kInt32) {
      const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
      if (spec.operation == Operation::kSum) return a + b;
      return static_cast<uint32_t>(
          spec.operation == Operation::kMax ? std::max(x, y) : std::min(x, y));
    }
    const bool bf16 = spec.type == Type::kBf16;
    float x, y;
    const uint32_t wide[] = {bf16 ? a << 16 : a, bf16 ? b << 16 : b};
    std::memcpy(&x, &wide[0], 4);
    std::memcpy(&y, &wide[1], 4);
    float r;
    if (std::isnan(x) || std::isnan(y)) {
      r = std::numeric_limits<float>::quiet_NaN();
    } else if (spec.operation == Operation::kSum) {
      r = x + y;
    } else {
      // -0 is less than +0.
      const bool less = x < y || (x == y && std::signbit(x));
      r = (spec.operation == Operation::kMax) == less ? y : x;
    }
    uint32_t result;
    std::memcpy(&result, &r, 4);
    if (std::isnan(r)) result = 0x7fc00000;
    return bf16 ? (result + 0x7fff + (result >> 16 & 1)) >> 16 : result;
  };
  const int size = static_cast<int>(bits.size());
  std::vector<int> levels;
  for (int l = 0; 1 << l < size; ++l) levels.push_back(l);
  const int64_t first = (elements + 511) / 512 * 256;
  if (element >= first && levels.size() > 1)
    std::reverse(levels.begin() + 1, levels.end());
  for (const int l : levels) {
    for (int p = 0; p < size; ++p) {
      const int other = p | 1 << l;
      if ((p >> l & 1) == 0 && other < size)
        bits[p] = combine(bits[p], bits[other]);
    }
  }
  return bits[0];
}

class AllReduceTest : public TorusTest {
 protected:
  // Random values; some sums depend on their order, some are special.
  std::vector<uint8_t> Values(const AllReduceSpec& spec, size_t vector,
                              int position) {
    std::mt19937 rng(static_cast<uint32_t>(position * 100 + 7 + 1000 * vector));
    const int64_t elements = spec.elements[vector];
    std::vector<uint8_t> bytes(elements * BytesOf(spec.type));
    for (int64_t i = 0; i < elements; ++i) {
      uint32_t bits = static_cast<uint32_t>(rng());
      if (spec.type != Type::kInt32) {
        bits = (bits & 0x807fffff) | (118 + rng() % 16) << 23;
        if (rng() % 97 == 0) bits = 0x7f800000 | (rng() & 0x80000000);
        if (rng() % 97 == 0) bits = rng() & 0x80000000;
        if (rng() % 197 == 0) bits = 0x7fc12345;
      }
      if (spec.type == Type::kBf16) bits >>= 16;
      std::memcpy(&bytes[i * BytesOf(spec.type)], &bits, BytesOf(spec.type));
    }
    return bytes;
  }
  // What a position has before: of an all-gather a part of the result.
  std::vector<uint8_t> Input(const AllReduceSpec& spec, size_t vector,
                             int position) {
    if (spec.phase != Phase::kAllGather) return Values(spec, vector, position);
    const std::vector<uint8_t> all = Values(spec, vector, 0);
    const size_t part = all.size() / spec.group.size();
    return {all.begin() + position * part, all.begin() + (position + 1) * part};
  }
  std::vector<uint8_t> Wanted(const AllReduceSpec& spec, size_t vector) {
    if (spec.phase == Phase::kAllGather) return Values(spec, vector, 0);
    const int size = static_cast<int>(spec.group.size());
    std::vector<std::vector<uint8_t>> values;
    for (int p = 0; p < size; ++p) values.push_back(Values(spec, vector, p));
    std::vector<uint8_t> want(values[0].size());
    const int64_t bytes = BytesOf(spec.type);
    for (int64_t i = 0; i < spec.elements[vector]; ++i) {
      std::vector<uint32_t> bits(size);
      for (int p = 0; p < size; ++p)
        std::memcpy(&bits[p], &values[p][i * bytes], bytes);
      const uint32_t result = Reference(spec, spec.elements[vector], i, bits);
      std::memcpy(&want[i * bytes], &result, bytes);
    }
    return want;
  }
  // Runs it and compares; returns the cycles of the core that started last: the
  // host starts one after the other, and the first ones wait for it.
  uint64_t Check(const AllReduceSpec& spec) {
    auto programs = compiler::CompileAllReduce(spec, *FindPreset(g_preset));
    EXPECT_TRUE(programs.ok()) << programs.status();
    if (!programs.ok()) return 0;
    const int size = static_cast<int>(spec.group.size());
    const size_t vectors = spec.elements.size();
    const auto tensor = [&](int p, const char* name, size_t v) {
      return (*programs)[p].FindTensor(vectors == 1 ? name
                                                    : name + std::to_string(v));
    };
    for (int p = 0; p < size; ++p) {
      Device& core = *cores_[spec.group[p]];
      EXPECT_EQ(core.Load((*programs)[p]), absl::OkStatus());
      for (size_t v = 0; v < vectors; ++v) {
        EXPECT_EQ(core.WriteTensor(*tensor(p, "in", v), Input(spec, v, p)),
                  absl::OkStatus());
      }
    }
    for (int p = 0; p < size; ++p)
      EXPECT_EQ(cores_[spec.group[p]]->Start((*programs)[p]), absl::OkStatus());
    uint64_t cycles = ~uint64_t{0};
    for (int p = 0; p < size; ++p) {
      const auto stats = cores_[spec.group[p]]->Wait();
      EXPECT_TRUE(stats.ok()) << "position " << p << ": " << stats.status();
      if (!stats.ok()) return 0;
      cycles = std::min(cycles, stats->cycles);
    }
    for (size_t v = 0; v < vectors; ++v) {
      const std::vector<uint8_t> want = Wanted(spec, v);
      for (int p = 0; p < size; ++p) {
        const auto got =
            cores_[spec.group[p]]->ReadTensor(*tensor(p, "out", v));
        EXPECT_TRUE(got.ok()) << got.status();
        if (!got.ok()) continue;
        const bool scatters = spec.phase == Phase::kReduceScatter;
        const size_t part = want.size() / (scatters ? size : 1);
        const size_t at = scatters ? p * part : 0;
        EXPECT_TRUE(std::equal(want.begin() + at, want.begin() + at + part,
                               got->begin() + at))
            << "vector " << v << ", position " << p;
      }
    }
    return cycles;
  }
};

TEST_F(AllReduceTest, EverySizeOfGroup) {
  Open(2, 2);
  for (const std::vector<int>& group : {std::vector{3},
                                        {0, 1},
                                        {5, 4},
                                        {1, 6},
                                        {0, 1, 2, 3},
                                        {0, 2, 6, 4},
                                        {0, 1, 2, 3, 4, 5, 6, 7},
                                        {7, 6, 3, 2, 5, 4, 1, 0}}) {
    SCOPED_TRACE(::testing::PrintToString(group));
    Check({Operation::kSum, Type::kFloat32, {3000}, group, 2});
  }
}

TEST_F(AllReduceTest, EveryOperationAndType) {
  Open(2, 2);
  for (const auto type : {Type::kFloat32, Type::kBf16, Type::kInt32}) {
    for (const auto operation :
         {Operation::kSum, Operation::kMax, Operation::kMin})
      Check({operation, type, {2500}, {0, 1, 2, 3, 4, 5, 6, 7}, 2});
  }
}

TEST_F(AllReduceTest, SmallAndOddSizes) {
  Open(2, 2);
  for (const int64_t elements : {1, 7, 8, 100, 256, 257, 511, 513, 1025, 4099})
    Check({Operation::kSum,
           Type::kFloat32,
           {elements},
           {0, 1, 2, 3, 4, 5, 6, 7},
           2});
  Check({Operation::kSum, Type::kBf16, {259}, {0, 1, 2, 3}, 2});
}

// Vectors that go whole from partner to partner, of each group, in each order
// of the levels and at both ends of what is short.
TEST_F(AllReduceTest, ShortVectors) {
  Open(2, 2);
  const int64_t most = 240 * FindPreset(g_preset)->chip.link_bytes / 4;
  for (const std::vector<int>& group : {std::vector{3},
                                        {5, 4},
                                        {1, 6},
                                        {0, 1, 6, 7},
                                        {0, 2, 6, 4},
                                        {2, 5, 3, 4},
                                        {7, 6, 3, 2, 5, 4, 1, 0},
                                        {0, 4, 1, 5, 2, 6, 3, 7}}) {
    SCOPED_TRACE(::testing::PrintToString(group));
    Check({Operation::kSum, Type::kFloat32, {most}, group, 2});
    Check({Operation::kSum, Type::kFloat32, {most + 1}, group, 2});
    Check({Operation::kMin, Type::kBf16, {7, 70, 2}, group, 2});
    Check({Operation::kMax, Type::kFloat32, {1, 100}, group, 2});
    Check({Operation::kSum, Type::kInt32, {33}, group, 2});
  }
}

// In one program; the order of each one's sums is its own.
TEST_F(AllReduceTest, SeveralVectors) {
  Open(2, 2);
  for (const std::vector<int>& group :
       {std::vector{3}, {1, 0}, {1, 6}, {0, 2, 6, 4}, {0, 1, 2, 3, 4, 5, 6, 7}})
    Check({Operation::kSum, Type::kFloat32, {700, 1, 5000, 256, 33}, group, 2});
  Check({Operation::kMax, Type::kBf16, {1, 2, 3, 600}, {0, 1, 2, 3}, 2});
}

// Halves of an all-reduce: each position has its part alone, after the one and
// before the other. Halves of vectors end within parts and between them.
TEST_F(AllReduceTest, ScattersAndGathers) {
  Open(2, 2);
  for (const Phase phase : {Phase::kReduceScatter, Phase::kAllGather}) {
    AllReduceSpec spec;
    spec.phase = phase;
    spec.columns = 2;
    for (const std::vector<int>& group : {std::vector{3},
                                          {1, 0},
                                          {1, 6},
                                          {0, 2, 6, 4},
                                          {0, 1, 2, 3, 4, 5, 6, 7},
                                          {7, 6, 3, 2, 5, 4, 1, 0}}) {
      SCOPED_TRACE(::testing::PrintToString(group));
      spec.group = group;
      spec.elements = {64, 1600, 8192, 5056};
      Check(spec);
    }
    spec.type = Type::kBf16;
    spec.operation = Operation::kMax;
    spec.elements = {128, 12800};
    Check(spec);
  }
}

// Stalls and spoilt wires change no bit.
TEST_F(AllReduceTest, StallsAndSpoiltWires) {
  DeviceOptions options;
  options.simulation.stall_rate = 40;
  options.simulation.wire_errors = g_backend == "rtl" ? 40 : 0;
  Open(2, 2, options);
  Check({Operation::kSum, Type::kFloat32, {6000}, {0, 1, 2, 3, 4, 5, 6, 7}, 2});
  Check({Operation::kSum,
         Type::kBf16,
         {300, 6000, 40, 2000},
         {0, 1, 2, 3, 4, 5, 6, 7},
         2});
  AllReduceSpec scatters;
  scatters.phase = Phase::kReduceScatter;
  scatters.elements = {6400, 64};
  scatters.group = {0, 1, 2, 3, 4, 5, 6, 7};
  scatters.columns = 2;
  Check(scatters);
  scatters.phase = Phase::kAllGather;
  Check(scatters);
}

// Bytes over the links, one dimension at a time and both at once
// (docs/collectives.md), and the bytes of head and CRC.
TEST_F(AllReduceTest, Rates) {
  Open(2, 2);
  AllReduceSpec spec;
  spec.group = {0, 1, 2, 3, 4, 5, 6, 7};
  spec.columns = 2;
  const std::pair<Phase, const char*> phases[] = {
      {Phase::kAllReduce, "all-reduce"},
      {Phase::kReduceScatter, "reduce-scatter"},
      {Phase::kAllGather, "all-gather"}};
  for (const int64_t bytes : {256, 4 << 10, 64 << 10, 256 << 10}) {
    spec.elements = {bytes / 4};
    for (const auto& [phase, name] : phases) {
      spec.phase = phase;
      if (phase != Phase::kAllReduce && bytes == 256) continue;
      const uint64_t cycles = Check(spec);
      if (cycles == 0) continue;
      const double link =
          static_cast<double>(FindPreset(g_preset)->chip.link_bytes);
      const double one = static_cast<double>(bytes) / link * 0.75 * 17 / 16 /
                         (phase == Phase::kAllReduce ? 1 : 2);
      std::printf(
          "[ figure   ] %s of %lld bytes on four chips: %llu cycles, %.1f %% "
          "of one dimension at a time, %.1f %% of both\n",
          name, static_cast<long long>(bytes),
          static_cast<unsigned long long>(cycles),
          100 * one / static_cast<double>(cycles),
          50 * one / static_cast<double>(cycles));
    }
  }
}

TEST(AllReduce, WhatIsRefused) {
  const auto refused = [](const AllReduceSpec& spec, const char* preset) {
    return std::string(compiler::CompileAllReduce(spec, *FindPreset(preset))
                           .status()
                           .message());
  };
  AllReduceSpec spec;
  spec.group = {0, 1};
  EXPECT_THAT(refused(spec, "edge"), HasSubstr("bf16 cell"));
  spec.elements = {0};
  EXPECT_THAT(refused(spec, "minichip"), HasSubstr("0 elements"));
  spec.elements = {};
  EXPECT_THAT(refused(spec, "minichip"), HasSubstr("no vector"));
  spec.elements = {8};
  for (const std::vector<int>& group :
       {std::vector<int>{}, {0, 0}, {0, 1, 2}, {-1, 0}}) {
    spec.group = group;
    EXPECT_THAT(refused(spec, "minichip"), HasSubstr("cores"));
  }
  spec.group = {0, 1, 2, 4};
  EXPECT_THAT(refused(spec, "minichip"), HasSubstr("neighbours"));
  spec.group = {0, 2, 4, 6, 8, 10, 12, 14};
  EXPECT_THAT(refused(spec, "minichip"), HasSubstr("4 are the most"));
  spec.group = {0, 1};
  EXPECT_THAT(refused(spec, "mini"), HasSubstr("no links"));
  spec.elements = {int64_t{1} << 30};
  EXPECT_THAT(refused(spec, "minichip"), HasSubstr("bytes of a core's memory"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
