// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a read shows, to the cycle: status bits, a fault's registers, the ECC
// log; what a start and a reset clear.

#include <functional>
#include <vector>

#include "tests/rtl/host/csr_bench.h"

namespace systole {
namespace {

class CsrStatusTest : public CsrTest {
 protected:
  static constexpr int kShows = 1;  // cycles from the address to the value

  // A read that is taken at once, with `drive` called before each cycle.
  uint32_t ReadWith(uint32_t offset,
                    const std::function<void(int cycle)>& drive) {
    dut_->axil_araddr_i = offset;
    dut_->axil_arvalid_i = dut_->axil_rready_i = 1;
    uint32_t data = 0;
    int answers = 0;
    for (int cycle = 0; cycle < kMostCycles; ++cycle) {
      drive(cycle);
      dut_->clk_i = 0;
      dut_->eval();
      if (dut_->axil_rvalid_o) {
        data = dut_->axil_rdata_o;
        ++answers;
      }
      if (cycle == 0) EXPECT_TRUE(dut_->axil_arready_o);
      Clock();
      dut_->axil_arvalid_i = 0;
    }
    dut_->axil_rready_i = 0;
    EXPECT_EQ(answers, 1) << offset;
    return data;
  }
  void Start() {
    dut_->scalar_owns_i = dut_->scalar_start_i = 1;
    Clock();
    dut_->scalar_start_i = 0;
  }
};

TEST_F(CsrStatusTest, ARegisterShowsTheCycleOfItsRead) {
  struct Shown {
    uint32_t offset, mask;
    std::function<void(uint32_t)> drive;
  };
  const std::vector<Shown> all = {
      {csr::kStatus, csr::kStatusRunning,
       [this](uint32_t v) { dut_->running_i = v & 1; }},
      {csr::kStatus, csr::kStatusFault,
       [this](uint32_t v) { dut_->fault_i = v >> 2 & 1; }},
      {csr::kStatus, csr::kStatusResetting,
       [this](uint32_t v) { dut_->resetting_i = v >> 3 & 1; }},
      {csr::kAccSaturated, 1,
       [this](uint32_t v) { dut_->acc_saturated_i = v & 1; }},
      {csr::kFaultCause, 15,
       [this](uint32_t v) { dut_->fault_cause_i = v & 15; }},
      {csr::kFaultQueue, 7,
       [this](uint32_t v) { dut_->fault_queue_i = v & 7; }},
      {csr::kFaultPc, ~0u, [this](uint32_t v) { dut_->fault_pc_i = v; }},
      {csr::kFaultAddrLo, ~0u, [this](uint32_t v) { dut_->fault_addr_i = v; }},
      {csr::kFaultAddrHi, 15,
       [this](uint32_t v) { dut_->fault_addr_i = uint64_t{v & 15} << 32; }},
      {csr::kFaultCycleLo, ~0u,
       [this](uint32_t v) { dut_->fault_cycle_i = v; }},
      {csr::kFaultCycleHi, ~0u,
       [this](uint32_t v) { dut_->fault_cycle_i = uint64_t{v} << 32; }}};
  for (const Shown& shown : all) {
    for (const uint32_t value : {0x5a5a5a5au, 0xa5a5a5a5u}) {
      for (int at = 0; at < 6; ++at) {
        const uint32_t data = ReadWith(shown.offset, [&](int cycle) {
          shown.drive(cycle == at ? value : ~value);
        });
        EXPECT_EQ(data & shown.mask,
                  (at == kShows ? value : ~value) & shown.mask)
            << "offset " << shown.offset << ", cycle " << at;
        shown.drive(0);
      }
    }
  }
}

// Cycles from an address to its answer, one more of a read, whose data pass a
// register; registers elsewhere take one more, the high half of a counter two.
TEST_F(CsrStatusTest, AnAnswerComesInItsCycle) {
  const auto read = [this](uint32_t offset) {
    int at = -1;
    ReadWith(offset, [&](int cycle) {
      if (at < 0 && dut_->axil_rvalid_o) at = cycle;
    });
    return at;
  };
  const auto write = [this](uint32_t offset) {
    dut_->axil_awaddr_i = offset;
    dut_->axil_wdata_i = 0;
    dut_->axil_wstrb_i = 0xf;
    dut_->axil_awvalid_i = dut_->axil_wvalid_i = dut_->axil_bready_i = 1;
    int at = -1;
    for (int cycle = 0; cycle < kMostCycles; ++cycle) {
      if (at < 0 && dut_->axil_bvalid_o) at = cycle;
      Clock();
      dut_->axil_awvalid_i = dut_->axil_wvalid_i = 0;
    }
    dut_->axil_bready_i = 0;
    return at;
  };
  const bool scalar = dut_->has_scalar_o, links = dut_->has_links_o;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < round; ++i) Clock();
    EXPECT_EQ(read(csr::kStatus), 3);
    EXPECT_EQ(write(csr::kProgLen), 2);
    EXPECT_EQ(read(csr::kCounterBase + 4), 5);
    EXPECT_EQ(write(csr::kCounterBase), 3);
    if (!scalar) EXPECT_EQ(read(0x400), 4);
    if (!scalar) EXPECT_EQ(write(0x404), 3);
    if (!links) EXPECT_EQ(read(0x500), 4);
    if (!links) EXPECT_EQ(write(0x504), 3);
  }
}

