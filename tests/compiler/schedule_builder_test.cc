// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/schedule_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace systole::compiler {
namespace {

using isa::Queue;

const Preset& kNano = *FindPreset("nano");

isa::Load LoadTo(int64_t ub, int64_t len, int64_t hbm = 0) {
  isa::Load l;
  l.hbm_addr = hbm;
  l.ub_addr = static_cast<uint32_t>(ub);
  l.len = static_cast<uint32_t>(len);
  l.n1 = l.n2 = 1;
  return l;
}

isa::Store StoreFrom(int64_t ub, int64_t len, int64_t hbm) {
  isa::Store s;
  s.hbm_addr = hbm;
  s.ub_addr = static_cast<uint32_t>(ub);
  s.len = static_cast<uint32_t>(len);
  s.n1 = s.n2 = 1;
  return s;
}

// rows lines of 8 bytes from `ub` into accumulator rows from `acc`.
isa::Matmul MatmulFrom(int64_t ub, int64_t rows, int64_t acc) {
  isa::Matmul m;
  m.ub_base = static_cast<uint32_t>(ub);
  m.pitch = 32;
  m.lines = static_cast<uint32_t>(rows);
  m.line_bytes = 8;
  m.n = m.nx = m.t0 = m.t1 = 1;
  m.ny = static_cast<uint32_t>(rows);
  m.sy = 1;
  m.acc = static_cast<uint32_t>(acc);
  m.seg_len[0] = 8;
  return m;
}

isa::Weights Tiles(uint32_t tiles) {
  isa::Weights w;
  w.hbm_addr = 1 << 20;
  w.tiles = tiles;
  return w;
}

isa::Requant RequantTo(int64_t acc, int64_t rows, int64_t dst) {
  isa::Requant r;
  r.header.flags = isa::Requant::kRaw;
  r.acc = static_cast<uint32_t>(acc);
  r.n = r.nx = 1;
  r.ny = static_cast<uint32_t>(rows);
  r.dst = static_cast<uint32_t>(dst);
  r.dst_pitch = 32;
  r.cols = 8;
  return r;
}

uint32_t Waits(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, 32, 32));
}
uint32_t Posts(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, 64, 32));
}
uint32_t Channel(Queue from, Queue to) { return 1u << ChannelFlag(from, to); }

TEST(ChannelFlag, OneForEachOrderedPair) {
  std::vector<int> flags;
  for (int a = 0; a < isa::kNumQueues; ++a) {
    for (int b = 0; b < isa::kNumQueues; ++b) {
      if (a != b)
        flags.push_back(
            ChannelFlag(static_cast<Queue>(a), static_cast<Queue>(b)));
    }
  }
  std::sort(flags.begin(), flags.end());
  EXPECT_EQ(std::unique(flags.begin(), flags.end()), flags.end());
  EXPECT_EQ(flags.size(), 20u);
  EXPECT_LT(flags.back(), isa::kNumFlags);
}

TEST(ScheduleBuilder, FindsReadAfterWriteThroughAllUnits) {
  ScheduleBuilder builder(kNano);
  builder.Append(LoadTo(0, 128));              // 0
  builder.Append(Tiles(1));                    // 1
  builder.Append(MatmulFrom(0, 4, 0));         // 2
  builder.Append(RequantTo(0, 4, 1024));       // 3
  builder.Append(StoreFrom(1024, 128, 4096));  // 4
  const auto schedule = builder.Finish();
  ASSERT_TRUE(schedule.ok());
  const auto& d = schedule->descriptors;
  ASSERT_EQ(d.size(), 6u);
  EXPECT_EQ(OpcodeOf(d.back()), isa::Opcode::kHalt);
  const auto find = [&](isa::Opcode op) {
    for (const isa::Descriptor& x : d) {
      if (OpcodeOf(x) == op) return x;
    }
    return isa::Descriptor{};
  };
  EXPECT_EQ(Posts(find(isa::Opcode::kLoad)),
            Channel(Queue::kLoad, Queue::kMxu));
  EXPECT_EQ(Waits(find(isa::Opcode::kMatmul)),
            Channel(Queue::kLoad, Queue::kMxu));
  EXPECT_EQ(Waits(find(isa::Opcode::kRequant)),
            Channel(Queue::kMxu, Queue::kVector));
  EXPECT_EQ(Waits(find(isa::Opcode::kStore)),
            Channel(Queue::kVector, Queue::kStore));
  EXPECT_EQ(Waits(find(isa::Opcode::kWeights)), 0u) << "the FIFO orders tiles";
  EXPECT_EQ(schedule->edges, 3);
}

