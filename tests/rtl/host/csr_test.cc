// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Registers, counters, interrupt and soft reset.

#include "systole/gen/isa.h"
#include "tests/rtl/host/csr_bench.h"

namespace systole {
namespace {

TEST_F(CsrTest, IdentifiesItself) {
  EXPECT_EQ(Get(csr::kId), 0x53595354u);
  EXPECT_EQ(Get(csr::kPreset), dut_->has_scalar_o ? 8u : 3u);
  EXPECT_EQ(Get(csr::kVersion), isa::kVersion);
  for (const int saturated : {0, 1}) {
    dut_->acc_saturated_i = saturated;
    EXPECT_EQ(Get(csr::kAccSaturated), saturated);
  }
}

TEST_F(CsrTest, EccIsCountedWithTheFirstAndTheLastAddress) {
  const auto event = [this](bool fixed, bool bad, uint64_t address) {
    dut_->ecc_fixed_i = fixed;
    dut_->ecc_bad_i = bad;
    dut_->ecc_addr_i = address;
    Clock();
    dut_->ecc_fixed_i = dut_->ecc_bad_i = 0;
  };
  const auto get64 = [this](uint32_t offset) {
    return uint64_t{Get(offset + 4)} << 32 | Get(offset);
  };
  EXPECT_EQ(Get(csr::kScrubPeriod), 1000000u);
  EXPECT_EQ(Write(csr::kScrubPeriod, 77), kOkay);
  EXPECT_EQ(dut_->scrub_o, 77u);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Get(csr::kEccCorrected), 0u);
    EXPECT_EQ(Get(csr::kEccUncorrected), 0u);
    event(true, false, 0x912345678);
    event(true, false, 0x112345678);
    event(false, true, 0xABCDEF008);
    event(true, true, 0x0F0F0F0F0);
    EXPECT_EQ(Get(csr::kEccCorrected), 3u);
    EXPECT_EQ(Get(csr::kEccUncorrected), 2u);
    EXPECT_EQ(get64(csr::kEccFirstLo), 0x912345678u);
    EXPECT_EQ(get64(csr::kEccLastLo), 0x0F0F0F0F0u);
    EXPECT_EQ(get64(csr::kEccBadLo), 0xABCDEF008u);
    EXPECT_EQ(Write(csr::kEccCtrl, csr::kEccCtrlClear), kOkay);
  }
}

// Whatever was in the registers before the reset.
TEST_F(CsrTest, RegistersBeginAsTheDescriptionSays) {
  for (int seed = 1; seed <= 4; ++seed) {
    PowerUp(seed);
    started_ = reset_asked_ = false;
    EXPECT_EQ(Get(csr::kIrq), 0u);
    EXPECT_EQ(Get(csr::kIrqEnable), 0u);
    EXPECT_EQ(Get(csr::kProgAddrLo), 0u);
    EXPECT_EQ(Get(csr::kProgAddrHi), 0u);
    EXPECT_EQ(Get(csr::kProgLen), 0u);
    EXPECT_EQ(Get(csr::kWatchdog), 1u << 18);
    EXPECT_EQ(Get(csr::kHbmLimitLo), 0xffffffffu);
    EXPECT_EQ(Get(csr::kHbmLimitHi), 0xfu);
    EXPECT_EQ(Get(csr::kScrubPeriod), 1000000u);
    EXPECT_FALSE(started_ || reset_asked_) << "seed " << seed;
    for (int i = 0; i < csr::kNumCounters; ++i) EXPECT_EQ(Counter(i), 0u);
  }
}

// Writes in cycles that follow each other: what the first asked for is over
// when the second does not ask.
TEST_F(CsrTest, APulseIsOverWhenTheNextWriteComes) {
  const auto send = [&](uint32_t offset, uint32_t first, int writes) {
    dut_->axil_awaddr_i = offset;
    dut_->axil_wstrb_i = 0xf;
    dut_->axil_bready_i = 1;
    int sent = 0, pulses = 0;
    for (int cycle = 0; cycle < 30; ++cycle) {
      dut_->axil_awvalid_i = dut_->axil_wvalid_i = sent < writes;
      dut_->axil_wdata_i = sent == 0 ? first : 0;
      dut_->clk_i = 0;
      dut_->eval();
      EXPECT_TRUE(sent >= writes ||
                  (dut_->axil_awready_o && dut_->axil_wready_o));
      started_ = reset_asked_ = false;
      Clock();
      sent += sent < writes;
      pulses += started_ + reset_asked_;
    }
    dut_->axil_bready_i = 0;
    return pulses;
  };
  EXPECT_EQ(send(csr::kCtrl, csr::kCtrlStart, 2), 1);
  EXPECT_EQ(send(csr::kCtrl, csr::kCtrlReset, 2), 1);
  // What is counted begins behind the pulse.
  uint32_t counts[2];
  for (int writes = 1; writes <= 2; ++writes) {
    dut_->ecc_fixed_i = 1;
    send(csr::kEccCtrl, 1, writes);
    dut_->ecc_fixed_i = 0;
    counts[writes - 1] = Get(csr::kEccCorrected);
  }
  EXPECT_GT(counts[0], 20u);
  EXPECT_EQ(counts[0], counts[1]);
}

