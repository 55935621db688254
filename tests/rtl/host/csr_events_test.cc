// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Events in every cycle of a write: no sticky bit and no logged event is lost,
// whichever register is written and whatever the write clears.

#include <functional>
#include <vector>

#include "tests/rtl/host/csr_bench.h"

namespace systole {
namespace {

constexpr int kCycles = 12;  // longer than a write

class CsrEventsTest : public CsrTest {
 protected:
  // Cycles of a write, with `drive` called before each. Returns the cycle at
  // whose end the interrupt line fell, or -1.
  int WriteWith(uint32_t offset, uint32_t data,
                const std::function<void(int cycle)>& drive) {
    dut_->axil_awaddr_i = offset;
    dut_->axil_wdata_i = data;
    dut_->axil_wstrb_i = 0xf;
    dut_->axil_bready_i = 1;
    bool address = true, word = true;
    int fell = -1;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      drive(cycle);
      dut_->axil_awvalid_i = address;
      dut_->axil_wvalid_i = word;
      dut_->clk_i = 0;
      dut_->eval();
      if (dut_->axil_awready_o) address = false;
      if (dut_->axil_wready_o) word = false;
      const bool before = dut_->irq_o;
      Clock();
      if (before && !dut_->irq_o) fell = cycle;
    }
    EXPECT_FALSE(address || word) << "the write was not taken";
    dut_->axil_bready_i = 0;
    return fell;
  }

  // The cycle at whose end a write changes its register.
  int TakesEffect() {
    PowerUp(1);
    dut_->done_i = 1;
    Clock();
    dut_->done_i = 0;
    Write(csr::kIrqEnable, csr::kIrqDone);
    const int cycle = WriteWith(csr::kIrq, csr::kIrqDone, [](int) {});
    EXPECT_GE(cycle, 0);
    EXPECT_LT(cycle, kCycles - 2);
    return cycle;
  }

  // One that raises a bit of irq: `raise` in one cycle, `rest` in the others.
  struct Event {
    uint32_t bit;
    std::function<void()> raise, rest;
  };
  std::vector<Event> Events() {
    return {{csr::kIrqDone, [this] { dut_->done_i = 1; },
             [this] { dut_->done_i = 0; }},
            {csr::kIrqFault, [this] { dut_->fault_i = 1; },
             [] {}},  // a level, seen where it rises
            {csr::kIrqScalar, [this] { dut_->scalar_irq_i = 1; },
             [this] { dut_->scalar_irq_i = 0; }}};
  }
};

TEST_F(CsrEventsTest, NoInterruptIsLostInAWrite) {
  const int clears = TakesEffect();
  constexpr uint32_t kAll = csr::kIrqDone | csr::kIrqFault | csr::kIrqScalar;
  for (const Event& event : Events()) {
    for (const uint32_t offset : {csr::kIrq, csr::kIrqEnable, csr::kProgLen}) {
      for (uint32_t data = 0; data <= kAll; ++data) {
        for (int at = 0; at < kCycles; ++at) {
          PowerUp(at + 1);
          WriteWith(offset, data, [&](int cycle) {
            if (cycle == at) {
              event.raise();
            } else {
              event.rest();
            }
          });
          event.rest();
          const bool cleared =
              offset == csr::kIrq && (data & event.bit) != 0 && at < clears;
          EXPECT_EQ(Get(csr::kIrq), cleared ? 0u : event.bit)
              << "bit " << event.bit << " raised in cycle " << at
              << " of a write of " << data << " to offset " << offset;
          dut_->fault_i = 0;
        }
      }
    }
  }
}

TEST_F(CsrEventsTest, NoEccEventIsLostInAClear) {
  const int clears = TakesEffect() + 1;  // the pulse that the write asks for
  for (int at = 0; at < kCycles; ++at) {
    PowerUp(at + 1);
    const auto event = [&](bool here, uint64_t address) {
      dut_->ecc_fixed_i = dut_->ecc_bad_i = here;
      dut_->ecc_addr_i = address;
    };
    event(true, 0x100);
    Clock();
    WriteWith(csr::kEccCtrl, csr::kEccCtrlClear,
              [&](int cycle) { event(cycle == at, 0x200); });
    event(false, 0);
    const uint32_t counted = at >= clears;
    EXPECT_EQ(Get(csr::kEccCorrected), counted) << "cycle " << at;
    EXPECT_EQ(Get(csr::kEccUncorrected), counted) << "cycle " << at;
    if (counted == 0) continue;
    EXPECT_EQ(Get(csr::kEccBadLo), 0x200u) << "cycle " << at;
    EXPECT_EQ(Get(csr::kEccFirstLo), 0x200u) << "cycle " << at;
    EXPECT_EQ(Get(csr::kEccLastLo), 0x200u) << "cycle " << at;
  }
}

}  // namespace
}  // namespace systole