TEST(ScheduleBuilder, FindsWriteAfterReadAndHbmHazards) {
  ScheduleBuilder builder(kNano);
  builder.Append(StoreFrom(0, 64, 4096));
  builder.Append(LoadTo(32, 64));  // overwrites what the store reads
  builder.Append(LoadTo(
      512, 32,
      4128));  // reads what the store wrote, implied by the wait before it
  const auto& deps = builder.dependences();
  EXPECT_EQ(deps[1][static_cast<int>(Queue::kStore)], 0);
  EXPECT_EQ(deps[2][static_cast<int>(Queue::kStore)], 0);
  const auto schedule = builder.Finish();
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(schedule->edges, 1);
}

TEST(ScheduleBuilder, IndependentRangesNeedNoFlag) {
  ScheduleBuilder builder(kNano);
  builder.Append(StoreFrom(0, 64, 4096));
  builder.Append(LoadTo(64, 64, 8192));
  const auto schedule = builder.Finish();
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(schedule->edges, 0);
}

TEST(PlanFlags, LeavesOutWhatOtherEdgesImply) {
  // load 0 -> matmul 1 -> requant 2; requant 2 also reads what load 0 wrote.
  std::vector<isa::Descriptor> d = {LoadTo(0, 32).Encode(),
                                    MatmulFrom(0, 1, 0).Encode(),
                                    RequantTo(0, 1, 64).Encode()};
  std::vector<Dependences> deps(3, {-1, -1, -1, -1, -1});
  deps[1][static_cast<int>(Queue::kLoad)] = 0;
  deps[2][static_cast<int>(Queue::kMxu)] = 1;
  deps[2][static_cast<int>(Queue::kLoad)] = 0;
  const auto edges = PlanFlags(d, deps);
  ASSERT_TRUE(edges.ok());
  EXPECT_EQ(*edges, 2);
}

TEST(PlanFlags, OneWaitCoversEarlierOnesOfItsChannel) {
  std::vector<isa::Descriptor> d = {
      LoadTo(0, 32).Encode(), LoadTo(32, 32).Encode(),
      MatmulFrom(32, 1, 0).Encode(), MatmulFrom(0, 1, 8).Encode()};
  std::vector<Dependences> deps(4, {-1, -1, -1, -1, -1});
  deps[2][static_cast<int>(Queue::kLoad)] = 1;
  deps[3][static_cast<int>(Queue::kLoad)] = 0;
  const auto edges = PlanFlags(d, deps);
  ASSERT_TRUE(edges.ok());
  EXPECT_EQ(*edges, 1);
  EXPECT_EQ(Posts(d[0]), 0u);
  EXPECT_EQ(Waits(d[3]), 0u);
}

TEST(PlanFlags, RefusesForwardEdges) {
  std::vector<isa::Descriptor> d = {MatmulFrom(0, 1, 0).Encode(),
                                    LoadTo(0, 32).Encode()};
  std::vector<Dependences> deps(2, {-1, -1, -1, -1, -1});
  deps[0][static_cast<int>(Queue::kLoad)] = 1;
  EXPECT_EQ(PlanFlags(d, deps).status().code(), absl::StatusCode::kInternal);
}

TEST(ScheduleBuilder, RefusesFieldsThatDoNotFit) {
  ScheduleBuilder builder(kNano);
  builder.set_tag(3);
  isa::Matmul m = MatmulFrom(0, 1, 0);
  m.sx = 1 << 18;
  builder.Append(m);
  const auto schedule = builder.Finish();
  EXPECT_EQ(schedule.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(schedule.status().message()),
              testing::HasSubstr("layer 3: a field of descriptor 0 (matmul)"));
}

TEST(Simulate, TilesAreGluedToTheirMatmulAndLoadsRunAhead) {
  ScheduleBuilder builder(kNano);
  for (int b = 0; b < 3; ++b) {
    builder.Append(LoadTo(b * 4096, 4096, b * 4096));
    builder.Append(Tiles(16));
    isa::Matmul m = MatmulFrom(b * 4096, 128, b % 2 * 256);
    m.t0 = 16;
    builder.Append(m);
    builder.Append(RequantTo(b % 2 * 256, 128, 32768 + b * 4096));
  }
  const auto schedule = builder.Finish();
  ASSERT_TRUE(schedule.ok());
  std::string order;
  for (const isa::Descriptor& d : schedule->descriptors) {
    switch (OpcodeOf(d)) {
      case isa::Opcode::kLoad:
        order += 'L';
        break;
      case isa::Opcode::kWeights:
        order += 'w';
        break;
      case isa::Opcode::kMatmul:
        order += 'M';
        break;
      case isa::Opcode::kRequant:
        order += 'r';
        break;
      default:
        order += '.';
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == 'w') EXPECT_EQ(order[i + 1], 'M') << order;
  }
  EXPECT_LT(order.find('L', order.find('L') + 1), order.find('r'))
      << order << ": the second load is not ahead";
  EXPECT_GT(schedule->estimated_cycles, 3 * 16 * 128);
  EXPECT_LT(schedule->estimated_cycles, 3 * 16 * 128 + 1000);
}

}  // namespace
}  // namespace systole::compiler
