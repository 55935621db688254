// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Collectives in programs of kernels: they run at the same time as kernels that
// do not need them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/compiler/kernels/collective_order.h"
#include "tests/runtime/devices.h"
#include "tests/runtime/exchange_test.h"
#include "tests/runtime/random_collective.h"

namespace systole::runtime {
namespace {

using ir::Literals;
using testing::ElementsAre;

// A gradient that is exchanged, and a chain of products that does not need it.
std::string Gradient(int64_t elements) {
  return absl::StrCat("%g = f32[", elements,
                      "] parameter(), name=\"g\"\n%gg = f32[", elements,
                      "] hlo.multiply(%g, %g)\n%sum = f32[", elements,
                      "] hlo.all_reduce(%gg), group_size=1, channel=1, "
                      "use_global_device_ids=true ADD\n%out = f32[",
                      elements, "] hlo.add(%sum, %g)\n");
}
using BesideTest = ExchangeTest;

TEST_F(BesideTest, OneProgramTakesLessThanTwo) {
  const uint64_t exchange =
      Check(Gradient(8192), "%out as \"out\"", /*programs=*/1);
  const uint64_t products = Check(Products(6), "%x6 as \"x\"", /*programs=*/1);
  const uint64_t both =
      Check(Gradient(8192) + Products(6), "%out as \"out\", %x6 as \"x\"",
            /*programs=*/1);
  if (g_backend != "rtl") return;  // the simulator has no cycles
  EXPECT_LT(both, exchange + products);
  EXPECT_GE(both, std::max(exchange, products));
}

// What is exchanged again, and several at once, of all sizes.
TEST_F(BesideTest, ChainsOfCollectives) {
  for (const int64_t elements : {1, 100, 9000}) {
    const std::string type = absl::StrCat("f32[", elements, "]");
    const std::string all =
        ", group_size=1, channel=1, "
        "use_global_device_ids=true ADD\n";
    Check(absl::StrCat("%a = ", type, " parameter(), name=\"a\"\n%b = ", type,
                       " hlo.all_reduce(%a)", all, "%c = ", type,
                       " hlo.multiply(%b, %a)\n%d = ", type,
                       " hlo.all_reduce(%c)", all, "%e = ", type,
                       " hlo.all_reduce(%d)", all, "%f = ", type,
                       " hlo.subtract(%e, %b)\n", Products(3)),
          "%f as \"f\", %d as \"d\", %x3 as \"x\"", /*programs=*/1);
  }
}

// The sum's memory is changed in place: not before others have written it.
TEST_F(BesideTest, UpdatedInPlace) {
  Check(
      "%a = f32[256,64] parameter(), name=\"a\"\n"
      "%r = f32[1,64] parameter(), name=\"r\"\n"
      "%b = f32[256,64] hlo.all_reduce(%a), group_size=1, channel=1, "
      "use_global_device_ids=true ADD\n"
      "%at = i32[] constant(), data=[250]\n"
      "%zero = i32[] constant(), data=[0]\n"
      "%u = f32[256,64] hlo.dynamic_update_slice(%b, %r, %at, %zero)\n",
      "%u as \"u\"", /*programs=*/1);
}

// Cores that cannot do an all-reduce in that order exchange through the host.
TEST_F(BesideTest, DevicesInAnotherOrder) {
  const std::string text = Gradient(5000) + Products(2);
  const std::string outputs = "%out as \"out\", %x2 as \"x\"";
  Check(text, outputs, /*programs=*/1, {4, 5, 0, 1, 6, 7, 2, 3});
  Check(text, outputs, /*programs=*/1, {3, 0, 1, 2});
  Check(text, outputs, /*programs=*/2, {0, 1, 2, 4, 3, 5, 6, 7});
}

// Of programs that start together, whatever the host's threads do.
TEST(RepeatedTest, TakesTheSameCycles) {
  const auto module = Module(Gradient(500), "%out as \"out\"");
  ASSERT_NE(module, nullptr);
  std::mt19937_64 rng(22);
  std::vector<Literals> inputs(4);
  for (Literals& own : inputs) own = {Random(rng, module->inputs()[0]->type)};
  std::vector<std::vector<uint64_t>> runs;  // by program and core
  for (int run = 0; run < 2; ++run) {
    const auto client = MakeClient(4);
    const auto executable = client->Compile(module->Clone(), {1, 4});
    ASSERT_TRUE(executable.ok()) << executable.status();
    std::vector<uint64_t>& cycles = runs.emplace_back();
    for (int i = 0; i < 2; ++i) {
      const auto got = RunOn(*client, **executable, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      for (int d = 0; d < 4; ++d)
        cycles.push_back(client->device(d).TakeWork().stats.cycles);
    }
  }
  EXPECT_EQ(runs[1], runs[0]);
  if (g_backend == "rtl") EXPECT_GT(runs[0][0], 0);
}

// What a kernel needs first goes first; a kernel waits for what it needs.
TEST(CollectiveOrderTest, ShortOnesGoBetweenStretches) {
  // Three stretches after kernel 0 that only the end needs; one after kernel 1
  // that kernel 2 needs.
  std::vector<lanes::OrderedCollective> collectives(4);
  for (int i = 0; i < 3; ++i) collectives[i] = {0, 4, {}, 100};
  collectives[3] = {1, 2, {}, 10};
  const lanes::CollectiveOrder order =
      lanes::OrderCollectives({50, 80, 70, 60}, collectives);
  EXPECT_THAT(order.order, ElementsAre(0, 3, 1, 2));
  EXPECT_THAT(order.starts, ElementsAre(50, 160, 260, 150));
  EXPECT_THAT(order.kernels, ElementsAre(0, 50, 160, 230));
}

// The links pause before what the next kernel needs, if there is time.
TEST(CollectiveOrderTest, NoneHoldsUpWhatTheNextKernelNeeds) {
  std::vector<lanes::OrderedCollective> collectives(4);
  for (int i = 0; i < 3; ++i) collectives[i] = {0, 4, {}, 100};
  collectives[3] = {1, 2, {}, 10};
  const lanes::CollectiveOrder order =
      lanes::OrderCollectives({50, 180, 300, 60}, collectives);
  EXPECT_THAT(order.order, ElementsAre(0, 3, 1, 2));
  EXPECT_THAT(order.starts, ElementsAre(50, 240, 340, 230));
  EXPECT_THAT(order.kernels, ElementsAre(0, 50, 240, 540));
}

// Of the same stretches, those between which nothing else is exchanged are one.
TEST(CollectiveOrderTest, StretchesThatFollowEachOtherAreOneTurn) {
  std::vector<lanes::OrderedCollective> collectives(4);
  for (int i = 0; i < 3; ++i) collectives[i] = {0, 4, {}, 100};
  collectives[3] = {1, 2, {}, 10};
  const lanes::CollectiveOrder order =
      lanes::OrderCollectives({50, 80, 70, 60}, collectives);
  EXPECT_THAT(lanes::TurnsOf(order, {0, 0, 0, 1}),
              ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(1, 2)));
  EXPECT_THAT(lanes::TurnsOf(order, {0, 1, 2, 3}).size(), 4);
  EXPECT_TRUE(lanes::TurnsOf({}, {}).empty());
}

TEST(CollectiveOrderTest, OneNeedsAnother) {
  std::vector<lanes::OrderedCollective> collectives(2);
  collectives[0] = {-1, 1, {}, 30};
  collectives[1] = {0, 2, {0}, 20};
  const lanes::CollectiveOrder order =
      lanes::OrderCollectives({10, 10, 10}, collectives);
  EXPECT_THAT(order.order, ElementsAre(0, 1));
  EXPECT_THAT(order.starts, ElementsAre(0, 30));
  EXPECT_THAT(order.kernels, ElementsAre(0, 30, 50));
}

}  // namespace
}  // namespace systole::runtime
