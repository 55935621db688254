// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips of a torus: what is wrong with sends, between cores, and with tori.

#include "tests/system/torus_test.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

TEST_F(TorusTest, FaultsOfSends) {
  Open(2, 1);
  const auto expect = [&](const isa::Send& send, const char* text,
                          uint64_t limit = 0) {
    Program p = Made({send.Encode(), isa::Halt().Encode()});
    if (limit != 0) p.hbm_bytes = limit;
    const auto stats = cores_[0]->Run(p);
    ASSERT_FALSE(stats.ok()) << text;
    EXPECT_THAT(stats.status().message(), HasSubstr(text));
    ASSERT_TRUE(cores_[0]->fault().has_value());
    EXPECT_EQ(cores_[0]->fault()->index, 0u);
    ASSERT_TRUE(cores_[0]->Reset(ResetScope::kCore).ok());
  };
  const uint64_t own = cores_[0]->preset().memory_bytes();
  isa::Send outside = SendTo(2, kTo, 64, 0, 0);
  outside.dst_x = 2;
  expect(outside, "illegal_descriptor");
  outside = SendTo(2, kTo, 64, 0, 0);
  outside.dst_y = 1;
  expect(outside, "illegal_descriptor");
  isa::Send none = SendTo(2, kTo, 64, 0, 0);
  none.n1 = 0;
  expect(none, "illegal_descriptor");
  isa::Send odd = SendTo(2, kTo + 8, 64, 0, 0);
  expect(odd, "misaligned");
  expect(SendTo(2, own - 32, 64, 0, 0), "hbm_range");
  // The other core's memory is that core's own, not what follows this one.
  expect(SendTo(2, own, 64, 0, 0), "hbm_range");
  expect(SendTo(2, 0x200000 - 64, 128, 0, 0), "hbm_range", 0x200000);
  expect(SendTo(2, kTo, 64, 0, 0, 131072 - 32), "ub_range");
  isa::Send full = PostTo(2, 1);
  full.len = 32;
  expect(full, "illegal_descriptor");
  isa::Send silent = PostTo(2, 1);
  silent.header.flags = isa::Send::kEmpty;
  expect(silent, "illegal_descriptor");
  isa::Send posts = SendTo(2, kTo, 64, 0, 0);
  posts.header.post_mask = LinkFlag(2);
  expect(posts, "illegal_descriptor");
}

TEST_F(TorusTest, AWaitThatNobodyMeetsIsAFault) {
  DeviceOptions options;
  options.watchdog = 3000;
  Open(2, 1, options);
  const Program none = Made({isa::Halt().Encode()});
  const auto stats =
      RunAll({none, none, none, Made({HaltOn(LinkFlag(4)).Encode()})});
  for (int c = 0; c < 3; ++c) EXPECT_TRUE(stats[c].ok()) << stats[c].status();
  ASSERT_FALSE(stats[3].ok());
  EXPECT_THAT(stats[3].status().message(), HasSubstr("watchdog"));
}

// Without a wait for the post, the copy of what comes is a race; and so is data
// that comes the other way around than its post. (The simulator's.)
TEST_F(TorusTest, RacesBetweenChipsAreFound) {
  const auto run = [&](bool wait, bool other_way) {
    Open(2, 1);
    isa::Send data = SendTo(2, kTo, 256, kLocal, -1);
    if (other_way) data.header.flags |= isa::Send::kNegative;
    const auto stats =
        RunAll({Made({LoadOf(kFrom, 256, 0, kLocal).Encode(), data.Encode(),
                      PostTo(2, 0).Encode(), isa::Halt().Encode()}),
                Made({isa::Halt().Encode()}),
                Made({LoadOf(kTo, 256, wait ? LinkFlag(0) : 0, 0).Encode(),
                      HaltOn(wait ? 0 : LinkFlag(0)).Encode()})});
    for (const auto& s : stats)
      if (!s.ok()) return s.status();
    return absl::OkStatus();
  };
  EXPECT_EQ(run(true, false), absl::OkStatus());
  EXPECT_THAT(run(false, false).message(), HasSubstr("race"));
  EXPECT_THAT(run(true, true).message(), HasSubstr("race"));
}

TEST(Torus, WhatCannotBeOpened) {
  DeviceOptions options;
  options.preset = "mini";
  options.torus = {2, 2};
  EXPECT_THAT(Device::OpenCores("iss", options).status().message(),
              HasSubstr("no links; those that have are minichip"));
  options.preset = "minichip";
  options.torus = {0, 2};
  EXPECT_THAT(Device::OpenCores("iss", options).status().message(),
              HasSubstr("1 to 32"));
  options.torus = {33, 1};
  EXPECT_THAT(Device::OpenCores("iss", options).status().message(),
              HasSubstr("1 to 32"));
}

}  // namespace
}  // namespace systole
