// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit, to the cycle: timer, events, interrupts, status bits, what
// happens in the cycle of an access.

#include <functional>
#include <utility>
#include <vector>

#include "tests/rtl/scalar/unit_bench.h"

namespace systole::scalar_unit {
namespace {

// The timer counts each cycle from the unit's reset on; its interrupt is there
// a cycle after the time, and no longer.
TEST_F(ScalarUnit, TheTimerIsPendingFromItsTimeOn) {
  Host(kHostRun, 0);
  Idle(3);
  Host(kHostRun, 1);
  while (!top_->unit_rst_no) Clock();
  const int64_t begin = cycle_;
  for (int gap = 0; gap < 20; ++gap) {
    const auto expected = static_cast<uint32_t>(cycle_ - begin);
    ASSERT_EQ(Get(kMtimeLo), expected);
    Idle(gap);
  }
  EXPECT_EQ(Get(kMtimeHi), 0u);
  EXPECT_FALSE(top_->timer_o);
  Set(kMtimecmpLo, 0xffffffff);
  Set(kMtimecmpHi, 0);
  for (const int ahead : {3, 4, 17, 100}) {
    const int64_t time = cycle_ + ahead;
    Set(kMtimecmpLo, static_cast<uint32_t>(time - begin));
    while (cycle_ < time + 10) {
      Clock();
      Eval();
      ASSERT_EQ(top_->timer_o, cycle_ > time) << ahead << ", " << cycle_ - time;
    }
    // A new time takes it back, a cycle behind the write.
    Set(kMtimecmpLo, 0xffffff00);
    EXPECT_TRUE(top_->timer_o);
    Clock();
    EXPECT_FALSE(top_->timer_o);
  }
  // A time that is over, at once; with a high half, not.
  Set(kMtimecmpHi, 1);
  Set(kMtimecmpLo, 0);
  Idle(3);
  EXPECT_FALSE(top_->timer_o);
  Set(kMtimecmpHi, 0);
  EXPECT_FALSE(top_->timer_o);
  Clock();
  EXPECT_TRUE(top_->timer_o);
}

// Each event in each cycle of a write of `events` that clears it: none is
// lost, and what came before is cleared.
TEST_F(ScalarUnit, NoEventIsLostInAWrite) {
  struct Event {
    uint32_t bit;
    std::function<void(bool)> drive;  // in its cycle, and behind it
  };
  const std::vector<Event> events = {
      {kDone, [this](bool on) { top_->done_i = on; }},
      {kFault, [this](bool on) { top_->fault_i = on; }},
      {kFlags, [this](bool on) { top_->taken_i = on; }}};
  constexpr int kAt = 3;  // cycle of the write
  for (const Event& event : events) {
    for (int at = 0; at < 7; ++at) {
      for (const bool before : {false, true}) {
        if (before) {
          event.drive(true);
          Clock();
          event.drive(false);
          Clock();
        }
        for (int cycle = 0; cycle < 7; ++cycle) {
          event.drive(cycle == at);
          if (cycle == kAt) Ask(true, kRegs + kEvents, event.bit);
          Clock();
          top_->request_i = 0;
        }
        event.drive(false);
        EXPECT_EQ(Get(kEvents), at >= kAt ? event.bit : 0u)
            << "bit " << event.bit << " in cycle " << at;
        Set(kEvents, event.bit);
        EXPECT_EQ(Get(kEvents), 0u);
      }
    }
  }
}

// The same of events that come of a write: a cycle, or two, behind it.
TEST_F(ScalarUnit, NoEventOfAnAccessIsLost) {
  for (int wait = 0; wait < 5; ++wait) {
    for (const uint32_t source : {kIssue, kStream, kCopyIn, kCopyOut}) {
      const uint32_t bit =
          source == kIssue || source == kStream ? kDropped : kCopyError;
      Set(source, 3);  // no program runs; no length of a copy
      Idle(wait);
      Set(kEvents, bit);
      EXPECT_EQ(Get(kEvents), wait == 0 ? bit : 0) << source << " " << wait;
      Set(kEvents, bit);
      EXPECT_EQ(Get(kEvents), 0u);
    }
    Host(kHostDoorbell, 5);
    Idle(wait);
    Set(kEvents, kDoorbell);
    EXPECT_EQ(Get(kEvents), wait == 0 ? kDoorbell : 0u) << wait;
    Set(kEvents, kDoorbell);
    EXPECT_EQ(Get(kEvents), 0u);
  }
}

// The interrupts follow the events by a cycle, both ways.
TEST_F(ScalarUnit, InterruptsFollowTheirEvents) {
  const auto lines = [this] {
    return (top_->fast_o & 7u) | (top_->doorbell_o ? kDoorbell : 0u);
  };
  for (const uint32_t bit : {kDone, kFault, kFlags, kDoorbell}) {
    if (bit == kDone) top_->done_i = 1;
    if (bit == kFault) top_->fault_i = 1;
    if (bit == kFlags) top_->taken_i = 1;
    if (bit == kDoorbell) {
      Host(kHostDoorbell, 1);
    }
    Clock();
    top_->done_i = top_->taken_i = 0;
    EXPECT_EQ(lines(), 0u) << bit;
    Clock();
    EXPECT_EQ(lines(), bit);
    EXPECT_EQ(top_->fast_o & ~7u, 0u);
    Idle(3);
    EXPECT_EQ(lines(), bit);  // a fault's level is one event
    Set(kEvents, bit);
    EXPECT_EQ(lines(), bit);
    Clock();
    EXPECT_EQ(lines(), 0u) << bit;
    top_->fault_i = 0;
    Idle(3);
    EXPECT_EQ(lines(), 0u) << bit;
  }
}

// Events of a core that the unit does not own, or of a unit that is stopped,
// are none.
TEST_F(ScalarUnit, EventsAreTheUnitsOwn) {
  top_->running_i = 1;  // the owner stays until the core is idle
  Host(kHostRun, 0);
  Clock();
  EXPECT_TRUE(top_->owns_o);
  top_->running_i = 0;
  Idle(3);
  EXPECT_FALSE(top_->owns_o || top_->unit_rst_no);
  top_->running_i = 1;
  Host(kHostRun, 1);
  Idle(kWords + 3);
  EXPECT_FALSE(top_->owns_o);
  top_->done_i = top_->fault_i = 1;
  Clock();
  top_->done_i = 0;
  Clock();
  EXPECT_EQ(Get(kEvents), 0u);
  top_->fault_i = top_->running_i = 0;
  Clock();
  EXPECT_TRUE(top_->owns_o);
  top_->done_i = 1;
  Clock();
  top_->done_i = 0;
  EXPECT_EQ(Get(kEvents), kDone);
}

// What the core says is read in the cycle in which it says it.
TEST_F(ScalarUnit, StatusIsOfItsCycle) {
  for (int i = 0; i < 40; ++i) {
    const int bits = i * 5 % 16;
    top_->running_i = bits & 1;
    top_->fault_i = bits >> 1 & 1;
    top_->resetting_i = bits >> 2 & 1;
    top_->saturated_i = bits >> 3 & 1;
    top_->there_i = 0x1234567u * i;
    EXPECT_EQ(Get(kCoreStatus), kPlaces << 8 | bits) << i;
    top_->there_i = 0x7654321u * i;
    EXPECT_EQ(Get(kFlagState), 0x7654321u * i);
    const auto shown = [&](uint32_t offset, uint32_t value) {
      top_->fault_code_i = value & 15;
      top_->fault_queue_i = value & 7;
      top_->fault_pc_i = value;
      top_->fault_addr_i = uint64_t{value & 15} << 32 | value;
      top_->fault_cycle_i = value;
      EXPECT_EQ(Get(offset), offset == kFaultCause || offset == kFaultAddrHi
                                 ? value & 15
                             : offset == kFaultQueue ? value & 7
                                                     : value)
          << offset;
    };
    for (const uint32_t offset : {kFaultCause, kFaultQueue, kFaultPc,
                                  kFaultAddrLo, kFaultAddrHi, kFaultCycle})
      shown(offset, 0x9E3779B9u * (i * 8 + offset));
  }
  // What the host writes, in the cycle behind it.
  for (const auto& [index, offset] :
       {std::pair(kHostBootAddr, kBootAddr),
        std::pair(kHostBootFlags, kBootFlags),
        std::pair(kHostDoorbell, kDoorbellValue)}) {
    for (const uint32_t value : {0x12345678u, 0u, 0xffffffffu}) {
      Host(index, value);
      EXPECT_EQ(Get(offset), value) << offset;
      EXPECT_EQ(HostRead(index), value) << index;
    }
  }
}

// A fault is one event, however long it lasts: it is acknowledged at once.
TEST_F(ScalarUnit, AFaultIsOneEvent) {
  for (int wait = 0; wait < 4; ++wait) {
    top_->fault_i = 1;
    Clock();
    Idle(wait);
    Set(kEvents, kFault);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Get(kEvents), 0u) << wait;
    top_->fault_i = 0;
    Idle(2);
  }
}

// Writes that are events act in the next cycle, for one.
TEST_F(ScalarUnit, WritesActForOneCycle) {
  Set(kHostIrq, 0);
  EXPECT_TRUE(top_->irq_o);
  Clock();
  EXPECT_FALSE(top_->irq_o);
  Set(kFlagPost, 0x80000001);
  EXPECT_EQ(top_->post_o, 0x80000001u);
  Clock();
  EXPECT_EQ(top_->post_o, 0u);
  Set(kCoreCtrl, 1);
  EXPECT_TRUE(top_->start_o);
  EXPECT_FALSE(top_->reset_o || top_->issue_o || top_->isolated_o);
  Clock();
  EXPECT_FALSE(top_->start_o);
  Set(kCoreCtrl, 2 | 4 | 8);
  EXPECT_TRUE(top_->reset_o && top_->issue_o && top_->isolated_o);
  Clock();
  EXPECT_FALSE(top_->reset_o);
  EXPECT_TRUE(top_->issue_o && top_->isolated_o);
  Set(kPatchHi, 7);
  Set(kPatchField, 0x123);
  EXPECT_TRUE(top_->patch_field_o);
  EXPECT_EQ(top_->patch_data_o, 0x123u);
  Set(kPatchValue, 0x456);
  EXPECT_TRUE(top_->patch_value_o && !top_->patch_field_o);
  EXPECT_EQ(top_->patch_data_o, 0x700000456u);
  Set(kPatchStep, 0x789);
  EXPECT_TRUE(top_->patch_step_o && !top_->patch_value_o);
  EXPECT_EQ(top_->patch_data_o, 0x700000789u);
  Clock();
  EXPECT_FALSE(top_->patch_step_o);
}

// Flags that are wanted are wanted until they are taken, and no longer; what
// is wanted in the cycle of the taking stays wanted.
TEST_F(ScalarUnit, FlagsAreWantedUntilTheyAreTaken) {
  Set(kFlagWait, 6);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(top_->want_o, 6u);
    Clock();
  }
  top_->taken_i = 1;
  Clock();
  top_->taken_i = 0;
  EXPECT_EQ(top_->want_o, 0u);
  EXPECT_EQ(Get(kEvents), kFlags);
  Set(kFlagWait, 6);
  top_->taken_i = 1;
  Set(kFlagWait, 0x100);
  top_->taken_i = 0;
  EXPECT_EQ(top_->want_o, 0x100u);
}

}  // namespace
}  // namespace systole::scalar_unit
