// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight loader of the bf16 presets: tiles from the unified buffer and from HBM
// in any order against what docs/isa.md says, with memories and a FIFO that
// hold it off; completion, rate, faults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "Vtiles_four.h"
#include "Vtiles_mini.h"
#include "Vtiles_one.h"
#include "Vtiles_v2.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "tests/rtl/dma/tiles_bench.h"
#include "tests/rtl/dma/tiles_reference.h"
#include "tests/testing/seeds.h"

namespace systole::dma_test {
namespace {

using isa::Descriptor;
using isa::Fault;

template <typename Model>
void RandomLists(std::string_view preset, int runs, int most,
                 int64_t beat = 0) {
  for (const int seed : systole::testing_options::SeedList(runs, 0)) {
    if (::testing::Test::HasFailure()) return;
    SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
    Bench<Model> bench(preset, seed, beat);
    std::vector<Descriptor> list(1 + bench.random() % most);
    for (Descriptor& d : list) d = bench.RandomDescriptor();
    const auto chance = [&] {
      static constexpr int kChances[] = {0, 20, 100, 200};
      return kChances[bench.random() % 4];
    };
    Traffic t{chance(), chance(), chance(), chance(), chance()};
    t.latency = 1 + bench.random() % 100;
    if (bench.random() % 2) t.fifo = 1 + bench.random() % 20;
    bench.Run(list, t);
  }
}
// Behind a reset in the middle of anything all is as new.
template <typename Model>
void Resets(std::string_view preset, int runs, int64_t beat = 0) {
  for (const int seed : systole::testing_options::SeedList(runs, 0)) {
    if (::testing::Test::HasFailure()) return;
    SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
    Bench<Model> bench(preset, 9000 + seed, beat);
    for (int i = 0; i < 3; ++i) {
      std::vector<Descriptor> list(1 + bench.random() % 5);
      for (Descriptor& d : list) d = bench.RandomDescriptor();
      Traffic t{0, 0, 0, static_cast<int>(bench.random() % 3 * 50), 0};
      if (bench.random() % 2) t.fifo = 1 + bench.random() % 6;
      if (i < 2) t.cut_at = 1 + bench.random() % 100;
      bench.Run(list, t);
      bench.Reset();
    }
  }
}
TEST(Tiles, ResetsMini) { Resets<Vtiles_mini>("mini", 250); }
TEST(Tiles, ResetsV2) { Resets<Vtiles_v2>("v2", 4); }

TEST(Tiles, MiniRandomLists) { RandomLists<Vtiles_mini>("mini", 200, 20); }
TEST(Tiles, OneRowABeat) {
  RandomLists<Vtiles_one>("mini", 100, 20, 16);
  Resets<Vtiles_one>("mini", 50, 16);
}
TEST(Tiles, FourRowsABeat) {
  RandomLists<Vtiles_four>("mini", 100, 20, 64);
  Resets<Vtiles_four>("mini", 50, 64);
}
TEST(Tiles, V2RandomLists) { RandomLists<Vtiles_v2>("v2", 6, 4); }

// A beat each cycle, tile after tile and descriptor after descriptor: rows side
// by side, which share a window, and rows apart.
template <typename Model>
void Rate(std::string_view preset, bool together) {
  SCOPED_TRACE(::testing::Message() << preset << " together " << together);
  Bench<Model> bench(preset, 3);
  isa::Tiles d;
  d.rows = static_cast<uint32_t>(bench.p.rows);
  d.cols = static_cast<uint32_t>(bench.p.cols);
  d.pitch = static_cast<uint32_t>((together ? 2 : 6) * bench.p.cols);
  d.tiles = 5;
  d.tile_stride = static_cast<uint32_t>(bench.p.tile_bytes());
  const Result r = bench.Run({d.Encode(), d.Encode(), d.Encode()}, {});
  const int64_t beats = 15 * bench.p.tile_bytes() / bench.p.beat_bytes();
  EXPECT_EQ(r.windows, together ? beats : 15 * bench.p.rows);
  // Start, check of the first beat, answer, beat, completion.
  EXPECT_LE(r.cycles, beats + 7);
  EXPECT_EQ(r.second_words, 0);  // none reaches beyond its word
}
TEST(Tiles, ABeatEachCycle) {
  for (const bool together : {false, true}) {
    Rate<Vtiles_mini>("mini", together);
    Rate<Vtiles_v2>("v2", together);
  }
}

TEST(Tiles, FaultsNameCauseAndAddress) {
  int seen[16] = {};
  const auto seeds = systole::testing_options::SeedList(400, 0);
  for (const int seed : seeds) {
    if (::testing::Test::HasFailure()) return;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Bench<Vtiles_mini> bench("mini", 5000 + seed);
    auto& random = bench.random;
    std::vector<Descriptor> list(random() % 3);
    for (Descriptor& d : list) d = bench.RandomDescriptor();
    const uint64_t end = bench.p.ub_bytes;
    isa::Tiles bad;
    bad.rows = 1 + random() % 8;
    bad.cols = 1 + random() % 8;
    bad.tiles = 1 + random() % 3;
    bad.pitch = 16;
    bad.tile_stride = 128;
    bad.ub_addr = 2048;
    switch (seed % 13) {
      case 0:
        bad.rows = 0;
        break;
      case 1:
        bad.rows = 9 + random() % 500;
        break;
      case 2:
        bad.cols = 0;
        break;
      case 3:
        bad.cols = 9 + random() % 500;
        break;
      case 4:
        bad.tiles = 0;
        bad.ub_addr = 3;
        break;
      case 5:
        bad.ub_addr += 1;
        bad.pitch += random() % 2;
        break;
      case 6:
        bad.pitch += 1;
        break;
      case 7:
        bad.tile_stride += 1;
        break;
      case 8:
        bad.ub_addr = end - 2 * bad.cols + 2;
        break;
      case 9:
        bad.ub_addr = end;
        break;
      case 10:
        bad.pitch = (1 << 20) - 2;
        bad.rows = 8;
        break;
      case 11:
        bad.tiles = 65535;
        bad.tile_stride = (1 << 25) - 2;
        break;
      case 12:
        bad.ub_addr = (1 << 25) - 2;
        break;
    }
    list.push_back(bad.Encode());
    list.push_back(bench.RandomDescriptor());
    Traffic t;
    t.latency = 1 + random() % 60;
    t.window = random() % 2 * 100;
    bench.Run(list, t);
    ++seen[static_cast<int>(TilesReference(bench.p, bench.limit, list).fault)];
    bench.Reset();
    bench.Run({bench.RandomDescriptor()}, {});
  }
  EXPECT_EQ(seen[0], 0);
  for (Fault f :
       {Fault::kIllegalDescriptor, Fault::kMisaligned, Fault::kUbRange})
    EXPECT_GE(seen[static_cast<int>(f)],
              static_cast<int>(seeds.size() / 13 * 3));
}

}  // namespace
}  // namespace systole::dma_test
