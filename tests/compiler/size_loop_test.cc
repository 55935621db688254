// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A network's program does not grow with its image: blocks are loops. What
// they do is what they unroll to, which is what the golden model does.
//   --backend=iss|rtl --preset=P --cases=N --seed=S --side=N
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "absl/strings/str_format.h"
#include "host/program/image_loop.h"
#include "host/tools/checker.h"
#include "host/tools/workload.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "systole/loops.h"
#include "tests/compiler/sized_networks.h"
#include "tests/testing/options.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "edgechip";
int g_side = 224;      // of the images that are computed
int g_largest = 1792;  // side of an image that is compiled for
constexpr uint32_t kAnyNumber = 1u << 20;

Program Compiled(const model::Network& network, compiler::Options options) {
  auto program =
      compiler::CompileNetwork(network, *FindPreset(g_preset), options);
  EXPECT_TRUE(program.ok()) << program.status();
  return *std::move(program);
}

Program Compiled(const model::Network& network, bool loops) {
  compiler::Options options;
  options.loops = loops;
  return Compiled(network, options);
}

absl::StatusOr<tools::CheckedRun> RunOn(
    const Program& program, const model::Network& network,
    const std::vector<int8_t>& input,
    const std::vector<tools::ExpectedTensor>& expected) {
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.check_races = true;
  auto device = Device::Open(g_backend, options);
  if (!device.ok()) return device.status();
  return tools::RunChecked(**device, program, network, input, expected);
}

size_t Length(const Program& program) { return program.descriptors.size(); }

// As `systole compile --loops` writes it, of one image.
Program Shortest(const model::Network& network) {
  Program as_it_is = RollLoops(Compiled(network, false), kAnyNumber);
  Program regular = RollLoops(Compiled(network, true), kAnyNumber);
  return Length(regular) < Length(as_it_is) ? regular : as_it_is;
}

TEST(SizeLoop, ProgramsDoNotGrowWithTheImage) {
  if (g_backend != "iss") GTEST_SKIP() << "nothing runs";
  const Preset& preset = *FindPreset(g_preset);
  for (const std::string& kind : kSizedNetworks) {
    size_t small = 0, large = 0, before = 0;
    for (const int size : {32, 64, 128, 224, 448, 896, 1792}) {
      if (size > g_largest) break;
      const model::Network network = SizedNetwork(kind, size, size);
      const Program straight = Compiled(network, false);
      const Program looped = Shortest(network);
      const auto runs = ForChip(looped);
      ASSERT_TRUE(runs.ok()) << runs.status();
      std::printf(
          "[ figure   ] %s, %s, %dx%d: %d descriptors, with loops %d, on the "
          "chip %d; %d loops, %d steps; expected cycles %d, %d\n",
          g_preset.c_str(), kind.c_str(), size, size,
          static_cast<int>(Length(straight)), static_cast<int>(Length(looped)),
          static_cast<int>(Length(*runs)),
          static_cast<int>(looped.loops.size()),
          static_cast<int>(looped.steps.size()),
          static_cast<int>(compiler::EstimateCycles(straight, preset)),
          static_cast<int>(compiler::EstimateCycles(looped, preset)));
      std::fflush(stdout);
      // Whatever the number of loops, in chapters.
      if (preset.chip.smem_bytes != 0)
        EXPECT_EQ(runs->descriptors, looped.descriptors) << kind << " " << size;
      if (size <= 224) small = std::max(small, Length(looped));
      if (size < g_largest) before = Length(looped);
      large = Length(looped);
      EXPECT_LE(large, small * 2) << kind << " " << size;
      if (size >= 896) EXPECT_LE(large * 10, Length(straight)) << kind;
    }
    if (preset.rows >= 32) EXPECT_LE(large * 10, before * 11) << kind;
  }
}

// The addition's operand would stay in the unified buffer and leave the wide
// layers behind it a few positions at a time.
TEST(Tiling, WhatStaysIsNotInTheWay) {
  const Preset& preset = *FindPreset("edge");
  for (const int size : {100, 120, 140}) {  // 236 to 470 KB of 512
    const model::Network network = SizedNetwork("inverted", size, size);
    const auto program = compiler::CompileNetwork(network, preset, {});
    ASSERT_TRUE(program.ok()) << program.status();
    int64_t ideal = 0;
    for (const LayerInfo& layer : program->layers) ideal += layer.ideal_cycles;
    const int64_t cycles = compiler::EstimateCycles(*program, preset);
    std::printf("[ figure   ] %d: %d cycles, the array alone %d\n", size,
                static_cast<int>(cycles), static_cast<int>(ideal));
    EXPECT_LT(cycles * 2, ideal * 3) << size;
  }
}

