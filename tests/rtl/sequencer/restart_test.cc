// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The watchdog, to the cycle; what a reset leaves of the program before it:
// nothing, wherever that was.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Vsequencer_nano.h"
#include "tests/rtl/sequencer/bench.h"
#include "tests/rtl/sequencer/programs.h"

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

// Each program after one that was cut off anywhere, and one that is the first:
// they take the same cycles, event by event.
TEST(RestartTest, IsAsNew) {
  for (int seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Nano used(seed), fresh(1000);
    for (int i = 0; i < 3; ++i) {
      World before = RandomWorld(used.random());
      const auto first =
          RandomProgram(100, (used.random()() % 100) / 100.0, used.random());
      before.limit = 20 + static_cast<int64_t>(used.random()() % 700);
      used.Run(first, before);
      const World world = RandomWorld(used.random());
      const auto program =
          RandomProgram(60, (used.random()() % 100) / 100.0, used.random());
      Outcome outcomes[2];
      for (int k = 0; k < 2; ++k) {
        Nano& bench = k == 0 ? used : fresh;
        bench.random().seed(seed);
        outcomes[k] = bench.Run(program, world);
        EXPECT_THAT(outcomes[k].errors, ::testing::IsEmpty());
        ASSERT_TRUE(outcomes[k].done);
      }
      EXPECT_EQ(outcomes[0].cycles, outcomes[1].cycles);
      EXPECT_EQ(outcomes[0].last_event, outcomes[1].last_event);
      EXPECT_EQ(outcomes[0].dispatch_stalls, outcomes[1].dispatch_stalls);
      used.random().seed(seed + 1000 * i);
    }
  }
}

}  // namespace
}  // namespace systole::sequencer_test
