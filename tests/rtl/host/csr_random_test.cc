// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// All offsets, in any order, against a model of the registers; requests that
// do not wait for answers; the scalar unit in the host's place.

#include <deque>
#include <map>
#include <vector>

#include "systole/gen/isa.h"
#include "tests/rtl/host/csr_bench.h"

namespace systole {
namespace {

constexpr uint64_t kAddrMask = (uint64_t{1} << 36) - 1;
constexpr uint32_t kCounterEnd = csr::kCounterBase + 8 * csr::kNumCounters;
constexpr uint32_t kScalarBase = 0x400, kScalarEnd = 0x41c;
constexpr uint32_t kLinksBase = csr::kLinksCount,
                   kLinksEnd = csr::kLinksPeer + 4;

class CsrRandomTest : public CsrTest {
 protected:
  uint32_t Bits() { return rng_() * 2654435761u ^ rng_() >> 7; }

  void Reset(int seed) {
    PowerUp(seed);
    stored_ = {{csr::kIrqEnable, 0},  {csr::kProgAddrLo, 0},
               {csr::kProgAddrHi, 0}, {csr::kProgLen, 0},
               {csr::kWatchdog, 0},   {csr::kHbmLimitLo, 0},
               {csr::kHbmLimitHi, 0}, {csr::kScrubPeriod, 1000000}};
    for (auto& [offset, value] : stored_) value = Get(offset);
    EXPECT_EQ(stored_[csr::kScrubPeriod], 1000000u);
    EXPECT_EQ(stored_[csr::kIrqEnable], 0u);
    irq_ = 0;
    done_ = false;
    fixed_ = bad_ = 0;
    first_ = last_ = first_bad_ = 0;
    EXPECT_EQ(dut_->cycle_o, 0u);
    limit_ = 0;
  }

  // Registers that only show what is driven.
  std::map<uint32_t, uint32_t> Shown() const {
    return {
        {csr::kId, 0x53595354},
        {csr::kVersion, isa::kVersion},
        {csr::kPreset, dut_->has_scalar_o ? 8 : 3},
        {csr::kStatus, (dut_->running_i ? csr::kStatusRunning : 0) |
                           (done_ ? csr::kStatusDone : 0) |
                           (dut_->fault_i ? csr::kStatusFault : 0) |
                           (dut_->resetting_i ? csr::kStatusResetting : 0)},
        {csr::kFaultCause, dut_->fault_cause_i},
        {csr::kFaultQueue, dut_->fault_queue_i},
        {csr::kFaultPc, dut_->fault_pc_i},
        {csr::kFaultAddrLo, static_cast<uint32_t>(dut_->fault_addr_i)},
        {csr::kFaultAddrHi, static_cast<uint32_t>(dut_->fault_addr_i >> 32)},
        {csr::kFaultCycleLo, static_cast<uint32_t>(dut_->fault_cycle_i)},
        {csr::kFaultCycleHi, static_cast<uint32_t>(dut_->fault_cycle_i >> 32)},
        {csr::kAccSaturated, dut_->acc_saturated_i},
        {csr::kEccCorrected, fixed_},
        {csr::kEccUncorrected, bad_},
        {csr::kEccFirstLo, static_cast<uint32_t>(first_)},
        {csr::kEccFirstHi, static_cast<uint32_t>(first_ >> 32)},
        {csr::kEccLastLo, static_cast<uint32_t>(last_)},
        {csr::kEccLastHi, static_cast<uint32_t>(last_ >> 32)},
        {csr::kEccBadLo, static_cast<uint32_t>(first_bad_)},
        {csr::kEccBadHi, static_cast<uint32_t>(first_bad_ >> 32)}};
  }

