// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The ALU alone, both its views, against the reference: each instruction with
// all pairs of corner operands, then random and related operands, a new
// instruction in each cycle and gaps between.

#include <deque>
#include <memory>
#include <random>

#include "Vvpu_alu.h"
#include "gtest/gtest.h"
#include "tests/rtl/vpu/reference.h"
#include "tests/testing/long.h"
#include "verilated.h"

namespace systole::vpu_test {
namespace {

using vpu::Class;
using vpu::Op;

constexpr int kLanes = 16, kLatency = 7;  // start to write

std::vector<Op> AluOps() {
  std::vector<Op> ops;
  for (const vpu::OpInfo& op : vpu::kOps) {
    if (op.cls == Class::kFloat || op.cls == Class::kSelect ||
        op.cls == Class::kInteger || op.cls == Class::kConvert) {
      ops.push_back(op.op);
    }
  }
  return ops;
}

class VpuAluTest : public ::testing::Test {
 protected:
  VpuAluTest() {
    context_.randReset(2);
    context_.randSeed(3);
    dut_ = std::make_unique<Vvpu_alu>(&context_);
    dut_->rst_ni = dut_->start_i = 0;
    for (int i = 0; i < 3; ++i) Clock();
    dut_->rst_ni = 1;
  }
  ~VpuAluTest() override {
    for (int i = 0; i < 10; ++i) Gap();
    EXPECT_EQ(wrong_, 0);
    EXPECT_FALSE(context_.gotError());
  }

  // One lane more; a full row starts.
  void Add(Op op, const Operands& o) {
    if (lane_ > 0 && op != op_) Start();
    op_ = op;
    row_[lane_++] = o;
    if (lane_ == kLanes) Start();
  }

  void Start() {
    for (int l = 0; l < kLanes; ++l) {
      if (l >= lane_) row_[l] = row_[0];
      dut_->a_i[l] = row_[l].a;
      dut_->b_i[l] = row_[l].b;
      dut_->c_i[l] = row_[l].c;
    }
    const int place = static_cast<int>(random_() % 64);
    dut_->start_i = 1;
    dut_->op_i = static_cast<uint8_t>(op_);
    dut_->place_i = place;
    Expected e;
    e.valid = true, e.op = op_, e.place = place;
    for (int l = 0; l < kLanes; ++l) e.row[l] = row_[l];
    lane_ = 0;
    Step(e);
  }
  void Gap() {
    dut_->start_i = 0;
    dut_->op_i = static_cast<uint8_t>(random_());
    for (int l = 0; l < kLanes; ++l) dut_->a_i[l] = dut_->b_i[l] = random_();
    Step({});
  }

  std::mt19937 random_{1};
  int64_t lanes_ = 0;

 private:
  struct Expected {
    bool valid = false;
    Op op = {};
    int place = 0;
    Operands row[kLanes] = {};
  };

  void Clock() {
    dut_->clk_i = 1;
    dut_->eval();
    dut_->clk_i = 0;
    dut_->eval();
  }

  void Step(const Expected& e) {
    pipe_.push_back(e);
    Clock();
    if (pipe_.size() < kLatency) return;
    const Expected x = pipe_.front();
    pipe_.pop_front();
    ASSERT_EQ(dut_->valid_o, x.valid);
    if (!x.valid) return;
    ASSERT_EQ(dut_->place_o, x.place);
    if (!dut_->same_o && ++wrong_ <= 10) ADD_FAILURE() << "the views differ";
    for (int l = 0; l < kLanes; ++l) {
      const Operands& o = x.row[l];
      const uint32_t want = Lane(x.op, o.a, o.b, o.c);
      ++lanes_;
      if (dut_->y_o[l] == want || ++wrong_ > 10) continue;
      ADD_FAILURE() << std::hex << vpu::FindOp(static_cast<uint8_t>(x.op))->name
                    << " " << o.a << " " << o.b << " " << o.c << ": "
                    << uint64_t{dut_->y_o[l]} << ", wanted " << want;
    }
  }

  VerilatedContext context_;
  std::unique_ptr<Vvpu_alu> dut_;
  std::deque<Expected> pipe_;
  Op op_ = {};
  Operands row_[kLanes];
  int lane_ = 0;
  int64_t wrong_ = 0;
};

TEST_F(VpuAluTest, CornerPairs) {
  const auto& corners = CornerOperands();
  for (Op op : AluOps()) {
    for (uint32_t a : corners) {
      for (uint32_t b : corners)
        Add(op, {a, b, corners[random_() % corners.size()]});
    }
  }
}

TEST_F(VpuAluTest, FusedCornerTriples) {
  const auto& corners = CornerOperands();
  for (uint32_t a : corners) {
    for (uint32_t b : corners) {
      for (uint32_t c : corners) Add(Op::kFma, {a, b, c});
    }
  }
  EXPECT_GT(lanes_, 900'000);
}

TEST_F(VpuAluTest, RandomOperands) {
  const std::vector<Op> ops = AluOps();
  for (int i = 0; i < testing_options::Sized(50'000, 400'000); ++i) {
    const Op op = ops[random_() % ops.size()];
    for (int l = 0; l < kLanes; ++l) Add(op, RelatedOperands(random_));
    while (random_() % 8 == 0) Gap();
  }
}

TEST_F(VpuAluTest, FusedRandomOperands) {
  const int count = testing_options::Sized(200'000, 5'000'000);
  for (int i = 0; i < count; ++i)
    Add(i % 4 ? Op::kFma : Op::kFnma, RelatedOperands(random_));
  EXPECT_GT(lanes_, count - 100'000);
}

// Every exponent of a conversion, both ways.
TEST_F(VpuAluTest, ConversionsOfEveryExponent) {
  for (Op op : {Op::kF2i, Op::kF2iFloor, Op::kI2f, Op::kBf16, Op::kSr}) {
    for (uint32_t high = 0; high < 512; ++high) {
      for (int i = 0; i < 512; ++i) {
        const uint32_t low =
            i < 64 ? (i < 32 ? i : 0x7FFFFF - (i - 32)) : random_() & 0x7FFFFF;
        Add(op, {high << 23 | low, static_cast<uint32_t>(random_()), 0});
      }
    }
  }
}

}  // namespace
}  // namespace systole::vpu_test
