// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Two contexts share a core: each way out of a context's memory faults, with
// cause, place and cycle, and changes nothing (docs/scalar.md, "Contexts").

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/scalar/core_programs.h"
#include "tests/system/escapes.h"
#include "tests/system/scalar_chip.h"

namespace systole {
namespace {

constexpr uint64_t kCycles = 400000;

// The context of the tests is the second one: another one's memory lies below,
// the host's own above.
class Isolation : public ScalarChip {
 protected:
  void SetUp() override {
    alone_ = false;  // what core 0 tries reaches for core 1
    ScalarChip::SetUp();
    const Preset& preset = *FindPreset("minichip");
    constexpr uint64_t kReserved = scalar::CommandQueue::kReserved;
    constexpr uint64_t kPrograms = scalar::CommandQueue::kPrograms;
    auto programs = scalar::MakeCorePrograms(
        preset, preset.memory_bytes() - kReserved + kPrograms,
        kReserved - kPrograms);
    ASSERT_TRUE(programs.ok()) << programs.status();
    scalar::BootOptions boot;
    boot.test_core = true;
    boot.known = programs->options;
    boot.data = programs->data;
    Boot(boot);
    for (uint32_t* id : {&first_, &second_}) {
      auto made =
          queue_->CreateContext(id == &first_ ? kFirst : kSecond, kBytes);
      ASSERT_TRUE(made.ok()) << made.status();
      *id = *made;
    }
    Fill(kFirst - 0x1000, 0xA0);
    Fill(kFirst, 0xA1);
    Fill(kSecond - 0x1000, 0xA2);
    Fill(kSecond, 0xB1);
    Fill(kEnd, 0xC1);
  }

  void Fill(uint64_t at, uint8_t value) {
    ASSERT_TRUE(
        sim_->WriteMemory(at, std::vector<uint8_t>(0x1000, value)).ok());
  }

