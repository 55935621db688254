// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Program control: order, waits and posts, halts, every fault, watchdog, rate;
// and that the bench sees what it should.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Vsequencer_edge.h"
#include "Vsequencer_mini.h"
#include "Vsequencer_nano.h"
#include "Vsequencer_v1.h"
#include "tests/rtl/sequencer/bench.h"
#include "tests/testing/seeds.h"

namespace systole::sequencer_test {
namespace {

using isa::Descriptor;
using isa::Fault;
using isa::Opcode;
using Nano = Bench<Vsequencer_nano, 32>;
using Edge = Bench<Vsequencer_edge, 64>;
using V1 = Bench<Vsequencer_v1, 128>;
using Mini = Bench<Vsequencer_mini, 32>;  // the bf16 cell

template <typename T>
class SequencerTest : public ::testing::Test {
 protected:
  T bench_{7};
  Descriptor Make(Opcode op, uint32_t wait = 0, uint32_t post = 0) {
    return MakeDescriptor(op, wait, post, bench_.random());
  }
  // `count` loads without flags, then a halt.
  std::vector<Descriptor> Plain(int count) {
    std::vector<Descriptor> program;
    for (int i = 0; i < count; ++i) program.push_back(Make(Opcode::kLoad));
    program.push_back(Make(Opcode::kHalt));
    return program;
  }
  void ExpectDone(const std::vector<Descriptor>& program,
                  const World& world = {}) {
    const Outcome o = bench_.Run(program, world);
    EXPECT_TRUE(o.done);
    EXPECT_THAT(o.errors, ::testing::IsEmpty());
  }
  Outcome ExpectFault(const std::vector<Descriptor>& program,
                      const World& world, Fault code, int queue, uint32_t pc,
                      uint64_t addr) {
    const Outcome o = bench_.Run(program, world);
    EXPECT_THAT(o.errors, ::testing::IsEmpty());
    EXPECT_FALSE(o.done);
    EXPECT_TRUE(o.fault.has_value());
    if (o.fault) {
      EXPECT_EQ(o.fault->code, code);
      EXPECT_EQ(o.fault->queue, queue);
      EXPECT_EQ(o.fault->pc, pc);
      EXPECT_EQ(o.fault->addr, addr);
    }
    ExpectDone(Plain(3));  // a reset brings it back
    return o;
  }
};
using Beats = ::testing::Types<Nano, Edge, V1>;
TYPED_TEST_SUITE(SequencerTest, Beats);

TYPED_TEST(SequencerTest, RandomPrograms) {
  for (const uint64_t seed : systole::testing_options::Seeds(60)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TypeParam bench(seed);
    const World world = RandomWorld(bench.random());
    const double sync = (bench.random()() % 100) / 100.0;
    const auto program =
        RandomProgram(1 + bench.random()() % 300, sync, bench.random());
    const Outcome o = bench.Run(program, world);
    ASSERT_THAT(o.errors, ::testing::IsEmpty());
    ASSERT_TRUE(o.done);
  }
}

// A descriptor at least every 4 cycles at the HBM's latency.
TYPED_TEST(SequencerTest, Rate) {
  World world;
  world.latency = 55;
  world.work = 0;
  std::vector<Descriptor> program;
  for (int i = 0; i < 1000; ++i)
    program.push_back(this->Make(kOpcodes[i % kPlainOpcodes]));
  program.push_back(this->Make(Opcode::kHalt));
  const Outcome o = this->bench_.Run(program, world);
  EXPECT_THAT(o.errors, ::testing::IsEmpty());
  EXPECT_LE(o.cycles, 4 * 1000 + 200);
}

TYPED_TEST(SequencerTest, QueueFullIsCounted) {
  World world;
  world.work = 200;
  world.in_flight = 1;
  const Outcome o = this->bench_.Run(this->Plain(40), world);
  EXPECT_TRUE(o.done);
  EXPECT_GT(o.dispatch_stalls, 500);
}

TYPED_TEST(SequencerTest, HaltAlone) {
  this->ExpectDone({this->Make(Opcode::kHalt)});
}

TYPED_TEST(SequencerTest, WhatFollowsTheHaltIsNotRun) {
  auto program = this->Plain(5);
  for (int i = 0; i < 50; ++i) program.push_back(this->Make(Opcode::kStore));
  World world;
  const Outcome o = this->bench_.Run(program, world);
  // The stores are left over: that is what the bench reports, and nothing else.
  EXPECT_TRUE(o.done);
  EXPECT_THAT(o.errors, ::testing::ElementsAre(::testing::HasSubstr(
                            "done before queue 4 is empty")));
}

TYPED_TEST(SequencerTest, IllegalOpcode) {
  auto program = this->Plain(20);
  isa::PutBits(program[13], 0, 8, 0xEE);
  this->ExpectFault(program, {}, Fault::kIllegalOpcode, 7, 13, 0xEE);
}

TYPED_TEST(SequencerTest, UnusedBit) {
  for (Opcode op :
       {Opcode::kLoad, Opcode::kStore, Opcode::kWeights, Opcode::kMatmul,
        Opcode::kRequant, Opcode::kPool, Opcode::kAdd, Opcode::kMul,
        Opcode::kTable, Opcode::kHalt}) {
    for (int bit : {isa::FindOp(static_cast<uint8_t>(op))->width, 511, 15}) {
      auto program = this->Plain(3);
      program[2] = this->Make(op);
      isa::PutBits(program[2], bit, 1, 1);
      this->ExpectFault(program, {}, Fault::kIllegalDescriptor, 7, 2, 0);
    }
  }
}

// A chip without links has no sends; its flags are flags as any.
TYPED_TEST(SequencerTest, NoLinks) {
  for (const bool ill_formed : {false, true}) {
    auto program = this->Plain(4);
    program[2] = this->Make(Opcode::kSend);
    isa::PutBits(program[2], 511, 1, ill_formed);  // unknown comes before
    this->ExpectFault(program, {}, Fault::kIllegalOpcode, 7, 2,
                      static_cast<uint64_t>(Opcode::kSend));
  }
  std::vector<Descriptor> program;
  for (int f = 0; f < isa::kNumFlags; ++f) {
    program.push_back(this->Make(Opcode::kLoad, 0, 1u << f));
    program.push_back(this->Make(Opcode::kStore, 1u << f, 0));
  }
  program.push_back(this->Make(Opcode::kHalt));
  this->ExpectDone(program);
}

// What another cell has, this one has not.
TYPED_TEST(SequencerTest, OperationsOfTheBf16Cell) {
  for (Opcode op : {Opcode::kTiles, Opcode::kVload, Opcode::kVrun}) {
    auto program = this->Plain(4);
    program[2] = this->Make(op);
    isa::PutBits(program[2], 511, 1, 1);  // unknown comes before ill-formed
    this->ExpectFault(program, {}, Fault::kIllegalOpcode, 7, 2,
                      static_cast<uint64_t>(op));
  }
  auto program = this->Plain(4);
  program[1] = this->Make(Opcode::kWeights);
  isa::PutBits(program[1], 8, 8, isa::Weights::kTranspose);
  this->ExpectFault(program, {}, Fault::kIllegalDescriptor, 7, 1, 0);
  program[1] = this->Make(Opcode::kMatmul);
  isa::PutBits(program[1], 8, 8, isa::Matmul::kTranspose);
  this->ExpectFault(program, {}, Fault::kIllegalDescriptor, 7, 1, 0);
}

using Bf16SequencerTest = SequencerTest<Mini>;
TEST_F(Bf16SequencerTest, OperationsOfTheCell) {
  auto program = Plain(6);
  program[0] = Make(Opcode::kTiles);
  program[1] = Make(Opcode::kVload);
  program[2] = Make(Opcode::kVrun);
  program[3] = Make(Opcode::kWeights);
  program[4] = Make(Opcode::kMatmul);
  isa::PutBits(program[0], 8, 8, isa::Tiles::kTranspose);
  isa::PutBits(program[3], 8, 8, isa::Weights::kTranspose);
  isa::PutBits(program[4], 8, 8, isa::Matmul::kTranspose);
  ExpectDone(program);
  for (Opcode op : {Opcode::kRequant, Opcode::kPool, Opcode::kAdd, Opcode::kMul,
                    Opcode::kTable}) {
    program[5] = Make(op);
    ExpectFault(program, {}, Fault::kIllegalOpcode, 7, 5,
                static_cast<uint64_t>(op));
  }
  for (Opcode op : {Opcode::kTiles, Opcode::kVload, Opcode::kVrun}) {
    for (int bit : {isa::FindOp(static_cast<uint8_t>(op))->width, 511, 15}) {
      program[5] = Make(op);
      isa::PutBits(program[5], bit, 1, 1);
      ExpectFault(program, {}, Fault::kIllegalDescriptor, 7, 5, 0);
    }
  }
}

TYPED_TEST(SequencerTest, ProgramEnd) {
  auto program = this->Plain(9);
  World world;
  world.prog_len = 9;  // without its halt
  this->ExpectFault(program, world, Fault::kProgramEnd, 7, 8, 0);
  world.prog_len = 0;
  this->ExpectFault(program, world, Fault::kProgramEnd, 7, 0, 0);
}

TYPED_TEST(SequencerTest, MisalignedProgram) {
  World world;
  world.prog_addr = 0x1040;
  this->ExpectFault(this->Plain(2), world, Fault::kMisaligned, 7, 0, 0x1040);
}

TYPED_TEST(SequencerTest, ProgramBeyondTheMemory) {
  World world;
  world.prog_addr = 0x1000;
  world.hbm_end = 0x1000 + 6 * 64 + 32;  // cuts descriptor 6
  this->ExpectFault(this->Plain(10), world, Fault::kHbmRange, 7, 6,
                    0x1000 + 6 * 64);
  world.prog_addr = (uint64_t{1} << 36) - 128;
  world.hbm_end = uint64_t{1} << 36;
  this->ExpectFault(this->Plain(10), world, Fault::kHbmRange, 7, 2,
                    0);  // the address wraps to 0
}

TYPED_TEST(SequencerTest, WatchdogNamesTheLowestWaitingQueue) {
  auto program = this->Plain(12);
  program[4] = this->Make(Opcode::kStore, 1u << 30);
  program[7] = this->Make(Opcode::kWeights, 1u << 9 | 1u << 11);
  World world;
  world.watchdog = 300;
  const Outcome o =
      this->ExpectFault(program, world, Fault::kWatchdog, 1, 7, 9);
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_GE(o.fault->cycle - o.last_event, 300);
  EXPECT_LE(o.fault->cycle - o.last_event, 400);
}

TYPED_TEST(SequencerTest, WatchdogOfAHalt) {
  World world;
  world.watchdog = 200;
  for (int flag = 0; flag < isa::kNumFlags; ++flag) {
    SCOPED_TRACE(::testing::Message() << "flag " << flag);
    auto program = this->Plain(4);
    program.back() = this->Make(Opcode::kHalt, 1u << flag);
    this->ExpectFault(program, world, Fault::kWatchdog, 7, 4, flag);
  }
}

TYPED_TEST(SequencerTest, WatchdogOfAnyQueueAndFlag) {
  World world;
  world.watchdog = 200;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(::testing::Message() << "round " << i);
    auto program = this->Plain(12);
    const Opcode opcode = kOpcodes[i % kPlainOpcodes];
    const int flag = static_cast<int>(this->bench_.random()() % isa::kNumFlags);
    program[5] = this->Make(opcode, 1u << flag);
    this->ExpectFault(program, world, Fault::kWatchdog, QueueOf(program[5]), 5,
                      flag);
  }
}

TYPED_TEST(SequencerTest, WatchdogSparesSlowUnits) {
  World world;
  world.watchdog = 100;
  world.work = 2000;  // with progress
  this->ExpectDone(this->Plain(10), world);
}

TYPED_TEST(SequencerTest, FlagOverflow) {
  const int flag = static_cast<int>(this->bench_.random()() % isa::kNumFlags);
  std::vector<Descriptor> program;
  for (int i = 0; i <= 65535; ++i)
    program.push_back(this->Make(Opcode::kLoad, 0, 1u << flag));
  program.push_back(this->Make(Opcode::kHalt));
  World world;
  world.latency = 10;
  world.work = 0;
  world.limit = 1000000;
  this->ExpectFault(program, world, Fault::kFlagOverflow, 0, 65535, flag);
}

// The first fault wins, the lowest queue on a tie; oldest and newest are told
// apart.
TYPED_TEST(SequencerTest, UnitFaults) {
  for (const uint64_t seed : systole::testing_options::Seeds(60)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TypeParam bench(seed);
    World world = RandomWorld(bench.random());
    world.work = 30 + world.work;
    const int queue = static_cast<int>(bench.random()() % kPlainQueues);
    const bool newest = bench.random()() % 2;
    const auto program = RandomProgram(200, 0.2, bench.random());
    world.unit_faults = {{queue, 3, 0, newest, Fault::kUbRange, 0x123450 + seed,
                          /*with_done=*/seed % 3 == 0}};
    const Outcome o = bench.Run(program, world);
    ASSERT_THAT(o.errors, ::testing::IsEmpty());
    if (o.done && o.fault_indices.empty())
      continue;  // that queue had too little to do
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_EQ(o.fault->code, Fault::kUbRange);
    EXPECT_EQ(o.fault->queue, queue);
    EXPECT_EQ(o.fault->pc, o.fault_indices[0]);
    EXPECT_EQ(o.fault->addr, 0x123450 + seed);
  }
}

TYPED_TEST(SequencerTest, OfTwoFaultsTheFirstThenTheLowestQueueWins) {
  std::vector<Descriptor> program;
  for (int i = 0; i < 20; ++i) {
    program.push_back(this->Make(i % 2 ? Opcode::kStore : Opcode::kWeights));
  }
  program.push_back(this->Make(Opcode::kHalt));
  World world;
  world.work = 400;
  for (int64_t later : {0, 1, 5}) {
    SCOPED_TRACE(::testing::Message() << later << " cycles apart");
    world.unit_faults = {{4, 1, 150, true, Fault::kUbRange, 4},
                         {1, 1, 150 + later, true, Fault::kHbmRange, 1}};
    const Outcome o = this->bench_.Run(program, world);
    ASSERT_EQ(o.fault_indices.size(), 2u);
    ASSERT_TRUE(o.fault.has_value());
    EXPECT_THAT(o.errors, ::testing::IsEmpty());
    EXPECT_EQ(o.fault->queue, later == 0 ? 1 : 4);
    EXPECT_EQ(o.fault->code, later == 0 ? Fault::kHbmRange : Fault::kUbRange);
    EXPECT_EQ(o.fault->addr, later == 0 ? 1u : 4u);
  }
}

// A stream that is held nearly always runs at its stall's pace.
TYPED_TEST(SequencerTest, StallsHoldDispatchAndHeads) {
  World world;
  world.work = 0;
  const int64_t free = this->bench_.Run(this->Plain(50), world).cycles;
  for (int streams : {1, 62}) {  // dispatch; the five queues
    world.stall = 230;
    world.stall_streams = streams;
    const Outcome o = this->bench_.Run(this->Plain(50), world);
    EXPECT_THAT(o.errors, ::testing::IsEmpty());
    EXPECT_GT(o.cycles, free + 200) << "streams " << streams;
  }
}

TYPED_TEST(SequencerTest, FreezeStopsEverything) {
  World world;
  world.freeze_at = 150;
  world.limit = 1500;
  const Outcome o = this->bench_.Run(this->Plain(200), world);
  EXPECT_FALSE(o.done);
  EXPECT_LE(o.last_event, 150 + world.work * world.in_flight);
  EXPECT_THAT(o.errors,
              ::testing::ElementsAre(::testing::HasSubstr("does not end")));
}

// Faults planted between design and bench: the bench must see each of them.
TYPED_TEST(SequencerTest, TheBenchSeesPlantedFaults) {
  World world;
  world.watchdog = 500;
  world.limit = 20000;
  for (int mutant : {1, 2, 4, 5, 6}) {
    SCOPED_TRACE(::testing::Message() << "mutant " << mutant);
    World spoilt = world;
    spoilt.mutant = mutant;
    const auto program = RandomProgram(200, 0.6, this->bench_.random());
    const Outcome o = this->bench_.Run(program, spoilt);
    EXPECT_TRUE(!o.errors.empty() || !o.done);
  }
  auto waits = this->Plain(3);
  waits[1] = this->Make(Opcode::kStore, 1u << 30);
  for (int mutant : {3, 7}) {
    SCOPED_TRACE(::testing::Message() << "mutant " << mutant);
    World spoilt = world;
    spoilt.mutant = mutant;
    const Outcome o = this->bench_.Run(waits, spoilt);
    EXPECT_FALSE(o.fault && o.fault->code == Fault::kWatchdog);
  }
  World fault = world;
  fault.mutant = 8;
  fault.work = 200;
  fault.unit_faults = {{0, 3, 0, true, Fault::kUbRange, 1}};
  const Outcome o = this->bench_.Run(this->Plain(30), fault);
  ASSERT_TRUE(o.fault.has_value());
  EXPECT_NE(o.fault->pc, o.fault_indices[0]);
}

}  // namespace
}  // namespace systole::sequencer_test
