// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// systole_link_crc against the CRC a bit at a time. Register and slice enter
// linearly: the unit is right for all of them if it is for each bit alone, for
// none, and for sums, of which many are drawn.

#include <cstring>
#include <memory>
#include <random>

#include "VLinkCrc.h"
#include "gtest/gtest.h"
#include "tests/rtl/link/format.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::link_test {
namespace {

class CrcTest : public ::testing::Test {
 protected:
  void Check(uint32_t state, const uint8_t* slice) {
    crc_->state_i = state;
    std::memcpy(&crc_->slice_i[0], slice, link::kSliceBytes);
    crc_->eval();
    EXPECT_EQ(crc_->next_o, Crc(state, slice, link::kSliceBytes));
    EXPECT_EQ(crc_->part_o,
              Crc(state, slice, link::kSliceBytes - link::kCrcBytes));
  }
  VerilatedContext context_;
  std::unique_ptr<VLinkCrc> crc_ = std::make_unique<VLinkCrc>(&context_);
};

TEST_F(CrcTest, EachBit) {
  uint8_t slice[link::kSliceBytes] = {};
  Check(0, slice);
  for (int i = 0; i < 32; ++i) Check(uint32_t{1} << i, slice);
  for (int i = 0; i < 8 * link::kSliceBytes; ++i) {
    std::memset(slice, 0, sizeof slice);
    slice[i / 8] = 1 << i % 8;
    Check(0, slice);
  }
}

TEST_F(CrcTest, Random) {
  for (const uint64_t seed : testing_options::Seeds(2000)) {
    std::mt19937_64 random(seed);
    uint8_t slice[link::kSliceBytes];
    for (uint8_t& byte : slice) byte = static_cast<uint8_t>(random());
    Check(static_cast<uint32_t>(random()), slice);
  }
}

// The check value of CRC-32C of the digits 1 to 9 (RFC 3720, B.4, has the
// polynomial; the value is that of the catalogue of parametrised CRCs).
TEST_F(CrcTest, CheckValue) {
  const uint8_t digits[] = "123456789";
  EXPECT_EQ(~Crc(link::kCrcStart, digits, 9), 0xE3069283u);
}

}  // namespace
}  // namespace systole::link_test
