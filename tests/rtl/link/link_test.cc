// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Links without errors: training, order, credits, rates, latencies; against
// the model and against each other.

#include "VIciLink16.h"
#include "VIciLink4.h"
#include "VIciLink64.h"
#include "gtest/gtest.h"
#include "tests/rtl/link/model_end.h"
#include "tests/rtl/link/rtl_end.h"
#include "tests/testing/seeds.h"

namespace systole::link_test {
namespace {

std::unique_ptr<End> Rtl(int width, uint64_t seed) {
  switch (width) {
    case 4:
      return std::make_unique<RtlEnd<VIciLink4>>(Width{16, 1}, seed);
    case 16:
      return std::make_unique<RtlEnd<VIciLink16>>(Width{16, 4}, seed);
    default:
      return std::make_unique<RtlEnd<VIciLink64>>(Width{64, 16}, seed);
  }
}
Width WidthOf(int width) {
  return width == 4 ? Width{16, 1} : width == 16 ? Width{16, 4} : Width{64, 16};
}

Cable Connect(int width, bool model, uint64_t seed, int delay) {
  const Width w = WidthOf(width);
  std::unique_ptr<End> other;
  if (model) {
    other = std::make_unique<ModelEnd>(w, seed);
  } else {
    other = Rtl(width, seed + 1);
  }
  return Cable(Rtl(width, seed), std::move(other), w, delay);
}

std::string Errors(const Cable& c) {
  std::string text;
  for (const End* end : {c.a.get(), c.b.get()}) {
    for (const std::string& error : end->errors) text += error + "\n";
  }
  return text;
}

// Each channel's packets, in order.
void ExpectDelivered(const std::vector<Packet>& given,
                     const std::vector<Packet>& received) {
  for (int v = 0; v < link::kVcs; ++v) {
    std::vector<const Packet*> want, have;
    for (const Packet& p : given) {
      if (p.vc == v) want.push_back(&p);
    }
    for (const Packet& p : received) {
      if (p.vc == v) have.push_back(&p);
    }
    ASSERT_EQ(want.size(), have.size()) << "vc " << v;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(*want[i] == *have[i])
          << "vc " << v << ", packet " << i << ": " << want[i]->Name()
          << "; came " << have[i]->Name();
    }
  }
}

class LinkTest : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  int width() const { return std::get<0>(GetParam()); }
  bool model() const { return std::get<1>(GetParam()); }
};

TEST_P(LinkTest, Trains) {
  for (const int delay : {1, 7, 40}) {
    Cable c = Connect(width(), model(), 5, delay);
    const int64_t cycles =
        c.Until([&] { return c.a->up() && c.b->up(); }, 2000);
    EXPECT_GT(cycles, 0) << Errors(c);
    RecordProperty("cycles", static_cast<int>(cycles));
  }
}

TEST_P(LinkTest, DeliversInOrder) {
  for (const uint64_t seed : testing_options::Seeds(8)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cable c = Connect(width(), model(), seed, 1 + random() % 12);
    c.a->stalls = {static_cast<int>(random() % 200),
                   static_cast<int>(random() % 200)};
    c.b->stalls = {static_cast<int>(random() % 200),
                   static_cast<int>(random() % 200)};
    for (int i = 0; i < 300; ++i) {
      c.a->offered.push_back(RandomPacket(&random, c.width));
      c.b->offered.push_back(RandomPacket(&random, c.width));
    }
    const int64_t cycles = c.Until(
        [&] { return c.a->received.size() + c.b->received.size() == 600; },
        600000);
    ASSERT_GT(cycles, 0) << Errors(c) << c.a->received.size() << " and "
                         << c.b->received.size() << " packets";
    ExpectDelivered(c.a->given, c.b->received);
    ExpectDelivered(c.b->given, c.a->received);
    EXPECT_EQ(c.a->counters.packets_received, 300);
    EXPECT_EQ(c.a->counters.crc_errors, 0);
    EXPECT_EQ(c.a->counters.replays, 0);
  }
}

std::string Name(const ::testing::TestParamInfo<std::tuple<int, bool>>& info) {
  return "bytes" + std::to_string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_model" : "_rtl");
}
INSTANTIATE_TEST_SUITE_P(Widths, LinkTest,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Bool()),
                         Name);

}  // namespace
}  // namespace systole::link_test
