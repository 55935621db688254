// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The crossings between the cores of a chip: random traffic of all clients of
// both cores against a model of the two memories (bench.h), and the figures.

#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/rtl/chip/bench.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

std::string First(const Bench& bench) {
  return bench.errors().empty() ? "" : bench.errors()[0];
}

TEST(CrossingTest, RandomTraffic) {
  int64_t far = 0, posts = 0;
  for (const uint64_t seed : testing_options::Seeds(12)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&random] {
      return static_cast<double>(random() % 101) / 100;
    };
    Profile p;
    p.read = any();
    p.write = any();
    p.post = any() / 4;
    p.far = any();
    p.ready = 0.1 + 0.9 * any();
    p.run = 1 + static_cast<int>(random() % 30);
    p.latency = 1 + static_cast<int>(random() % 40);
    Bench bench(seed, seed % 3 == 0 ? 40 : 0);
    bench.Run(3000, p);
    ASSERT_EQ(First(bench), "");
    far += bench.far_reads();
    posts += bench.posts();
  }
  EXPECT_GT(far, 1000);
  EXPECT_GT(posts, 100);
}

// The figures of docs/chip.md.
TEST(CrossingTest, LatencyAndBandwidth) {
  Bench bench(1, 0);
  EXPECT_EQ(bench.Latency(0, false, 20), 20);
  EXPECT_EQ(bench.Latency(0, true, 20), 24 - 1);
  EXPECT_EQ(bench.Latency(1, true, 20), 24 - 1);
  const int64_t reads = bench.Stream(true, 1000);
  EXPECT_LT(reads, 1000 + 50);
  ASSERT_EQ(First(bench), "");
  std::printf("[ figure   ] 1000 far reads in %lld cycles\n",
              static_cast<long long>(reads));
}

}  // namespace
}  // namespace systole
