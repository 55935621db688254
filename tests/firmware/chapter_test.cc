// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Launches in chapters: each descriptor as the core would get it, whichever
// chapter it is in.

#include "tests/firmware/firmware_fixture.h"

namespace systole {
namespace {

constexpr uint32_t kLsb = 64, kBits = 32;  // word 2 of a descriptor

class Chapters : public Firmware {
 protected:
  struct Chapter {
    uint32_t end;
    std::vector<patch> patches;
    std::vector<loop> loops;
  };
  void PutChapters(const std::vector<Chapter>& chapters, command* c) {
    uint64_t at = kTables;
    for (const Chapter& one : chapters) {
      chapter record = {};
      record.end = one.end;
      record.counts =
          static_cast<uint32_t>(one.patches.size() | one.loops.size() << 16);
      model_.Put(at, record), at += sizeof record;
      for (const patch& p : one.patches) model_.Put(at, p), at += sizeof p;
      at = (at + 63) / 64 * 64;
      for (const loop& l : one.loops) model_.Put(at, l), at += sizeof l;
      at = (at + 63) / 64 * 64;
    }
    c->tables[0] = kTables;
    c->counts = COUNTS_CHAPTERS;
  }
  static patch Field(uint32_t index, uint32_t loop, uint32_t step,
                     uint32_t add = 0) {
    return {index, PATCH_FIELD(kLsb, kBits, loop), {add, 0}, {step, 0}};
  }
  // Four chapters of ten descriptors: 0, (1 2)x5, 3 ... 9. In its loop the
  // first grows by 1 a pass, the second by 100 a run of the launch, as the 3.
  command Four() {
    PutProgram(40);
    command c = Run(1);
    c.length = 40;
    std::vector<Chapter> chapters;
    for (uint32_t k = 0; k < 4; k++) {
      const uint32_t at = 10 * k;
      chapters.push_back(
          {at + 10,
           {Field(at + 1, 1, 1, 1000 * k), Field(at + 2, 0, 100, 7 * k),
            Field(at + 3, 0, 100, 5)},
           {{at + 1, at + 3, 5, LOOP_ALWAYS, {}}}});
    }
    PutChapters(chapters, &c);
    return c;
  }
  static constexpr uint32_t kFourRuns = 4 * (8 + 2 * 5);
  void ExpectFour(size_t from, uint32_t run) {
    ASSERT_GE(model_.received.size(), from + kFourRuns);
    const auto* d = &model_.received[from];
    for (uint32_t k = 0; k < 4; k++) {
      EXPECT_EQ(d++->at(0), 10 * k);
      for (uint32_t pass = 0; pass < 5; pass++) {
        EXPECT_EQ(d->at(0), 10 * k + 1);
        EXPECT_EQ(d++->at(2), 1000 * k + pass);
        EXPECT_EQ(d->at(0), 10 * k + 2);
        EXPECT_EQ(d++->at(2), 7 * k + 100 * run);
      }
      EXPECT_EQ(d->at(2), 5 + 100 * run);
      for (uint32_t i = 3; i < 10; i++) EXPECT_EQ(d++->at(0), 10 * k + i);
    }
  }
};

// The entry of a step of the runs, in a loop: it must not grow within a run.
TEST_F(Chapters, EachHasItsTablesInEachRun) {
  command c = Four();
  c.repeat = 3;
  for (model_.port_delay = 1; model_.port_delay < 40; model_.port_delay += 6) {
    model_.received.clear();
    model_.starts = 0;
    const completion out = Launch(c);
    EXPECT_EQ(out.status, STATUS_DONE);
    EXPECT_EQ(out.runs, 3u);
    EXPECT_EQ(model_.starts, 3);
    EXPECT_EQ(model_.resets, 0);
    ASSERT_EQ(model_.received.size(), 3 * kFourRuns);
    for (uint32_t run = 0; run < 3; run++) ExpectFour(run * kFourRuns, run);
  }
}

// As many as the tables hold in each, and more chapters than lists are
// remembered.
TEST_F(Chapters, FullTables) {
  constexpr uint32_t kChapters = 70, kLength = MAX_PATCHES + 1;
  command c = Run(1);
  c.length = kChapters * kLength;
  c.limit[0] = ~0u;
  std::vector<Chapter> chapters;
  for (uint32_t k = 0; k < kChapters; k++) {
    Chapter one = {(k + 1) * kLength, {}, {}};
    for (uint32_t i = 0; i < MAX_PATCHES; i++) {
      const uint32_t at = k * kLength + i, loop = i / 4 + 1;
      if (i % 4 == 0) one.loops.push_back({at, at + 4, 2, LOOP_ALWAYS, {}});
      one.patches.push_back(Field(at, loop, k + i));
    }
    chapters.push_back(one);
  }
  // Behind the program's place.
  c.program[0] = 0x100000;
  for (uint32_t i = 0; i < c.length; i++) {
    HardwareModel::Descriptor d = {};
    d[0] = i;
    model_.Put(c.program[0] + 64 * i, d);
  }
  PutChapters(chapters, &c);
  model_.regs[REG_PROG_ADDR_LO] = c.program[0];
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  ASSERT_EQ(model_.received.size(), kChapters * (2u * MAX_PATCHES + 1));
  const auto* d = model_.received.data();
  for (uint32_t k = 0; k < kChapters; k++) {
    for (uint32_t i = 0; i < MAX_PATCHES; i += 4) {
      for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t j = i; j < i + 4; j++, d++) {
          ASSERT_EQ(d->at(0), k * kLength + j);
          ASSERT_EQ(d->at(2), pass * (k + j));
        }
      }
    }
    ASSERT_EQ(d++->at(0), (k + 1) * kLength - 1);
  }
}

