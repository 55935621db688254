// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// golden == device over random operations and networks at one preset. The
// backend is an argument, so that the same cases run on the simulator (which
// also proves the synchronisation) and on the RTL (with random stalls).
//   --backend=iss|rtl --preset=P --cases=N --seed=S --kind=K --stall=N
//   --checked=0|1 --trace=FILE
// A failure prints the seed of its case: --seed=S --cases=1 repeats it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "host/tools/checker.h"
#include "systole/device.h"
#include "tests/compiler/random_case.h"
#include "tests/testing/choices.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "nano";
std::string g_kind;                // of MakeRandomCase
int g_stall = -1;                  // in 1/256 a cycle; -1: of the seed
int g_checked = 1;                 // 0: the RTL's plain model, without stalls
std::string g_trace;               // waveform
constexpr int64_t kWork = 150000;  // products a case, about

void AddOptions(DeviceOptions* options) {
  if (g_stall >= 0) options->simulation.stall_rate = g_stall;
  options->simulation.checked = g_checked != 0;
  options->simulation.trace.file = g_trace;
}

TEST(Random, GoldenEqualsDevice) {
  const Preset& preset = *FindPreset(g_preset);
  const int cases = testing_options::Cases(300);
  int refused = 0;
  std::printf("%d cases on %s, seeds from %d\n", cases, g_backend.c_str(),
              static_cast<int>(testing_options::FirstSeed()));
  for (const uint64_t seed : testing_options::Seeds(cases)) {
    const RandomCase c = MakeRandomCase(seed, preset, kWork, g_kind);
    SCOPED_TRACE(absl::StrFormat("seed %d:%s", seed, c.description));
    absl::StatusOr<Program> program = CompileCase(c, preset);
    if (absl::IsResourceExhausted(program.status()) && c.options.ub_bytes > 0) {
      ++refused;  // a pretended buffer may be too small for the layer's
                  // smallest tile
      continue;
    }
    ASSERT_TRUE(program.ok()) << program.status();
    if (seed % 3 != 0) ShuffleFlags(seed, &*program);
    const auto expected = tools::GoldenTensors(c.network, c.input, c.raw);
    ASSERT_TRUE(expected.ok()) << expected.status();
    DeviceOptions options;
    options.preset = g_preset;
    options.simulation.seed = seed;
    options.simulation.check_races = true;
    options.simulation.stall_rate =
        seed % 4 == 0 ? 0 : static_cast<int>(seed % 97);
    AddOptions(&options);
    auto device = Device::Open(g_backend, options);
    ASSERT_TRUE(device.ok()) << device.status();
    const auto run =
        tools::RunChecked(**device, *program, c.network, c.input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const std::string& mismatch : run->mismatches())
      ADD_FAILURE() << mismatch;
    ASSERT_TRUE(run->layers.back().bit_exact.value_or(false));
    if (HasFailure()) break;
  }
  if (cases >= 100) EXPECT_LE(refused, cases / 10 + 1);
}

// One device, one program after the other, nothing in between but the tensors:
// what a program leaves behind must not reach the next one.
TEST(Random, ProgramsFollowEachOther) {
  const Preset& preset = *FindPreset(g_preset);
  DeviceOptions options;
  options.preset = g_preset;
  const uint64_t first = testing_options::FirstSeed();
  testing_options::StartCase(first);
  options.simulation.seed = first;
  options.simulation.check_races = true;
  options.simulation.stall_rate = 10;
  AddOptions(&options);
  auto device = Device::Open(g_backend, options);
  ASSERT_TRUE(device.ok()) << device.status();
  for (int i = 0; testing_options::More(i < 30); ++i) {
    const testing_options::Span span;
    const uint64_t seed = first + 1000000 + i;
    const RandomCase c = MakeRandomCase(seed, preset, kWork / 4, g_kind);
    SCOPED_TRACE(absl::StrFormat("program %d:%s", i, c.description));
    const absl::StatusOr<Program> program = CompileCase(c, preset);
    if (absl::IsResourceExhausted(program.status())) continue;
    ASSERT_TRUE(program.ok()) << program.status();
    const auto expected = tools::GoldenTensors(c.network, c.input, c.raw);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto run =
        tools::RunChecked(**device, *program, c.network, c.input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_THAT(run->mismatches(), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"kind", &systole::g_kind},
                                             {"stall", &systole::g_stall},
                                             {"checked", &systole::g_checked},
                                             {"trace", &systole::g_trace}});
}
