// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How systole_chip joins two nodes and the network, with modules in their place
// that say what came from the others (stub/), and what systole_top makes of its
// ports. Simulation of whole chips joins models of systole_node_pins the same
// way (verif/tb/joined_models.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "Vpair.h"
#include "verilated.h"

namespace systole {
namespace {

constexpr int kCrossReqBits = 182, kCrossRspBits = 44, kBeatBytes = 32;
constexpr int kNetReqBits = 103, kNetRspBits = 159, kFlitBytes = 16;
constexpr int kWords = kBeatBytes / 4;  // of a node's PHY data

class Pair : public ::testing::Test {
 protected:
  Pair() : top_(&context_) {
    top_.clk_i = 0;
    top_.rst_ni = 1;
  }
  // What node `c` says that it got of that part.
  std::vector<uint8_t> Got(int c, uint32_t part) {
    std::memset(&top_.phy_rdata_i, 0, sizeof top_.phy_rdata_i);
    top_.phy_rdata_i[c * kWords] = part;
    top_.eval();
    std::vector<uint8_t> bytes(kBeatBytes);
    std::memcpy(bytes.data(), &top_.phy_wdata_o[c * kWords], bytes.size());
    return bytes;
  }
  static std::vector<uint8_t> Expected(uint8_t byte, int bits) {
    std::vector<uint8_t> bytes(kBeatBytes);
    for (int i = 0; i < bits; ++i)
      bytes[i / 8] |= static_cast<uint8_t>((byte >> i % 8 & 1) << i % 8);
    return bytes;
  }

  VerilatedContext context_;
  Vpair top_;
};

TEST_F(Pair, EachNodeGetsWhatTheOtherSends) {
  const int bits[] = {0,          kCrossReqBits, kCrossRspBits, 8 * kBeatBytes,
                      kBeatBytes, 8 * kBeatBytes};
  for (int c = 0; c < 2; ++c) {
    const uint8_t other = c;  // node 0 is the one with the window: byte | 1
    for (uint32_t part = 1; part <= 5; ++part) {
      EXPECT_EQ(Got(c, part),
                Expected(static_cast<uint8_t>(part << 4 | other), bits[part]))
          << "node " << c << ", part " << part;
    }
  }
}

// Answers are a core's own; what is received goes to both.
TEST_F(Pair, EachNodeGetsWhatTheNetworkSends) {
  for (int c = 0; c < 2; ++c) {
    SCOPED_TRACE(::testing::Message() << "node " << c);
    EXPECT_EQ(Got(c, 6), Expected(static_cast<uint8_t>(0x60 | c), kNetRspBits));
    EXPECT_EQ(Got(c, 7), Expected(0x72, 8 * kFlitBytes));
    EXPECT_EQ(Got(c, 8), Expected(0x82, kFlitBytes));
  }
}

TEST_F(Pair, TheNetworkGetsWhatEachNodeSends) {
  for (int c = 0; c < 2; ++c) {
    for (const bool data : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "node " << c << " data " << data);
      std::memset(&top_.lanes_i, 0, sizeof top_.lanes_i);
      top_.lanes_i[0] = static_cast<uint32_t>(data << 1 | c);
      top_.eval();
      std::vector<uint8_t> bytes(kBeatBytes);
      std::memcpy(bytes.data(), &top_.lanes_o, 20);  // of four links
      const int me = 1 - c;  // node 0 is the one with the window
      EXPECT_EQ(bytes, Expected(static_cast<uint8_t>((data ? 0xa0 : 0x90) | me),
                                data ? 8 * kFlitBytes : kNetReqBits));
    }
  }
}

TEST_F(Pair, PinsOfACoreEachAndTheHostsAtTheFirst) {
  top_.axil_wdata_i = 0x12345678;
  top_.axil_awaddr_i = 0x1000;
  top_.axil_araddr_i = 0x0fff;
  top_.axi_arid_i = 5;
  top_.axi_awid_i = 9;
  for (int w = 0; w < kWords; ++w) top_.axi_wdata_i[w] = 0x01010101 * w;
  top_.phy_rcheck_i = 0x2222222211111111;
  top_.eval();
  EXPECT_EQ(top_.irq_o, 1);
  EXPECT_EQ(top_.running_o, 2);
  EXPECT_EQ(top_.fault_o, 1);
  EXPECT_EQ(top_.retire_valid_o, 1 << 6 | 2);
  for (int q = 0; q < 6; ++q) {
    EXPECT_EQ(top_.retire_index_o[q], 4u);
    EXPECT_EQ(top_.retire_index_o[6 + q], 3u);
  }
  EXPECT_EQ(top_.phy_row_cmd_o, 1 << 3 | 1);  // of the first one's channels
  EXPECT_EQ(top_.phy_wmask_o, 0x2222222211111111u);
  EXPECT_EQ(top_.axil_rdata_o, ~0x12345678u);
  EXPECT_TRUE(top_.axil_bvalid_o);
  EXPECT_FALSE(top_.axil_rvalid_o);
  EXPECT_EQ(top_.axi_rid_o, 5);
  EXPECT_EQ(top_.axi_bid_o, 9);
  EXPECT_EQ(top_.dram_awaddr_o, 2u);
  for (int w = 0; w < kWords; ++w)
    EXPECT_EQ(top_.axi_rdata_o[w], ~(0x01010101u * w));
}

}  // namespace
}  // namespace systole
