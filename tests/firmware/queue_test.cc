// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What waits in the ring: priorities, launches that wait for others, contexts.

#include "tests/firmware/firmware_fixture.h"

namespace systole {
namespace {

using ::testing::ElementsAre;

class Queue : public Firmware {
 protected:
  // Serves these commands, all there at once, and a stop; the order in which
  // they were run, by their programs.
  std::vector<uint32_t> Serve(std::vector<command> commands) {
    commands.push_back(Run(static_cast<uint32_t>(commands.size() + 1)));
    commands.back().kind = COMMAND_STOP;
    for (const command& c : commands) PutCommand(c);
    model_.Doorbell(static_cast<uint32_t>(commands.size()));
    model_.on_start = [&] {
      order_.push_back(model_.regs[REG_PROG_ADDR_LO] / 0x1000);
    };
    serve(&image_);
    return order_;
  }
  static command Numbered(uint32_t tag, uint32_t priority, uint32_t after = 0) {
    command c = Run(tag);
    c.program[0] = 0x1000 * tag;
    c.priority = priority;
    c.after = after;
    return c;
  }
  std::vector<uint32_t> order_;
};

TEST_F(Queue, HigherPrioritiesGoFirst) {
  EXPECT_THAT(Serve({Numbered(1, 1), Numbered(2, 5), Numbered(3, 5)}),
              ElementsAre(2, 3, 1));
  for (uint32_t tag = 1; tag <= 3; tag++)
    EXPECT_EQ(Completed(tag).status, STATUS_DONE);
  EXPECT_EQ(Completed(4).status, STATUS_STOPPED);
  EXPECT_EQ(model_.regs[REG_COMPLETED], 4u);
}

TEST_F(Queue, ALaunchWaitsForAnother) {
  EXPECT_THAT(Serve({Numbered(1, 1), Numbered(2, 9, 1), Numbered(3, 5)}),
              ElementsAre(3, 1, 2));
}

TEST_F(Queue, WhatWaitsForAFailureIsCancelled) {
  model_.end = HardwareModel::End::kFault;
  EXPECT_THAT(Serve({Numbered(1, 1), Numbered(2, 9, 1), Numbered(3, 0, 2)}),
              ElementsAre(1));
  EXPECT_EQ(Completed(1).status, STATUS_FAULT);
  EXPECT_EQ(Completed(2).status, STATUS_CANCELLED);
  EXPECT_EQ(Completed(3).status, STATUS_CANCELLED);
}

TEST_F(Queue, AFailureBeforeTheLaunchWasSubmittedCounts) {
  model_.end = HardwareModel::End::kFault;
  PutCommand(Numbered(1, 0));
  model_.Doorbell(1);
  model_.on_sleep = [&] {
    if (model_.regs[REG_COMPLETED] != 1) return;
    PutCommand(Numbered(2, 0, 1));
    command stop = Run(3);
    stop.kind = COMMAND_STOP;
    PutCommand(stop);
    model_.Doorbell(3);
  };
  serve(&image_);
  EXPECT_EQ(Completed(2).status, STATUS_CANCELLED);
}

TEST_F(Queue, AWaitForItselfIsRefused) {
  Serve({Numbered(1, 0, 1), Numbered(2, 0, 7)});
  EXPECT_EQ(Completed(1).status, STATUS_REFUSED);
  EXPECT_EQ(Completed(2).status, STATUS_REFUSED);
  EXPECT_EQ(model_.starts, 0);
}

TEST_F(Queue, ContextsSetTheWindow) {
  command context = Run(1);
  context.kind = COMMAND_CONTEXT;
  context.context = 2;
  context.program[0] = 0x5000;
  context.limit[0] = 0x9000;
  command inside = Numbered(2, 9);
  inside.context = 2;
  inside.limit[0] = 0x20000;
  image_.scrub_program[0] = 0xF000;
  image_.scrub_length = 3;
  model_.on_start = nullptr;
  EXPECT_THAT(Serve({context, inside}), ElementsAre(15, 2));  // scrubbed first
  EXPECT_EQ(Completed(1).status, STATUS_DONE);
  EXPECT_EQ(Completed(2).status, STATUS_DONE);
  EXPECT_EQ(model_.regs[REG_BASE_LO], 0x5000u);
  EXPECT_EQ(model_.regs[REG_LIMIT_LO], 0x9000u);
  EXPECT_TRUE(model_.regs[REG_CORE_CTRL] & CORE_CTRL_ISOLATED);
}

TEST_F(Queue, BadContextsAreRefused) {
  command context = Run(1);
  context.kind = COMMAND_CONTEXT;
  context.limit[0] = 0x9000;
  context.program[0] = 0x5000;
  EXPECT_FALSE(program_context(&context));  // the host's own
  context.context = MAX_CONTEXTS;
  EXPECT_FALSE(program_context(&context));
  context.context = 1;
  context.program[0] = 0x5800;
  EXPECT_FALSE(program_context(&context));
  context.program[0] = 0xA000;  // above the limit
  EXPECT_FALSE(program_context(&context));
  context.program[0] = 0x9000;
  EXPECT_TRUE(program_context(&context));
}

}  // namespace
}  // namespace systole
