// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs that the firmware hands over by the issue port: arguments, loops,
// conditions, each descriptor as the core would get it.

#include "tests/firmware/firmware_fixture.h"

namespace systole {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kAddr = PATCH_FIELD(96, 36, 0);

class Issue : public Firmware {
 protected:
  // Word 0 of all descriptors in the order in which the core got them.
  std::vector<uint32_t> Order() const {
    std::vector<uint32_t> order;
    for (const auto& d : model_.received) order.push_back(d[0]);
    return order;
  }
};

TEST_F(Issue, PatchesMoveOnWithEachRun) {
  for (uint32_t i = 0; i < 5; i++) {
    HardwareModel::Descriptor d = {};
    d[0] = i;
    d[3] = 0xFFFFFF00u;
    d[4] = 0xABCDEF02u;  // 36 bits: 0x2FFFFFF00
    model_.Put(kProgram + 64 * i, d);
  }
  command c = Run(1);
  PutTables({{1, kAddr, {0x100, 0}, {0x1000, 0}},
             {1, PATCH_FIELD(7 * 32, 32, 0), {5, 0}, {1, 0}},
             {3, kAddr, {0, 0}, {0x80000000u, 0}}},
            {}, &c);
  c.repeat = 5;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_DONE);
  EXPECT_EQ(out.runs, 5u);
  EXPECT_EQ(model_.starts, 5);
  ASSERT_EQ(model_.received.size(), 25u);
  for (uint32_t run = 0; run < 5; run++) {
    const auto* d = &model_.received[5 * run];
    for (uint32_t i = 0; i < 5; i++) EXPECT_EQ(d[i][0], i);
    EXPECT_EQ(d[1][3], 0x1000 * run);
    EXPECT_EQ(d[1][4], 0xABCDEF03u);  // the carry, and no more of the word
    EXPECT_EQ(d[1][7], 5 + run);
    const uint64_t sum = 0x2FFFFFF00u + uint64_t{0x80000000u} * run;
    EXPECT_EQ(d[3][3], static_cast<uint32_t>(sum));
    EXPECT_EQ(d[3][4], 0xABCDEF00u | (sum >> 32 & 15));
    EXPECT_EQ(d[2][3], 0xFFFFFF00u);
  }
}

