// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control of a core in a chip with a scalar unit, another core and
// links: flags between cores, flags of packets, the scalar unit's flags, sends,
// descriptors of the issue port; and resets at any time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Vsequencer_chip.h"
#include "tests/rtl/sequencer/bench.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole::sequencer_test {
namespace {

using testing_options::Sized;

using isa::Descriptor;
using isa::Fault;
using isa::Opcode;
using ChipBench = Bench<Vsequencer_chip, 32, true>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Descriptor Load(ChipBench& bench, uint32_t wait, uint32_t post) {
  return MakeDescriptor(Opcode::kLoad, wait, post, bench.random());
}
Descriptor Halt(ChipBench& bench, uint32_t wait = 0) {
  return MakeDescriptor(Opcode::kHalt, wait, 0, bench.random());
}

constexpr uint32_t kOthers = ~0u << Chip::kOwn;  // flags that others post

// Each flag between cores is met: the other core sends it back. Packets post
// as often as the program waits.
TEST(SequencerChipTest, RandomPrograms) {
  for (const uint64_t seed : systole::testing_options::Seeds(150)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ChipBench bench(seed);
    World world = ChipWorld(bench.random());
    const double sync = static_cast<double>(bench.random()() % 100) / 100;
    const Program program =
        RandomChipProgram(1 + static_cast<int>(bench.random()() % 300), sync,
                          /*links=*/true, bench.random());
    world.link_posts = program.link_posts;
    world.hold_link = static_cast<int>(bench.random()() % 250);
    const Outcome o = bench.Run(program.descriptors, world);
    ASSERT_THAT(o.errors, IsEmpty());
    ASSERT_TRUE(o.done);
  }
}

// Each load waits for a post of the scalar unit, which waits for its own.
TEST(SequencerChipTest, FlagsOfTheScalarUnit) {
  for (const uint64_t seed : systole::testing_options::Seeds(40)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ChipBench bench(seed);
    World world = ChipWorld(bench.random());
    // Also between the cores: such a post leaves and comes back.
    const int one = static_cast<int>(seed % 4 == 0 ? 28 + seed / 4 % 4
                                                   : bench.random()() % 16),
              two = 16 + static_cast<int>(bench.random()() % 4);
    const int count = 1 + static_cast<int>(bench.random()() % 30);
    std::vector<Descriptor> program;
    for (int i = 0; i < count; ++i)
      program.push_back(Load(bench, 1u << one, 1u << two));
    // A last one after all that the unit takes.
    const uint32_t own = 1u << ((one + 1) % 16);
    program.push_back(Load(bench, own, 0));
    program.push_back(Halt(bench));
    world.scalar_post = 1u << one | own;
    world.scalar_posts = count;
    world.scalar_want = 1u << two;
    world.scalar_wants = count;
    world.least_work = 2;
    const Outcome o = bench.Run(program, world);
    // The program may be done before the unit has taken its last flags.
    for (const std::string& error : o.errors)
      EXPECT_THAT(error, HasSubstr("the scalar unit waits at the end"));
    ASSERT_TRUE(o.done);
  }
}

// Two flags at once are taken when both are there.
TEST(SequencerChipTest, TheScalarUnitWantsTwoFlags) {
  ChipBench bench(5);
  World world;
  world.scalar_want = 1u << 3 | 1u << 9;
  world.scalar_wants = 6;
  world.hold_scalar = 0;
  std::vector<Descriptor> program;
  for (int i = 0; i < 6; ++i) program.push_back(Load(bench, 0, 1u << 3));
  for (int i = 0; i < 6; ++i) program.push_back(Load(bench, 0, 1u << 9));
  program.push_back(Halt(bench));
  const Outcome o = bench.Run(program, world);
  EXPECT_THAT(o.errors, IsEmpty());
  EXPECT_TRUE(o.done);
}

// What the other core or a packet posted lives through a program's reset, and
// through that of all it is gone.
TEST(SequencerChipTest, FlagsOfOthersOutliveAProgram) {
  ChipBench bench(6);
  World world;
  world.watchdog = 400;
  world.peer_posts = kOthers;
  const std::vector<Descriptor> first = {Load(bench, 0, 0), Load(bench, 0, 0),
                                         Halt(bench)};
  ASSERT_TRUE(bench.Run(first, world).done);
  // Each is there once more; the halt takes one, a reset none.
  world.keep_peer = true;
  Outcome o = bench.Run(first, world);
  EXPECT_THAT(o.errors, IsEmpty());
  o = bench.Run({Load(bench, 0, 0), Halt(bench, kOthers)}, world);
  EXPECT_THAT(o.errors, IsEmpty());
  ASSERT_TRUE(o.done);
  world.peer_posts = 0;
  std::vector<Descriptor> program;
  for (int i = 0; i < 2; ++i) {
    for (uint32_t flag = Chip::kOwn; flag < 32; ++flag)
      program.push_back(Load(bench, 1u << flag, 0));
  }
  program.push_back(Halt(bench));
  o = bench.Run(program, world);
  EXPECT_THAT(o.errors, IsEmpty());
  EXPECT_TRUE(o.done);
  // They are taken now.
  o = bench.Run(program, world);
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_EQ(o.fault->code, Fault::kWatchdog);
  EXPECT_EQ(o.fault->addr, static_cast<uint64_t>(Chip::kOwn));
  world.keep_peer = false;
  world.peer_posts = kOthers;
  ASSERT_TRUE(bench.Run(first, world).done);
  world.peer_posts = 0;
  o = bench.Run(program, world);
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_EQ(o.fault->code, Fault::kWatchdog);
}

// Posts that come while a core is reset for the next program count.
TEST(SequencerChipTest, PostsInAReset) {
  ChipBench bench(12);
  World world;
  world.watchdog = 400;
  ASSERT_TRUE(bench.Run({Load(bench, 0, 0), Halt(bench)}, world).done);
  world.keep_peer = true;
  world.reset_posts = kOthers;
  std::vector<Descriptor> program;
  for (int i = 0; i < 3; ++i) program.push_back(Load(bench, kOthers, 0));
  program.push_back(Halt(bench));
  Outcome o = bench.Run(program, world);
  EXPECT_THAT(o.errors, IsEmpty());
  EXPECT_TRUE(o.done);
  // No more than those.
  world.reset_posts = 0;
  o = bench.Run(program, world);
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_EQ(o.fault->code, Fault::kWatchdog);
  EXPECT_EQ(o.fault->pc, 0u);
}

// A program without the other cores has none of those flags. No program posts
// those of packets.
TEST(SequencerChipTest, IsolatedProgramsHaveNoFlagsOfOthers) {
  for (int flag = 0; flag < isa::kNumFlags; ++flag) {
    for (const bool wait : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "flag " << flag << " " << wait);
      ChipBench bench(flag);
      World world;
      world.isolated = true;
      world.watchdog = 300;
      world.issue = flag % 2;
      const uint32_t mask = 1u << flag;
      const std::vector<Descriptor> program = {
          Load(bench, 0, 0), Load(bench, wait ? mask : 0, wait ? 0 : mask),
          Halt(bench)};
      const Outcome o = bench.Run(program, world);
      EXPECT_THAT(o.errors, IsEmpty());
      if (flag >= Chip::kOwn) {
        ASSERT_TRUE(o.fault.has_value());
        EXPECT_EQ(o.fault->code, Fault::kIllegalDescriptor);
        EXPECT_EQ(o.fault->pc, 1u);
      } else if (wait) {
        ASSERT_TRUE(o.fault.has_value());
        EXPECT_EQ(o.fault->code, Fault::kWatchdog);
        EXPECT_EQ(o.fault->addr, static_cast<uint64_t>(flag));
      } else {
        EXPECT_TRUE(o.done);
      }
    }
  }
}

