// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Times of a link, to the cycle: when a lost signal, a training or a packet
// without an answer ends, what a training takes, when a CTRL packet goes out.
// docs/link.md says what they are.

#include <vector>

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"

namespace systole::link_test {
namespace {

constexpr int kTrainTimeout = 4000;  // as the tests' links have it
constexpr int kSet = 4;              // symbols

class TimesTest : public ::testing::TestWithParam<int> {
 protected:
  int width() const { return GetParam(); }
  int timeout() const { return width() == 4 ? 3000 : 1000; }
  // Cycles of a flit.
  int flit() const {
    const Width w = WidthOf(width());
    return w.flit / (w.lane * link::kLanes);
  }
  static Cable Up(int width, bool model) {
    Cable c = Connect(width, model, 21, 1);
    EXPECT_GE(c.Until([&] { return c.a->up() && c.b->up(); }, 3000), 0);
    for (int i = 0; i < 600; ++i) c.Cycle();
    return c;
  }
};

// 31 cycles without a signal are borne, 32 are not: in the next but one cycle,
// behind the registers of the lanes and of the count, the end trains.
TEST_P(TimesTest, ASignalIsLostAfterItsCycles) {
  for (const int gap :
       {link::kQuietCycles - 1, link::kQuietCycles, link::kQuietCycles + 1}) {
    Cable c = Up(width(), false);
    int left = gap;
    c.ab.spoil = [&](Symbols* s, int) {
      if (left-- > 0) *s = {};
    };
    std::vector<int> trained;
    for (int i = 0; i < 200; ++i) {
      const int64_t before = c.b->counters.retrains;
      c.Cycle();
      if (c.b->counters.retrains == before) continue;
      trained.push_back(i);
      EXPECT_FALSE(c.b->up());
    }
    if (gap < link::kQuietCycles) {
      EXPECT_TRUE(trained.empty());
    } else {
      ASSERT_EQ(trained.size(), 1u) << gap;
      EXPECT_EQ(trained[0], link::kQuietCycles + 1) << gap;
    }
  }
}

// Alone an end trains anew after TrainTimeout cycles, each of which it counts.
TEST_P(TimesTest, ATrainingEndsAfterItsTime) {
  const std::unique_ptr<End> end = Rtl(width(), 3);
  std::vector<int64_t> trained;
  for (int i = 0; i < 5 * kTrainTimeout; ++i) {
    const int64_t before = end->counters.retrains;
    end->Step({});
    if (end->counters.retrains != before) trained.push_back(i);
  }
  ASSERT_EQ(trained.size(), 4u);
  for (int k = 0; k < 4; ++k)
    EXPECT_EQ(trained[k], k * (kTrainTimeout + 1) + kTrainTimeout) << k;
  EXPECT_EQ(end->down(), link::Cause::kNone);
}

// A packet without an answer is sent again `Timeout` cycles behind its last
// flit, each time; the eighth time the link trains.
TEST_P(TimesTest, AReplayComesAfterItsTime) {
  Cable c = Up(width(), true);
  static_cast<ModelEnd&>(*c.b).silent_ack = true;
  Packet p;
  p.kind = link::Kind::kPost;
  c.a->offered.push_back(p);
  int64_t sent = -1, replays = 0, trained = -1;
  for (int64_t i = 0; i < 10 * (timeout() + 100) && trained < 0; ++i) {
    const Counters before = c.a->counters;
    c.Cycle();
    if (c.a->counters.replays != before.replays) {
      ++replays;
      EXPECT_EQ(i - sent, timeout() + 2) << replays;
    }
    if (c.a->counters.retrains != before.retrains) trained = i;
    if (c.a->counters.packets_sent != before.packets_sent) sent = i;
  }
  EXPECT_EQ(replays, link::kMaxReplays);
  EXPECT_EQ(trained - sent, timeout() + 2);
}

// 16 sets in a row make a lane good, and after 8 whole ones more the end has
// chosen; one that is wrong begins the count anew.
TEST_P(TimesTest, ATrainingTakesItsSets) {
  constexpr int kSets = 16, kMore = 8;
  for (const int wrong : {-1, 0, 7, 14, 15}) {
    const std::unique_ptr<End> a = Rtl(width(), 3), b = Rtl(width(), 4);
    // The other end's first symbol comes in cycle 1, from where a set ends in
    // cycle 4; it counts two cycles later.
    const int from = wrong < 0 ? 0 : wrong + 1;
    const int good = 1 + kSet * (from + kSets) - 1 + 2;
    const int said = (good + kSet - 1) / kSet * kSet + 2;
    const int chosen = said + kSet * kMore;
    int said_at = -1, chosen_at = -1;
    for (int cycle = 0; cycle < 400; ++cycle) {
      const Symbols out = a->out();
      // The second symbol of a set is what it says.
      if (cycle % kSet == 2) {
        const uint8_t info = out[0].bytes[0];
        if ((info >> link::info::kLanes.lsb & 15) != 0 && said_at < 0)
          said_at = cycle;
        if ((info >> link::info::kChosen.lsb & 1) != 0 && chosen_at < 0)
          chosen_at = cycle;
      }
      Symbols in = b->out();
      if (wrong >= 0 && cycle == 1 + kSet * wrong + 3) {
        for (Symbol& symbol : in) symbol.bytes[0] ^= 1;
      }
      b->Step({});  // it hears nothing and polls
      a->Step(in);
    }
    EXPECT_EQ(said_at, said) << wrong;
    EXPECT_EQ(chosen_at, chosen) << wrong;
    EXPECT_FALSE(a->up());
  }
}

// Two ends that hear each other from the beginning are up when 16 and 8 sets
// were sent, the other's choice has come, and 8 more were sent, each decision
// at the end of a set; and when the other's first flit has come.
TEST_P(TimesTest, TwoEndsAreUpAfterTheirSets) {
  const auto set_ends = [](int cycle) { return (cycle + 4) / kSet * kSet - 1; };
  for (int delay = 1; delay < 20; ++delay) {
    Cable c = Connect(width(), false, 9, delay);
    const int good = 2 + kSet * 16 + delay;
    const int chosen = set_ends(good) + kSet * 8;
    // From there its next set says so, of which the last symbol decides; what
    // it says is there behind three registers.
    const int heard = chosen + 2 + kSet + delay + 2;
    const int sends = set_ends(heard) + kSet * 8 + 1;
    const int64_t cycles = c.Until([&] { return c.a->up(); }, 2000);
    EXPECT_EQ(cycles, sends + 3 + delay) << delay;
    EXPECT_TRUE(c.b->up());
  }
}

// With nothing else to say, a CTRL packet is made 130 cycles after the last
// one. Where a flit takes four cycles, it waits for the next one's place: two
// of these times are 65 places.
TEST_P(TimesTest, ACtrlPacketKeepsTheLinkAlive) {
  Cable c = Up(width(), false);
  std::vector<int> starts;
  for (int i = 0; i < 1500; ++i) {
    const Symbol first = c.a->out()[0];
    if (first.tag == link::Tag::kStart &&
        (starts.empty() || i - starts.back() >= flit()))
      starts.push_back(i);
    c.Cycle();
  }
  ASSERT_GT(starts.size(), 8u);
  for (size_t k = 2; k < starts.size(); ++k) {
    EXPECT_EQ(starts[k] - starts[k - 2], 2 * 130) << k;
    if (flit() == 1) EXPECT_EQ(starts[k] - starts[k - 1], 130) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, TimesTest, ::testing::Values(4, 16, 64));

}  // namespace
}  // namespace systole::link_test