TEST_F(Issue, LoopsInEachOther) {
  PutProgram(6);
  command c = Run(1);
  c.length = 6;
  // 1 (2 3)x2 4, three times.
  PutTables({{2, PATCH_FIELD(64, 8, 1), {1, 0}, {0x10, 0}},
             {2, PATCH_FIELD(64, 8, 2), {0, 0}, {0xFFFFFFFFu, 0xFFFFFFFFu}},
             {2, PATCH_FIELD(90, 25, 2), {0, 0}, {0x1000001, 0}}},
            {{1, 5, 3, LOOP_ALWAYS, {}}, {2, 4, 2, LOOP_ALWAYS, {}}}, &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  std::vector<uint32_t> want = {0};
  for (int i = 0; i < 3; i++)
    for (const uint32_t d : {1, 2, 3, 2, 3, 4}) want.push_back(d);
  want.push_back(5);
  EXPECT_EQ(Order(), want);
  uint32_t seen = 0;
  for (const auto& d : model_.received) {
    if (d[0] != 2) continue;
    const uint32_t outer = seen / 2, inner = seen % 2;
    seen++;
    EXPECT_EQ(d[2] & 0xFF, (1 + 0x10 * outer - inner) & 0xFF);
    // 25 bits over a word's end.
    EXPECT_EQ(d[2] >> 26, inner ? 1u : 0u);
    EXPECT_EQ(d[3], inner ? 0x1000001u >> 6 : 0u);
  }
  EXPECT_EQ(seen, 6u);
}

// An entry is written anew when all lists that use it are out of the port.
TEST_F(Issue, ALoopThatBeginsAnewWaitsForItsLists) {
  PutProgram(5);
  command c = Run(1);
  PutTables({{1, PATCH_FIELD(64, 32, 1), {7, 0}, {100, 0}},
             {1, PATCH_FIELD(64, 32, 2), {0, 0}, {1, 0}},
             {2, PATCH_FIELD(64, 32, 1), {0, 0}, {1000, 0}},
             {3, PATCH_FIELD(480, 32, 0), {9, 0}, {0, 0}}},
            {{1, 3, 5, LOOP_ALWAYS, {}}, {1, 2, 3, LOOP_ALWAYS, {}}}, &c);
  c.repeat = 2;
  for (model_.port_delay = 1; model_.port_delay < 9; ++model_.port_delay) {
    model_.received.clear();
    EXPECT_EQ(Launch(c).status, STATUS_DONE);
    ASSERT_EQ(model_.received.size(), 2 * (3u + 5 * 4));
    for (int run = 0; run < 2; run++) {
      const auto* d = &model_.received[23 * run];
      EXPECT_EQ(d++->at(0), 0u);
      for (uint32_t outer = 0; outer < 5; outer++) {
        for (uint32_t inner = 0; inner < 3; inner++)
          EXPECT_EQ(d++->at(2), 7 + 100 * outer + inner);
        EXPECT_EQ(d++->at(2), 1000 * outer);
      }
      EXPECT_EQ(d->at(15), 9u);
    }
  }
}

TEST_F(Issue, EachDescriptorOfALoopOfOneIsRead) {
  PutProgram(3);
  command c = Run(1);
  c.length = 3;
  PutTables({{1, PATCH_FIELD(64, 32, 1), {0, 0}, {1, 0}}},
            {{1, 2, 100, LOOP_ALWAYS, {}}}, &c);
  model_.port_delay = 5;
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  ASSERT_EQ(model_.received.size(), 102u);
  for (uint32_t i = 0; i < 100; i++) EXPECT_EQ(model_.received[1 + i][2], i);
}

TEST_F(Issue, AWordEndsALoop) {
  PutProgram(4);
  constexpr uint32_t kWord = 0x9048;
  command c = Run(1);
  c.length = 4;
  PutTables({}, {{1, 3, 1000, 7, {kWord, 0}}}, &c);
  c.limit[0] = 0x10000;
  int tests = 0;
  model_.on_flag_wait = [&](uint32_t mask) {
    EXPECT_EQ(mask, 1u << 7);
    model_.hbm[kWord] = tests < 4 ? 0x80000000u : 0;
    ++tests;
    return true;
  };
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_EQ(tests, 5);
  EXPECT_THAT(Order(), ElementsAre(0, 1, 2, 1, 2, 1, 2, 1, 2, 3));
}

TEST_F(Issue, ABranchRunsOnceOrNot) {
  PutProgram(3);
  command c = Run(1);
  c.length = 3;
  c.limit[0] = 0x10000;
  PutTables({}, {{1, 2, 1, 0, {0x9000, 0}}}, &c);
  model_.on_flag_wait = [&](uint32_t) { return true; };
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_THAT(Order(), ElementsAre(0, 2));
  model_.hbm[0x9000] = 1;
  model_.received.clear();
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_THAT(Order(), ElementsAre(0, 1, 2));
}

TEST_F(Issue, AConditionNobodyPostsEndsByTimeout) {
  PutProgram(3);
  command c = Run(1);
  c.length = 3;
  c.timeout = 3000;
  PutTables({}, {{1, 2, 1, 0, {0x9000, 0}}}, &c);
  EXPECT_EQ(Launch(c).status, STATUS_TIMEOUT);
  EXPECT_EQ(model_.regs[REG_FLAG_WAIT], 0u);
  EXPECT_EQ(model_.resets, 1);
}

TEST_F(Issue, FaultsTellThePlaceInTheProgram) {
  PutProgram(4);
  command c = Run(1);
  c.length = 4;
  PutTables({{1, kAddr, {0, 0}, {0, 0}}}, {{1, 3, 20, LOOP_ALWAYS, {}}}, &c);
  model_.end = HardwareModel::End::kFault;
  model_.regs[REG_FAULT_PC] = 36;  // after the first: pass 17, descriptor 2
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_FAULT);
  EXPECT_EQ(out.instance, 36u);
  EXPECT_EQ(out.index, 2u);
}

