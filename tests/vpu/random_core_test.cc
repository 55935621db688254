// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs of a whole bf16 core: the simulator finds no fault and no
// race, and what lies in HBM at the end is the same on the backend, with random
// stalls, as on the simulator.
//   --backend=iss|rtl --preset=mini --cases=N --seed=S --items=N

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "systole/device.h"
#include "tests/testing/choices.h"
#include "tests/testing/options.h"
#include "tests/vpu/random_core_program.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "mini";
int g_items = 40;

struct Result {
  std::vector<uint8_t> bytes;  // nothing after a failure
  CounterValues counters = {};
};

Result ResultOf(const std::string& backend, uint64_t seed,
                const vpu::CoreProgram& p) {
  DeviceOptions options;
  options.preset = g_preset;
  options.simulation.seed = seed + (backend == "iss" ? 1000 : 0);
  options.simulation.check_races = true;
  options.simulation.checked =
      g_preset == "mini";  // the others only have a fast model
  options.simulation.stall_rate =
      seed % 4 == 0 ? 0 : static_cast<int>(seed % 97);
  auto device = Device::Open(backend, options);
  EXPECT_TRUE(device.ok()) << device.status();
  if (!device.ok()) return {};
  const std::vector<uint8_t> zeros(p.result_end - p.result_begin);
  EXPECT_TRUE((*device)->Write(p.result_begin, zeros).ok());
  const absl::StatusOr<RunStats> stats = (*device)->Run(p.program);
  EXPECT_TRUE(stats.ok()) << stats.status();
  std::vector<uint8_t> result(zeros.size());
  EXPECT_TRUE((*device)->Read(p.result_begin, absl::MakeSpan(result)).ok());
  if (!stats.ok()) return {};
  if (stats->cycles > 0) {
    std::printf("seed %d: %d descriptors, %d cycles\n", static_cast<int>(seed),
                static_cast<int>(p.program.descriptors.size()),
                static_cast<int>(stats->cycles));
  }
  return {result, stats->counters};
}

// What does not depend on time.
constexpr csr::Counter kExact[] = {
    csr::Counter::kDescriptors, csr::Counter::kLoadBytes,
    csr::Counter::kStoreBytes,  csr::Counter::kMxuVectors,
    csr::Counter::kMxuNan,      csr::Counter::kMxuInf,
    csr::Counter::kVectorNan,   csr::Counter::kVectorInf,
};

void Compare(uint64_t seed, int items, CounterValues& totals) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const absl::StatusOr<vpu::CoreProgram> p =
      vpu::MakeRandomCoreProgram(*FindPreset(g_preset), seed, items);
  ASSERT_TRUE(p.ok()) << p.status();
  const Result expected = ResultOf("iss", seed, *p);
  // On the simulator: again, with other bytes in what nothing has written.
  const Result result = ResultOf(g_backend, seed + 1, *p);
  const std::vector<uint8_t>&want = expected.bytes, &got = result.bytes;
  ASSERT_EQ(want.size(), got.size());
  int shown = 0;
  for (size_t at = 0; at < want.size() && shown < 8; ++at) {
    if (want[at] == got[at]) continue;
    ADD_FAILURE() << "byte " << at << " of the result";
    ++shown;
  }
  for (const csr::Counter c : kExact) {
    const int i = static_cast<int>(c);
    EXPECT_EQ(result.counters[i], expected.counters[i])
        << csr::kCounterNames[i];
    totals[i] += result.counters[i];
  }
}

// At mini: writes of parts of one beat, one behind the other, across the end
// of the HBM's list of them.
TEST(RandomCore, PartialWritesOfABeatKeepTheirOrder) {
  CounterValues totals = {};
  Compare(132, 20, totals);
}

TEST(RandomCore, BackendAgreesWithTheSimulator) {
  CounterValues totals = {};
  for (const uint64_t seed : testing_options::Seeds(20)) {
    if (HasFailure()) return;
    Compare(seed, g_items, totals);
  }
  // The programs make all of them.
  if (testing_options::Cases(20) < 20) return;
  for (const csr::Counter c : kExact) {
    EXPECT_GT(totals[static_cast<int>(c)], 0u)
        << csr::kCounterNames[static_cast<int>(c)];
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"items", &systole::g_items}});
}
