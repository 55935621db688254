// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// load, store and weights between memories that stall: every beat, mask,
// completion and fault against the reference; rate, room, freeze.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/rtl/dma/bench.h"
#include "tests/testing/seeds.h"

namespace systole::dma_test {
namespace {

using isa::Descriptor;
using isa::Fault;
using Params = std::tuple<Kind, std::string>;

constexpr uint32_t kFirstSeed = 1000;

class DmaTest : public ::testing::TestWithParam<Params> {
 protected:
  Kind kind() const { return std::get<0>(GetParam()); }
  const Preset& preset() const { return *FindPreset(std::get<1>(GetParam())); }
  bool nano() const { return preset().name != "v1"; }  // of its size
  bool bf16() const { return preset().cell == Cell::kBf16; }
  bool weights() const { return kind() == Kind::kWeights; }
  uint64_t beat() const { return preset().beat_bytes(); }
  std::unique_ptr<Unit> Make(uint32_t seed) {
    return MakeUnit(kind(), std::get<1>(GetParam()), seed);
  }

  // `beats` beats in runs of `run` beats that follow each other (weights: whole
  // tiles, at least one).
  Descriptor Linear(uint64_t hbm, uint64_t beats, uint64_t run) {
    if (weights()) {
      isa::Weights w;
      w.hbm_addr = hbm;
      w.tiles = static_cast<uint32_t>(
          std::max<uint64_t>(1, beats * beat() / preset().tile_bytes()));
      return w.Encode();
    }
    isa::Load f;
    f.header.opcode = static_cast<uint8_t>(
        kind() == Kind::kLoad ? isa::Opcode::kLoad : isa::Opcode::kStore);
    f.hbm_addr = hbm;
    f.ub_addr = 0;
    f.len = static_cast<uint32_t>(run * beat());
    f.n1 = static_cast<uint32_t>(beats / run);
    f.n2 = 1;
    f.hbm_stride1 = run * beat();
    f.ub_stride1 = static_cast<uint32_t>(run * beat());
    return f.Encode();
  }

  // A small memory, most often not of whole beats.
  uint64_t Limit(std::mt19937* random) {
    const uint64_t extra[] = {0, 1, (*random)() % beat(), beat() - 1};
    return (64 + (*random)() % 64) * preset().tile_bytes() +
           extra[(*random)() % 4];
  }

