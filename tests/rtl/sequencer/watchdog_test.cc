// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The watchdog, to the cycle.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Vsequencer_nano.h"
#include "tests/rtl/sequencer/bench.h"

namespace systole::sequencer_test {
namespace {

using isa::Fault;
using isa::Opcode;
using Nano = Bench<Vsequencer_nano, 32>;

std::vector<isa::Descriptor> Waiting(Nano* bench) {
  std::vector<isa::Descriptor> program;
  for (int i = 0; i < 12; ++i) {
    const bool waits = i == 4;
    program.push_back(MakeDescriptor(waits ? Opcode::kStore : Opcode::kLoad,
                                     waits ? 1u << 30 : 0, 0, bench->random()));
  }
  program.push_back(MakeDescriptor(Opcode::kHalt, 0, 0, bench->random()));
  return program;
}

// It expires so many cycles behind the last event, neither earlier nor later:
// three registers are between. So does the next one, which a reset begins.
TEST(WatchdogTest, ExpiresInItsCycle) {
  Nano bench(7);
  for (const int cycles : {40, 41, 299, 300, 301, 1000}) {
    World world;
    world.watchdog = cycles;
    const Outcome o = bench.Run(Waiting(&bench), world);
    EXPECT_THAT(o.errors, ::testing::IsEmpty());
    ASSERT_TRUE(o.fault.has_value()) << cycles;
    EXPECT_EQ(o.fault->code, Fault::kWatchdog);
    EXPECT_EQ(o.fault->cycle - o.last_event, cycles + 3);
  }
}

}  // namespace
}  // namespace systole::sequencer_test
