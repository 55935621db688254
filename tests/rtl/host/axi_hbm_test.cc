// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The AXI4 window against a model memory: random bursts, strobes, gaps and
// stalls; refused bursts have no effect. Built twice: beats of the port as wide
// as the HBM's, and a quarter of them.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VAxiHbm.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole {
namespace {

constexpr int kBeat = sizeof(VAxiHbm::axi_wdata_i);       // of the port
constexpr int kHbmBeat = sizeof(VAxiHbm::rd_rsp_data_i);  // of the HBM
constexpr int kLatency = 25, kOkay = 0, kSlaveError = 2;
constexpr uint64_t kBytes = 0x10000;
static_assert(kBeat == 32 && (kHbmBeat == 32 || kHbmBeat == 128));

// HBM beats that a burst touches.
int HbmBeats(uint64_t addr, int beats) {
  return static_cast<int>((addr + beats * kBeat - 1) / kHbmBeat -
                          addr / kHbmBeat + 1);
}

class AxiHbmTest : public ::testing::TestWithParam<int> {
 protected:
  AxiHbmTest() : memory_(kBytes), rng_(static_cast<uint32_t>(GetParam()) + 1) {
    context_.randReset(2);
    context_.randSeed(GetParam() + 1);
    dut_ = std::make_unique<VAxiHbm>(&context_);
    VAxiHbm& d = *dut_;
    d.rst_ni = 0;
    d.axi_awvalid_i = d.axi_wvalid_i = d.axi_bready_i = d.axi_arvalid_i =
        d.axi_rready_i = 0;
    d.rd_ready_i = d.wr_ready_i = d.rd_rsp_valid_i = 0;
    Clock();
    Clock();
    d.rst_ni = 1;
  }

  bool Chance() {
    return GetParam() == 0 || rng_() % 100 < 60;
  }  // parameter 0: no gaps at all

  // One clock with the model memory behind the slave.
  void Clock() {
    VAxiHbm& d = *dut_;
    d.rd_ready_i = Chance();
    d.wr_ready_i = Chance();
    d.rd_rsp_valid_i = !pending_.empty() && pending_.front().first <= now_;
    if (d.rd_rsp_valid_i) {
      std::memcpy(&d.rd_rsp_data_i, &memory_[pending_.front().second],
                  kHbmBeat);
      pending_.pop_front();
    }
    d.clk_i = 0;
    d.eval();
    if (d.rst_ni && d.rd_valid_o && d.rd_ready_i) {
      ++reads_;
      EXPECT_EQ(d.rd_addr_o % kHbmBeat, 0);
      pending_.emplace_back(now_ + kLatency, d.rd_addr_o);
    }
    if (d.rst_ni && d.wr_valid_o && d.wr_ready_i) TakeWrite();
    d.clk_i = 1;
    d.eval();
    ++now_;
  }

  void TakeWrite() {
    VAxiHbm& d = *dut_;
    ++writes_;
    EXPECT_EQ(d.wr_addr_o % kHbmBeat, 0);
    const uint8_t* data = reinterpret_cast<const uint8_t*>(&d.wr_data_o);
    const uint8_t* mask = reinterpret_cast<const uint8_t*>(&d.wr_mask_o);
    for (int i = 0; i < kHbmBeat; ++i) {
      if (mask[i / 8] >> i % 8 & 1) memory_[d.wr_addr_o + i] = data[i];
    }
  }

  // A burst that began then should have ended.
  bool Stuck(uint64_t begin) {
    if (now_ - begin < 10000) return false;
    ADD_FAILURE() << "no end at cycle " << now_;
    return true;
  }

  // Settles the combinational outputs before looking at a handshake.
  void Settle() {
    dut_->clk_i = 0;
    dut_->eval();
  }

  struct Burst {
    uint64_t addr;
    int beats;
    int size = 5, type = 1, id = 0;
  };

