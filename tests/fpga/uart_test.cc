// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The serial port at 2 clocks a bit, and at 4.3, 7.3 and 20.3 against one whose
// rate differs by 2 %, there and back.
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "Vuart2.h"
#include "Vuart20.h"
#include "Vuart4.h"
#include "Vuart7.h"
#include "verilated.h"

namespace systole {
namespace {

template <typename Model>
class Uart : public ::testing::Test {
 protected:
  Uart() {
    context_.randReset(2);
    top_ = std::make_unique<Model>(&context_);
    top_->invert_i = top_->valid_i = 0;
    top_->rst_ni = 0;
    for (int i = 0; i < 4; ++i) Cycle();
    top_->rst_ni = 1;
    for (int i = 0; i < 600; ++i) Cycle();
    echo_.clear();
  }
  void Cycle() {
    top_->clk_i = 0;
    top_->eval();
    if (top_->echo_valid_o) echo_.push_back(top_->echo_data_o);
    top_->clk_i = 1;
    top_->eval();
  }
  // Gaps: the far side sends what it receives 2 % slower.
  void Send(uint8_t byte, int gap) {
    top_->valid_i = 1;
    top_->data_i = byte;
    top_->clk_i = 0;
    top_->eval();
    while (!top_->ready_o) {
      Cycle();
      top_->clk_i = 0;
      top_->eval();
    }
    Cycle();
    top_->valid_i = 0;
    for (int i = 0; i < gap; ++i) Cycle();
  }

  static int ClocksABit() {
    if (std::is_same_v<Model, Vuart2>) return 2;
    if (std::is_same_v<Model, Vuart4>) return 4;
    return std::is_same_v<Model, Vuart7> ? 7 : 20;
  }

  VerilatedContext context_;
  std::unique_ptr<Model> top_;
  std::vector<uint8_t> echo_;
};

using Models = ::testing::Types<Vuart2, Vuart4, Vuart7, Vuart20>;
TYPED_TEST_SUITE(Uart, Models);

TYPED_TEST(Uart, EveryByteComesBack) {
  std::vector<uint8_t> sent;
  for (int i = 0; i < 256; ++i) {
    sent.push_back(static_cast<uint8_t>(i * 37));
    this->Send(sent.back(), 230 + i % 7);
  }
  for (int i = 0; i < 1000; ++i) this->Cycle();
  EXPECT_EQ(this->echo_, sent);
}

// A pulse shorter than half a bit is no start bit.
TYPED_TEST(Uart, AGlitchIsNoByte) {
  if (this->ClocksABit() < 7) return;  // where half a bit is a clock or two
  for (int i = 0; i < 20; ++i) {
    this->top_->invert_i = 1;
    for (int k = 0; k < 1 + i % 2; ++k) this->Cycle();
    this->top_->invert_i = 0;
    for (int k = 0; k < 50 + i; ++k) this->Cycle();
  }
  for (int i = 0; i < 600; ++i) this->Cycle();
  EXPECT_TRUE(this->echo_.empty());
  this->Send(0x5a, 1000);
  EXPECT_EQ(this->echo_, std::vector<uint8_t>{0x5a});
}

// A reset in the middle of a byte ends it, here and there.
TYPED_TEST(Uart, AResetEndsAByte) {
  for (int after = 0; after < 60; ++after) {
    this->Send(static_cast<uint8_t>(after * 91), after * 3);
    this->top_->rst_ni = 0;
    for (int i = 0; i < 4; ++i) this->Cycle();  // as many as synchronise
    EXPECT_TRUE(this->top_->ready_o) << after;
    this->top_->rst_ni = 1;
    this->echo_.clear();
    for (int i = 0; i < 400; ++i) this->Cycle();
    EXPECT_TRUE(this->echo_.empty()) << after;
    this->Send(0xc3, 500);
    EXPECT_EQ(this->echo_, std::vector<uint8_t>{0xc3}) << after;
  }
}

TYPED_TEST(Uart, AByteWithoutItsStopBitIsDropped) {
  // Inverted, the idle line is low: start bits without a stop bit.
  this->top_->invert_i = 1;
  for (int i = 0; i < 2000; ++i) this->Cycle();
  this->top_->invert_i = 0;
  for (int i = 0; i < 1000; ++i) this->Cycle();
  this->echo_.clear();
  this->Send(0x5a, 1000);
  EXPECT_EQ(this->echo_, std::vector<uint8_t>{0x5a});
}

}  // namespace
}  // namespace systole
