// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Launches with more loops than the firmware holds at a time, on the chip.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/system/scalar_chip.h"

namespace systole {
namespace {

constexpr uint32_t kLine = 64;
constexpr uint64_t kProgram = 0x8000, kFrom = 0x40000, kTo = 0x80000,
                   kScratch = 0x7F000;
constexpr uint32_t kLoops = 56, kPasses = 2;  // three chapters of up to
constexpr uint32_t kSteps = 4;                // 25 loops, as these fill them
constexpr uint32_t kRun = kLoops * kPasses * kLine;  // bytes that it copies

class ChapterLaunch : public ScalarChip {
 protected:
  void SetUp() override {
    ScalarChip::SetUp();
    Boot();
    source_ = Scatter(kFrom, 5, 2 * kRun);
    ASSERT_TRUE(sim_->WriteMemory(kTo, std::vector<uint8_t>(2 * kRun)).ok());
  }

  // Loops that copy a line each pass, all of a part of kRun bytes; the load of
  // loop `stuck` waits for a flag that nobody posts. Each run of the launch
  // copies the next part.
  scalar::Launch Copies(uint32_t stuck = kLoops) {
    std::vector<isa::Descriptor> list = {
        MoveOf<isa::Store>(kScratch, kLine, 0, 2).Encode()};
    std::vector<Loop> loops;
    std::vector<Step> steps;
    scalar::Launch launch;
    for (uint32_t i = 0; i < kLoops; i++) {
      const auto at = static_cast<uint32_t>(list.size());
      const uint64_t offset = uint64_t{i} * kPasses * kLine;
      loops.push_back({at, at + 2, kPasses, Loop::kNoFlag, 0});
      list.push_back(
          MoveOf<isa::Load>(kFrom + offset, kLine, i == stuck ? 8 : 2, 1)
              .Encode());
      list.push_back(MoveOf<isa::Store>(kTo + offset, kLine, 1, 2).Encode());
      for (uint32_t d = at; d < at + 2; d++) {
        steps.push_back({d, i, 96, 36, kLine});
        steps.push_back({d, i, 132, 25, kLine});
        for (uint32_t s = 2; s < kSteps; s++) {
          steps.push_back({d, i, 96, 36, 0});
        }
        launch.patches.push_back(
            {d, PATCH_FIELD(96, 36, 0), {0, 0}, {kRun, 0}});
      }
    }
    list.push_back(MoveOf<isa::Load>(kFrom, kLine, 2).Encode());
    list.push_back(isa::Halt().Encode());
    Write(kProgram, list);
    launch.program = kProgram;
    launch.length = static_cast<uint32_t>(list.size());
    scalar::AddLoops(loops, steps, &launch);
    return launch;
  }
  // The chapter of a loop's begin.
  static size_t ChapterOf(const scalar::Launch& launch, uint32_t loop) {
    size_t c = 0;
    while (launch.chapters[c].end <= 1 + 2 * loop) ++c;
    return c;
  }
  std::vector<uint8_t> Copied() { return Read(kTo, 2 * kRun); }