  int Write(const Burst& b, const std::vector<uint8_t>& data,
            const std::vector<bool>& strobes) {
    VAxiHbm& d = *dut_;
    d.axi_awaddr_i = b.addr;
    d.axi_awlen_i = b.beats - 1;
    d.axi_awsize_i = b.size;
    d.axi_awburst_i = b.type;
    d.axi_awid_i = b.id;
    bool address_sent = false;
    const uint64_t begin = now_;
    for (int beat = 0; (beat < b.beats || !address_sent) && !Stuck(begin);) {
      d.axi_awvalid_i = !address_sent;
      const bool last = beat == b.beats - 1;
      if (beat < b.beats && (d.axi_wvalid_i || Chance())) {
        d.axi_wvalid_i = 1;
        d.axi_wlast_i = last;
        std::memcpy(&d.axi_wdata_i, &data[beat * kBeat], kBeat);
        d.axi_wstrb_i = 0;
        for (int i = 0; i < kBeat; ++i)
          d.axi_wstrb_i |= static_cast<uint32_t>(strobes[beat * kBeat + i])
                           << i;
      }
      const bool was_write = d.axi_wvalid_i;
      // Handshakes are decided in Clock's low phase; look at the ready there.
      Settle();
      ClockObserving(&address_sent, was_write, &beat);
    }
    d.axi_wvalid_i = d.axi_awvalid_i = 0;
    d.axi_bready_i = 1;
    int response = -1;
    while (response < 0 && !Stuck(begin)) {
      Settle();
      if (d.axi_bvalid_o) {
        response = d.axi_bresp_o;
        EXPECT_EQ(d.axi_bid_o, b.id);
      }
      Clock();
    }
    d.axi_bready_i = 0;
    return response;
  }

  // One clock; notes what the write channels transferred.
  void ClockObserving(bool* address_sent, bool write_valid, int* beat) {
    VAxiHbm& d = *dut_;
    const bool address_valid = d.axi_awvalid_i;
    bool aw = false, w = false;
    observe_ = [&] {
      aw = address_valid && d.axi_awready_o;
      w = write_valid && d.axi_wready_o;
    };
    ClockHooked();
    if (aw) *address_sent = true;
    if (w) {
      ++*beat;
      d.axi_wvalid_i = 0;
    }
  }

  // Clock() with a hook between the settled low phase and the rising edge.
  void ClockHooked() {
    VAxiHbm& d = *dut_;
    d.rd_ready_i = Chance();
    d.wr_ready_i = Chance();
    d.rd_rsp_valid_i = 0;
    d.clk_i = 0;
    d.eval();
    observe_();
    if (d.wr_valid_o && d.wr_ready_i) TakeWrite();
    d.clk_i = 1;
    d.eval();
    ++now_;
  }

  int Read(const Burst& b, std::vector<uint8_t>* data, int* cycles) {
    VAxiHbm& d = *dut_;
    d.axi_araddr_i = b.addr;
    d.axi_arlen_i = b.beats - 1;
    d.axi_arsize_i = b.size;
    d.axi_arburst_i = b.type;
    d.axi_arid_i = b.id;
    d.axi_arvalid_i = 1;
    Settle();
    const uint64_t offered = now_;
    while (!d.axi_arready_o && !Stuck(offered)) Clock();
    Clock();
    d.axi_arvalid_i = 0;
    data->assign(b.beats * kBeat, 0);
    int worst = kOkay;
    const uint64_t begin = now_;
    for (int beat = 0; beat < b.beats && !Stuck(begin);) {
      d.axi_rready_i = Chance();
      Settle();
      if (d.axi_rvalid_o && d.axi_rready_i) {
        std::memcpy(&(*data)[beat * kBeat], &d.axi_rdata_o, kBeat);
        if (d.axi_rresp_o != kOkay) worst = d.axi_rresp_o;
        EXPECT_EQ(d.axi_rid_o, b.id);
        EXPECT_EQ(d.axi_rlast_o, beat == b.beats - 1);
        ++beat;
      }
      Clock();
    }
    d.axi_rready_i = 0;
    *cycles = static_cast<int>(now_ - begin);
    return worst;
  }

