// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include <array>

#include "Varb1.h"
#include "Varb4.h"
#include "Varb5run3.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cells/bench.h"

namespace systole::test {
namespace {

using testing::HasSubstr;

template <typename M, int kRequesters, int kRun>
struct Arbiter {
  using Model = M;
  static constexpr int kN = kRequesters;
  static constexpr int kMaxRun = kRun;
};

template <typename T>
class RrArbTest : public testing::Test {};

using Arbiters = testing::Types<Arbiter<Varb1, 1, 1>, Arbiter<Varb4, 4, 1>,
                                Arbiter<Varb5run3, 5, 3>>;
TYPED_TEST_SUITE(RrArbTest, Arbiters);

template <typename Model>
void Start(Bench<Model>& bench) {
  bench->req_i = 0;
  bench->ready_i = 0;
  Reset(bench);
}

// The specification, written as a walk around the circle.
class Reference {
 public:
  Reference(int n, int max_run)
      : n_(n), max_run_(max_run), last_(n - 1), run_(max_run) {}

  int Grant(uint32_t requests) const {
    if (locked_ >= 0) return locked_;
    if ((requests >> last_ & 1) && run_ < max_run_) return last_;
    for (int step = 1; step <= n_; ++step) {
      const int candidate = (last_ + step) % n_;
      if (requests >> candidate & 1) return candidate;
    }
    return -1;
  }

  void Step(int grant, bool taken) {
    locked_ = taken ? -1 : grant;
    if (!taken) return;
    run_ = grant == last_ && run_ < max_run_ ? run_ + 1 : 1;
    last_ = grant;
  }

 private:
  int n_, max_run_, last_, run_;
  int locked_ = -1;
};

TYPED_TEST(RrArbTest, FollowsTheReference) {
  constexpr int kN = TypeParam::kN;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Bench<typename TypeParam::Model> bench(seed);
    Start(bench);
    Reference reference(kN, TypeParam::kMaxRun);
    const int request_percent = 5 + static_cast<int>(bench.Random() % 96);
    const int ready_percent = 5 + static_cast<int>(bench.Random() % 96);
    std::array<int, kN> others{};  // grants to others while this one waits
    uint32_t requests = 0;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      for (int i = 0; i < kN; ++i) {
        if (bench.Chance(request_percent)) requests |= 1u << i;
      }
      bench->req_i = requests;
      bench->ready_i = bench.Chance(ready_percent);
      bench.Settle();
      const int grant = reference.Grant(requests);
      ASSERT_EQ(bench->valid_o, requests != 0) << "cycle " << cycle;
      ASSERT_EQ(bench->gnt_o, grant < 0 ? 0u : 1u << grant)
          << "cycle " << cycle;
      if (grant >= 0) {
        ASSERT_EQ(bench->index_o, grant) << "cycle " << cycle;
      }
      const bool taken = grant >= 0 && bench->ready_i;
      for (int i = 0; i < kN; ++i) {
        if (!(requests >> i & 1) || (taken && i == grant)) {
          others[i] = 0;
        } else if (taken) {
          ASSERT_LE(++others[i], (kN - 1) * TypeParam::kMaxRun)
              << "requester " << i << " starves";
        }
      }
      reference.Step(grant, taken);
      if (taken) requests &= ~(1u << grant);
      bench.Step();
    }
  }
}

TYPED_TEST(RrArbTest, SharesEquallyWhenAllAsk) {
  Bench<typename TypeParam::Model> bench(2);
  Start(bench);
  bench->req_i = (1u << TypeParam::kN) - 1;
  bench->ready_i = 1;
  std::array<int, TypeParam::kN> grants{};
  constexpr int kRounds = 10;
  for (int i = 0; i < kRounds * TypeParam::kN * TypeParam::kMaxRun; ++i) {
    bench.Settle();
    ++grants[bench->index_o];
    bench.Step();
  }
  for (int count : grants) EXPECT_EQ(count, kRounds * TypeParam::kMaxRun);
}

TEST(RrArbAssertionTest, CatchesAWithdrawnRequest) {
  Bench<Varb4> bench(1);
  Start(bench);
  bench->req_i = 2;
  bench.Settle();
  EXPECT_EQ(bench.StepIntoAssertion(), "");
  bench->req_i = 0;
  bench.Settle();
  EXPECT_THAT(bench.StepIntoAssertion(), HasSubstr("a_request_holds"));
}

}  // namespace
}  // namespace systole::test
