// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit, to the cycle: copies, issue port, errors of SMEM, answers;
// what a stop and a reset of it forget.

#include <vector>

#include "tests/rtl/scalar/unit_bench.h"

namespace systole::scalar_unit {
namespace {

// A copy is under way from the access that begins it to its last word, and
// takes one of HBM and a word a cycle.
TEST_F(ScalarUnit, ACopyIsUnderWayFromItsAccessOn) {
  constexpr uint32_t kCopying = 16;
  const auto copying = [this] { return Get(kCoreStatus) & kCopying; };
  EXPECT_EQ(copying(), 0u);
  Set(kCopyIn, 8);
  EXPECT_EQ(copying(), kCopying);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(copying(), kCopying);
  Eval();
  EXPECT_TRUE(top_->rd_valid_o);
  top_->rd_ready_i = 1;
  Clock();
  top_->rd_ready_i = 0;
  EXPECT_EQ(copying(), kCopying);
  top_->rd_rsp_valid_i = 1;
  Clock();
  top_->rd_rsp_valid_i = 0;
  EXPECT_EQ(copying(), kCopying);  // the first word
  EXPECT_EQ(copying(), kCopying);  // the second
  EXPECT_EQ(copying(), 0u);
  Set(kCopyOut, 4);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(copying(), kCopying);
  EXPECT_TRUE(top_->wr_valid_o);
  top_->wr_ready_i = 1;
  EXPECT_EQ(copying(), kCopying);
  EXPECT_EQ(copying(), 0u);
  top_->wr_ready_i = 0;
  EXPECT_EQ(Get(kEvents), 0u);
}

// The port is live from the start's cycle on until the program ends, faults or
// is reset; it has eight places, and an item too many is dropped.
TEST_F(ScalarUnit, TheIssuePortIsLiveWithItsProgram) {
  const auto places = [this] { return Get(kCoreStatus) >> 8; };
  Set(kIssue, 0);
  Clock();
  EXPECT_EQ(Get(kEvents), kDropped);
  Set(kEvents, kDropped);
  Set(kCoreCtrl, kIssueMode);
  // The start and the item in one cycle.
  Ask(true, kRegs + kCoreCtrl, kIssueMode | 1);
  Clock();
  top_->request_i = 0;
  EXPECT_TRUE(top_->start_o);
  Clock();
  top_->running_i = 1;
  for (int i = 0; i < kPlaces; ++i) {
    EXPECT_EQ(places(), static_cast<uint32_t>(kPlaces - i));
    Set(kStream, 1);
    Clock();
  }
  EXPECT_EQ(places(), 0u);
  EXPECT_EQ(Get(kEvents), 0u);
  Set(kStream, 1);
  Clock();
  EXPECT_EQ(Get(kEvents), kDropped);
  Set(kEvents, kDropped);
  // One is taken: a place, from the next cycle on.
  EXPECT_TRUE(top_->item_o);
  top_->item_ready_i = 1;
  Clock();
  top_->item_ready_i = 0;
  EXPECT_EQ(places(), 1u);
  // Each end empties it, within a cycle.
  for (int end = 0; end < 3; ++end) {
    (end == 0   ? top_->fault_i
     : end == 1 ? top_->resetting_i
                : top_->running_i) ^= 1;
    Clock();
    EXPECT_EQ(places(), static_cast<uint32_t>(kPlaces)) << end;
    EXPECT_FALSE(top_->item_o);
    Set(kStream, 1);
    Clock();
    EXPECT_EQ(Get(kEvents) & kDropped, kDropped) << end;
    Set(kEvents, 63);
    top_->fault_i = top_->resetting_i = 0;
    top_->running_i = 1;
    Clock();
    Set(kStream, 1);
    Clock();
    EXPECT_EQ(places(), kPlaces - 1u) << end;
    EXPECT_EQ(Get(kEvents), 0u) << end;
  }
}

// An item that is written in the cycle of a start is the new program's.
TEST_F(ScalarUnit, AnItemOfTheStartsCycleCounts) {
  Set(kCoreCtrl, kIssueMode | 1);
  Set(kStream, 1);  // in the cycle of the start
  top_->running_i = 1;
  Clock();
  EXPECT_EQ(Get(kEvents), 0u);
  EXPECT_EQ(Get(kCoreStatus) >> 8, kPlaces - 1u);
}

// Errors of SMEM, each counted once.
TEST_F(ScalarUnit, ErrorsOfTheMemoryAreCounted) {
  for (uint32_t n = 1; n <= 4; ++n) {
    const uint32_t address = 16 * n;
    Set(kEccFlipLo, 1u << n);
    Store(address, n);
    EXPECT_EQ(Get(kEccFlipLo), 0u);
    EXPECT_EQ(Load(address), n);
    Clock();
    if (n % 2 == 0) EXPECT_EQ(Get(kEccWord), address);  // at once
    EXPECT_EQ(Get(kEccCorrected), n);
    EXPECT_EQ(Get(kEccFailed), n - 1);
    EXPECT_EQ(Get(kEccWord), address);
    Set(kEccFlipHi, 3);
    Store(address + 4, n);
    EXPECT_EQ(Get(kEccFlipHi), 0u);
    Load(address + 4, true);
    Clock();
    EXPECT_EQ(Get(kEccFailed), n);
    EXPECT_EQ(Get(kEccCorrected), n);
    EXPECT_EQ(Get(kEccWord), address + 4);
    Store(address, n + 1);
    EXPECT_EQ(Load(address), n + 1);  // a store repairs
  }
}

// Accesses that there are none for end in an error, the others do not.
TEST_F(ScalarUnit, AccessesAreAnsweredWithTheirErrors) {
  struct Access {
    bool write;
    uint32_t address;
    bool error;
  };
  const std::vector<Access> accesses = {{false, 0, false},
                                        {false, 508, false},
                                        {false, 512, true},
                                        {false, 0x10000000, false},
                                        {true, 0x10000000, true},
                                        {false, 0x10000400, true},
                                        {false, kRegs, false},
                                        {true, kRegs, true},
                                        {true, kRegs + kState, false},
                                        {false, kRegs + kIssue, true},
                                        {false, kRegs + 0x100, true},
                                        {false, 0x30000000, true}};
  for (size_t i = 0; i < 200; ++i) {
    const Access& a = accesses[i * 7 % accesses.size()];
    Ask(a.write, a.address, 0);
    Clock();
    top_->request_i = 0;
    EXPECT_TRUE(top_->valid_o) << a.address;
    EXPECT_EQ(top_->error_o, a.error) << a.write << " " << a.address;
    if (i % 3 == 0) {
      Clock();
      EXPECT_FALSE(top_->valid_o);
    }
  }
  // Some bytes of a register.
  top_->bytes_i = 3;
  Ask(true, kRegs + kState, 5);
  Clock();
  EXPECT_TRUE(top_->error_o);
  top_->request_i = 0;
  top_->bytes_i = 15;
  EXPECT_EQ(Get(kState), 0u);
  // Fetches.
  for (const uint32_t address :
       {0x10000080u, 0x100003fcu, 0x10000400u, 0u, 508u, 512u, 0x20000000u}) {
    top_->fetch_i = 1;
    top_->fetch_address_i = address;
    Clock();
    top_->fetch_i = 0;
    const bool there =
        address < 512 || (address >> 28 == 1 && (address & 0xfffffff) < 0x400);
    EXPECT_TRUE(top_->fetch_valid_o);
    EXPECT_EQ(top_->fetch_error_o, !there) << address;
    Clock();
    EXPECT_FALSE(top_->fetch_valid_o);
  }
}

// Whatever goes on when the unit is stopped, it begins as after a reset, and
// the host's copies of its registers with it.
TEST_F(ScalarUnit, AStopForgetsAll) {
  for (int round = 0; round < 2; ++round) {
    Set(kEccFlipLo, 2);
    Store(32, 9);
    Load(32);
    Set(kEccFlipHi, 3);
    Store(36, 9);
    Load(36, true);
    Set(kEccFlipLo, 0x10);
    Set(kState, 3);
    Set(kFlagWait, 0x30);
    Set(kMtimecmpHi, 0);
    Set(kMtimecmpLo, 1);
    Set(kCoreCtrl, kIssueMode | 1);
    top_->running_i = 1;
    Set(kStream, 1);
    top_->done_i = top_->taken_i = top_->fault_i = 1;
    Host(kHostDoorbell, 1);
    Clock();
    top_->done_i = top_->taken_i = top_->fault_i = 0;
    EXPECT_NE(Get(kEvents), 0u);
    EXPECT_NE(top_->fast_o, 0);
    EXPECT_TRUE(top_->doorbell_o && top_->timer_o);
    // In the cycle of an access, or two, of which nothing is left.
    Ask(true, kRegs + (round ? kHostIrq : kFlagPost), ~0u);
    Host(kHostRun, 0);
    EXPECT_TRUE(top_->reset_o);  // of the core
    Clock();
    EXPECT_FALSE(top_->reset_o);
    top_->request_i = 0;
    Clock();
    EXPECT_FALSE(top_->irq_o);
    EXPECT_EQ(top_->post_o, 0u);
    EXPECT_EQ(top_->want_o, 0u);
    EXPECT_FALSE(top_->timer_o || top_->doorbell_o || top_->fast_o);
    EXPECT_FALSE(top_->valid_o || top_->item_o || top_->issue_o);
    top_->running_i = 0;
    Idle(4);
    EXPECT_FALSE(top_->owns_o);
    Run();
    EXPECT_EQ(Get(kEvents), 0u);
    EXPECT_EQ(Get(kCoreStatus), kPlaces << 8);
    for (const uint32_t offset :
         {kState, kFlagWait, kEccCorrected, kEccFailed, kEccFlipLo, kEccFlipHi})
      EXPECT_EQ(Get(offset), 0u) << offset;
    EXPECT_EQ(Get(kMtimecmpHi), 0xffffffffu);
    EXPECT_EQ(Load(32), 0u);
    EXPECT_EQ(Load(36), 0u);
  }
}

// Accesses in each cycle of a stop: behind it nothing is done, and nothing is
// answered.
TEST_F(ScalarUnit, NothingIsDoneBehindAStop) {
  for (const uint32_t offset :
       {kHostIrq, kCoreCtrl, kIssue, kStream, kFlagPost, kCopyIn, kCopyOut,
        kPatchField, kPatchValue, kPatchStep}) {
    Ask(true, kRegs + offset, 3);
    top_->fetch_i = 1;
    top_->fetch_address_i = 0x10000400;  // none
    Host(kHostRun, 0);
    Clock();
    Clock();
    top_->request_i = top_->fetch_i = 0;
    for (int i = 0; i < 20; ++i) {
      EXPECT_FALSE(top_->valid_o || top_->fetch_valid_o || top_->fetch_error_o)
          << offset << " " << i;
      EXPECT_FALSE(top_->irq_o || top_->start_o || top_->reset_o ||
                   top_->item_o || top_->patch_field_o || top_->patch_value_o ||
                   top_->patch_step_o || top_->post_o)
          << offset << " " << i;
      Clock();
    }
    Run();
    EXPECT_EQ(Get(kCoreStatus), kPlaces << 8) << offset;
    EXPECT_EQ(Get(kEvents), 0u) << offset;
  }
}

// The owner changes when the core is idle: three cycles after the host's write
// at the earliest, behind the reset of the core. To go on is no stop.
TEST_F(ScalarUnit, TheOwnerChangesBehindTheCoresReset) {
  Host(kHostRun, 1);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(top_->owns_o && top_->unit_rst_no);
    EXPECT_FALSE(top_->reset_o);
    Clock();
  }
  Host(kHostRun, 0);
  EXPECT_TRUE(top_->owns_o && top_->reset_o);
  Clock();
  EXPECT_TRUE(top_->owns_o);
  EXPECT_FALSE(top_->reset_o);
  Clock();
  EXPECT_FALSE(top_->owns_o);
  Idle(3);
  Host(kHostRun, 1);
  EXPECT_FALSE(top_->owns_o || top_->unit_rst_no);
  Clock();
  EXPECT_TRUE(top_->owns_o && top_->unit_rst_no);
}

// A fault that is there when the unit begins is an event.
TEST_F(ScalarUnit, AFaultOfBeforeIsAnEvent) {
  Host(kHostRun, 0);
  Idle(4);
  top_->fault_i = 1;
  Idle(3);
  Run();
  EXPECT_EQ(Get(kEvents), kFault);
  Set(kEvents, kFault);
  EXPECT_EQ(Get(kEvents), 0u);
}

// Fetches from one memory behind the other.
TEST_F(ScalarUnit, FetchesHaveTheirMemorysData) {
  constexpr uint32_t kRom = 0x10000080;
  const uint32_t rom = Load(kRom);
  Store(8, ~rom);
  for (int i = 0; i < 20; ++i) {
    const bool from_rom = i * i % 3 == 0;
    top_->fetch_i = 1;
    top_->fetch_address_i = from_rom ? kRom : 8;
    Clock();
    EXPECT_TRUE(top_->fetch_valid_o);
    EXPECT_EQ(top_->fetch_data_o, from_rom ? rom : ~rom) << i;
  }
}

// A reset clears what the host wrote, and ends what it asked for.
TEST_F(ScalarUnit, AResetClearsTheHostsRegisters) {
  for (const int index : {kHostRun, kHostDoorbell}) {
    Host(kHostBootAddr, 7);
    Host(kHostBootFlags, 8);
    Host(kHostDoorbell, 9);
    if (index == kHostRun) Host(kHostRun, 0);  // which resets the core
    EXPECT_EQ(top_->reset_o, index == kHostRun);
    top_->rst_ni = 0;
    Host(index, 0);
    EXPECT_FALSE(top_->reset_o || top_->host_ack_o || top_->owns_o ||
                 top_->unit_rst_no)
        << index;
    top_->rst_ni = 1;
    for (int i = 0; i < 3; ++i) {
      Clock();
      EXPECT_FALSE(top_->owns_o || top_->unit_rst_no) << index;
    }
    for (int r = kHostRun; r <= kHostDoorbell; ++r)
      EXPECT_EQ(HostRead(r), 0u) << r;
    Run();
    EXPECT_EQ(Get(kEvents), 0u);
  }
}

// A descriptor in SMEM is offered 18 cycles after its store, also where
// another one was given up half-way.
TEST_F(ScalarUnit, ADescriptorTakesItsCycles) {
  Set(kCoreCtrl, kIssueMode | 1);
  top_->running_i = 1;
  const auto cycles = [this] {
    int count = 1;
    while (!top_->item_o && count < 100) {
      Clock();
      ++count;
    }
    return count;
  };
  for (int given_up = 0; given_up < 20; ++given_up) {
    Set(kIssue, 64);
    EXPECT_EQ(cycles(), 18 + 1) << given_up;
    Set(kIssue, 0);
    Idle(3);
    top_->item_ready_i = 1;
    Clock();
    top_->item_ready_i = 0;
    EXPECT_EQ(cycles(), 17 + 1) << given_up;  // the next one waits there
    top_->item_ready_i = 1;
    Clock();
    top_->item_ready_i = 0;
    Set(kIssue, 128);
    Idle(given_up);
    top_->fault_i = 1;
    Clock();
    top_->fault_i = 0;
    EXPECT_FALSE(top_->item_o);
  }
}

}  // namespace
}  // namespace systole::scalar_unit