  // New values at the inputs, and a cycle in which they count.
  void Drive() {
    const bool fault = rng_() % 3 == 0;
    if (fault && !dut_->fault_i) irq_ |= csr::kIrqFault;
    dut_->fault_i = fault;
    dut_->resetting_i = rng_() % 4 == 0;
    dut_->running_i = rng_() % 4 == 0;
    dut_->fault_cause_i = rng_() % 16;
    dut_->fault_queue_i = rng_() % 8;
    dut_->fault_pc_i = Bits();
    dut_->fault_addr_i = (uint64_t{Bits()} << 32 | Bits()) & kAddrMask;
    dut_->fault_cycle_i = uint64_t{Bits()} << 32 | Bits();
    dut_->acc_saturated_i = rng_() % 2;
    dut_->done_i = rng_() % 3 == 0;
    if (dut_->done_i) irq_ |= csr::kIrqDone, done_ = true;
    dut_->scalar_irq_i = rng_() % 3 == 0;
    if (dut_->scalar_irq_i) irq_ |= csr::kIrqScalar;
    dut_->ecc_fixed_i = rng_() % 3 == 0;
    dut_->ecc_bad_i = rng_() % 4 == 0;
    dut_->ecc_addr_i = (uint64_t{Bits()} << 32 | Bits()) & kAddrMask;
    if (dut_->ecc_fixed_i) {
      if (fixed_++ == 0) first_ = dut_->ecc_addr_i;
      last_ = dut_->ecc_addr_i;
    }
    if (dut_->ecc_bad_i && bad_++ == 0) first_bad_ = dut_->ecc_addr_i;
    Clock();
    dut_->done_i = dut_->scalar_irq_i = dut_->ecc_fixed_i = dut_->ecc_bad_i = 0;
  }

  bool Idle() const {
    return !dut_->running_i && !dut_->fault_i && !dut_->resetting_i;
  }

  uint64_t HostsLimit() {
    return (uint64_t{stored_[csr::kHbmLimitHi]} << 32 |
            stored_[csr::kHbmLimitLo]) &
           (2 * kAddrMask + 1);
  }

  void CheckOutputs() {
    Clock();  // the limit is a cycle late, and stays while a program runs
    if (Idle()) limit_ = HostsLimit();
    const auto wide = [this](uint32_t low, uint32_t high) {
      return uint64_t{stored_[high]} << 32 | stored_[low];
    };
    EXPECT_EQ(dut_->prog_addr_o,
              wide(csr::kProgAddrLo, csr::kProgAddrHi) & kAddrMask);
    EXPECT_EQ(dut_->hbm_limit_o, limit_);
    EXPECT_EQ(dut_->prog_len_o, stored_[csr::kProgLen]);
    EXPECT_EQ(dut_->watchdog_o, stored_[csr::kWatchdog]);
    EXPECT_EQ(dut_->scrub_o, stored_[csr::kScrubPeriod]);
    const uint32_t there = dut_->has_scalar_o ? 7 : 3;
    EXPECT_EQ(dut_->irq_o, (irq_ & stored_[csr::kIrqEnable] & there) != 0);
    EXPECT_EQ(dut_->issue_o, 0);
    EXPECT_EQ(dut_->base_o, 0u);
    EXPECT_EQ(dut_->isolated_o, 0);
  }

  void CheckRead(uint32_t offset) {
    uint32_t data = 0;
    const uint32_t word = offset & ~3u;
    dut_->scalar_data_i = Bits();
    dut_->link_data_i = Bits();
    const int scalar = scalar_.requests, links = links_.requests;
    const int answer = Read(offset, &data);
    const bool of_links = word >= kLinksBase && word < kLinksEnd;
    EXPECT_EQ(links_.requests - links, of_links && dut_->has_links_o);
    const auto shown = Shown();
    if (stored_.count(word) || shown.count(word) || word == csr::kIrq) {
      EXPECT_EQ(answer, kOkay);
      EXPECT_EQ(data, stored_.count(word) ? stored_[word]
                      : word == csr::kIrq ? irq_
                                          : shown.at(word));
    } else if (word >= kScalarBase && word < kScalarEnd) {
      EXPECT_EQ(answer, kOkay);
      EXPECT_EQ(scalar_.requests, scalar + 1);
      EXPECT_FALSE(scalar_.write);
      EXPECT_EQ(scalar_.index, (word - kScalarBase) / 4);
      EXPECT_EQ(data, dut_->has_scalar_o ? dut_->scalar_data_i : 0);
      return;
    } else if (of_links) {
      EXPECT_EQ(answer, kOkay);
      EXPECT_EQ(data, dut_->has_links_o ? dut_->link_data_i : 0);
      if (dut_->has_links_o) {
        EXPECT_FALSE(links_.write);
        EXPECT_EQ(links_.index, (word - kLinksBase) / 4);
      }
    } else if (word >= csr::kCounterBase && word < kCounterEnd) {
      EXPECT_EQ(answer, kOkay);  // what it says: csr_test.cc
    } else {
      EXPECT_EQ(answer, kSlaveError);
    }
    EXPECT_EQ(scalar_.requests, scalar);
  }