TEST_F(CsrTest, WritableRegistersKeepWhatIsWrittenByteByByte) {
  const uint32_t offsets[] = {
      csr::kIrqEnable, csr::kProgAddrLo, csr::kProgAddrHi, csr::kProgLen,
      csr::kWatchdog,  csr::kHbmLimitLo, csr::kHbmLimitHi, csr::kScrubPeriod};
  for (int round = 0; round < 200; ++round) {
    const uint32_t offset = offsets[rng_() % std::size(offsets)];
    const uint32_t old = Get(offset), data = rng_() * 2654435761u;
    const int strobes = rng_() % 16;
    uint32_t mask = 0;
    for (int i = 0; i < 4; ++i) mask |= (strobes >> i & 1) * (0xffu << (8 * i));
    EXPECT_EQ(Write(offset, data, strobes), kOkay);
    EXPECT_EQ(Get(offset), (old & ~mask) | (data & mask));
  }
  Write(csr::kProgAddrLo, 0x80);
  Write(csr::kProgAddrHi, 0x3);
  EXPECT_EQ(dut_->prog_addr_o, 0x300000080u);
}

TEST_F(CsrTest, UnknownOffsetsAndReadOnlyRegistersAnswerWithAnError) {
  uint32_t data;
  EXPECT_EQ(Read(0x088, &data), kSlaveError);
  EXPECT_EQ(Read(0x0fc, &data), kSlaveError);
  EXPECT_EQ(Read(csr::kCtrl, &data), kSlaveError) << "write-only";
  EXPECT_EQ(Read(0x05e, &data), kOkay) << "bits inside the word do not count";
  EXPECT_EQ(Read(csr::kCounterBase + 8 * csr::kNumCounters, &data),
            kSlaveError);
  EXPECT_EQ(Write(csr::kId, 1), kSlaveError);
  EXPECT_EQ(Write(0xffc, 1), kSlaveError);
  EXPECT_EQ(Write(csr::kCounterBase, 1), kOkay) << "without effect";
  EXPECT_EQ(Counter(0), 0u);
  EXPECT_EQ(Get(csr::kId), 0x53595354u);
}

TEST_F(CsrTest, StartsOnlyAnIdleCore) {
  Write(csr::kCtrl, csr::kCtrlStart);
  EXPECT_TRUE(started_);
  for (int reason = 0; reason < 3; ++reason) {
    started_ = false;
    dut_->running_i = reason == 0;
    dut_->fault_i = reason == 1;
    dut_->resetting_i = reason == 2;
    Write(csr::kCtrl, csr::kCtrlStart);
    EXPECT_FALSE(started_) << "reason " << reason;
    dut_->running_i = dut_->fault_i = dut_->resetting_i = 0;
  }
  EXPECT_FALSE(reset_asked_);
  Write(csr::kCtrl, csr::kCtrlReset);
  EXPECT_TRUE(reset_asked_);
}

TEST_F(CsrTest, InterruptsAreEnabledRaisedAndCleared) {
  dut_->done_i = 1;
  Clock();
  dut_->done_i = 0;
  EXPECT_EQ(Get(csr::kIrq), csr::kIrqDone);
  EXPECT_EQ(Get(csr::kStatus), csr::kStatusDone);
  EXPECT_FALSE(dut_->irq_o);
  Write(csr::kIrqEnable, csr::kIrqDone);
  EXPECT_TRUE(dut_->irq_o);
  Write(csr::kIrq, csr::kIrqFault);
  EXPECT_TRUE(dut_->irq_o);
  Write(csr::kIrq, csr::kIrqDone);
  EXPECT_FALSE(dut_->irq_o);
  Write(csr::kIrqEnable, csr::kIrqFault);
  dut_->fault_i = 1;
  dut_->fault_cause_i = 5;
  dut_->fault_queue_i = 2;
  dut_->fault_pc_i = 77;
  dut_->fault_addr_i = 0x912345678;
  dut_->fault_cycle_i = 0x100000002;
  Clock();
  Clock();
  EXPECT_TRUE(dut_->irq_o);
  Write(csr::kIrq, csr::kIrqFault);
  EXPECT_FALSE(dut_->irq_o) << "a fault interrupts once";
  EXPECT_EQ(Get(csr::kFaultCause), 5u);
  EXPECT_EQ(Get(csr::kFaultQueue), 2u);
  EXPECT_EQ(Get(csr::kFaultPc), 77u);
  EXPECT_EQ(Get(csr::kFaultAddrLo), 0x12345678u);
  EXPECT_EQ(Get(csr::kFaultAddrHi), 9u);
  EXPECT_EQ(Get(csr::kFaultCycleLo), 2u);
  EXPECT_EQ(Get(csr::kFaultCycleHi), 1u);
}

