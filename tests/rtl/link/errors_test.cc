// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Links whose wires spoil what they carry: every packet arrives once, in
// order and unchanged, or the link says that it is down and which packets may
// be lost.

#include <algorithm>
#include <functional>

#include "gtest/gtest.h"
#include "tests/rtl/link/cables.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"

namespace systole::link_test {
namespace {

using ErrorsTest = CableTest;

// Packets both ways until so many have arrived at each end.
void Traffic(Cable* c, std::mt19937_64* random, size_t packets, int64_t limit) {
  const size_t to_a = c->a->received.size() + packets,
               to_b = c->b->received.size() + packets;
  size_t left_a = packets, left_b = packets;
  const auto offer = [&](End* end, size_t* left) {
    while (*left > 0 && end->offered.size() < 3) {
      end->offered.push_back(RandomPacket(random, c->width));
      --*left;
    }
  };
  const auto done = [&] {
    offer(c->a.get(), &left_a);
    offer(c->b.get(), &left_b);
    return c->a->received.size() >= to_a && c->b->received.size() >= to_b;
  };
  ASSERT_GE(c->Until(done, limit), 0)
      << Errors(*c) << "to a: " << c->a->received.size() << " of " << to_a
      << ", to b: " << c->b->received.size() << " of " << to_b << "; down "
      << static_cast<int>(c->a->down()) << static_cast<int>(c->b->down());
  ExpectDelivered(c->a->given, c->b->received);
  ExpectDelivered(c->b->given, c->a->received);
  for (End* end : {c->a.get(), c->b.get()}) {
    end->given.clear();
    end->received.clear();
  }
}

void Connected(Cable* c) {
  ASSERT_GE(c->Until([&] { return c->a->up() && c->b->up(); }, 20000), 0);
}

// What a wire spoils: which symbols, and how many bits of each.
struct Kind {
  const char* name;
  std::function<bool(const Symbols&)> which;
  int one_in;  // of these symbols, where a flit takes one cycle
  int bits;
};

bool Control(const Symbols& s) {
  return s[0].tag == link::Tag::kStart &&
         (s[0].bytes[0] & 7) == static_cast<int>(link::Kind::kCtrl);
}
bool Head(const Symbols& s) {
  return s[0].tag == link::Tag::kStart && !Control(s);
}

const Kind kKinds[] = {
    {"anything", [](const Symbols&) { return true; }, 60, 1},
    {"heads", Head, 12, 1},
    {"payloads", [](const Symbols& s) { return s[0].tag == link::Tag::kData; },
     60, 1},
    {"credits_and_acks", Control, 4, 1},
    {"two_bits", [](const Symbols&) { return true; }, 80, 2},
    {"many_bits", [](const Symbols&) { return true; }, 120, 40},
};

// A spoiler of both wires, with its count of bits.
void Spoil(Cable* c, const Kind& kind, Flipper* flipper) {
  const int one_in = kind.one_in * c->width.flit / (4 * c->width.lane);
  c->ab.spoil =
      c->ba.spoil = [&kind, one_in, flipper](Symbols* s, int lane_bytes) {
        if (!kind.which(*s) || flipper->random() % one_in != 0) return;
        for (int i = 0; i < kind.bits; ++i) flipper->Flip(s, lane_bytes);
      };
}

TEST_P(ErrorsTest, BitsOfEachKind) {
  int64_t flips = 0;
  for (const Kind& kind : kKinds) {
    for (const uint64_t seed :
         testing_options::Seeds(testing_options::Sized(2, 20))) {
      SCOPED_TRACE(testing::Message() << kind.name << ", seed " << seed);
      std::mt19937_64 random(seed);
      Flipper flipper(seed);
      Cable c = Connect(width(), model(), seed, 1 + random() % 12);
      Connected(&c);
      Spoil(&c, kind, &flipper);
      c.a->stalls.take = static_cast<int>(random() % 150);
      c.b->stalls.take = static_cast<int>(random() % 150);
      Traffic(&c, &random, testing_options::Sized(300, 3000), 40000000);
      if (HasFatalFailure()) return;
      EXPECT_GT(flipper.flips, 10);
      EXPECT_GT(c.a->counters.crc_errors, 0);
      flips += flipper.flips;
    }
  }
  RecordProperty("flips", static_cast<int>(flips));
}

// All symbols of so many cycles are noise.
TEST_P(ErrorsTest, Bursts) {
  for (const uint64_t seed :
       testing_options::Seeds(testing_options::Sized(4, 40))) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cable c = Connect(width(), model(), seed, 1 + random() % 12);
    Connected(&c);
    int left = 0;
    c.ab.spoil = c.ba.spoil = [&](Symbols* s, int lane_bytes) {
      if (random() % 2000 == 0) left = 1 + static_cast<int>(random() % 25);
      if (left == 0) return;
      --left;
      for (Symbol& symbol : *s) {
        symbol.tag = static_cast<link::Tag>(random() % 4);
        for (int i = 0; i < lane_bytes; ++i) {
          symbol.bytes[i] = static_cast<uint8_t>(random());
        }
      }
    };
    Traffic(&c, &random, 300, 40000000);
    if (HasFatalFailure()) return;
  }
}

// A lane that carries nothing, or noise, or always the same, from some time
// on: the others carry on, with all packets.
TEST_P(ErrorsTest, DeadLanes) {
  for (int mask = 1; mask < 15; ++mask) {
    for (const int how : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << "lanes " << mask << " how " << how);
      std::mt19937_64 random(mask * 3 + how);
      Cable c = Connect(width(), model(), mask, 5);
      Connected(&c);
      Traffic(&c, &random, 20, 1000000);
      if (HasFatalFailure()) return;
      c.ab.spoil = [&](Symbols* s, int lane_bytes) {
        for (int l = 0; l < link::kLanes; ++l) {
          if (!(mask >> l & 1)) continue;
          Symbol& symbol = (*s)[l];
          if (how != 1) symbol.tag = link::Tag{static_cast<uint8_t>(how)};
          for (int i = 0; i < lane_bytes; ++i) {
            symbol.bytes[i] = how == 1 ? static_cast<uint8_t>(random()) : 0;
          }
        }
      };
      Traffic(&c, &random, 60, 2000000);
      if (HasFatalFailure()) return;
      EXPECT_GT(c.a->counters.retrains, 0);
    }
  }
}