  void CheckWrite(uint32_t offset) {
    const uint32_t word = offset & ~3u, data = Bits();
    const int strobes = rng_() % 3 == 0 ? 15 : rng_() % 16;
    uint32_t mask = 0;
    for (int i = 0; i < 4; ++i) mask |= (strobes >> i & 1) * (0xffu << (8 * i));
    started_ = reset_asked_ = false;
    const int scalar = scalar_.requests, links = links_.requests;
    const int answer = Write(offset, data, strobes);
    Clock();
    const bool of_links = word >= kLinksBase && word < kLinksEnd;
    const bool of_scalar = word >= kScalarBase && word < kScalarEnd;
    EXPECT_EQ(links_.requests - links, of_links && dut_->has_links_o);
    EXPECT_EQ(scalar_.requests - scalar, of_scalar);
    const uint32_t now = data & mask;
    bool known = true, start = false, reset = false;
    if (stored_.count(word)) {
      stored_[word] = (stored_[word] & ~mask) | now;
    } else if (word == csr::kIrq) {
      irq_ &= ~now;
    } else if (word == csr::kCtrl) {
      start = (now & csr::kCtrlStart) && !dut_->running_i && !dut_->fault_i &&
              !dut_->resetting_i;
      reset = (now & csr::kCtrlReset) && !dut_->resetting_i;
      if (start || reset) done_ = false;
    } else if (word == csr::kEccCtrl) {
      // Addresses stay, but the next event is the first.
      if (now & csr::kEccCtrlClear) fixed_ = bad_ = 0;
    } else if (of_scalar) {
      EXPECT_TRUE(scalar_.write);
      EXPECT_EQ(scalar_.index, (word - kScalarBase) / 4);
      EXPECT_EQ(scalar_.data, data);
    } else if (of_links) {
      if (dut_->has_links_o) {
        EXPECT_TRUE(links_.write);
        EXPECT_EQ(links_.index, (word - kLinksBase) / 4);
        EXPECT_EQ(links_.data, data);
      }
    } else {
      known = word >= csr::kCounterBase && word < kCounterEnd;
    }
    EXPECT_EQ(answer, known ? kOkay : kSlaveError);
    EXPECT_EQ(started_, start);
    EXPECT_EQ(reset_asked_, reset);
  }