  uint32_t first_ = 0, second_ = 0;
};

TEST_F(Isolation, EachEscapeFaults) {
  const uint64_t memory = port_->memory_bytes();
  const std::vector<uint8_t> before = Read(kFirst - 0x1000, kBytes + 0x1000);
  const std::vector<uint8_t> above = Read(kEnd, 0x1000);
  int count = 0;
  for (const Escape& e : Escapes(memory, queue_->limit())) {
    Write(kProgram, e.program);
    if (e.launch != nullptr) Write(kEnd - 128, {e.program[0], e.program[0]});
    scalar::Launch launch;
    launch.program = kProgram;
    launch.length = static_cast<uint32_t>(e.program.size());
    launch.context = second_;
    launch.watchdog = 20000;
    if (e.launch != nullptr) e.launch(&launch);
    const completion c = Run(launch);
    SCOPED_TRACE(e.name);
    EXPECT_EQ(c.status, STATUS_FAULT) << scalar::DescribeCompletion(c);
    EXPECT_EQ(c.cause, static_cast<uint32_t>(e.cause));
    EXPECT_EQ(c.queue, e.queue);
    EXPECT_EQ(c.index, e.index);
    EXPECT_EQ(uint64_t{c.address[1]} << 32 | c.address[0], e.address);
    EXPECT_GT(c.fault_cycle, 0u);
    EXPECT_LT(c.fault_cycle, 20000u);
    std::printf(
        "[ escape   ] %-45s fault %d, queue %d, descriptor %d, address "
        "0x%llx, cycle %d\n",
        e.name, c.cause, c.queue, c.index,
        static_cast<unsigned long long>(e.address), c.fault_cycle);
    ++count;
  }
  EXPECT_EQ(Read(kFirst - 0x1000, kBytes + 0x1000), before);
  EXPECT_EQ(Read(kEnd, 0x1000), above);
  std::printf("[ figure   ] %d escapes\n", count);
  // The context goes on within its memory, up to its very ends.
  Write(kProgram, {MoveOf<isa::Load>(kSecond, kLine, 0, 1).Encode(),
                   MoveOf<isa::Store>(kEnd - kLine, kLine, 1).Encode(),
                   isa::Halt().Encode()});
  const completion c =
      Run({.program = kProgram, .length = 3, .context = second_});
  EXPECT_EQ(c.status, STATUS_DONE) << scalar::DescribeCompletion(c);
  EXPECT_EQ(Read(kEnd - kLine, kLine), std::vector<uint8_t>(kLine, 0xB1));
}

// The same accesses are the host's: the faults are the context's, not chance.
TEST_F(Isolation, TheHostsOwnProgramsReachAll) {
  for (const uint64_t at : {kFirst, kSecond, kEnd}) {
    Write(0x8000,
          {MoveOf<isa::Load>(at, kLine).Encode(), isa::Halt().Encode()});
    EXPECT_EQ(Run({.program = 0x8000, .length = 2}).status, STATUS_DONE);
  }
}

// What a program leaves in the core is gone when another context's runs.
TEST_F(Isolation, NothingIsLeftInTheCore) {
  const Preset& preset = *FindPreset("minichip");
  const auto dump = [&](uint64_t to, uint32_t bytes) {
    isa::Store store;
    store.hbm_addr = to;
    store.len = bytes;
    store.n1 = store.n2 = 1;
    return store.Encode();
  };
  constexpr uint32_t kPart = 0x4000;
  // The first one fills the unified buffer.
  isa::Load load = MoveOf<isa::Load>(kFirst, 0x1000);
  load.n1 = static_cast<uint16_t>(preset.ub_bytes / 0x1000);
  load.ub_stride1 = 0x1000;
  Write(kFirst + 0x1000, {load.Encode(), isa::Halt().Encode()});
  ASSERT_EQ(
      Run({.program = kFirst + 0x1000, .length = 2, .context = first_}).status,
      STATUS_DONE);
  // It is still there for the same context, and not for the other one.
  Write(kFirst + 0x1000, {dump(kFirst + 0x2000, kPart), isa::Halt().Encode()});
  ASSERT_EQ(
      Run({.program = kFirst + 0x1000, .length = 2, .context = first_}).status,
      STATUS_DONE);
  EXPECT_EQ(Read(kFirst + 0x2000, kPart), std::vector<uint8_t>(kPart, 0xA1));
  Write(kProgram, {dump(kSecond + 0x2000, kPart), isa::Halt().Encode()});
  ASSERT_EQ(Run({.program = kProgram, .length = 2, .context = second_}).status,
            STATUS_DONE);
  EXPECT_EQ(Read(kSecond + 0x2000, kPart), std::vector<uint8_t>(kPart, 0));
}

TEST_F(Isolation, TheHostKeepsToAContextsMemoryToo) {
  std::vector<uint8_t> bytes(64);
  EXPECT_TRUE(queue_->WriteMemory(second_, kSecond, bytes).ok());
  EXPECT_TRUE(
      queue_->ReadMemory(second_, kEnd - 64, absl::MakeSpan(bytes)).ok());
  for (const uint64_t at : {kSecond - 1, kEnd - 63, kFirst, ~uint64_t{0}}) {
    EXPECT_TRUE(absl::IsOutOfRange(queue_->WriteMemory(second_, at, bytes)));
    EXPECT_TRUE(absl::IsOutOfRange(
        queue_->ReadMemory(second_, at, absl::MakeSpan(bytes))));
  }
}

TEST_F(Isolation, ContextsAreApart) {
  EXPECT_TRUE(absl::IsAlreadyExists(
      queue_->CreateContext(kSecond - 0x1000, 0x2000).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      queue_->CreateContext(kEnd + 64, 0x1000).status()));
  EXPECT_TRUE(absl::IsOutOfRange(
      queue_->CreateContext(queue_->limit() - 0x1000, 0x2000).status()));
  ASSERT_TRUE(queue_->DestroyContext(first_).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      queue_->Submit({.program = kFirst, .length = 2, .context = first_})
          .status()));
  auto again = queue_->CreateContext(kSecond - 0x2000, 0x2000);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, first_);
}

}  // namespace
}  // namespace systole
