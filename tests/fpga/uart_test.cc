// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The serial port at 2 clocks a bit, and at 4.3, 7.3 and 20.3 against one whose
// rate differs by 2 %, there and back.
#include <gtest/gtest.h>

#include <memory>
#include <random>
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
