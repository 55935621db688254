// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Times of the serial port, to the clock: when each bit goes out, when the next
// byte is taken, in which clock the line is looked at. With 16 clocks a bit,
// and with a little more than 2, where a clock's rest decides.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include "Vuart_exact16.h"
#include "Vuart_exact2.h"
#include "verilated.h"

namespace systole {
namespace {

constexpr int kBits = 10;          // start, data, stop
constexpr int64_t kBit = 1 << 16;  // parts of a bit
constexpr int kSynchroniser = 2;   // clocks

template <typename Model>
class UartTiming : public ::testing::Test {
 protected:
  UartTiming() {
    context_.randReset(2);
    context_.randSeed(3);
    top_ = std::make_unique<Model>(&context_);
    top_->rx_i = 1;
    top_->tx_valid_i = 0;
    top_->rst_ni = 0;
    for (int i = 0; i < 6; ++i) Clock();
    top_->rst_ni = 1;
    for (int i = 0; i < 50; ++i) Clock();
  }
  void Clock() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  // Parts of a bit that a clock is.
  static constexpr int64_t Step() {
    return std::is_same_v<Model, Vuart_exact16> ? 4096 : 32767;
  }
  // The first clock in which so many parts are over.
  static int Clocks(int64_t parts) {
    return static_cast<int>((parts + Step() - 1) / Step());
  }
  static int Level(uint8_t byte, int bit) {
    return bit == 0 ? 0 : bit == kBits - 1 ? 1 : byte >> (bit - 1) & 1;
  }
  // The clock, from the one whose edge sees the start bit on, at whose edge a
  // bit is looked at: half a bit is over when the start bit is.
  static int LookedAt(int bit) {
    return kSynchroniser + Clocks(kBit / 2 + bit * kBit);
  }

  VerilatedContext context_;
  std::unique_ptr<Model> top_;
};

using Models = ::testing::Types<Vuart_exact16, Vuart_exact2>;
TYPED_TEST_SUITE(UartTiming, Models);

TYPED_TEST(UartTiming, EachBitGoesOutInItsClocks) {
  auto& top = *this->top_;
  for (const int value : {0x00, 0xff, 0x55, 0xaa, 0x31}) {
    for (const int gap : {0, 1, 5}) {
      const auto byte = static_cast<uint8_t>(value);
      for (int i = 0; i < gap; ++i) {
        EXPECT_TRUE(top.tx_o && top.tx_ready_o);
        this->Clock();
      }
      top.tx_valid_i = 1;
      top.tx_data_i = byte;
      top.eval();
      ASSERT_TRUE(top.tx_ready_o);
      this->Clock();
      top.tx_valid_i = 0;
      top.tx_data_i = static_cast<uint8_t>(~byte);
      top.eval();
      const int all = this->Clocks(kBits * kBit);
      int bit = 0;
      for (int clock = 0; clock < all; ++clock) {
        if (clock >= this->Clocks((bit + 1) * kBit)) ++bit;
        ASSERT_EQ(top.tx_o, this->Level(byte, bit)) << clock << " " << value;
        ASSERT_FALSE(top.tx_ready_o) << clock;
        this->Clock();
      }
      ASSERT_TRUE(top.tx_o);
      ASSERT_TRUE(top.tx_ready_o);
    }
  }
}

// The line has its level for one clock of each bit, and the opposite level
// otherwise: in another clock another byte would be seen.
TYPED_TEST(UartTiming, EachBitIsLookedAtInOneClock) {
  auto& top = *this->top_;
  for (const int value : {0x00, 0xff, 0x55, 0xaa, 0x93}) {
    const auto byte = static_cast<uint8_t>(value);
    const int last = this->LookedAt(kBits - 1);
    int bit = 0;
    for (int clock = 0; clock <= last + 3; ++clock) {
      // What is looked at at an edge came two clocks and an edge before.
      const int seen = clock + kSynchroniser + 1;
      while (bit < kBits && seen > this->LookedAt(bit)) ++bit;
      const bool exact = bit < kBits && seen == this->LookedAt(bit);
      top.rx_i = bit >= kBits ? 1
                 : clock == 0 ? 0
                 : exact      ? this->Level(byte, bit)
                              : !this->Level(byte, bit);
      this->Clock();
      ASSERT_EQ(top.rx_valid_o, clock == last) << clock << " of " << last;
      if (top.rx_valid_o) EXPECT_EQ(top.rx_data_o, byte);
    }
    top.rx_i = 1;
    for (int i = 0; i < 60; ++i) {
      this->Clock();
      ASSERT_FALSE(top.rx_valid_o);
    }
  }
}

// A pulse is a start bit when it lasts to the clock in which that is looked at.
TYPED_TEST(UartTiming, AStartBitLastsToItsMiddle) {
  auto& top = *this->top_;
  // Clocks of the line that come before the one that is looked at.
  const int before = this->LookedAt(0) - kSynchroniser - 1;
  for (int low = 1; low <= before + 2; ++low) {
    int bytes = 0;
    for (int clock = 0; clock < this->LookedAt(kBits - 1) + 60; ++clock) {
      top.rx_i = clock >= low;
      this->Clock();
      bytes += top.rx_valid_o;
      if (top.rx_valid_o) EXPECT_EQ(top.rx_data_o, 0xff);
    }
    EXPECT_EQ(bytes, low > before) << low << " clocks";
  }
}

}  // namespace
}  // namespace systole