  // A random way to hold things off, one in four of them none at all.
  Traffic RandomTraffic(std::mt19937* random) {
    Traffic t;
    const auto chance = [random] {
      static constexpr int kChances[] = {0, 20, 100, 200, 245};
      return kChances[(*random)() % 5];
    };
    t.hold_start = chance();
    t.hold_read = chance();
    t.hold_write = chance();
    if (kind() != Kind::kStore) {
      t.hold_answer = chance();
      t.latency = 1 + static_cast<int>((*random)() % 150);
    }
    if (weights() && (*random)() % 2 == 0) {
      t.fifo = 1 + (*random)() % 20;
    }
    return t;
  }
};

TEST_P(DmaTest, MovesRandomDescriptors) {
  const int runs = nano() ? 60 : weights() ? 6 : 20;
  for (const uint64_t s : systole::testing_options::Seeds(runs, kFirstSeed)) {
    if (HasFailure()) return;
    const uint32_t seed = static_cast<uint32_t>(s);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto unit = Make(seed);
    if (seed % 3 != 0) unit->hbm_limit = Limit(&random);
    std::vector<Descriptor> list(nano() ? 40 : weights() ? 4 : 25);
    for (Descriptor& d : list) {
      d = RandomDescriptor(kind(), preset(), unit->hbm_limit, &random);
    }
    const RunResult r = unit->Run(list, RandomTraffic(&random));
    EXPECT_EQ(r.done.size(), list.size());
  }
}

TEST_P(DmaTest, ReportsRandomFaults) {
  const int runs = nano() ? 400 : weights() ? 20 : 150;
  std::vector<int> seen(16);
  for (const uint64_t s :
       systole::testing_options::Seeds(runs, kFirstSeed + 10000)) {
    if (HasFailure()) return;
    const uint32_t seed = static_cast<uint32_t>(s);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto unit = Make(seed);
    if (seed % 2) unit->hbm_limit = Limit(&random);
    std::vector<Descriptor> list(random() % 3);
    for (Descriptor& d : list) {
      d = RandomDescriptor(kind(), preset(), unit->hbm_limit, &random);
    }
    list.push_back(
        FaultyDescriptor(kind(), preset(), unit->hbm_limit, &random));
    list.push_back(
        RandomDescriptor(kind(), preset(), unit->hbm_limit, &random));
    Traffic t = RandomTraffic(&random);
    t.freeze_on_fault = random() % 2;
    const RunResult r = unit->Run(list, t);
    EXPECT_EQ(r.faults, 1);
    ++seen[static_cast<int>(r.fault)];
  }
  EXPECT_GT(seen[static_cast<int>(Fault::kIllegalDescriptor)], 0);
  EXPECT_GT(seen[static_cast<int>(Fault::kMisaligned)], 0);
  EXPECT_GT(seen[static_cast<int>(Fault::kHbmRange)], 0);
  EXPECT_TRUE(weights() || seen[static_cast<int>(Fault::kUbRange)] > 0);
}

// Descriptors from the base on are moved, those that begin below it are not,
// whether they end above it or not.
TEST_P(DmaTest, NothingBelowTheBase) {
  std::mt19937 random(11);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto unit = Make(seed);
    unit->hbm_base = 64 * beat() * (1 + random() % 1000);
    unit->hbm_limit = unit->hbm_base + 1024 * preset().tile_bytes();
    const Descriptor first = Linear(unit->hbm_base, 4, 4);
    const uint64_t below = unit->hbm_base - beat() * (1 + random() % 6);
    RunResult r = unit->Run({first, Linear(below, 4, 4), first}, {});
    EXPECT_EQ(r.faults, 1);
    EXPECT_EQ(r.fault, Fault::kHbmRange);
    EXPECT_EQ(r.fault_addr, below);
    unit->Reset();
    r = unit->Run({first, first}, {});
    EXPECT_EQ(r.faults, 0);
    EXPECT_EQ(r.done.size(), 2);
  }
}

// An older descriptor in flight completes after the fault of the next one, and
// a reset makes the unit usable again.
TEST_P(DmaTest, OlderDescriptorSurvivesAFault) {
  auto unit = Make(1);
  unit->hbm_limit = 1024 * preset().tile_bytes();
  Traffic t;
  t.latency = kind() == Kind::kStore ? 2 : 40;
  t.freeze_on_fault = false;
  const Descriptor good = Linear(0, 4, 4), bad = Linear(unit->hbm_limit, 4, 4);
  const RunResult r = unit->Run({good, bad, good}, t);
  EXPECT_EQ(r.faults, 1);
  EXPECT_EQ(r.fault, Fault::kHbmRange);
  EXPECT_EQ(r.fault_addr, unit->hbm_limit);
  EXPECT_EQ(r.done.size(), 1);
  unit->Reset();
  EXPECT_EQ(unit->Run({good, good}, t).done.size(), 2);
}

TEST_P(DmaTest, ABeatACycle) {
  auto unit = Make(2);
  Traffic t;
  t.latency = kind() == Kind::kStore ? 2 : 100;
  t.fifo = 2048;  // the small preset's own does not cover the latency
  for (uint64_t run : {1, 3, 16, 512}) {
    const int64_t beats = 1536;
    const RunResult r = unit->Run({Linear(0, beats, run)}, t);
    ASSERT_EQ(static_cast<int64_t>(r.reads.size()), beats);
    EXPECT_EQ(r.reads.back() - r.reads.front(), beats - 1) << "runs of " << run;
    EXPECT_EQ(r.writes.back() - r.writes.front(), beats - 1);
    // Start, request, buffer, completion.
    EXPECT_LE(r.cycles, beats + t.latency + 6);
  }
}

// Rows from a table, of one beat and of more, as fast as others.
TEST_P(DmaTest, ARowACycle) {
  if (!bf16()) return;
  auto unit = Make(6);
  Traffic t;
  t.latency = kind() == Kind::kStore ? 2 : 100;
  t.fifo = 2048;
  for (const uint32_t beats : {1, 2, 5}) {
    // A table without wild entries.
    isa::Load f = isa::Load::Decode(Linear(1 << 20, beats, beats));
    f.header.flags = isa::Load::kIndexed;
    f.n2 = 16;
    f.ub_stride2 = f.len;
    const auto wild = [&] {
      for (uint32_t i = 0; i < f.n2; ++i)
        if (EntryAt(f.index_addr + 4 * i) > 127) return true;
      return false;
    };
    while (wild()) f.index_addr += static_cast<uint32_t>(beat());
    f.n2 = 16;
    const int64_t all = int64_t{beats} * f.n2;
    const RunResult r = unit->Run({f.Encode()}, t);
    ASSERT_EQ(static_cast<int64_t>(r.reads.size()), all);
    EXPECT_EQ(r.reads.back() - r.reads.front(), all - 1) << beats;
    EXPECT_EQ(r.table_reads, static_cast<int64_t>(4 * f.n2 / beat()));
    // Start, table, request, buffer, completion.
    EXPECT_LE(r.cycles, all + t.latency + 13);
  }
}

// A table begins at any entry of the unified buffer's last beats, and may end
// with it.
TEST_P(DmaTest, TablesEndInside) {
  if (!bf16()) return;
  const uint64_t entries = beat() / 4;
  for (uint32_t n2 = 1; n2 <= 3 * entries; ++n2) {
    isa::Load f = isa::Load::Decode(Linear(0, 1, 1));
    f.header.flags = isa::Load::kIndexed;
    f.n2 = n2;
    f.index_addr = static_cast<uint32_t>(preset().ub_bytes - 2 * beat());
    auto unit = Make(n2);
    const RunResult r = unit->Run({f.Encode()}, {});
    if (n2 <= 2 * entries) continue;
    EXPECT_EQ(r.fault, Fault::kUbRange) << n2;
    EXPECT_EQ(r.fault_addr, static_cast<uint64_t>(preset().ub_bytes)) << n2;
    EXPECT_EQ(r.table_reads, 0) << n2;
  }
}

// The sum of an address and an entry has more bits than an address.
TEST_P(DmaTest, RowsDoNotWrap) {
  if (!bf16()) return;
  auto unit = Make(8);
  isa::Load f = isa::Load::Decode(Linear((uint64_t{1} << 36) - beat(), 1, 1));
  f.header.flags = isa::Load::kIndexed;
  const uint64_t base = f.hbm_addr / beat();
  while (base + EntryAt(f.index_addr) < uint64_t{1} << 32)
    f.index_addr += static_cast<uint32_t>(beat());
  const RunResult r = unit->Run({f.Encode()}, {});
  EXPECT_EQ(r.fault, Fault::kHbmRange);
  EXPECT_EQ(r.reads.size(), 0u);
}

// A freeze at each cycle of a table.
TEST_P(DmaTest, FreezesInATable) {
  if (!bf16()) return;
  isa::Load f = isa::Load::Decode(Linear(0, 1, 1));
  f.header.flags = isa::Load::kIndexed;
  f.n2 = static_cast<uint32_t>(4 * beat());
  for (int at = 1; at < 40; ++at) {
    auto unit = Make(at);
    Traffic t;
    t.freeze_at = at;
    EXPECT_EQ(unit->Run({f.Encode()}, t).faults, 0) << at;
  }
}

// The next descriptor's first request follows the last without a gap.
TEST_P(DmaTest, DescriptorsFollowEachOther) {
  auto unit = Make(3);
  Traffic t;
  t.latency = kind() == Kind::kStore ? 2 : 100;
  const int64_t each = weights() ? preset().tile_bytes() / beat() * 32 : 64;
  const int64_t count = weights() && !nano() ? 3 : 20;
  const std::vector<Descriptor> list(count, Linear(0, each, 16));
  t.fifo = 60000;
  const RunResult r = unit->Run(list, t);
  ASSERT_EQ(static_cast<int64_t>(r.reads.size()), each * count);
  int64_t idle = 0;
  for (size_t i = 1; i < r.reads.size(); ++i) {
    idle = std::max(idle, r.reads[i] - r.reads[i - 1] - 1);
  }
  EXPECT_EQ(idle, 0);
}

// One beat each: at least as many descriptors in flight as the list of a queue
// holds; four of weights.
TEST_P(DmaTest, DescriptorsInFlight) {
  auto unit = Make(4);
  Traffic t;
  t.block_writes = true;
  t.limit = 3000;
  t.latency = kind() == Kind::kStore ? 2 : weights() ? 300 : 10;
  const std::vector<Descriptor> list(40, Linear(0, 1, 1));
  const RunResult r = unit->Run(list, t);
  if (weights()) {
    EXPECT_EQ(r.most_started, nano() ? 4 : 2);  // v1: a tile is 512 beats
  } else {
    EXPECT_GE(r.most_started, 16);
  }
}

TEST_P(DmaTest, AsksOnlyForWhatHasRoom) {
  auto unit = Make(5);
  Traffic t;
  t.block_writes = true;
  t.limit = 2000;
  if (kind() != Kind::kStore) t.latency = 30;
  t.fifo = weights() ? 37 : 0;
  const RunResult r = unit->Run({Linear(0, 1024, 16)}, t);
  const size_t room = weights() ? 37 : kind() == Kind::kLoad ? 128 : 16;
  EXPECT_EQ(r.reads.size(), room);
  if (weights()) {
    EXPECT_GT(r.full, 1000);
  } else {
    EXPECT_EQ(r.most_in_flight, static_cast<int64_t>(room));
  }
}

// No new request in a freeze; what was asked for drains. Run checks both.
TEST_P(DmaTest, FreezesAtAnyTime) {
  for (const uint32_t seed : systole::testing_options::SeedList<uint32_t>(40)) {
    if (HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto unit = Make(seed);
    Traffic t = RandomTraffic(&random);
    t.hold_start = 0;
    t.freeze_at = 1 + random() % 200;
    std::vector<Descriptor> list(30);
    for (Descriptor& d : list) {
      d = RandomDescriptor(kind(), preset(), unit->hbm_limit, &random);
    }
    const RunResult r = unit->Run(list, t);
    EXPECT_EQ(r.faults, 0);
  }
}

// Behind a reset in the middle of anything, a fault too, all is as new.
TEST_P(DmaTest, ResetsAtAnyTime) {
  for (const uint32_t seed :
       systole::testing_options::SeedList<uint32_t>(nano() ? 250 : 10)) {
    if (HasFailure()) return;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto unit = Make(seed);
    unit->hbm_limit = Limit(&random);
    std::vector<Descriptor> list(weights() ? 3 : 8);
    const auto draw = [&] {
      for (Descriptor& d : list)
        d = RandomDescriptor(kind(), preset(), unit->hbm_limit, &random);
    };
    for (int i = 0; i < 3; ++i) {
      draw();
      if (i == 2)
        list[random() % 3] =
            FaultyDescriptor(kind(), preset(), unit->hbm_limit, &random);
      Traffic t = RandomTraffic(&random);
      t.cut_at = 1 + random() % (i == 2 ? 400 : 60);
      unit->Run(list, t);
      unit->Reset();
    }
    draw();
    EXPECT_EQ(unit->Run(list, RandomTraffic(&random)).done.size(), list.size());
  }
}

std::string Name(const ::testing::TestParamInfo<Params>& info) {
  static constexpr const char* kNames[] = {"load", "store", "weights"};
  return std::string(kNames[static_cast<int>(std::get<0>(info.param))]) + "_" +
         std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Units, DmaTest,
                         ::testing::Combine(::testing::Values(Kind::kLoad,
                                                              Kind::kStore,
                                                              Kind::kWeights),
                                            ::testing::Values("nano", "v1")),
                         Name);
INSTANTIATE_TEST_SUITE_P(Bf16, DmaTest,
                         ::testing::Combine(::testing::Values(Kind::kLoad,
                                                              Kind::kStore),
                                            ::testing::Values("mini")),
                         Name);

}  // namespace
}  // namespace systole::dma_test