// A lane that trains well and spoils bits only when flits come: each of the
// lanes is left out in the end.
TEST_P(ErrorsTest, LaneThatTrainsWell) {
  for (int lane = 0; lane < link::kLanes; ++lane) {
    SCOPED_TRACE(testing::Message() << "lane " << lane);
    std::mt19937_64 random(lane + 1);
    Cable c = Connect(width(), model(), lane, 5);
    Connected(&c);
    c.ab.spoil = [&](Symbols* s, int) {
      if ((*s)[lane].tag == link::Tag::kData) (*s)[lane].bytes[0] ^= 1;
    };
    Traffic(&c, &random, 60, 2000000);
    if (HasFatalFailure()) return;
    EXPECT_GT(c.a->counters.retrains, 0);
  }
}

// A cable that is pulled for a while and put back loses nothing.
TEST_P(ErrorsTest, CablePulledAndPutBack) {
  for (const uint64_t seed :
       testing_options::Seeds(testing_options::Sized(6, 60))) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cable c = Connect(width(), model(), seed, 1 + random() % 12);
    Connected(&c);
    bool pulled = false;
    c.ab.spoil = [&](Symbols* s, int) {
      if (pulled) *s = {};
    };
    // In every other case only one direction.
    if (seed % 2) c.ba.spoil = c.ab.spoil;
    for (int times = 0; times < 4; ++times) {
      for (int i = 0; i < 30; ++i) {
        c.a->offered.push_back(RandomPacket(&random, c.width));
        c.b->offered.push_back(RandomPacket(&random, c.width));
      }
      const int before = 300 + static_cast<int>(random() % 600);
      for (int i = 0; i < before; ++i) c.Cycle();
      pulled = true;
      const int while_out = static_cast<int>(random() % 9000);
      for (int i = 0; i < while_out; ++i) c.Cycle();
      pulled = false;
      ASSERT_GE(c.Until(
                    [&] {
                      return c.a->received.size() == 30 &&
                             c.b->received.size() == 30 && c.a->up() &&
                             c.b->up();
                    },
                    1000000),
                0)
          << Errors(c) << c.a->received.size() << c.b->received.size()
          << " down " << static_cast<int>(c.a->down())
          << static_cast<int>(c.b->down()) << " times " << times << " out "
          << while_out << " before " << before;
      ExpectDelivered(c.a->given, c.b->received);
      ExpectDelivered(c.b->given, c.a->received);
      for (End* end : {c.a.get(), c.b.get()}) {
        end->given.clear();
        end->received.clear();
      }
    }
  }
}