  std::vector<uint8_t> source_;
};

TEST_F(ChapterLaunch, RepeatsBeginWithTheFirstOne) {
  scalar::Launch launch = Copies();
  ASSERT_GE(launch.chapters.size(), 3u);
  launch.repeat = 2;
  const completion c = Run(launch);
  EXPECT_EQ(c.status, STATUS_DONE) << scalar::DescribeCompletion(c);
  EXPECT_EQ(c.runs, 2u);
  EXPECT_EQ(Copied(), source_);
  std::printf("[ figure   ] 2 runs of %d chapters: %u cycles\n",
              static_cast<int>(launch.chapters.size()), c.end - c.begin);
}

TEST_F(ChapterLaunch, ALaterOneIsCancelledOrTimedOut) {
  const uint32_t stuck = kLoops - 4;
  scalar::Launch launch = Copies(stuck);
  ASSERT_GE(ChapterOf(launch, stuck), 2u);
  launch.watchdog = 0;
  launch.timeout = 50000;
  EXPECT_EQ(Run(launch).status, STATUS_TIMEOUT);
  launch.timeout = 0;
  const auto tag = queue_->Submit(launch);
  ASSERT_TRUE(tag.ok()) << tag.status();
  EXPECT_FALSE(queue_->Wait(*tag, 50000).ok());
  ASSERT_TRUE(queue_->Cancel().ok());
  const auto done = queue_->Wait(*tag, kMostCycles);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->status, STATUS_CANCELLED);
  // It was as far as that, and no further.
  const std::vector<uint8_t> bytes = Copied();
  const size_t before = stuck * kPasses * kLine;
  EXPECT_TRUE(
      std::equal(bytes.begin(), bytes.begin() + before, source_.begin()));
  EXPECT_EQ(bytes, [&] {
    std::vector<uint8_t> want = source_;
    std::fill(want.begin() + before, want.end(), 0);
    return want;
  }());
  // What comes next is not disturbed.
  EXPECT_EQ(Run(Copies()).status, STATUS_DONE);
}

TEST_F(ChapterLaunch, AFaultNamesItsDescriptor) {
  scalar::Launch launch = Copies();
  const uint32_t loop = kLoops - 4;
  // The second pass's store is the first thing outside.
  launch.limit = kTo + loop * kPasses * kLine + kLine;
  const completion c = Run(launch);
  ASSERT_GE(ChapterOf(launch, loop), 2u);
  EXPECT_EQ(c.status, STATUS_FAULT) << scalar::DescribeCompletion(c);
  EXPECT_EQ(c.cause, static_cast<uint32_t>(isa::Fault::kHbmRange));
  EXPECT_EQ(c.index, 1 + 2 * loop + 1);
  EXPECT_EQ(c.instance, 1 + (loop * kPasses + 1) * 2 + 1);
  EXPECT_EQ(c.address[0], launch.limit);
}

TEST_F(ChapterLaunch, BadOnesAreRefused) {
  const scalar::Launch good = Copies();
  const auto refused = [&](const scalar::Launch& launch) {
    return absl::IsInvalidArgument(queue_->Submit(launch).status());
  };
  scalar::Launch launch = good;
  launch.patches.push_back({});
  EXPECT_TRUE(refused(launch));
  launch = good;
  launch.chapters.pop_back();
  EXPECT_TRUE(refused(launch));
  launch = good;
  launch.chapters[1].end = launch.chapters[0].end;
  EXPECT_TRUE(refused(launch));
  launch = good;
  launch.chapters[1].loops.resize(MAX_LOOPS + 1);
  EXPECT_TRUE(refused(launch));
  // By the firmware: a loop across the chapter's end; the core is free then.
  launch = good;
  launch.chapters[1].loops.back().end = launch.chapters[1].end + 1;
  EXPECT_EQ(Run(launch).status, STATUS_REFUSED);
  EXPECT_EQ(Run(good).status, STATUS_DONE);
}

// Tables of several launches at once; of those that are complete they are
// free, however they ended.
TEST_F(ChapterLaunch, SeveralInFlight) {
  const scalar::Launch launch = Copies();
  std::vector<uint32_t> tags;
  absl::Status full;
  while (full.ok()) {
    const auto tag = queue_->Submit(launch);
    full = tag.status();
    if (tag.ok()) tags.push_back(*tag);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_GE(tags.size(), 4u);
  for (size_t i = 0; i < tags.size(); i++) {
    // The first one ends by itself; the others are taken back.
    if (i == 1) ASSERT_TRUE(queue_->Cancel().ok());
    const auto done = queue_->Wait(tags[i], kMostCycles);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->status, i == 0 ? STATUS_DONE : STATUS_CANCELLED);
  }
  EXPECT_EQ(Run(launch).status, STATUS_DONE);
  // More than there ever is room for.
  scalar::Launch huge = launch;
  huge.chapters.clear();
  huge.length = 100000;
  for (uint32_t i = 1; i <= 30; i++) {
    huge.chapters.push_back({i * 100, {}, {}});
    huge.chapters.back().patches.resize(MAX_PATCHES);
  }
  huge.chapters.back().end = huge.length;
  EXPECT_TRUE(absl::IsInvalidArgument(queue_->Submit(huge).status()));
}

}  // namespace
}  // namespace systole
