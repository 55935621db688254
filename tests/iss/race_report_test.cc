// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The race check: each rule, what is reported, what orders.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/iss/pipeline.h"

namespace systole::iss {
namespace {

using ::testing::HasSubstr;

const Preset& Nano() { return *FindPreset("nano"); }

// A report: both descriptors, queues, space, bytes.
TEST(Race, ReportNamesBothDescriptors) {
  isa::Load load;
  load.hbm_addr = 0x100, load.ub_addr = 0x40, load.len = 33,
  load.n1 = load.n2 = 1;
  isa::Store store;
  store.hbm_addr = 0x200, store.ub_addr = 0x60, store.len = 40,
  store.n1 = store.n2 = 1;
  Iss iss(Nano(), 1);
  EXPECT_EQ(
      RunChecked({load.Encode(), store.Encode(), isa::Halt{}.Encode()}, &iss),
      Iss::Event::kHalted);
  ASSERT_EQ(iss.races()->count, 1u);
  const Finding& f = iss.races()->findings[0];
  EXPECT_EQ(f.rule, 3);
  EXPECT_EQ(f.first, 0u);
  EXPECT_EQ(f.second, 1u);
  EXPECT_EQ(f.space, Space::kUb);
  EXPECT_EQ(f.range.begin, 0x60u);
  EXPECT_EQ(f.range.end, 0x61u);
  EXPECT_EQ(
      f.text,
      "race on unified buffer bytes 0x60..0x60: a write and a read are not "
      "ordered by queues and flags:\n"
      "  #0, queue load: load hbm_addr=0x100 ub_addr=0x40 len=33 n1=1 n2=1\n"
      "  #1, queue store: store hbm_addr=0x200 ub_addr=0x60 len=40 n1=1 n2=1");
  const absl::Status s = iss.races()->ToStatus();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("1 violation of the rules"));
  // 39 of its 40 bytes were never written.
  EXPECT_EQ(iss.races()->unwritten_bytes, 39u);
}

// Only the first findings are kept, all are counted.
TEST(Race, ManyAreCounted) {
  std::vector<isa::Descriptor> program;
  isa::Load load;
  load.len = 32, load.n1 = load.n2 = 1;
  isa::Store store;
  store.len = 32, store.n1 = store.n2 = 1, store.hbm_addr = 0x4000;
  for (int i = 0; i < 30; ++i) {
    load.ub_addr = store.ub_addr = 32 * i;
    program.push_back(load.Encode());
    program.push_back(store.Encode());
  }
  program.push_back(isa::Halt{}.Encode());
  Iss iss(Nano(), 1);
  RunChecked(program, &iss);
  EXPECT_EQ(iss.races()->count, 30u);
  EXPECT_EQ(iss.races()->findings.size(), RaceReport::kKept);
  EXPECT_THAT(std::string(iss.races()->ToStatus().message()),
              HasSubstr("... and 14 more"));
}

TEST(Race, Rule2FlagsAreChannels) {
  isa::Load load;
  load.len = load.n1 = load.n2 = 1, load.header.post_mask = 1;
  isa::Store store;
  store.len = store.n1 = store.n2 = 1, store.ub_addr = 0x800,
  store.hbm_addr = 0x800, store.header.wait_mask = 1;
  isa::Requant requant;
  requant.header.flags = isa::Requant::kRaw, requant.header.wait_mask = 1;
  requant.n = requant.ny = requant.nx = requant.cols = 1, requant.dst = 0x1000;
  Iss iss(Nano(), 1);
  RunChecked({load.Encode(), load.Encode(), store.Encode(), requant.Encode(),
              isa::Halt{}.Encode()},
             &iss);
  ASSERT_EQ(iss.races()->count, 1u);
  EXPECT_EQ(iss.races()->findings[0].rule, 2);
  EXPECT_THAT(
      iss.races()->findings[0].text,
      HasSubstr("sync flag 0 has waits in two queues:\n  #2, queue store"));
  requant.header.wait_mask = 0, requant.header.post_mask = 1;
  RunChecked(
      {load.Encode(), requant.Encode(), store.Encode(), isa::Halt{}.Encode()},
      &iss);
  ASSERT_EQ(iss.races()->count, 1u);
  EXPECT_EQ(iss.races()->findings[0].rule, 2);
  EXPECT_THAT(iss.races()->findings[0].text,
              HasSubstr("sync flag 0 has posts from two queues"));
}

isa::Matmul Taking(int tiles) {
  isa::Matmul m;
  m.lines = m.line_bytes = m.n = m.ny = m.nx = m.t1 = 1, m.t0 = tiles,
  m.seg_len[0] = 1;
  return m;
}

TEST(Race, Rule4Weights) {
  isa::Weights weights;
  weights.tiles = 2;
  Iss iss(Nano(), 1);
  RunChecked({weights.Encode(), weights.Encode(), Taking(4).Encode(),
              isa::Halt{}.Encode()},
             &iss);
  ASSERT_EQ(iss.races()->count, 1u);
  EXPECT_EQ(iss.races()->findings[0].rule, 4);
  EXPECT_THAT(iss.races()->findings[0].text,
              HasSubstr("2 weight tiles pushed before are still untaken"));
  RunChecked({weights.Encode(), Taking(1).Encode(), isa::Halt{}.Encode()},
             &iss);
  ASSERT_EQ(iss.races()->count, 1u);
  EXPECT_EQ(iss.races()->findings[0].rule, 4);
  EXPECT_THAT(iss.races()->findings[0].text,
              HasSubstr("1 weight tiles are untaken at the halt"));
}

// More tiles than the FIFO holds: good, but the matmul must not wait for the
// descriptor that pushes them.
TEST(Race, DeadlockOfTheWeightFifo) {
  isa::Weights weights;
  weights.tiles = 9, weights.header.post_mask = 1;
  isa::Matmul matmul = Taking(9);
  matmul.header.wait_mask = 1;
  isa::Store later;
  later.len = later.n1 = later.n2 = 1, later.ub_addr = 0x800,
  later.hbm_addr = 0x4000;
  Iss iss(Nano(), 1);
  RunChecked({weights.Encode(), matmul.Encode(), isa::Halt{}.Encode()}, &iss);
  ASSERT_EQ(iss.races()->count, 1u);
  EXPECT_EQ(iss.races()->findings[0].rule, 1);
  EXPECT_THAT(iss.races()->findings[0].text, HasSubstr("deadlock"));
  matmul.header.wait_mask = 0;
  RunChecked(
      {weights.Encode(), matmul.Encode(), later.Encode(), isa::Halt{}.Encode()},
      &iss);
  EXPECT_EQ(iss.races()->count, 0u);
  weights.tiles = 8, matmul.t0 = 8, matmul.header.wait_mask = 1;
  RunChecked({weights.Encode(), matmul.Encode(), isa::Halt{}.Encode()}, &iss);
  EXPECT_EQ(iss.races()->count, 0u);
}

// The FIFO orders: who waits for the matmul that took the last tile may
// overwrite the weights in HBM.
TEST(Race, WeightFifoOrders) {
  isa::Weights weights;
  weights.tiles = 2;
  isa::Matmul first = Taking(1), second = Taking(1);
  first.header.post_mask = second.header.post_mask = 1;
  isa::Store store;
  store.len = 32, store.n1 = store.n2 = 1, store.ub_addr = 0x800,
  store.header.wait_mask = 1;
  Iss iss(Nano(), 1);
  isa::Store wait_only = store;
  wait_only.hbm_addr = 0x4000;
  RunChecked({weights.Encode(), first.Encode(), second.Encode(),
              wait_only.Encode(), store.Encode(), isa::Halt{}.Encode()},
             &iss);
  EXPECT_EQ(iss.races()->count, 0u);
  store.header.wait_mask = 0;
  RunChecked({weights.Encode(), first.Encode(), second.Encode(),
              wait_only.Encode(), store.Encode(), isa::Halt{}.Encode()},
             &iss);
  EXPECT_EQ(iss.races()->count,
            1u);  // knows only of the first matmul, whose tile is not the last
}

// A vector operation that overwrites what it still has to read.
TEST(Race, WithinADescriptor) {
  isa::Add add;
  add.ny = 2, add.line_bytes = 16, add.pitch0 = add.pitch1 = add.dst_pitch = 16;
  add.src0 = 0x100, add.src1 = 0x200, add.dst = 0x100;
  const auto count = [](const isa::Descriptor& d) {
    Iss iss(Nano(), 1);
    RunChecked({d, isa::Halt{}.Encode()}, &iss);
    return iss.races()->count;
  };
  EXPECT_EQ(count(add.Encode()), 0u);  // in place
  add.dst = 0x108;
  EXPECT_EQ(count(add.Encode()), 1u);
  add.dst = 0x100, add.dst_pitch = 32;
  EXPECT_EQ(count(add.Encode()), 1u);
  add.dst = 0x1F0, add.dst_pitch = 16;
  EXPECT_EQ(count(add.Encode()), 1u);  // falls on the other operand
  isa::Requant requant;
  requant.n = requant.ny = requant.nx = 1, requant.cols = 8,
  requant.params = 0x100;
  requant.dst = 0x100 + 72;
  EXPECT_EQ(count(requant.Encode()), 0u);
  requant.dst = 0x100 + 71;
  EXPECT_EQ(count(requant.Encode()), 1u);
  isa::Pool pool;
  pool.lines = pool.n = pool.ny = pool.nx = pool.kh = pool.kw = 1,
  pool.line_bytes = 8, pool.cols = 8;
  pool.dst = 8;
  EXPECT_EQ(count(pool.Encode()), 0u);
  pool.dst = 7;
  EXPECT_EQ(count(pool.Encode()), 1u);
}

}  // namespace
}  // namespace systole::iss