TEST(SizeLoop, GoldenEqualsDevice) {
  for (const std::string& kind : kSizedNetworks) {
    SCOPED_TRACE(kind);
    const model::Network network = SizedNetwork(kind, g_side, g_side + 7);
    std::mt19937_64 rng(4);
    const std::vector<int8_t> input =
        tools::RandomInt8(network.tensors[0].size(), rng);
    const auto expected = tools::GoldenTensors(network, input, false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const Program straight = Compiled(network, false);
    const Program regular = Compiled(network, true);
    const auto rolled = ForChip(RollLoops(regular, kAnyNumber));
    ASSERT_TRUE(rolled.ok()) << rolled.status();
    auto flat = UnrollLoops(*rolled);
    ASSERT_TRUE(flat.ok()) << flat.status();
    EXPECT_EQ(flat->descriptors, regular.descriptors);
    for (const Program* p : {&straight, &regular, &*rolled}) {
      const auto run = RunOn(*p, network, input, *expected);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_THAT(run->mismatches(), testing::IsEmpty());
      EXPECT_TRUE(run->layers.back().bit_exact.value_or(false));
      std::printf("[ figure   ] %s %s, %dx%d: %d descriptors, %d cycles\n",
                  g_preset.c_str(), kind.c_str(), g_side, g_side + 7,
                  static_cast<int>(p->descriptors.size()),
                  static_cast<int>(run->stats.cycles));
    }
  }
}

// A loop over images around those over blocks.
TEST(SizeLoop, ABatchDoesNotGrowEither) {
  constexpr int kImages = 3;
  for (const std::string& kind : kSizedNetworks) {
    SCOPED_TRACE(kind);
    const model::Network network = SizedNetwork(kind, g_side, g_side / 2);
    std::mt19937_64 rng(6);
    const std::vector<int8_t> input =
        tools::RandomInt8(kImages * network.tensors[0].size(), rng);
    const auto expected = tools::GoldenTensors(network, input, false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const Program one =
        RollLoops(Compiled(network, true), kAnyNumber, kMaxLoopDepth - 1);
    auto batch = LoopOverImages(one, kImages);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(Length(*batch), Length(one) + 3);
    auto runs = ForChip(*std::move(batch));
    ASSERT_TRUE(runs.ok()) << runs.status();
    const auto run = RunOn(*runs, network, input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_THAT(run->mismatches(), testing::IsEmpty());
    EXPECT_TRUE(run->layers.back().bit_exact.value_or(false));
    std::printf("[ figure   ] %s, %d images: %d descriptors, %d cycles\n",
                kind.c_str(), kImages, static_cast<int>(Length(*runs)),
                static_cast<int>(run->stats.cycles));
  }
}

// A field that grows by something else, a pass more or less: the results, the
// race checker or a fault tell.
TEST(SizeLoop, WrongStepsAndCountsAreFound) {
  if (g_backend != "iss") GTEST_SKIP() << "many runs";
  if (FindPreset(g_preset)->chip.smem_bytes == 0)
    GTEST_SKIP() << "a chip without loops";
  const model::Network network = SizedNetwork("convolutions", g_side, g_side);
  std::mt19937_64 rng(5);
  const std::vector<int8_t> input =
      tools::RandomInt8(network.tensors[0].size(), rng);
  const auto expected = tools::GoldenTensors(network, input, false);
  ASSERT_TRUE(expected.ok()) << expected.status();
  auto rolled = ForChip(RollLoops(Compiled(network, true), kAnyNumber));
  ASSERT_TRUE(rolled.ok()) << rolled.status();
  int broken = 0, found = 0;
  const auto check = [&](const Program& p, const std::string& what) {
    const auto run = RunOn(p, network, input, *expected);
    const bool seen = !run.ok() || !run->mismatches().empty();
    EXPECT_TRUE(seen) << what << " is not seen";
    ++broken;
    found += seen;
  };
  const int64_t beat = FindPreset(g_preset)->beat_bytes();
  for (size_t i = 0; i < rolled->steps.size(); ++i) {
    Program p = *rolled;
    p.steps[i].add += beat;
    check(p, absl::StrFormat("step %d, of descriptor %d", i,
                             p.steps[i].descriptor));
  }
  for (size_t l = 0; l < rolled->loops.size(); ++l) {
    for (const uint32_t by : {1u, ~0u}) {
      Program p = *rolled;
      p.loops[l].count += by;
      check(p, absl::StrFormat("loop %d", l));
    }
  }
  std::printf("%d of %d found\n", found, broken);
  EXPECT_GE(broken, 10);
}

// With loops and without.
TEST(SizeLoop, RandomNetworksAreTheSame) {
  const Preset& preset = *FindPreset(g_preset);
  const int cases = testing_options::Cases(40);
  int looped = 0, refused = 0;
  for (const uint64_t seed : testing_options::Seeds(cases)) {
    TallNetwork made(seed, preset);
    SCOPED_TRACE(absl::StrFormat("seed %d", seed));
    made.options.loops = true;
    const auto regular =
        compiler::CompileNetwork(made.network, preset, made.options);
    if (absl::IsResourceExhausted(regular.status()) &&
        made.options.ub_bytes > 0) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(regular.ok()) << regular.status();
    auto rolled = ForChip(RollLoops(*regular, kAnyNumber));
    ASSERT_TRUE(rolled.ok()) << rolled.status();
    auto flat = UnrollLoops(*rolled);
    ASSERT_TRUE(flat.ok()) << flat.status();
    ASSERT_EQ(flat->descriptors, regular->descriptors);
    looped += rolled->descriptors.size() * 2 < regular->descriptors.size();
    const auto expected =
        tools::GoldenTensors(made.network, made.input, /*raw=*/false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto run = RunOn(*rolled, made.network, made.input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_THAT(run->mismatches(), testing::IsEmpty());
    ASSERT_TRUE(run->layers.back().bit_exact.value_or(false));
  }
  std::printf("%d of %d less than half as long with loops, %d refused\n",
              looped, cases, refused);
  if (cases >= 40 && FindPreset(g_preset)->chip.smem_bytes != 0)
    EXPECT_GE(looped, cases / 5);
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"side", &systole::g_side},
                                             {"largest", &systole::g_largest}});
}
