// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Causes, checked by experiments: a program loses what the profile blames, and
// the cycles that it takes less are compared with those that were blamed.
#include <gtest/gtest.h>

#include <cstdio>

#include "host/compiler/access.h"
#include "host/tools/workload.h"
#include "tests/profile/profiled.h"

namespace systole::profile {
namespace {

Program Matmul(const std::string& preset, int64_t m, int64_t k, int64_t n) {
  const auto program = compiler::CompileMatmul(
      tools::RandomMatmul(m, k, n, /*raw=*/false, 3), *FindPreset(preset), {});
  EXPECT_TRUE(program.ok()) << program.status();
  return *program;
}

Program Conv(const tools::ConvSpec& spec) {
  const auto program = compiler::CompileNetwork(tools::ConvNetwork(spec, 3),
                                                *FindPreset("nano"), {});
  EXPECT_TRUE(program.ok()) << program.status();
  return *program;
}

void SetMasks(isa::Descriptor& d, uint32_t wait, uint32_t post) {
  isa::PutBits(d, 32, 32, wait);
  isa::PutBits(d, 64, 32, post);
}

// Without the descriptors of a queue, and without the flags between it and the
// others.
Program Without(Program program, isa::Queue queue) {
  uint32_t posted = 0, waited = 0;
  std::vector<isa::Descriptor> kept;
  for (const isa::Descriptor& d : program.descriptors) {
    const isa::Header header = isa::Halt::Decode(d).header;
    if (compiler::QueueOf(d) == queue) {
      posted |= header.post_mask;
      waited |= header.wait_mask;
    } else {
      kept.push_back(d);
    }
  }
  for (isa::Descriptor& d : kept) {
    const isa::Header header = isa::Halt::Decode(d).header;
    SetMasks(d, header.wait_mask & ~posted, header.post_mask & ~waited);
  }
  program.descriptors = std::move(kept);
  return program;
}

struct Experiment {
  Profiled before, after;
  double saved() const {
    return static_cast<double>(before.stats.cycles) -
           static_cast<double>(after.stats.cycles);
  }
};

Experiment Compare(Bench& bench, const Program& before, const Program& after) {
  auto first = bench.Run(before), second = bench.Run(after);
  EXPECT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  Experiment e{*std::move(first), *std::move(second)};
  std::printf("%d cycles, then %d\n", static_cast<int>(e.before.stats.cycles),
              static_cast<int>(e.after.stats.cycles));
  for (size_t i = 0; i < 8 && i < e.before.analysis.findings.size(); ++i)
    std::printf(
        "  %6d  %s\n", static_cast<int>(e.before.analysis.findings[i].cycles),
        FindingText(e.before.analysis.findings[i], before, e.before.analysis)
            .c_str());
  return e;
}

// The blamed cycles are those saved, but for what stood behind them.
void ExpectSaved(double saved, uint64_t blamed, double least, double most) {
  std::printf("blamed %d, saved %d\n", static_cast<int>(blamed),
              static_cast<int>(saved));
  EXPECT_GE(saved, least * static_cast<double>(blamed));
  EXPECT_LE(saved, most * static_cast<double>(blamed));
}

// A product of few rows waits for its tiles' way into the array. Rows in those
// cycles are free.
TEST(Experiment, ArrayNotFreeForTheNextTile) {
  Bench bench("nano");
  const Experiment e =
      Compare(bench, Matmul("nano", 1, 256, 256), Matmul("nano", 8, 256, 256));
  const uint64_t swap = e.before.Total(Unit::kMxu, Cause::kSwap);
  EXPECT_GT(swap, e.before.stats.cycles / 2);
  EXPECT_LT(e.after.Total(Unit::kMxu, Cause::kSwap), swap / 4);
  EXPECT_LT(e.after.stats.cycles, e.before.stats.cycles * 11 / 10);
}

// A product that is loaded for longer than it computes.
TEST(Experiment, Loads) {
  Bench bench("nano");
  const Program program = Matmul("nano", 1024, 8, 8);
  const Experiment e =
      Compare(bench, program, Without(program, isa::Queue::kLoad));
  ExpectSaved(e.saved(), e.before.Behind(Unit::kLoad), 0.5, 1.5);
}

// The program alone with array, weights and vector unit: its operands are there
// from a run before.
Program Resident(Bench& bench, const Program& program) {
  const auto run = bench.Run(program);
  EXPECT_TRUE(run.ok()) << run.status();
  return Without(Without(program, isa::Queue::kLoad), isa::Queue::kStore);
}

// Two lanes take four cycles for a row of eight sums, the array one.
TEST(Experiment, VectorUnit) {
  Bench bench("board8");
  const Program program = Resident(bench, Matmul("board8", 1024, 8, 16));
  const Experiment e =
      Compare(bench, program, Without(program, isa::Queue::kVector));
  ExpectSaved(e.saved(), e.before.Behind(Unit::kVector), 0.7, 1.3);
}

// Lines a whole turn of the banks apart: all windows of a vector want the same
// one.
TEST(Experiment, UnifiedBufferPort) {
  Bench bench("nano");
  const Program good = Conv({"3x3", 16, 16, 2, 3, 3, 8});
  const Preset& preset = *FindPreset("nano");
  Program bad = good;
  for (isa::Descriptor& d : bad.descriptors) {
    if (compiler::OpcodeOf(d) != isa::Opcode::kMatmul) continue;
    isa::Matmul matmul = isa::Matmul::Decode(d);
    matmul.pitch = static_cast<uint32_t>(preset.word_bytes() * preset.ub_banks);
    d = matmul.Encode();
  }
  // The controller refreshes all banks after its reset: the first run waits.
  EXPECT_TRUE(bench.Run(good).ok());
  const Experiment e = Compare(bench, bad, good);
  const uint64_t bad_port = e.before.Total(Unit::kMxu, Cause::kBufferPort);
  const uint64_t good_port = e.after.Total(Unit::kMxu, Cause::kBufferPort);
  ExpectSaved(e.saved(), bad_port - good_port, 0.8, 1.2);
}

// On the largest array a tile is 512 beats of memory and 256 cycles: passes of
// few rows wait for weights, those of 512 do not, and cost as much.
TEST(Experiment, Weights) {
  Bench bench("v1");
  const Program few = Resident(bench, Matmul("v1", 32, 1024, 1024));
  const Program many = Resident(bench, Matmul("v1", 480, 1024, 1024));
  const Experiment e = Compare(bench, few, many);
  const uint64_t none = e.before.Total(Unit::kMxu, Cause::kNoWeights);
  std::printf("blamed %d\n", static_cast<int>(none));
  EXPECT_GT(none, e.before.stats.cycles / 3);
  EXPECT_GT(e.before.Behind(Unit::kWeight), none * 9 / 10);
  EXPECT_LT(e.after.Total(Unit::kMxu, Cause::kNoWeights), none / 3);
  EXPECT_LT(e.after.stats.cycles, e.before.stats.cycles * 9 / 8);
}

}  // namespace
}  // namespace systole::profile