// Nothing stands between their ends and the chapter's.
TEST_F(Chapters, LoopsThatEndWithTheChapter) {
  PutProgram(9);
  command c = Run(1);
  c.length = 9;
  c.repeat = 2;
  std::vector<Chapter> chapters;
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t at = 4 * k;
    chapters.push_back(
        {at + 4,
         {Field(at + 1, 1, 100, k), Field(at + 3, 1, 10), Field(at + 3, 2, 1)},
         {{at + 1, at + 4, 3, LOOP_ALWAYS, {}},
          {at + 2, at + 4, 2, LOOP_ALWAYS, {}}}});
  }
  chapters.push_back({9, {}, {}});
  PutChapters(chapters, &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  ASSERT_EQ(model_.received.size(), 2u * (2 * (1 + 3 * 5) + 1));
  const auto* d = model_.received.data();
  for (uint32_t run = 0; run < 2; run++) {
    for (uint32_t k = 0; k < 2; k++) {
      EXPECT_EQ(d++->at(0), 4 * k);
      for (uint32_t pass = 0; pass < 3; pass++) {
        EXPECT_EQ(d++->at(2), k + 100 * pass);
        for (uint32_t inner = 0; inner < 2; inner++) {
          EXPECT_EQ(d++->at(0), 4 * k + 2);
          EXPECT_EQ(d->at(0), 4 * k + 3);
          EXPECT_EQ(d++->at(2), 10 * pass + inner);
        }
      }
    }
    EXPECT_EQ(d++->at(0), 8u);
  }
}

