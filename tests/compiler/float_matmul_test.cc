// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of bf16 matrices from HBM to HBM: golden == device to the bit, over
// random shapes and values, special values among them.
//   --backend=iss|rtl --preset=mini --cases=N --seed=S
#include "systole/float_matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "host/compiler/row_blocks.h"
#include "systole/device.h"
#include "tests/testing/choices.h"
#include "tests/testing/options.h"
#include "verif/golden/float_ops.h"

namespace systole {
namespace {

using golden::Bf16Matrix;
using golden::Fp32Matrix;
using testing::HasSubstr;

std::string g_backend = "iss";
std::string g_preset = "mini";

// Mostly values of about 1; every 64th is any pattern at all.
uint16_t RandomBf16(std::mt19937_64& rng, bool special) {
  const uint64_t r = rng();
  if (special && r % 64 == 0) return static_cast<uint16_t>(r >> 32);
  return static_cast<uint16_t>((r >> 8 & 0x807F) | (120 + (r >> 24) % 10) << 7);
}

Bf16Matrix RandomMatrix(int rows, int cols, std::mt19937_64& rng,
                        bool special) {
  Bf16Matrix m(rows, cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) m(i, j) = RandomBf16(rng, special);
  }
  return m;
}

template <class Matrix>
std::vector<uint8_t> Bytes(const Matrix& m) {
  std::vector<uint8_t> bytes(m.size() * sizeof(*m.data()));
  std::memcpy(bytes.data(), m.data(), bytes.size());
  return bytes;
}

struct Census {
  uint64_t nan = 0, inf = 0;
  void Add(const Fp32Matrix& values) {
    for (int64_t e = 0; e < values.size(); ++e) {
      nan += std::isnan(values.data()[e]);
      inf += std::isinf(values.data()[e]);
    }
  }
};

// The array writes the sums after each Rows elements of the contraction, in
// whole tiles of columns; each element of c is stored once.
void CheckCounters(const RunStats& stats, const compiler::FloatMatmulSpec& spec,
                   const Bf16Matrix& a, const Bf16Matrix& b,
                   const Fp32Matrix& c, int rows, int cols) {
  Census mxu, vector;
  const int k = static_cast<int>(spec.k), n = static_cast<int>(spec.n);
  const int wide = (n + cols - 1) / cols * cols;
  Fp32Matrix tiles = Fp32Matrix::Zero(k, wide);
  tiles.leftCols(n) = golden::FromBf16(b);
  const Fp32Matrix floats = golden::FromBf16(a);
  // What is finite in the end was so all the time.
  for (int end = c.allFinite() ? k + rows : rows; end < k + rows; end += rows) {
    const int used = std::min(end, k);
    mxu.Add(
        golden::FloatMatmul(floats.leftCols(used), tiles.topRows(used), rows));
  }
  vector.Add(spec.float32_result ? c : golden::FromBf16(golden::ToBf16(c)));
  EXPECT_EQ(stats.counter(csr::Counter::kMxuNan), mxu.nan);
  EXPECT_EQ(stats.counter(csr::Counter::kMxuInf), mxu.inf);
  EXPECT_EQ(stats.counter(csr::Counter::kVectorNan), vector.nan);
  EXPECT_EQ(stats.counter(csr::Counter::kVectorInf), vector.inf);
}

// The program with the parts of its memory elsewhere, in the other order.
absl::StatusOr<Program> Moved(const Program& program) {
  std::vector<uint64_t> addresses(program.memory.size());
  uint64_t next = 1 << 16;
  for (size_t i = addresses.size(); i-- > 0;) {
    addresses[i] = next;
    next += (program.memory[i].bytes / 4096 + 2) * 4096;
  }
  absl::StatusOr<Program> placed = PlaceProgram(program, addresses);
  if (!placed.ok()) return placed;
  for (size_t i = 0; i < program.segments.size(); ++i)
    placed->segments[i].data = program.segments[i].data;
  return placed;
}

// With `later` the program is made without b, which is written beside a.
void Check(Device& device, const compiler::FloatMatmulSpec& spec,
           const Bf16Matrix& a, const Bf16Matrix& b, bool later = false,
           bool moved = false) {
  const Preset& preset = device.preset();
  compiler::FloatMatmulSpec compiled = spec;
  if (later) compiled.b.clear();
  compiled.b_later = later;
  absl::StatusOr<Program> program =
      compiler::CompileFloatMatmul(compiled, preset);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(CheckRelocations(*program), absl::OkStatus());
  if (moved) program = Moved(*program);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_TRUE(device.Load(*program).ok());
  ASSERT_EQ(program->FindTensor("b") != nullptr, later);
  if (later) {
    const std::vector<uint8_t> tiles =
        compiler::PackTiles(compiled, preset, spec.b.data());
    ASSERT_TRUE(device.WriteTensor(*program->FindTensor("b"), tiles).ok());
  }
  ASSERT_TRUE(device.WriteTensor(*program->FindTensor("a"), Bytes(a)).ok());
  ASSERT_TRUE(device.Start(*program).ok());
  const absl::StatusOr<RunStats> stats = device.Wait();
  ASSERT_TRUE(stats.ok()) << stats.status();
  const auto got = device.ReadTensor(*program->FindTensor("c"));
  ASSERT_TRUE(got.ok()) << got.status();

  const Fp32Matrix c = golden::FloatMatmul(
      golden::FromBf16(a), golden::FromBf16(b), static_cast<int>(preset.rows));
  const std::vector<uint8_t> want =
      spec.float32_result ? Bytes(c) : Bytes(golden::ToBf16(c));
  ASSERT_EQ(got->size(), want.size());
  const size_t size = spec.float32_result ? 4 : 2;
  for (size_t e = 0; e < want.size(); e += size) {
    ASSERT_EQ(std::memcmp(&(*got)[e], &want[e], size), 0)
        << "row " << e / size / spec.n << ", column " << e / size % spec.n;
  }
  CheckCounters(*stats, spec, a, b, c, static_cast<int>(preset.rows),
                static_cast<int>(preset.cols));
  if (stats->cycles > 0) {
    std::printf(
        "%dx%dx%d: %d cycles, %.1f %% of peak\n", static_cast<int>(spec.m),
        static_cast<int>(spec.k), static_cast<int>(spec.n),
        static_cast<int>(stats->cycles),
        100.0 * spec.m * spec.k * spec.n /
            (static_cast<double>(stats->cycles) * preset.macs_per_cycle()));
  }
}

std::unique_ptr<Device> OpenDevice(uint64_t seed) {
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.seed = seed;
  options.simulation.check_races = true;
  options.simulation.checked =
      g_preset == "mini";  // the others only have a fast model
  options.simulation.stall_rate =
      seed % 4 == 0 ? 0 : static_cast<int>(seed % 61);
  auto device = Device::Open(g_backend, options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

compiler::FloatMatmulSpec SpecOf(const Bf16Matrix& a, const Bf16Matrix& b) {
  compiler::FloatMatmulSpec spec;
  spec.m = a.rows();
  spec.k = a.cols();
  spec.n = b.cols();
  spec.b.assign(b.data(), b.data() + b.size());
  return spec;
}

TEST(FloatMatmul, Random) {
  const int cases = testing_options::Cases(40);
  std::printf("%d cases on %s at %s, seeds from %d\n", cases, g_backend.c_str(),
              g_preset.c_str(), static_cast<int>(testing_options::FirstSeed()));
  const int64_t lanes = FindPreset(g_preset)->cols;
  for (const uint64_t seed : testing_options::Seeds(cases)) {
    std::mt19937_64 rng(seed);
    const auto size = [&](int64_t most) {
      return 1 + static_cast<int>(testing_options::Choose(most, rng));
    };
    const bool special = seed % 3 == 0;
    const Bf16Matrix a =
        RandomMatrix(size(12 * lanes), size(6 * lanes), rng, special);
    const Bf16Matrix b =
        RandomMatrix(static_cast<int>(a.cols()), size(6 * lanes), rng, special);
    compiler::FloatMatmulSpec spec = SpecOf(a, b);
    spec.float32_result = rng() % 2 == 0;
    spec.b_transposed = rng() % 2 == 0;
    if (spec.b_transposed) {
      const Bf16Matrix t = b.transpose();
      spec.b.assign(t.data(), t.data() + t.size());
    }
    testing_options::Describe(
        static_cast<double>(spec.m * spec.k + spec.k * spec.n),
        absl::StrFormat("%dx%dx%d", spec.m, spec.k, spec.n));
    SCOPED_TRACE(absl::StrFormat("seed %d: %dx%dx%d%s%s", seed, spec.m, spec.k,
                                 spec.n, spec.float32_result ? " fp32" : "",
                                 spec.b_transposed ? " b^T" : ""));
    const auto device = OpenDevice(seed);
    ASSERT_NE(device, nullptr);
    Check(*device, spec, a, b, /*later=*/rng() % 2 == 0);
    if (HasFailure()) return;
  }
}

// Blocks of rows, several groups of columns: more than fits at once.
TEST(FloatMatmul, Large) {
  std::mt19937_64 rng(7);
  const int lanes = static_cast<int>(FindPreset(g_preset)->cols);
  const int rows = (lanes > 32 ? 10 : 80) * lanes + 3;
  const Bf16Matrix a = RandomMatrix(rows, 9 * lanes, rng, false);
  const Bf16Matrix b = RandomMatrix(9 * lanes, 7 * lanes + 1, rng, false);
  const auto device = OpenDevice(4);
  ASSERT_NE(device, nullptr);
  Check(*device, SpecOf(a, b), a, b);
}

TEST(FloatMatmul, CanBeMoved) {
  std::mt19937_64 rng(5);
  const Bf16Matrix a = RandomMatrix(9, 40, rng, false);
  const Bf16Matrix b = RandomMatrix(40, 11, rng, false);
  const auto device = OpenDevice(4);
  ASSERT_NE(device, nullptr);
  for (const bool later : {false, true})
    Check(*device, SpecOf(a, b), a, b, later, /*moved=*/true);
}

TEST(FloatMatmul, RowsAreCutWithoutRest) {
  for (const int64_t least : {1, 18, 272}) {
    for (const int64_t most : {18, 100, 1024}) {
      for (int64_t rows = 1; rows < 1500; rows += 1 + rows / 40) {
        const auto blocks = compiler::RowBlocks(rows, least, most);
        EXPECT_EQ(std::accumulate(blocks.begin(), blocks.end(), int64_t{0}),
                  rows);
        for (const int64_t b : blocks) {
          ASSERT_GE(b, 1) << rows << " " << least << " " << most;
          ASSERT_LE(b, most) << rows << " " << least;
        }
        const auto chunks = compiler::RowChunks(rows, least, most);
        EXPECT_EQ(std::accumulate(chunks.begin(), chunks.end(), int64_t{0}),
                  rows);
        for (const int64_t c : chunks) {
          ASSERT_GE(c, 1);
          ASSERT_LE(c, std::max(most, least) * 3 / 2);
        }
      }
    }
  }
  EXPECT_THAT(compiler::RowBlocks(1024, 272, 1024),
              testing::ElementsAre(272, 480, 272));
  EXPECT_THAT(compiler::RowChunks(256, 32, 64),
              testing::ElementsAre(32, 32, 64, 64, 64));
}

TEST(FloatMatmul, TilesTakeTurnsInTheBanks) {
  EXPECT_THAT(compiler::TileRows(3, 100, 1, 512, /*spread=*/false),
              testing::ElementsAre(512, 612, 712));
  EXPECT_THAT(compiler::TileRows(2, 256, 0, 2048, /*spread=*/true),
              testing::ElementsAre(4096 - 256, 256));
  EXPECT_THAT(compiler::TileRows(5, 100, 1, 512, /*spread=*/true),
              testing::ElementsAre(512, 412, 712, 312, 912));
  EXPECT_THAT(compiler::EndWith({32, 32, 64}, 24),
              testing::ElementsAre(32, 32, 40, 24));
  EXPECT_THAT(compiler::EndWith({32, 20}, 24), testing::ElementsAre(32, 20));
}

TEST(FloatMatmul, Errors) {
  const auto message = [](const compiler::FloatMatmulSpec& spec,
                          const char* preset) {
    return std::string(compiler::CompileFloatMatmul(spec, *FindPreset(preset))
                           .status()
                           .message());
  };
  EXPECT_THAT(message({2, 2, 2, {1, 2, 3}}, "mini"),
              HasSubstr("b has 3 values, 2 x 2 are needed"));
  EXPECT_THAT(
      message({2, 2, 1, {1, 2}, false, false, /*b_later=*/true}, "mini"),
      HasSubstr("b has 2 values, 0 are needed"));
  EXPECT_THAT(message({0, 2, 2, {}}, "mini"),
              HasSubstr("product of 0 x 2 x 2"));
  EXPECT_THAT(message({1, 1, 1, {1}}, "edge"), HasSubstr("int8 cell"));
  EXPECT_THAT(message({1, 100000, 1, std::vector<uint16_t>(100000)}, "mini"),
              HasSubstr("do not fit the unified buffer of 131072 bytes"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