// What comes of an event shows in the next cycle.
TEST_F(CsrStatusTest, AnEventShowsInTheNextCycle) {
  for (int at = 0; at < 6; ++at) {
    const bool shows = at < kShows;
    PowerUp(at + 1);
    const uint32_t status =
        ReadWith(csr::kStatus, [&](int c) { dut_->done_i = c == at; });
    EXPECT_EQ(status & csr::kStatusDone, shows ? csr::kStatusDone : 0u) << at;
    for (const uint32_t offset :
         {csr::kEccCorrected, csr::kEccUncorrected, csr::kEccFirstLo,
          csr::kEccFirstHi, csr::kEccLastLo, csr::kEccLastHi, csr::kEccBadLo,
          csr::kEccBadHi}) {
      PowerUp(at + 1);
      dut_->ecc_addr_i = 0x300000007;
      const uint32_t data = ReadWith(offset, [&](int cycle) {
        dut_->ecc_fixed_i = dut_->ecc_bad_i = cycle == at;
      });
      const bool high = offset == csr::kEccFirstHi ||
                        offset == csr::kEccLastHi || offset == csr::kEccBadHi;
      const bool count =
          offset == csr::kEccCorrected || offset == csr::kEccUncorrected;
      EXPECT_EQ(data, !shows  ? 0u
                      : high  ? 3u
                      : count ? 1u
                              : 7u)
          << "offset " << offset << ", cycle " << at;
    }
  }
}

// The interrupt line follows its register: it rises in the cycle behind the
// event, and not for those that are not enabled.
TEST_F(CsrStatusTest, TheInterruptRisesBehindItsEvent) {
  for (const bool enabled : {false, true}) {
    PowerUp(3);
    Write(csr::kIrqEnable, enabled ? csr::kIrqDone : 0u);
    Clock();
    dut_->done_i = 1;
    dut_->clk_i = 0;
    dut_->eval();
    EXPECT_FALSE(dut_->irq_o);
    Clock();
    dut_->done_i = 0;
    EXPECT_EQ(dut_->irq_o, enabled);
    Clock();
    EXPECT_EQ(dut_->irq_o, enabled);
  }
}

// A start clears `done` and the counters; a done in the cycle of a reset's
// request is not lost.
TEST_F(CsrStatusTest, AStartClearsWhatWasBefore) {
  const auto done = [this] { return Get(csr::kStatus) & csr::kStatusDone; };
  for (const int cycles : {1, 5, 40}) {
    dut_->done_i = 1;
    Clock();
    dut_->done_i = 0;
    EXPECT_TRUE(done());
    Start();
    dut_->running_i = 1;
    for (int i = 0; i < cycles; ++i) Clock();
    dut_->running_i = 0;
    Clock();
    EXPECT_EQ(dut_->cycle_o, cycles);
    EXPECT_EQ(Counter(0), cycles);
    EXPECT_FALSE(done()) << cycles;
  }
  // It is cleared in the cycle behind the start.
  dut_->done_i = 1;
  Clock();
  dut_->done_i = 0;
  for (int at = 0; at < 4; ++at) {
    const uint32_t status = ReadWith(
        csr::kStatus, [&](int cycle) { dut_->scalar_start_i = cycle == at; });
    EXPECT_EQ((status & csr::kStatusDone) == 0, at < kShows) << at;
    dut_->done_i = 1;
    Clock();
    dut_->done_i = 0;
  }
  dut_->done_i = dut_->scalar_reset_i = 1;
  Clock();
  dut_->done_i = 0;
  dut_->scalar_reset_i = 0;
  EXPECT_TRUE(done());
  dut_->scalar_reset_i = 1;
  Clock();
  dut_->scalar_reset_i = 0;
  EXPECT_FALSE(done());
}

