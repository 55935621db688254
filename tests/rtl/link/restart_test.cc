// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A link that has been used for anything does behind a reset, or while it was
// disabled, what a new one does, cycle by cycle.

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"

namespace systole::link_test {
namespace {

// What a link was used for, and what it is used for behind the reset.
enum class Before {
  kTraffic,
  kErrors,
  kNoAcks,
  kTraining,
  kLanes,
  kPeer,
  kAll
};
enum class After { kAlone, kTraffic, kNoAcks, kAll };

template <typename Model>
class Restart {
 public:
  Restart(Width width, uint64_t seed)
      : width_(width), random_(seed), used_(width, seed), fresh_(width, 99) {}

  void Use(Before before) {
    auto peer = std::make_unique<ModelEnd>(width_, random_());
    Flipper flipper(random_());
    peer->silent_ack = before == Before::kNoAcks;
    int cycles = 400 + static_cast<int>(random_() % 1500);
    if (before == Before::kTraining) cycles = 1 + random_() % 300;
    if (before == Before::kNoAcks) cycles = 500 + random_() % 40000;
    const int dead = static_cast<int>(random_() % 4);
    for (int i = 0; i < cycles; ++i) {
      if (used_.offered.size() < 3)
        used_.offered.push_back(RandomPacket(&random_, width_));
      if (peer->offered.size() < 3)
        peer->offered.push_back(RandomPacket(&random_, width_));
      Symbols in = peer->out();
      if (before == Before::kErrors && random_() % 100 == 0)
        flipper.Flip(&in, width_.lane);
      if (before == Before::kLanes) in[dead] = {};
      if (before == Before::kPeer && i == cycles / 2)
        peer = std::make_unique<ModelEnd>(width_, random_());
      peer->Step(used_.out());
      used_.Step(in);
    }
    used_.offered.clear();
  }

  // Cycles in which they do the same.
  void Compare(After after, bool by_enable) {
    used_.Restart(1, by_enable);
    fresh_.Restart(1, by_enable);
    ModelEnd peer(width_, random_());
    Flipper flipper(random_());
    peer.silent_ack = after == After::kNoAcks;
    const int cycles = after == After::kNoAcks ? 50000 : 9000;
    for (int i = 0; i < cycles; ++i) {
      Same(i);
      if (::testing::Test::HasFailure()) return;
      if (after != After::kAlone && random_() % 40 == 0) {
        fresh_.offered.push_back(RandomPacket(&random_, width_));
        used_.offered.push_back(fresh_.offered.back());
        if (after == After::kTraffic)
          peer.offered.push_back(RandomPacket(&random_, width_));
      }
      Symbols in = after == After::kAlone ? Symbols{} : peer.out();
      if (i > 2000 && after == After::kTraffic && random_() % 200 == 0)
        flipper.Flip(&in, width_.lane);
      peer.Step(fresh_.out());
      used_.Step(in);
      fresh_.Step(in);
    }
    EXPECT_TRUE(used_.errors.empty() && fresh_.errors.empty());
    if (after == After::kNoAcks) EXPECT_NE(fresh_.down(), link::Cause::kNone);
    if (after == After::kTraffic) EXPECT_GT(fresh_.received.size(), 20u);
  }

 private:
  void Same(int cycle) {
    Model &a = *used_.model(), &b = *fresh_.model();
    EXPECT_EQ(a.up_o, b.up_o) << cycle;
    EXPECT_EQ(a.down_o, b.down_o) << cycle;
    EXPECT_EQ(a.cause_o, b.cause_o) << cycle;
    EXPECT_EQ(a.room_o, b.room_o) << cycle;
    EXPECT_EQ(used_.peer(), fresh_.peer()) << cycle;
    EXPECT_EQ(a.valid_o, b.valid_o) << cycle;
    EXPECT_EQ(a.poison_valid_o, b.poison_valid_o) << cycle;
    EXPECT_EQ(a.last_o & b.valid_o, b.last_o & b.valid_o) << cycle;
    EXPECT_EQ(GetBits(a.events_o, 0, 30), GetBits(b.events_o, 0, 30)) << cycle;
    for (int at = 0; at < link::kLanes * (8 * width_.lane + 2); at += 2)
      EXPECT_EQ(GetBits(a.lanes_o, at, 2), GetBits(b.lanes_o, at, 2)) << cycle;
    for (int v = 0; v < link::kVcs; ++v) {
      if (!(b.valid_o >> v & 1)) continue;
      for (int i = 0; i < width_.flit; ++i) {
        const int at = (v * width_.flit + i) * 8;
        EXPECT_EQ(GetBits(a.data_o, at, 8), GetBits(b.data_o, at, 8)) << cycle;
      }
    }
  }

  Width width_;
  std::mt19937_64 random_;
  RtlEnd<Model> used_, fresh_;
};

class RestartTest
    : public ::testing::TestWithParam<std::tuple<int, Before, After>> {};

TEST_P(RestartTest, IsAsNew) {
  const int width = std::get<0>(GetParam());
  const Before before = std::get<1>(GetParam());
  const After after = std::get<2>(GetParam());
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    const auto run = [&](auto* restart) {
      restart->Use(before);
      restart->Compare(after, round % 2 == 1);
    };
    const uint64_t seed = round * 100 + width;
    if (width == 4) {
      Restart<VLink4> restart(WidthOf(4), seed);
      run(&restart);
    }
    if (width == 16) {
      Restart<VLink16> restart(WidthOf(16), seed);
      run(&restart);
    }
    if (width == 64) {
      Restart<VLink64> restart(WidthOf(64), seed);
      run(&restart);
    }
    if (HasFailure()) return;
  }
}

std::vector<std::tuple<int, Before, After>> Cases() {
  std::vector<std::tuple<int, Before, After>> cases;
  for (const int width : {4, 16, 64}) {
    for (int b = 0; b < static_cast<int>(Before::kAll); ++b) {
      for (int a = 0; a < static_cast<int>(After::kAll); ++a) {
        const auto after = static_cast<After>(a);
        const auto before = static_cast<Before>(b);
        // What takes long is the same at all widths.
        if (width != 16 && (after == After::kNoAcks || b % 2 == 0)) continue;
        if (after == After::kNoAcks && b % 3 == 0) continue;
        cases.emplace_back(width, before, after);
      }
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, RestartTest, ::testing::ValuesIn(Cases()));

}  // namespace
}  // namespace systole::link_test
