// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The registers between an AXI4-Lite master and inputs that a test drives.
#ifndef SYSTOLE_TESTS_RTL_HOST_CSR_BENCH_H_
#define SYSTOLE_TESTS_RTL_HOST_CSR_BENCH_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

#include "VCsr.h"
#include "systole/gen/csr.h"
#include "verilated.h"

namespace systole {

inline constexpr int kOkay = 0, kSlaveError = 2;
inline constexpr int kMostCycles = 12;  // of a read, from address to answer

// What each counter may grow by in a cycle (most_a_cycle in csr.rdl).
inline uint32_t Most(int counter) {
  using csr::Counter;
  switch (static_cast<Counter>(counter)) {
    case Counter::kDescriptors:
      return 7;
    case Counter::kLoadBytes:
    case Counter::kWeightBytes:
    case Counter::kStoreBytes:
    case Counter::kFetchBytes:
      return 512;
    case Counter::kHbmActivates:
    case Counter::kHbmRefresh:
    case Counter::kSendBytes:
      return 64;
    case Counter::kMxuNan:
    case Counter::kMxuInf:
    case Counter::kVectorNan:
    case Counter::kVectorInf:
      return 256;
    default:
      return 1;
  }
}

class CsrTest : public ::testing::Test {
 protected:
  CsrTest() {
    context_.randReset(2);
    PowerUp(3);
  }

  // A new one, with other values in all registers before the reset.
  void PowerUp(int seed) {
    context_.randSeed(seed);
    dut_ = std::make_unique<VCsr>(&context_);
    dut_->rst_ni = 0;
    for (int i = 0; i < 3; ++i) Clock();
    dut_->axil_awvalid_i = dut_->axil_wvalid_i = dut_->axil_bready_i =
        dut_->axil_arvalid_i = dut_->axil_rready_i = 0;
    dut_->running_i = dut_->done_i = dut_->resetting_i = dut_->fault_i = 0;
    dut_->ecc_fixed_i = dut_->ecc_bad_i = 0;
    dut_->scalar_owns_i = dut_->scalar_start_i = dut_->scalar_reset_i =
        dut_->scalar_irq_i = dut_->scalar_ack_i = dut_->link_ack_i = 0;
    std::fill_n(&dut_->ctr_inc_i[0], sizeof(dut_->ctr_inc_i) / 4, 0);
    SetIncrement(0, 1);  // cycles
    dut_->rst_ni = 1;
    Clock();
  }

  void Clock() {
    dut_->clk_i = 0;
    dut_->eval();
    if (dut_->host_valid_o && dut_->rst_ni) {
      Ask(&scalar_, dut_->host_write_o, dut_->host_index_o, dut_->host_data_o);
    }
    if (dut_->link_valid_o && dut_->rst_ni) {
      Ask(&links_, dut_->link_write_o, dut_->link_index_o, dut_->link_data_o);
    }
    dut_->scalar_ack_i = Answers(&scalar_) && dut_->has_scalar_o;
    dut_->link_ack_i = Answers(&links_);
    dut_->eval();
    started_ |= dut_->start_o;
    reset_asked_ |= dut_->reset_req_o;
    dut_->clk_i = 1;
    dut_->eval();
    ++clocks_;
  }

  // Of registers elsewhere, which answer some cycles later.
  struct Remote {
    int requests = 0, answer_in = 0;
    bool write = false;
    uint32_t index = 0, data = 0;
  };
  void Ask(Remote* remote, bool write, uint32_t index, uint32_t data) {
    *remote = {remote->requests + 1, 2 + static_cast<int>(rng_() % 4), write,
               index, data};
  }
  static bool Answers(Remote* remote) {
    return remote->answer_in > 0 && --remote->answer_in == 0;
  }

  // Raises address and data in random order and leaves random gaps before the
  // response is taken.
  int Write(uint32_t offset, uint32_t data, int strobes = 0xf) {
    int address_at = rng_() % 3, data_at = rng_() % 3;
    bool address_sent = false, data_sent = false;
    dut_->axil_awaddr_i = offset;
    dut_->axil_wdata_i = data;
    dut_->axil_wstrb_i = strobes;
    for (int cycle = 0; !(address_sent && data_sent); ++cycle) {
      dut_->axil_awvalid_i = cycle >= address_at && !address_sent;
      dut_->axil_wvalid_i = cycle >= data_at && !data_sent;
      dut_->clk_i = 0;
      dut_->eval();
      address_sent |= dut_->axil_awvalid_i && dut_->axil_awready_o;
      data_sent |= dut_->axil_wvalid_i && dut_->axil_wready_o;
      Clock();
    }
    dut_->axil_awvalid_i = dut_->axil_wvalid_i = 0;
    for (int gap = rng_() % 3; gap > 0; --gap) Clock();
    dut_->axil_bready_i = 1;
    for (int cycle = 0; !dut_->axil_bvalid_o; ++cycle) {
      if (cycle == kMostCycles) {
        ADD_FAILURE() << "no answer to a write of offset " << offset;
        return -1;
      }
      Clock();
    }
    const int response = dut_->axil_bresp_o;
    Clock();
    dut_->axil_bready_i = 0;
    return response;
  }

  int Read(uint32_t offset, uint32_t* data) {
    dut_->axil_araddr_i = offset;
    dut_->axil_arvalid_i = 1;
    dut_->axil_rready_i = 0;
    do {
      dut_->clk_i = 0;
      dut_->eval();
      const bool sent = dut_->axil_arvalid_i && dut_->axil_arready_o;
      Clock();
      if (sent) dut_->axil_arvalid_i = 0;
    } while (dut_->axil_arvalid_i);
    for (int cycle = 0; !dut_->axil_rvalid_o; ++cycle) {
      if (cycle == kMostCycles) {
        ADD_FAILURE() << "no answer from offset " << offset;
        return -1;
      }
      Clock();
    }
    for (int gap = rng_() % 3; gap > 0; --gap) Clock();
    *data = dut_->axil_rdata_o;
    const int response = dut_->axil_rresp_o;
    dut_->axil_rready_i = 1;
    Clock();
    dut_->axil_rready_i = 0;
    return response;
  }

  uint32_t Get(uint32_t offset) {
    uint32_t data = 0;
    EXPECT_EQ(Read(offset, &data), kOkay) << "offset " << offset;
    return data;
  }

  void SetIncrement(int counter, uint32_t amount) {
    constexpr int kBits = 10;  // CtrIncBits
    for (int b = 0; b < kBits; ++b) {
      const int bit = counter * kBits + b;
      uint32_t& word = dut_->ctr_inc_i[bit / 32];
      word = (word & ~(1u << (bit % 32))) | ((amount >> b & 1) << (bit % 32));
    }
  }

  uint64_t Counter(int i) {
    const uint64_t low = Get(csr::kCounterBase + 8 * i);
    return static_cast<uint64_t>(Get(csr::kCounterBase + 8 * i + 4)) << 32 |
           low;
  }

  VerilatedContext context_;
  std::unique_ptr<VCsr> dut_;
  std::minstd_rand rng_{5};
  bool started_ = false, reset_asked_ = false;
  Remote scalar_, links_;
  uint64_t clocks_ = 0;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_RTL_HOST_CSR_BENCH_H_