// A reset clears it too, and begins the search for a fault anew.
TEST_F(CsrStatusTest, AResetClearsWhatWasBefore) {
  dut_->done_i = dut_->fault_i = 1;
  dut_->ecc_fixed_i = dut_->ecc_bad_i = 1;
  dut_->ecc_addr_i = 0x300000007;
  Clock();
  dut_->done_i = dut_->ecc_fixed_i = dut_->ecc_bad_i = 0;
  Clock();
  EXPECT_EQ(Get(csr::kIrq), csr::kIrqDone | csr::kIrqFault);
  dut_->rst_ni = 0;
  Clock();
  dut_->rst_ni = 1;
  Clock();
  EXPECT_EQ(Get(csr::kStatus), csr::kStatusFault);
  EXPECT_EQ(Get(csr::kIrq), csr::kIrqFault);
  for (const uint32_t offset :
       {csr::kEccCorrected, csr::kEccUncorrected, csr::kEccFirstLo,
        csr::kEccFirstHi, csr::kEccLastLo, csr::kEccLastHi, csr::kEccBadLo,
        csr::kEccBadHi})
    EXPECT_EQ(Get(offset), 0u) << offset;
}

// Of a read and a write that come together, that goes first which was not
// last; behind a reset the read.
TEST_F(CsrStatusTest, ReadsAndWritesTakeTurns) {
  uint32_t value = Get(csr::kProgLen);
  const auto both = [&](bool read_first, const char* what) {
    const uint32_t old = value;
    value += 0x01010101;
    dut_->axil_awaddr_i = csr::kProgLen;
    dut_->axil_wdata_i = value;
    dut_->axil_wstrb_i = 0xf;
    dut_->axil_awvalid_i = dut_->axil_wvalid_i = dut_->axil_bready_i = 1;
    const uint32_t data = ReadWith(csr::kProgLen, [this](int cycle) {
      if (cycle == 1) dut_->axil_awvalid_i = dut_->axil_wvalid_i = 0;
    });
    dut_->axil_bready_i = 0;
    EXPECT_EQ(data, read_first ? old : value) << what;
    EXPECT_EQ(Get(csr::kProgLen), value) << what;
  };
  for (int round = 0; round < 3; ++round) {
    dut_->rst_ni = 0;
    Clock();
    dut_->rst_ni = 1;
    Clock();
    value = 0;
    both(true, "behind a reset");
    both(false, "behind a read");
    Write(csr::kWatchdog, 5);
    both(true, "behind a write");
  }
}

// A reset in any cycle of an access ends it: no answer comes, and the next
// access has its own.
TEST_F(CsrStatusTest, AResetEndsAnAccess) {
  for (const uint32_t offset : {uint32_t{csr::kProgLen}, csr::kCounterBase,
                                csr::kCounterBase + 4, 0x404u, 0x504u}) {
    for (const bool write : {false, true}) {
      for (int at = 1; at < 8; ++at) {
        dut_->axil_araddr_i = dut_->axil_awaddr_i = offset;
        dut_->axil_wstrb_i = 0xf;
        dut_->axil_wdata_i = 7;
        dut_->axil_arvalid_i = !write;
        dut_->axil_awvalid_i = dut_->axil_wvalid_i = write;
        dut_->axil_rready_i = dut_->axil_bready_i = 0;
        for (int cycle = 0; cycle < at; ++cycle) {
          Clock();
          dut_->axil_arvalid_i = 0;
          dut_->axil_awvalid_i = dut_->axil_wvalid_i = 0;
        }
        scalar_ = links_ = {};  // they are reset, too
        dut_->rst_ni = 0;
        Clock();
        dut_->rst_ni = 1;
        for (int cycle = 0; cycle < kMostCycles; ++cycle) {
          EXPECT_FALSE(dut_->axil_rvalid_o || dut_->axil_bvalid_o)
              << offset << ", " << at;
          Clock();
        }
        EXPECT_EQ(Get(csr::kProgLen), 0u) << offset << ", " << at;
      }
    }
  }
}

}  // namespace
}  // namespace systole