TEST_F(Chapters, WithoutTablesAndWithOneAlone) {
  PutProgram(5);
  command c = Run(1);
  PutChapters({{5, {}, {}}}, &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_EQ(model_.received.size(), 5u);
  model_.received.clear();
  PutChapters({{1, {}, {}},
               {3, {}, {{1, 3, 2, LOOP_ALWAYS, {}}}},
               {4, {}, {}},
               {5, {}, {}}},
              &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  EXPECT_EQ(model_.received.size(), 7u);
}

// What came before has run: the core is reset, as after a fault.
TEST_F(Chapters, BadOnesAreRefused) {
  PutProgram(12);
  const loop good = {5, 7, 2, LOOP_ALWAYS, {}};
  const auto refused = [&](const std::vector<Chapter>& chapters) {
    command c = Run(1);
    c.length = 12;
    PutChapters(chapters, &c);
    model_.resets = model_.starts = 0;
    model_.received.clear();
    const completion out = Launch(c);
    if (out.status == STATUS_DONE) EXPECT_EQ(model_.resets, 0);
    if (out.status == STATUS_REFUSED) {
      EXPECT_EQ(Events().back(), static_cast<uint32_t>(LOG_REFUSED));
      EXPECT_EQ(model_.resets, model_.starts);
      EXPECT_EQ(out.runs, 0u);
    }
    return out.status == STATUS_REFUSED;
  };
  const patch inside = Field(6, 1, 1);
  EXPECT_FALSE(refused({{4, {}, {}}, {8, {inside}, {good}}, {12, {}, {}}}));
  EXPECT_TRUE(refused({{0, {}, {}}, {12, {}, {}}}));
  EXPECT_TRUE(refused({{4, {}, {}}, {4, {}, {}}, {12, {}, {}}}));  // empty
  EXPECT_TRUE(refused({{4, {}, {}}, {3, {}, {}}, {12, {}, {}}}));  // back
  EXPECT_TRUE(refused({{4, {}, {}}, {13, {}, {}}}));  // beyond the program
  EXPECT_LE(model_.received.size(), 4u);
  EXPECT_TRUE(refused({{13, {}, {}}}));
  // A loop or a patch of the next chapter, of the one before, across an end.
  EXPECT_TRUE(refused({{4, {}, {good}}, {12, {}, {}}}));
  EXPECT_TRUE(refused({{4, {}, {}}, {6, {}, {good}}, {12, {}, {}}}));
  EXPECT_TRUE(refused({{6, {}, {}}, {12, {}, {good}}}));
  EXPECT_TRUE(refused({{8, {}, {}}, {12, {}, {good}}}));
  EXPECT_TRUE(refused({{4, {}, {}}, {12, {Field(3, 0, 1)}, {}}}));
  EXPECT_TRUE(refused({{4, {}, {}}, {8, {Field(8, 0, 1)}, {}}, {12, {}, {}}}));
  EXPECT_FALSE(refused({{4, {}, {}}, {8, {Field(7, 0, 1)}, {}}, {12, {}, {}}}));
  // The halt; a chapter's last descriptor may be in a loop.
  EXPECT_TRUE(refused({{4, {}, {}}, {12, {}, {{8, 12, 2, LOOP_ALWAYS, {}}}}}));
  EXPECT_FALSE(refused({{7, {}, {good}}, {12, {}, {}}}));
  // Loops are counted from the chapter's first one.
  EXPECT_TRUE(refused({{7, {inside}, {good}},
                       {12, {Field(8, 2, 1)}, {{8, 9, 2, LOOP_ALWAYS, {}}}}}));
  // More than the tables hold, and chapters in a chapter.
  const std::vector<patch> many(MAX_PATCHES + 1, Field(9, 0, 1));
  EXPECT_TRUE(refused({{4, {}, {}}, {12, many, {}}}));
  const std::vector<loop> loops(MAX_LOOPS + 1, {8, 9, 1, LOOP_ALWAYS, {}});
  EXPECT_TRUE(refused({{4, {}, {}}, {12, {}, loops}}));
  command c = Run(1);
  c.length = 12;
  PutChapters({{12, {}, {}}}, &c);
  c.counts |= 1;
  EXPECT_EQ(Launch(c).status, STATUS_REFUSED);
}

TEST_F(Chapters, FaultsTellThePlaceInTheProgram) {
  command c = Four();
  model_.end = HardwareModel::End::kFault;
  model_.cycles = 1u << 20;
  // Behind two chapters, in the third's loop: its fourth pass.
  model_.regs[REG_FAULT_PC] = 2 * 18 + 1 + 2 * 3 + 1;
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_FAULT);
  EXPECT_EQ(out.instance, 44u);
  EXPECT_EQ(out.index, 22u);
}

// The core ends while the firmware reads tables, or waits for the port.
TEST_F(Chapters, AFaultBeforeTheLastOneEndsTheRun) {
  command c = Four();
  model_.end = HardwareModel::End::kFault;
  for (model_.cycles = 100; model_.cycles < 12000; model_.cycles += 171) {
    model_.received.clear();
    EXPECT_EQ(Launch(c).status, STATUS_FAULT);
    EXPECT_LE(model_.received.size(), kFourRuns);
  }
}

// The port stands still in the third chapter.
TEST_F(Chapters, TimeoutsAndCancelsInALaterOne) {
  command c = Four();
  c.timeout = 60000;
  model_.end = HardwareModel::End::kNever;
  model_.port_delay = 20;
  int sleeps = 0;
  bool cancels = false;
  model_.on_sleep = [&] {
    if (++sleeps == 3 && cancels)
      model_.Doorbell(REQUEST_CANCEL << DOORBELL_REQUEST_SHIFT);
  };
  completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_TIMEOUT);
  EXPECT_EQ(model_.received.size(), kFourRuns);
  cancels = true;
  sleeps = 0;
  out = Launch(c);
  EXPECT_EQ(out.status, STATUS_CANCELLED);
  EXPECT_TRUE(cancelled_);
  // While it waits for the port at a chapter's end: no sleep comes first.
  model_.on_sleep = nullptr;
  for (const uint32_t timeout : {3000u, 6000u, 9000u}) {
    c.timeout = timeout;
    model_.received.clear();
    model_.port_delay = 120;
    EXPECT_EQ(Launch(c).status, STATUS_TIMEOUT);
    EXPECT_LT(model_.received.size(), kFourRuns);
    EXPECT_TRUE(model_.port.empty());
  }
  // The next launch is not disturbed.
  model_.received.clear();
  model_.port_delay = 1;
  model_.end = HardwareModel::End::kDone;
  c.timeout = 0;
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
  ExpectFour(0, 0);
}

TEST_F(Chapters, AConditionOutsideOfTheWindowInALaterOne) {
  PutProgram(9);
  command c = Run(1);
  c.length = 9;
  c.limit[0] = 0xA000;  // the tables lie above it
  model_.on_flag_wait = [&](uint32_t) { return true; };
  const loop inside = {1, 2, 1, 0, {0x9FFC, 0}};
  PutChapters(
      {{3, {}, {inside}}, {6, {}, {{4, 5, 1, 0, {0xA000, 0}}}}, {9, {}, {}}},
      &c);
  const completion out = Launch(c);
  EXPECT_EQ(out.status, STATUS_FAULT);
  EXPECT_EQ(out.cause, static_cast<uint32_t>(FAULT_HBM_RANGE));
  EXPECT_EQ(out.queue, static_cast<uint32_t>(FAULT_QUEUE_FIRMWARE));
  EXPECT_EQ(out.address[0], 0xA000u);
  EXPECT_EQ(out.index, 4u);
  // The tables behind a condition are the firmware's own to read.
  PutChapters({{3, {}, {inside}}, {6, {Field(4, 0, 1)}, {}}, {9, {}, {}}}, &c);
  EXPECT_EQ(Launch(c).status, STATUS_DONE);
}

}  // namespace
}  // namespace systole
