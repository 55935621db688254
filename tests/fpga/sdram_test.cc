// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The model of the SDRAM: data come back, and each rule of the device is seen
// when it is broken.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Vsdram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cells/bench.h"

namespace systole::test {
namespace {

using testing::HasSubstr;

// Commands: RAS, CAS, WE.
constexpr int kMode = 0, kRefresh = 1, kPrecharge = 2, kActivate = 3,
              kWrite = 4, kRead = 5, kNop = 7;
constexpr int kAll = 1 << 10;  // A10

class Sdram {
 public:
  explicit Sdram(bool initialise = true) : bench_(1) {
    bench_->cke = 1;
    bench_->csn = 0;
    bench_->dqm = 0;
    Give(kNop);
    if (initialise) PowerUp();
  }
  // 100 MHz: 100 us are 10000 cycles.
  void PowerUp(int cycles = 10000) {
    Idle(cycles);
    Give(kPrecharge, kAll);
    Idle(2);
    Give(kRefresh);
    Idle(7);
    Give(kRefresh);
    Idle(7);
    Give(kMode, 0x20);
    Idle(2);
  }
  // The assertion that failed, or "".
  std::string Give(int command, int a = 0, int ba = 0, int dqm = 0,
                   int data = -1) {
    bench_->rasn = command >> 2 & 1;
    bench_->casn = command >> 1 & 1;
    bench_->wen = command & 1;
    bench_->a = a;
    bench_->ba = ba;
    bench_->dqm = dqm;
    bench_->drive = data >= 0;
    bench_->data = data & 0xffff;
    const std::string failed = bench_.StepIntoAssertion();
    bench_->rasn = bench_->casn = bench_->wen = 1;
    bench_->drive = 0;
    if (!failed.empty()) last_ = failed;
    return failed;
  }
  void Idle(int cycles) {
    testing::internal::CaptureStdout();
    for (int i = 1; i < cycles; ++i) bench_.Step();
    const std::string failed = testing::internal::GetCapturedStdout();
    if (!failed.empty()) last_ = failed;
    Give(kNop);
  }
  int dq() {
    bench_.Settle();
    return bench_->dq;
  }
  const std::string& last() const { return last_; }

 private:
  Bench<Vsdram> bench_;
  std::string last_;
};

TEST(SdramModel, DataComeBackWithMasks) {
  Sdram s;
  s.Give(kActivate, 5, 2);
  s.Idle(1);
  s.Give(kWrite, 7, 2, 0, 0x1234);
  s.Give(kWrite, 8, 2, 0, 0x5678);
  s.Give(kWrite, 7, 2, 1, 0xabcd);
  s.Give(kRead, 7, 2);
  s.Give(kRead, 8, 2);
  EXPECT_EQ(s.dq(), 0xab34);
  s.Idle(1);
  EXPECT_EQ(s.dq(), 0x5678);
  EXPECT_EQ(s.last(), "");
}

TEST(SdramModel, BrokenRulesAreSeen) {
  struct Case {
    const char* rule;
    std::function<void(Sdram&)> run;
  };
  const std::vector<Case> cases = {
      {"a_open", [](Sdram& s) { s.Give(kRead, 0, 1); }},
      {"a_trcd",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Give(kRead, 0);
       }},
      {"a_activate_closed",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(9);
         s.Give(kActivate, 2);
       }},
      {"a_tras",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(1);
         s.Give(kPrecharge, 0);
       }},
      {"a_trp",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(9);
         s.Give(kPrecharge, 0);
         s.Give(kActivate, 1);
       }},
      {"a_twr",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(9);
         s.Give(kWrite, 0, 0, 0, 1);
         s.Give(kPrecharge, 0);
       }},
      {"a_refresh_closed",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(9);
         s.Give(kRefresh);
       }},
      {"a_trfc",
       [](Sdram& s) {
         s.Give(kRefresh);
         s.Give(kActivate, 1);
       }},
      {"a_tmrd",
       [](Sdram& s) {
         s.Give(kMode, 0x20);
         s.Give(kActivate, 1);
       }},
      {"a_mode_value", [](Sdram& s) { s.Give(kMode, 0x21); }},
      {"a_turn",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(2);
         s.Give(kRead, 0);
         s.Give(kWrite, 0, 0, 0, 1);
       }},
      {"a_column",
       [](Sdram& s) {
         s.Give(kActivate, 1);
         s.Idle(2);
         s.Give(kRead, 1 << 9);
       }},
      {"a_refresh_rate", [](Sdram& s) { s.Idle(7100); }},
  };
  for (const Case& c : cases) {
    Sdram s;
    ASSERT_EQ(s.last(), "") << c.rule;
    c.run(s);
    EXPECT_THAT(s.last(), HasSubstr(c.rule));
  }
}

TEST(SdramModel, NoCommandBeforeThePowerIsGood) {
  Sdram s(false);
  s.PowerUp(100);
  EXPECT_THAT(s.last(), HasSubstr("a_power_up"));
}

TEST(SdramModel, NoAccessBeforeTheMode) {
  Sdram s(false);
  s.Idle(10000);
  EXPECT_THAT(s.Give(kActivate, 1), HasSubstr("a_initialised"));
}

}  // namespace
}  // namespace systole::test