  std::map<uint32_t, uint32_t> stored_;
  uint32_t irq_ = 0, fixed_ = 0, bad_ = 0;
  uint64_t first_ = 0, last_ = 0, first_bad_ = 0;
  bool done_ = false;
  uint64_t limit_ = 0;  // that programs have
};

TEST_F(CsrRandomTest, AnyAccessDoesWhatItSaysAndNothingElse) {
  const uint32_t edges[] = {
      0x1f8,      0x1fc, 0x300, kCounterEnd - 4, kCounterEnd, 0x3fc,
      kScalarEnd, 0x800, 0xffc, kLinksBase - 4,  kLinksEnd};
  for (int seed = 1; seed <= 4; ++seed) {
    Reset(seed);
    for (int round = 0; round < 1500 && !HasFailure(); ++round) {
      uint32_t offset = rng_() % 0x90;
      if (rng_() % 8 == 0) offset = kScalarBase + rng_() % 0x1c;
      if (rng_() % 8 == 0) offset = kLinksBase + rng_() % 0x20;
      if (rng_() % 16 == 0) offset = edges[rng_() % std::size(edges)];
      SCOPED_TRACE(::testing::Message() << "offset " << offset << " seed "
                                        << seed << " round " << round);
      if (rng_() % 2) Drive();
      rng_() % 2 ? CheckRead(offset) : CheckWrite(offset);
      CheckOutputs();
    }
  }
}

// Up to four requests on their way: answers come in the order of the requests
// of their kind, each once, and hold until they are taken.
TEST_F(CsrRandomTest, RequestsNeedNotWaitForAnswers) {
  const uint32_t offsets[] = {csr::kId,    csr::kProgLen,   csr::kWatchdog,
                              0x0fc,       csr::kVersion,   csr::kScrubPeriod,
                              kScalarBase, csr::kLinksTorus};
  for (int seed = 1; seed <= 3; ++seed) {
    PowerUp(seed);
    std::deque<uint32_t> reads, writes;
    std::deque<uint32_t> addresses, data;
    std::map<uint32_t, uint32_t> last;
    int most = 0;
    dut_->scalar_data_i = 77;
    dut_->link_data_i = 78;
    for (int cycle = 0; cycle < 4000 && !HasFailure(); ++cycle) {
      const bool more = cycle < 3900;
      if (!dut_->axil_arvalid_i && more && rng_() % 2) {
        dut_->axil_arvalid_i = 1;
        dut_->axil_araddr_i = offsets[rng_() % std::size(offsets)];
      }
      if (!dut_->axil_awvalid_i && more && rng_() % 3 == 0) {
        dut_->axil_awvalid_i = 1;
        dut_->axil_awaddr_i = offsets[rng_() % std::size(offsets)];
      }
      if (!dut_->axil_wvalid_i && more && rng_() % 3 == 0) {
        dut_->axil_wvalid_i = 1;
        dut_->axil_wdata_i = Bits();
        dut_->axil_wstrb_i = 15;
      }
      const bool slow = cycle / 100 % 2;
      dut_->axil_rready_i = rng_() % (slow ? 16 : 2) == 0;
      dut_->axil_bready_i = rng_() % (slow ? 16 : 2) == 0;
      dut_->clk_i = 0;
      dut_->eval();
      const bool ar = dut_->axil_arvalid_i && dut_->axil_arready_o,
                 aw = dut_->axil_awvalid_i && dut_->axil_awready_o,
                 w = dut_->axil_wvalid_i && dut_->axil_wready_o;
      if (dut_->axil_rvalid_o && dut_->axil_rready_i) {
        ASSERT_FALSE(reads.empty()) << cycle;
        const uint32_t offset = reads.front();
        reads.pop_front();
        EXPECT_EQ(dut_->axil_rresp_o, offset == 0x0fc ? kSlaveError : kOkay);
        if (offset == csr::kId) EXPECT_EQ(dut_->axil_rdata_o, 0x53595354u);
        if (offset == csr::kVersion)
          EXPECT_EQ(dut_->axil_rdata_o, isa::kVersion);
        if (offset == csr::kLinksTorus)
          EXPECT_EQ(dut_->axil_rdata_o, dut_->has_links_o ? 78u : 0u);
      }
      if (dut_->axil_bvalid_o && dut_->axil_bready_i) {
        ASSERT_FALSE(writes.empty()) << cycle;
        const uint32_t offset = writes.front();
        writes.pop_front();
        const bool refused =
            offset == 0x0fc || offset == csr::kId || offset == csr::kVersion;
        EXPECT_EQ(dut_->axil_bresp_o, refused ? kSlaveError : kOkay) << cycle;
      }
      if (ar) reads.push_back(dut_->axil_araddr_i);
      if (aw) addresses.push_back(dut_->axil_awaddr_i);
      if (w) data.push_back(dut_->axil_wdata_i);
      while (!addresses.empty() && !data.empty()) {
        last[addresses.front()] = data.front();
        writes.push_back(addresses.front());
        addresses.pop_front();
        data.pop_front();
      }
      most = std::max(most, static_cast<int>(reads.size() + writes.size()));
      Clock();
      if (ar) dut_->axil_arvalid_i = 0;
      if (aw) dut_->axil_awvalid_i = 0;
      if (w) dut_->axil_wvalid_i = 0;
    }
    // What is half there is completed.
    dut_->axil_rready_i = dut_->axil_bready_i = 1;
    EXPECT_GE(most, 4);
    EXPECT_LE(most, 6);
    for (int i = 0; i < 100; ++i) {
      if (dut_->axil_rvalid_o) reads.pop_front();
      if (dut_->axil_bvalid_o) writes.pop_front();
      Clock();
    }
    EXPECT_TRUE(reads.empty());
    EXPECT_TRUE(writes.empty());
    if (addresses.empty() && data.empty()) {
      dut_->axil_rready_i = dut_->axil_bready_i = 0;
      for (const uint32_t offset :
           {csr::kProgLen, csr::kWatchdog, csr::kScrubPeriod})
        EXPECT_EQ(Get(offset), last[offset]) << offset;
    }
  }
}

TEST_F(CsrRandomTest, CyclesCountFromTheStart) {
  EXPECT_EQ(dut_->cycle_o, 0u);
  for (int round = 0; round < 20; ++round) {
    started_ = false;
    Write(csr::kCtrl, csr::kCtrlStart);
    ASSERT_TRUE(started_);
    ASSERT_EQ(dut_->cycle_o, 0u);
    uint64_t cycles = 0;
    for (int i = 0; i < 100; ++i) {
      dut_->running_i = rng_() % 4 != 0;
      cycles += dut_->running_i;
      Clock();
      ASSERT_EQ(dut_->cycle_o, cycles);
    }
    dut_->running_i = 0;
  }
}

TEST_F(CsrRandomTest, TheScalarUnitTakesTheHostsPlace) {
  Reset(9);
  uint64_t base = 0, limit = HostsLimit();  // they hold while a program runs
  int isolated = 0;
  for (int round = 0; round < 2000 && !HasFailure(); ++round) {
    const bool owns = rng_() % 2;
    dut_->scalar_owns_i = owns;
    dut_->scalar_start_i = rng_() % 2;
    dut_->scalar_reset_i = rng_() % 2;
    dut_->scalar_prog_addr_i = (uint64_t{Bits()} << 32 | Bits()) & kAddrMask;
    dut_->scalar_prog_len_i = Bits();
    dut_->scalar_watchdog_i = Bits();
    dut_->scalar_limit_i = (uint64_t{Bits()} << 32 | Bits()) & kAddrMask;
    dut_->scalar_issue_i = rng_() % 2;
    dut_->scalar_base_i = (uint64_t{Bits()} << 32 | Bits()) & kAddrMask;
    dut_->scalar_isolated_i = rng_() % 2;
    dut_->running_i = rng_() % 3 == 0;
    dut_->fault_i = rng_() % 3 == 0;
    dut_->resetting_i = rng_() % 3 == 0;
    dut_->clk_i = 0;
    dut_->eval();
    EXPECT_EQ(dut_->start_o, owns && dut_->scalar_start_i && Idle());
    EXPECT_EQ(dut_->reset_req_o, dut_->scalar_reset_i && !dut_->resetting_i);
    EXPECT_EQ(dut_->issue_o, owns && dut_->scalar_issue_i);
    EXPECT_EQ(dut_->base_o, base);
    EXPECT_EQ(dut_->isolated_o, isolated);
    EXPECT_EQ(dut_->hbm_limit_o, limit);
    if (Idle()) {
      base = owns ? dut_->scalar_base_i : 0;
      isolated = owns && dut_->scalar_isolated_i && dut_->has_scalar_o;
      limit = owns ? dut_->scalar_limit_i : HostsLimit();
    }
    EXPECT_EQ(dut_->prog_addr_o, owns ? dut_->scalar_prog_addr_i : 0);
    EXPECT_EQ(dut_->prog_len_o, owns ? dut_->scalar_prog_len_i : 0);
    EXPECT_EQ(dut_->watchdog_o,
              owns ? dut_->scalar_watchdog_i : stored_[csr::kWatchdog]);
    Clock();
  }
}

}  // namespace
}  // namespace systole
