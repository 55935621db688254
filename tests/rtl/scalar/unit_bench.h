// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit around its processor, whose accesses a test makes.

#ifndef SYSTOLE_TESTS_RTL_SCALAR_UNIT_BENCH_H_
#define SYSTOLE_TESTS_RTL_SCALAR_UNIT_BENCH_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "VUnitBench.h"
#include "verilated.h"

namespace systole::scalar_unit {

inline constexpr uint32_t kRegs = 0x20000000;
enum : uint32_t {
  kMtimeLo = 0x00,
  kMtimeHi = 0x04,
  kMtimecmpLo = 0x08,
  kMtimecmpHi = 0x0C,
  kEvents = 0x10,
  kDoorbellValue = 0x14,
  kHostIrq = 0x18,
  kState = 0x1C,
  kBootAddr = 0x24,
  kBootFlags = 0x28,
  kCoreCtrl = 0x30,
  kCoreStatus = 0x34,
  kFaultCause = 0x50,
  kFaultQueue = 0x54,
  kFaultPc = 0x58,
  kFaultAddrLo = 0x5C,
  kFaultAddrHi = 0x60,
  kFaultCycle = 0x64,
  kIssue = 0x70,
  kStream = 0x7C,
  kFlagPost = 0x80,
  kFlagWait = 0x84,
  kFlagState = 0x88,
  kCopyIn = 0x9C,
  kCopyOut = 0xA0,
  kEccCorrected = 0xB0,
  kEccFailed = 0xB4,
  kEccWord = 0xB8,
  kEccFlipLo = 0xBC,
  kEccFlipHi = 0xC0,
  kPatchHi = 0xCC,
  kPatchField = 0xD0,
  kPatchValue = 0xD4,
  kPatchStep = 0xD8,
};
enum {
  kDone = 1,
  kFault = 2,
  kFlags = 4,
  kDoorbell = 8,
  kDropped = 16,
  kCopyError = 32
};  // bits of events
enum {
  kHostRun = 1,
  kHostBootAddr,
  kHostBootFlags,
  kHostDoorbell
};                                         // registers of the host
inline constexpr uint32_t kIssueMode = 4;  // in core_ctrl
inline constexpr int kWords = 128, kPlaces = 8;

class ScalarUnit : public ::testing::Test {
 protected:
  ScalarUnit() {
    context_.randReset(2);
    context_.randSeed(11);
    top_ = std::make_unique<VUnitBench>(&context_);
    auto& m = *top_;
    m.host_valid_i = m.host_write_i = 0;
    m.running_i = m.done_i = m.fault_i = m.saturated_i = m.resetting_i = 0;
    m.item_ready_i = m.taken_i = 0;
    m.there_i = 0;
    m.rd_ready_i = m.rd_rsp_valid_i = m.wr_ready_i = 0;
    m.fetch_i = m.request_i = 0;
    m.bytes_i = 15;
    m.rst_ni = 0;
    context_.fatalOnError(false);  // registers hold anything yet
    for (int i = 0; i < 3; ++i) Clock();
    context_.gotError(false);
    context_.fatalOnError(true);
    m.rst_ni = 1;
    Run();
  }
  ~ScalarUnit() override { top_->final(); }

  void Eval() {
    top_->clk_i = 0;
    top_->eval();
  }
  void Clock() {
    Eval();
    top_->clk_i = 1;
    top_->eval();
    ++cycle_;
  }
  void Idle(int cycles) {
    for (int i = 0; i < cycles; ++i) Clock();
  }
  void Host(int index, uint32_t data) {
    top_->host_valid_i = top_->host_write_i = 1;
    top_->host_index_i = index;
    top_->host_data_i = data;
    Clock();
    top_->host_valid_i = 0;
  }
  uint32_t HostRead(int index) {
    top_->host_valid_i = 1;
    top_->host_write_i = 0;
    top_->host_index_i = index;
    Clock();
    top_->host_valid_i = 0;
    EXPECT_TRUE(top_->host_ack_o);
    return top_->host_data_o;
  }
  // The unit begins, and has SMEM cleared.
  void Run() {
    Host(kHostRun, 1);
    Idle(2 + kWords);
    EXPECT_TRUE(top_->owns_o && top_->unit_rst_no);
  }
  // An access of the processor in this cycle.
  void Ask(bool write, uint32_t address, uint32_t data) {
    top_->request_i = 1;
    top_->write_i = write;
    top_->address_i = address;
    top_->data_i = data;
    Eval();
    EXPECT_TRUE(top_->grant_o);
  }
  void Set(uint32_t offset, uint32_t data) {
    Ask(true, kRegs + offset, data);
    Clock();
    top_->request_i = 0;
    EXPECT_TRUE(top_->valid_o && !top_->error_o) << offset;
  }
  // What it is in this cycle.
  uint32_t Get(uint32_t offset) {
    Ask(false, kRegs + offset, 0);
    Clock();
    top_->request_i = 0;
    EXPECT_TRUE(top_->valid_o && !top_->error_o) << offset;
    return top_->data_o;
  }
  void Store(uint32_t address, uint32_t data) {
    Ask(true, address, data);
    Clock();
    top_->request_i = 0;
  }
  uint32_t Load(uint32_t address, bool error = false) {
    Ask(false, address, 0);
    Clock();
    top_->request_i = 0;
    EXPECT_TRUE(top_->valid_o);
    EXPECT_EQ(top_->error_o, error);
    return top_->data_o;
  }

  VerilatedContext context_;
  std::unique_ptr<VUnitBench> top_;
  int64_t cycle_ = 0;
};

}  // namespace systole::scalar_unit

#endif  // SYSTOLE_TESTS_RTL_SCALAR_UNIT_BENCH_H_