// A cable that stays away: the link says so, and what was given to it has
// arrived or is told as lost.
TEST_P(ErrorsTest, CablePulledForGood) {
  for (const uint64_t seed :
       testing_options::Seeds(testing_options::Sized(6, 60))) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cable c = Connect(width(), model(), seed, 1 + random() % 12);
    Connected(&c);
    for (int i = 0; i < 200; ++i) {
      c.a->offered.push_back(RandomPacket(&random, c.width));
      c.b->offered.push_back(RandomPacket(&random, c.width));
    }
    for (int i = 0; i < 400; ++i) c.Cycle();
    c.ab.spoil = c.ba.spoil = [](Symbols* s, int) { *s = {}; };
    ASSERT_GE(c.Until(
                  [&] {
                    return c.a->down() != link::Cause::kNone &&
                           c.b->down() != link::Cause::kNone;
                  },
                  200000),
              0);
    EXPECT_EQ(c.a->down(), link::Cause::kNoProgress);
    ASSERT_GE(c.Until([&] { return c.a->offered.empty(); }, 100000), 0)
        << "a link that is down takes packets no more";
    for (int i = 0; i < 2000; ++i) c.Cycle();
    EXPECT_EQ(Errors(c), "");
    // Lost packets are a row up to the newest; the others have arrived.
    const size_t lost = c.a->poisoned.size();
    EXPECT_EQ(lost, static_cast<size_t>(c.a->counters.poisons));
    EXPECT_GT(lost, 0u);
    ASSERT_LE(lost, c.a->given.size());
    std::vector<Packet> sure(c.a->given.begin(), c.a->given.end() - lost);
    ASSERT_GE(c.b->received.size(), sure.size());
    for (size_t i = 0; i < lost; ++i) {
      const Packet& want = c.a->given[sure.size() + i];
      EXPECT_EQ(c.a->poisoned[i].kind, want.kind);
      EXPECT_EQ(c.a->poisoned[i].address, want.address);
    }
    // The number of those that arrived is not known, but they are the oldest.
    std::vector<Packet> arrived(c.a->given.begin(),
                                c.a->given.begin() + c.b->received.size());
    ExpectDelivered(arrived, c.b->received);
  }
}

// An end that is reset while the other one holds its state.
TEST_P(ErrorsTest, ResetOfOneEnd) {
  std::mt19937_64 random(1);
  Cable c = Connect(width(), model(), 1, 5);
  Connected(&c);
  Traffic(&c, &random, 20, 100000);
  if (HasFatalFailure()) return;
  c.b->Reset();
  ASSERT_GE(c.Until([&] { return c.a->down() != link::Cause::kNone; }, 100000),
            0);
  EXPECT_EQ(c.a->down(), link::Cause::kPeerReset);
  // Once both are reset they begin anew.
  c.a->Reset();
  c.b->Reset();
  Connected(&c);
  Traffic(&c, &random, 20, 100000);
}

INSTANTIATE_TEST_SUITE_P(Widths, ErrorsTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Bool()),
                         CableName);

}  // namespace
}  // namespace systole::link_test