// Only packets post link flags; nothing of such a descriptor happens. Waits for
// them are legal.
TEST(SequencerChipTest, OnlyPacketsPostLinkFlags) {
  for (const Opcode op : {Opcode::kLoad, Opcode::kSend}) {
    for (int flag = 0; flag < isa::kNumFlags; ++flag) {
      SCOPED_TRACE(::testing::Message() << "flag " << flag);
      ChipBench bench(flag);
      World world;
      world.issue = flag % 2;
      std::vector<Descriptor> program = {
          Load(bench, 0, 0),
          MakeDescriptor(op, 0, 1u << flag | 1u, bench.random()), Halt(bench)};
      Outcome o = bench.Run(program, world);
      EXPECT_THAT(o.errors, IsEmpty());
      if (flag < Chip::kOwn || flag >= Chip::kFirstPeer) {
        EXPECT_TRUE(o.done);
        continue;
      }
      ASSERT_TRUE(o.fault.has_value());
      EXPECT_EQ(o.fault->code, Fault::kIllegalDescriptor);
      EXPECT_EQ(o.fault->pc, 1u);
      EXPECT_EQ(o.fault->queue, 7);
      program[1] = MakeDescriptor(op, 1u << flag, 1u, bench.random());
      world.peer_posts = 1u << flag;
      o = bench.Run(program, world);
      EXPECT_THAT(o.errors, IsEmpty());
      EXPECT_TRUE(o.done);
    }
  }
}