TEST_F(CsrTest, CountersCountWhileRunningAndStartClearsThem) {
  std::vector<uint64_t> expected(csr::kNumCounters, 0);
  dut_->running_i = 1;
  for (int cycle = 0; cycle < 500; ++cycle) {
    for (int i = 1; i < csr::kNumCounters; ++i) {
      const uint32_t amount = rng_() % (Most(i) + 1);
      SetIncrement(i, amount);
      expected[i] += amount;
    }
    ++expected[0];
    Clock();
  }
  dut_->running_i = 0;
  for (int i = 0; i < csr::kNumCounters; ++i)
    EXPECT_EQ(Counter(i), expected[i]) << csr::kCounterNames[i];
  Write(csr::kCtrl, csr::kCtrlStart);
  for (int i = 0; i < csr::kNumCounters; ++i)
    EXPECT_EQ(Counter(i), 0u) << csr::kCounterNames[i];
}

// Both halves of a counter that runs are those of one cycle, between the
// request and the answer of the low half; other counters are read in between.
TEST_F(CsrTest, CountersAreReadWhileTheyRun) {
  for (int i = 1; i < csr::kNumCounters; ++i) SetIncrement(i, Most(i));
  dut_->running_i = 1;
  const uint64_t first = clocks_;
  for (int round = 0; round < 2000; ++round) {
    const int i = round % 3 == 0 ? 4 : rng_() % csr::kNumCounters;
    for (int gap = rng_() % 4 == 0 ? rng_() % 100 : 0; gap > 0; --gap) Clock();
    const uint64_t asked = clocks_ - first;
    const uint64_t low = Get(csr::kCounterBase + 8 * i);
    const uint64_t answered = clocks_ - first;
    EXPECT_GE(low, asked * Most(i)) << csr::kCounterNames[i];
    EXPECT_LE(low, answered * Most(i)) << csr::kCounterNames[i];
    EXPECT_EQ(low % Most(i), 0u) << csr::kCounterNames[i];
  }
}

// The low half takes the high one along, so a pair that is read across the
// border of 32 bits is the counter's value at the first read.
TEST_F(CsrTest, CountersGoOnBeyond32Bits) {
  constexpr uint64_t kBorder = uint64_t{1} << 32;
  constexpr int kWide = static_cast<int>(csr::Counter::kLoadBytes);
  const uint32_t amount = Most(kWide);
  for (int i = 1; i < csr::kNumCounters; ++i) SetIncrement(i, Most(i));
  dut_->running_i = 1;
  const uint64_t first = clocks_;
  while ((clocks_ - first + 30) * amount < kBorder) Clock();
  EXPECT_LT(Get(csr::kCounterBase + 8 * kWide), kBorder);
  for (int i = 0; i < 40; ++i) Clock();
  EXPECT_EQ(Get(csr::kCounterBase + 8 * kWide + 4), 0u);
  dut_->running_i = 0;
  const uint64_t cycles = clocks_ - first;
  for (int i = 0; i < csr::kNumCounters; ++i)
    EXPECT_EQ(Counter(i), cycles * Most(i)) << csr::kCounterNames[i];
  EXPECT_GT(Counter(kWide), kBorder);
}

TEST_F(CsrTest, FaultRegistersShowEveryBit) {
  dut_->fault_i = 1;
  for (int i = 0; i < 100; ++i) {
    const auto bits = [&] { return rng_() * 2654435761u; };
    dut_->fault_cycle_i = uint64_t{bits()} << 32 | bits();
    dut_->fault_addr_i = (uint64_t{bits()} << 32 | bits()) >> 28;
    dut_->fault_pc_i = bits();
    EXPECT_EQ(Get(csr::kFaultCycleLo), dut_->fault_cycle_i & 0xFFFFFFFF);
    EXPECT_EQ(Get(csr::kFaultCycleHi), dut_->fault_cycle_i >> 32);
    EXPECT_EQ(Get(csr::kFaultAddrLo), dut_->fault_addr_i & 0xFFFFFFFF);
    EXPECT_EQ(Get(csr::kFaultAddrHi), dut_->fault_addr_i >> 32);
    EXPECT_EQ(Get(csr::kFaultPc), dut_->fault_pc_i);
  }
}

}  // namespace
}  // namespace systole
