// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit's register block against a table of docs/spec/scalar.rdl:
// random accesses, of some bits of a word too, events and clears in each
// cycle, resets in between.

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <memory>
#include <random>

#include "VRegsBench.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

constexpr int kRegisters = 64;

enum Kind { kNone, kShown, kHeld, kEvent, kFlags, kControl };

struct Register {
  Kind kind = kNone;
  uint32_t mask = 0xFFFFFFFF;  // bits that there are
  uint32_t reset = 0;
  bool cleared = false;  // the hardware may clear it
};

std::array<Register, kRegisters> Table() {
  std::array<Register, kRegisters> table;
  const auto put = [&](std::initializer_list<uint32_t> offsets, Register r) {
    for (const uint32_t offset : offsets) table[offset / 4] = r;
  };
  put({0x00, 0x04, 0x14, 0x24, 0x28, 0x2C, 0x50, 0x54, 0x58, 0x5C, 0x60, 0x64,
       0x88, 0xB0, 0xB4, 0xB8},
      {kShown});
  put({0x34}, {kShown, 0xF1F});
  put({0x08, 0x1C, 0x20, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C, 0x68, 0x6C, 0x74,
       0x78, 0x90, 0x94, 0x98, 0xC8, 0xCC},
      {kHeld});
  put({0x0C}, {kHeld, 0xFFFFFFFF, 0xFFFFFFFF});
  put({0x84, 0xBC, 0xC0}, {kHeld, 0xFFFFFFFF, 0, true});
  put({0xA4}, {kHeld, 1});
  put({0xC4}, {kHeld, 0x1FF00FF});
  put({0x18, 0x70, 0x7C, 0x80, 0x9C, 0xA0, 0xD0, 0xD4, 0xD8}, {kEvent});
  put({0x10}, {kFlags, 0x3F});
  put({0x30}, {kControl, 0xF});
  return table;
}

class ScalarRegs : public ::testing::Test {
 protected:
  void Start(uint64_t seed) {
    random_.seed(seed);
    top_.reset();
    context_ = std::make_unique<VerilatedContext>();
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed) | 1);
    top_ = std::make_unique<VRegsBench>(context_.get());
    for (int i = 0; i < 2; i++) Reset();
  }
  // A cycle, whatever is asked for in it.
  void Reset() {
    Draw();
    top_->rst_ni = 0;
    Clock();
    top_->rst_ni = 1;
    for (int r = 0; r < kRegisters; r++) held_[r] = table_[r].reset;
  }
  void Clock() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  uint32_t Bits() { return static_cast<uint32_t>(random_()); }
  void Draw() {
    top_->req_i = Bits() % 4 != 0;
    top_->write_i = Bits() % 2;
    // A bit beside a register's address: another register, or none.
    uint32_t addr = Bits() % kRegisters * 4;
    if (Bits() % 8 == 0) addr ^= 1u << Bits() % 8;
    top_->addr_i = addr;
    top_->data_i = Bits();
    const uint32_t some[] = {0xFFFFFFFF, 0xFFFFFFFF, 0, Bits()};
    top_->enable_i = some[Bits() % std::size(some)];
    for (int r = 0; r < kRegisters; r++) top_->shown_i[r] = Bits();
    top_->set_i = Bits() & Bits() & Bits() & 0x3F;
    top_->clear_i = random_() & random_() & random_();
  }
  // What is seen in a cycle before its edge.
  void Look() {
    const bool asked = top_->req_i, write = top_->write_i;
    const uint32_t addr = top_->addr_i;
    const Register none, &r = addr % 4 == 0 ? table_[addr / 4] : none;
    const bool legal = write ? r.kind != kNone && r.kind != kShown
                             : r.kind != kNone && r.kind != kEvent;
    EXPECT_FALSE(top_->stall_o);
    EXPECT_EQ(top_->rd_ack_o, asked && !write);
    EXPECT_EQ(top_->wr_ack_o, asked && write);
    if (asked && !write) {
      EXPECT_EQ(top_->rd_err_o, !legal);
      if (legal) {
        // Pulses are not read.
        const uint32_t data = r.kind == kShown     ? top_->shown_i[addr / 4]
                              : r.kind == kControl ? held_[addr / 4] & ~3u
                                                   : held_[addr / 4];
        EXPECT_EQ(top_->data_o, data & r.mask);
      }
    }
    if (asked && write) {
      EXPECT_EQ(top_->wr_err_o, !legal);
    }
    const uint64_t event =
        asked && write && r.kind == kEvent && top_->enable_i != 0
            ? uint64_t{1} << addr / 4
            : 0;
    EXPECT_EQ(top_->written_o, event);
    for (int i = 0; i < kRegisters; i++) {
      EXPECT_EQ(top_->held_o[i], held_[i]) << "register " << i * 4;
    }
  }
  // What the registers hold behind it.
  void Advance() {
    const bool write = top_->req_i && top_->write_i;
    for (int i = 0; i < kRegisters; i++) {
      const Register& r = table_[i];
      if (r.kind == kNone || r.kind == kShown) continue;
      const bool here = write && top_->addr_i == i * 4;
      uint32_t next = held_[i];
      if (r.kind == kFlags) {
        if (here) next &= ~(top_->data_i & top_->enable_i);
        next |= top_->set_i;
      } else {
        if (here) {
          next = (next & ~top_->enable_i) | (top_->data_i & top_->enable_i);
        } else if (r.kind == kControl) {
          next &= ~3u;
        } else if (r.cleared && (top_->clear_i >> i & 1)) {
          next = 0;
        }
      }
      held_[i] = next & r.mask;
    }
  }

  const std::array<Register, kRegisters> table_ = Table();
  std::array<uint32_t, kRegisters> held_ = {};
  std::mt19937_64 random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VRegsBench> top_;
};

TEST_F(ScalarRegs, DoWhatTheirDescriptionSays) {
  for (const uint64_t seed : testing_options::Seeds(4)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Start(seed);
    for (int cycle = 0; cycle < 20000; cycle++) {
      if (Bits() % 300 == 0) Reset();
      Draw();
      top_->clk_i = 0;
      top_->eval();
      Look();
      ASSERT_FALSE(HasFailure()) << "cycle " << cycle;
      Advance();
      top_->clk_i = 1;
      top_->eval();
    }
    top_->final();
  }
}

}  // namespace
}  // namespace systole