// An isolated program does not send.
TEST(SequencerChipTest, Sends) {
  ChipBench bench(9);
  World world;
  const std::vector<Descriptor> program = {
      Load(bench, 0, 0), MakeDescriptor(Opcode::kSend, 0, 0, bench.random()),
      Halt(bench)};
  Outcome o = bench.Run(program, world);
  EXPECT_THAT(o.errors, IsEmpty());
  EXPECT_TRUE(o.done);
  world.isolated = true;
  o = bench.Run(program, world);
  EXPECT_THAT(o.errors, IsEmpty());
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_EQ(o.fault->code, Fault::kIllegalDescriptor);
  EXPECT_EQ(o.fault->pc, 1u);
  world.isolated = false;
  auto ill_formed = program;
  for (const int bit :
       {isa::FindOp(static_cast<uint8_t>(Opcode::kSend))->width, 511, 11}) {
    ill_formed[1] = program[1];
    isa::PutBits(ill_formed[1], bit, 1, 1);
    o = bench.Run(ill_formed, world);
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kIllegalDescriptor);
  }
}

// Faults of the send queue's unit, of its oldest descriptor and its newest.
TEST(SequencerChipTest, FaultsOfTheSendUnit) {
  const int queue = static_cast<int>(isa::Queue::kSend);
  for (const uint64_t seed : systole::testing_options::Seeds(100)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ChipBench bench(seed);
    World world = ChipWorld(bench.random());
    world.work = 30 + world.work;
    const Program program =
        RandomChipProgram(200, 0.2, /*links=*/true, bench.random());
    world.link_posts = program.link_posts;
    world.unit_faults = {{queue, 3, 0, bench.random()() % 2 == 0,
                          Fault::kUbRange, seed, /*with_done=*/seed % 3 == 0}};
    const Outcome o = bench.Run(program.descriptors, world);
    ASSERT_THAT(o.errors, IsEmpty());
    if (o.done && o.fault_indices.empty()) continue;  // it had too little to do
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kUbRange);
    EXPECT_EQ(o.fault->queue, queue);
    EXPECT_EQ(o.fault->pc, o.fault_indices[0]);
    EXPECT_EQ(o.fault->addr, seed);
  }
}

// The watchdog names the head of the send queue.
TEST(SequencerChipTest, WatchdogOfASend) {
  const int queue = static_cast<int>(isa::Queue::kSend);
  ChipBench bench(10);
  std::vector<Descriptor> program;
  for (int i = 0; i < 12; ++i)
    program.push_back(MakeDescriptor(Opcode::kSend, 0, 0, bench.random()));
  program.push_back(Halt(bench));
  World world;
  world.watchdog = 300;
  for (int flag = 0; flag < isa::kNumFlags; ++flag) {
    program[7] = MakeDescriptor(Opcode::kSend, 1u << flag, 0, bench.random());
    const Outcome o = bench.Run(program, world);
    EXPECT_THAT(o.errors, IsEmpty());
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kWatchdog);
    EXPECT_EQ(o.fault->queue, queue);
    EXPECT_EQ(o.fault->pc, 7u);
    EXPECT_EQ(o.fault->addr, static_cast<uint64_t>(flag));
  }
}