  VerilatedContext context_;
  std::unique_ptr<VAxiHbm> dut_;
  std::vector<uint8_t> memory_;
  std::mt19937 rng_;
  std::deque<std::pair<uint64_t, uint64_t>>
      pending_;  // cycle of the answer, address
  std::function<void()> observe_;
  uint64_t now_ = 0;
  int reads_ = 0, writes_ = 0;  // HBM beats
};

TEST_P(AxiHbmTest, BurstsReadAndWriteTheirBytes) {
  std::vector<uint8_t> expected(kBytes);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << GetParam() << " round " << round);
    Burst b;
    b.beats = 1 + rng_() % (round % 8 == 0 ? 256 : 16);
    b.addr = rng_() % (kBytes / kBeat - b.beats + 1) * kBeat;
    b.id = rng_() % 16;
    if (rng_() % 2) {
      std::vector<uint8_t> data(b.beats * kBeat);
      std::vector<bool> strobes(data.size());
      for (size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<uint8_t>(rng_());
        strobes[i] = rng_() % 4 != 0;
        if (strobes[i]) expected[b.addr + i] = data[i];
      }
      const uint64_t begin = now_;
      const int writes = writes_;
      ASSERT_EQ(Write(b, data, strobes), kOkay);
      EXPECT_EQ(writes_ - writes, HbmBeats(b.addr, b.beats));
      if (GetParam() == 0)
        EXPECT_LE(static_cast<int>(now_ - begin), b.beats + 4)
            << "a beat a cycle";
    } else {
      std::vector<uint8_t> data;
      int cycles;
      const int reads = reads_;
      ASSERT_EQ(Read(b, &data, &cycles), kOkay);
      EXPECT_EQ(reads_ - reads, HbmBeats(b.addr, b.beats));
      ASSERT_TRUE(
          std::equal(data.begin(), data.end(), expected.begin() + b.addr));
      if (GetParam() == 0)
        EXPECT_LE(cycles, b.beats + kLatency + 6) << "a beat a cycle";
    }
  }
  EXPECT_EQ(memory_, expected);
}

TEST_P(AxiHbmTest, RefusedBurstsHaveNoEffect) {
  const Burst refused[] = {
      {.addr = 0x40, .beats = 4, .size = 4},             // narrow
      {.addr = 0x40, .beats = 4, .size = 5, .type = 0},  // FIXED
      {.addr = 0x40, .beats = 4, .size = 5, .type = 2},  // WRAP
      {.addr = 0x44, .beats = 4},                        // unaligned
      {.addr = kBytes - kBeat, .beats = 2},              // beyond the end
      {.addr = 0xfffffffe0, .beats = 2},  // beyond the address space
  };
  for (const Burst& b : refused) {
    SCOPED_TRACE(::testing::Message()
                 << std::hex << "address " << b.addr << " size " << b.size
                 << " type " << b.type);
    std::vector<uint8_t> data(b.beats * kBeat, 0xab);
    EXPECT_EQ(Write(b, data, std::vector<bool>(data.size(), true)),
              kSlaveError);
    int cycles;
    EXPECT_EQ(Read(b, &data, &cycles), kSlaveError);
  }
  EXPECT_EQ(writes_, 0);
  EXPECT_EQ(reads_, 0);
}

TEST_P(AxiHbmTest, ABurstMayEndWithTheMemory) {
  for (const int beats : {1, 2}) {
    SCOPED_TRACE(::testing::Message() << beats << " beats");
    const Burst b = {.addr = kBytes - beats * kBeat, .beats = beats};
    const std::vector<uint8_t> data(beats * kBeat, 0xab);
    EXPECT_EQ(Write(b, data, std::vector<bool>(data.size(), true)), kOkay);
    std::vector<uint8_t> got;
    int cycles;
    EXPECT_EQ(Read(b, &got, &cycles), kOkay);
    EXPECT_EQ(got, data);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, AxiHbmTest,
    ::testing::ValuesIn(systole::testing_options::SeedList(8, 0)));

}  // namespace
}  // namespace systole
