// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The firmware with a ring of four entries on the model of the hardware.

#ifndef SYSTOLE_TESTS_FIRMWARE_FIRMWARE_FIXTURE_H_
#define SYSTOLE_TESTS_FIRMWARE_FIRMWARE_FIXTURE_H_

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/firmware/hardware_model.h"

namespace systole {

inline constexpr uint32_t kCommands = 0x10000, kCompletions = 0x20000,
                          kLog = 0x30000, kTables = 0x40000, kProgram = 0x8000,
                          kStride = 64;

class Firmware : public ::testing::Test {
 protected:
  Firmware() {
    image_.commands[0] = kCommands;
    image_.completions[0] = kCompletions;
    image_.log[0] = kLog;
    image_.entries = 4;
    image_.stride = kStride;
    image_.log_entries = 64;
    log_init(&image_);
    program_init();
  }

  static command Run(uint32_t tag) {
    command c = {};
    c.tag = tag;
    c.kind = COMMAND_RUN;
    c.program[0] = kProgram;
    c.limit[0] = 0x80000;
    c.length = 5;
    c.repeat = 1;
    return c;
  }
  void PutTables(const std::vector<patch>& patches,
                 const std::vector<loop>& loops, command* c) {
    uint64_t at = kTables;
    for (const patch& p : patches) model_.Put(at, p), at += sizeof p;
    at = (at + 63) / 64 * 64;
    for (const loop& l : loops) model_.Put(at, l), at += sizeof l;
    c->tables[0] = kTables;
    c->counts = static_cast<uint32_t>(patches.size() | loops.size() << 16);
  }
  // Descriptors that hold their index in word 0.
  void PutProgram(uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
      HardwareModel::Descriptor d = {};
      d[0] = i;
      model_.Put(kProgram + 64 * i, d);
    }
  }
  void PutCommand(const command& c) {
    model_.Put(kCommands + ((c.tag - 1) & 3) * kStride, c);
  }
  completion Completed(uint32_t tag) {
    return model_.Get<completion>(kCompletions + ((tag - 1) & 3) * kStride);
  }
  // One launch on its own.
  completion Launch(const command& c) {
    ring_init(&ring_, &image_);
    completion out;
    completion_init(&out, STATUS_REFUSED);
    cancelled_ = program_run(&ring_, &c, &out);
    program_done(&c, &out);
    return out;
  }
  std::vector<uint32_t> Events() {
    log_flush();
    std::vector<uint32_t> events;
    for (uint32_t i = 0;; i++) {
      const auto e = model_.Get<log_entry>(kLog + i * kStride);
      if (e.number != i + 1) return events;
      events.push_back(e.event);
    }
  }

  HardwareModel model_;
  image_header image_ = {};
  ring ring_;
  bool cancelled_ = false;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_FIRMWARE_FIRMWARE_FIXTURE_H_