// Posts to the other core that do not leave count too, and overflow.
TEST(SequencerChipTest, FlagOverflow) {
  for (int i = 0; i < Sized(2, 4); ++i) {
    const int flag = i % 2 ? 30 : 2;
    SCOPED_TRACE(::testing::Message() << "flag " << flag << ", " << i);
    ChipBench bench(20 + i);
    std::vector<Descriptor> program;
    for (int l = 0; l <= 65535; ++l)
      program.push_back(Load(bench, 0, 1u << flag));
    program.push_back(Halt(bench));
    World world;
    world.issue = i % 2;
    world.last_work = i / 2 * 100;  // the halt waits for it, or not
    world.hold_peer = 256;
    world.latency = 10;
    world.work = 0;
    world.limit = 1000000;
    const Outcome o = bench.Run(program, world);
    EXPECT_THAT(o.errors, IsEmpty());
    EXPECT_FALSE(o.done);
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kFlagOverflow);
    EXPECT_EQ(o.fault->queue, 0);
    EXPECT_EQ(o.fault->pc, 65535u);
    EXPECT_EQ(o.fault->addr, static_cast<uint64_t>(flag));
  }
}

// Posts that no queue made overflow as well: those of the scalar unit, to this
// core and on their way to the other one, and those that come from there or
// over the links.
TEST(SequencerChipTest, FlagOverflowOfOthers) {
  const auto run = [](int flag, bool far) {
    ChipBench bench(flag);
    World world;
    world.hold_peer = 256;
    world.hold_scalar = 0;
    world.limit = 1000000;
    (far ? world.peer_posts : world.scalar_post) = 1u << flag;
    (far ? world.peer_times : world.scalar_posts) = 65536;
    const std::vector<Descriptor> program = {Load(bench, 0, 1), Halt(bench, 2)};
    const Outcome o = bench.Run(program, world);
    EXPECT_THAT(o.errors, IsEmpty());
    EXPECT_FALSE(o.done);
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kFlagOverflow);
    EXPECT_EQ(o.fault->queue, 7);  // none
    EXPECT_EQ(o.fault->addr, static_cast<uint64_t>(flag));
  };
  for (const int flag :
       Sized(std::vector{0, 19, 20, 28}, {0, 17, 19, 20, 27, 28, 31})) {
    SCOPED_TRACE(::testing::Message() << "flag " << flag);
    if (flag < Chip::kOwn || flag >= Chip::kFirstPeer) run(flag, false);
    if (flag >= Chip::kOwn) run(flag, true);
  }
}

// Whatever a reset cuts off, a fault's latch too: nothing shows in it, and the
// next program runs as if it were the first.
TEST(SequencerChipTest, ResetsAtAnyTime) {
  for (int limit = 1; limit < 260; ++limit) {
    if (::testing::Test::HasFailure()) return;
    SCOPED_TRACE(::testing::Message() << "a reset after " << limit);
    ChipBench bench(limit);
    World world = ChipWorld(bench.random());
    world.latency = 5;
    world.watchdog = 1000;
    const auto draw = [&bench, &world](int count) {
      Program drawn =
          RandomChipProgram(count, 0.3, /*links=*/true, bench.random());
      world.link_posts = drawn.link_posts;
      return drawn.descriptors;
    };
    auto program = draw(200);
    World cut = world;
    cut.limit = limit;
    if (limit % 3 == 1) isa::PutBits(program[limit / 8], 0, 8, 0xEE);
    if (limit % 3 == 2) {
      cut.unit_faults = {{static_cast<int>(limit % kQueues), 1, limit - 4, true,
                          Fault::kUbRange, 1}};
    }
    const Outcome first = bench.Run(program, cut);
    if (!first.fault) {
      ASSERT_THAT(first.errors, ElementsAre(HasSubstr("does not end")));
    }
    program = draw(60);
    const Outcome o = bench.Run(program, world);
    ASSERT_THAT(o.errors, IsEmpty());
    ASSERT_TRUE(o.done);
  }
}

}  // namespace
}  // namespace systole::sequencer_test