TEST_F(Issue, BadTablesAreRefused) {
  PutProgram(6);
  const auto refused = [&](const std::vector<patch>& patches,
                           const std::vector<loop>& loops) {
    command c = Run(1);
    c.length = 6;
    PutTables(patches, loops, &c);
    return Launch(c).status == STATUS_REFUSED;
  };
  const loop good = {1, 4, 2, LOOP_ALWAYS, {}};
  EXPECT_FALSE(refused({{2, PATCH_FIELD(96, 36, 1), {}, {}}}, {good}));
  EXPECT_TRUE(refused({{6, kAddr, {}, {}}}, {}));  // beyond the program
  EXPECT_TRUE(refused({{3, kAddr, {}, {}}, {1, kAddr, {}, {}}}, {}));
  EXPECT_TRUE(refused({{1, PATCH_FIELD(31, 36, 0), {}, {}}}, {}));
  EXPECT_TRUE(refused({{1, PATCH_FIELD(500, 20, 0), {}, {}}}, {}));
  EXPECT_TRUE(refused({{1, PATCH_FIELD(64, 0, 0), {}, {}}}, {}));
  EXPECT_TRUE(refused({{1, PATCH_FIELD(64, 37, 0), {}, {}}}, {}));
  EXPECT_TRUE(refused({{2, PATCH_FIELD(96, 36, 2), {}, {}}}, {good}));
  EXPECT_TRUE(refused({{4, PATCH_FIELD(96, 36, 1), {}, {}}}, {good}));
  EXPECT_TRUE(refused({}, {{2, 2, 1, LOOP_ALWAYS, {}}}));
  EXPECT_TRUE(refused({}, {{2, 6, 1, LOOP_ALWAYS, {}}}));  // the halt
  EXPECT_TRUE(refused({}, {{2, 3, 0, LOOP_ALWAYS, {}}}));
  EXPECT_TRUE(refused({}, {{2, 3, 1, 32, {}}}));
  EXPECT_TRUE(refused({}, {{2, 3, 1, 1, {2, 0}}}));
  EXPECT_TRUE(refused({}, {good, {2, 5, 1, LOOP_ALWAYS, {}}}));  // across
  EXPECT_TRUE(refused({}, {{2, 3, 1, LOOP_ALWAYS, {}}, good}));
  EXPECT_TRUE(refused({}, {good, good, good, good, good}));  // too deep
  EXPECT_FALSE(refused({}, {good, good, good, good}));
}

TEST_F(Issue, WhatTheFirmwareReadsForAProgramIsItsOwn) {
  command window = Run(1);
  window.kind = COMMAND_CONTEXT;
  window.context = 3;
  window.program[0] = 0x8000;
  window.limit[0] = 0xA000;
  ASSERT_TRUE(program_context(&window));
  PutProgram(3);
  command c = Run(1);
  c.length = 3;
  c.context = 3;
  c.limit[0] = ~0u;
  // A condition inside, below, above.
  model_.on_flag_wait = [&](uint32_t) { return true; };
  PutTables({{1, kAddr, {}, {}}}, {{1, 2, 1, 0, {0x9FFC, 0}}}, &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  for (const uint32_t word : {0x7FFCu, 0xA000u, 0x10000u}) {
    PutTables({}, {{1, 2, 1, 0, {word, 0}}}, &c);
    const completion out = Launch(c);
    EXPECT_EQ(out.status, STATUS_FAULT);
    EXPECT_EQ(out.cause, static_cast<uint32_t>(FAULT_HBM_RANGE));
    EXPECT_EQ(out.queue, static_cast<uint32_t>(FAULT_QUEUE_FIRMWARE));
    EXPECT_EQ(out.address[0], word);
    EXPECT_EQ(out.index, 1u);
  }
}

}  // namespace
}  // namespace systole
