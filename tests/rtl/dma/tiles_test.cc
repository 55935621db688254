// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Weight loader of the bf16 presets: tiles from the unified buffer and from HBM
// in any order against what docs/isa.md says, with memories and a FIFO that
// hold it off; completion, rate, faults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vtiles_four.h"
#include "Vtiles_mini.h"
#include "Vtiles_one.h"
#include "Vtiles_v2.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "tests/rtl/dma/tiles_reference.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::dma_test {
namespace {

using isa::Descriptor;
using isa::Fault;

struct Traffic {  // chances in 256 a cycle
  int start = 0, read = 0, answer = 0, window = 0, drain = 0;
  int64_t latency = 2, fifo = 0;
  int64_t cut_at = -1;  // no more from that cycle on, whatever is under way
};

struct Result {
  int64_t cycles = 0;
  size_t done = 0;
  int64_t windows = 0, second_words = 0;
};

template <typename Model>
class Bench {
 public:
  // beat: other than the preset's.
  Bench(std::string_view preset, uint32_t seed, int64_t beat = 0)
      : p(*FindPreset(preset)), random(seed) {
    if (beat != 0) p.beat = beat;
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    m_ = std::make_unique<Model>(&context_);
    Reset();
  }
  ~Bench() { m_->final(); }

  // Whatever is under way, nothing of it shows from the first edge on.
  void Reset() {
    m_->clk_i = m_->rst_ni = m_->freeze_i = 0;
    m_->eval();
    m_->rd_rsp_valid_i = m_->win_rsp_valid_i = 0;
    for (int i = 0; i < 3; ++i) {
      m_->start_valid_i = i == 0;
      m_->rd_ready_i = m_->win_ready_i = random() & 1;
      Clock();
      EXPECT_FALSE(m_->rd_valid_o || m_->win_valid_o || m_->wf_valid_o ||
                   m_->done_o || m_->progress_o || m_->fault_valid_o ||
                   m_->full_o)
          << "cycle " << i << " of a reset";
    }
    m_->rst_ni = 1;
    answers_.clear();
    windows_.clear();
  }

  Result Run(const std::vector<Descriptor>& list, const Traffic& t) {
    const TilesExpected want = TilesReference(p, limit, list);
    const int64_t fifo =
        t.fifo ? t.fifo : p.wfifo_tiles * p.tile_bytes() / p.beat_bytes();
    Result r;
    int64_t free = fifo, due = -1, quiet = 0;
    size_t next = 0, beats = 0;
    int faults = 0;
    bool offering = false, rd_held = false, win_held = false, moved = false;
    int64_t idle = 0;  // cycles with nothing under way
    uint64_t rd_addr = 0, win_addr = 0;
    for (int64_t cycle = 0; cycle < 400000 && quiet < 300; ++cycle, ++quiet) {
      SCOPED_TRACE(::testing::Message() << "cycle " << cycle);
      if (cycle == t.cut_at) return r;
      m_->hbm_end_i = limit;
      m_->freeze_i = faults > 0;
      offering = next < list.size() && (offering || !Chance(t.start));
      m_->start_valid_i = offering;
      for (int w = 0; w < 16; ++w)
        m_->start_desc_i[w] = static_cast<uint32_t>(
            offering ? list[next][w / 2] >> (w % 2 * 32) : random());
      m_->rd_ready_i = !Chance(t.read);
      m_->win_ready_i = !Chance(t.window);
      if (free < fifo && !Chance(t.drain)) ++free;
      m_->wf_free_i = static_cast<uint16_t>(free);
      Answer(cycle, !Chance(t.answer));
      m_->eval();

      if (rd_held) EXPECT_TRUE(m_->rd_valid_o && m_->rd_addr_o == rd_addr);
      if (win_held && faults == 0)
        EXPECT_TRUE(m_->win_valid_o && m_->win_addr_o == win_addr);
      rd_held = m_->rd_valid_o && !m_->rd_ready_i;
      win_held = m_->win_valid_o && !m_->win_ready_i;
      rd_addr = m_->rd_addr_o;
      win_addr = m_->win_addr_o;

      // Rows that a tile lacks move without a window.
      EXPECT_TRUE(!moved || m_->progress_o);
      idle = next > r.done ? 0 : idle + 1;
      EXPECT_TRUE(idle < 3 || !(m_->progress_o || m_->full_o));
      moved = m_->wf_valid_o || (m_->win_valid_o && m_->win_ready_i);
      EXPECT_EQ(m_->done_o, due == cycle);
      r.done += m_->done_o;
      if (m_->wf_valid_o) {
        EXPECT_GT(free, 0);
        --free;
        if (beats >= want.beats.size()) {
          ADD_FAILURE() << "a beat too many";
        } else {
          const TilesBeat& b = want.beats[beats++];
          EXPECT_EQ(
              std::memcmp(&m_->wf_data_o[0], b.bytes.data(), b.bytes.size()), 0)
              << "beat " << beats - 1;
          EXPECT_EQ(m_->wf_transpose_o != 0, b.transpose);
          if (b.last) due = cycle + 1;
        }
        quiet = 0;
      }
      if (m_->start_valid_i && m_->start_ready_o) {
        EXPECT_EQ(faults, 0);
        ++next;
        offering = false;
        quiet = 0;
      }
      if (m_->fault_valid_o) {
        ++faults;
        EXPECT_FALSE(m_->win_valid_o) << "while a fault stands, nothing moves";
        EXPECT_EQ(static_cast<Fault>(m_->fault_code_o), want.fault);
        EXPECT_EQ(m_->fault_addr_o, want.fault_addr);
        EXPECT_TRUE(m_->fault_newest_o);
        EXPECT_EQ(next, want.complete + 1);
      }
      if (m_->rd_valid_o && m_->rd_ready_i)
        answers_.push_back({cycle + t.latency, m_->rd_addr_o});
      if (m_->win_valid_o && m_->win_ready_i) {
        windows_.push_back(
            {cycle + 2, (uint64_t{m_->win_need_o} << 32) | m_->win_addr_o});
        ++r.windows;
        r.second_words += m_->win_need_o >> 1 & 1;
      }
      if (r.done < list.size() && faults == 0) r.cycles = cycle + 2;
      Clock();
      if (::testing::Test::HasFailure()) break;
    }
    // After a fault the beat whose rows were cut off does not come.
    EXPECT_EQ(beats, want.beats.size());
    EXPECT_EQ(r.done, want.complete);
    EXPECT_EQ(faults, want.fault == Fault::kNone ? 0 : 1);
    return r;
  }

  // One in three from HBM; tiles of part of the rows and columns at any pitch.
  Descriptor RandomDescriptor() {
    if (random() % 3 == 0) {
      isa::Weights w;
      w.header.flags = random() % 2;
      w.tiles = 1 + random() % 3;
      w.hbm_addr = random() % 1000 * p.beat_bytes();
      return w.Encode();
    }
    isa::Tiles d;
    d.header.flags = random() % 2;
    d.rows = random() % 2 ? p.rows : 1 + random() % p.rows;
    d.cols = random() % 2 ? p.cols : 1 + random() % p.cols;
    d.tiles = 1 + random() % 4;
    d.pitch =
        random() % 4 ? 2 * p.cols + random() % 20 * 2 : random() % 500 / 2 * 2;
    d.tile_stride = random() % 2000 / 2 * 2;
    const uint64_t span = uint64_t{d.tiles - 1} * d.tile_stride +
                          (d.rows - 1) * d.pitch + 2 * d.cols;
    const uint64_t room = (p.ub_bytes - span) / 2;
    d.ub_addr = static_cast<uint32_t>(
        2 * (random() % 4 == 0 ? room : random() % (room + 1)));
    return d.Encode();
  }

  Preset p;
  std::mt19937 random;
  uint64_t limit = uint64_t{1} << 30;

 private:
  struct Pending {
    int64_t cycle;
    uint64_t address;
  };

  bool Chance(int in_256) {
    return in_256 != 0 && static_cast<int>(random() & 255) < in_256;
  }
  void Clock() {
    m_->clk_i = 1;
    m_->eval();
    m_->clk_i = 0;
    m_->eval();
  }

  // Windows come two cycles after their grant, the words that were not needed
  // as rubbish; HBM in its order.
  void Answer(int64_t cycle, bool hbm) {
    m_->rd_rsp_valid_i =
        hbm && !answers_.empty() && answers_.front().cycle <= cycle;
    for (int64_t b = 0; b < p.beat_bytes() / 4; ++b)
      m_->rd_rsp_data_i[b] = random();
    if (m_->rd_rsp_valid_i) {
      auto* bytes = reinterpret_cast<uint8_t*>(&m_->rd_rsp_data_i[0]);
      for (int64_t b = 0; b < p.beat_bytes(); ++b)
        bytes[b] = HbmByte(answers_.front().address + b);
      answers_.pop_front();
    }
    m_->win_rsp_valid_i = !windows_.empty() && windows_.front().cycle == cycle;
    for (int64_t b = 0; b < p.word_bytes() / 4; ++b)
      m_->win_data_i[b] = random();
    if (m_->win_rsp_valid_i) {
      auto* bytes = reinterpret_cast<uint8_t*>(&m_->win_data_i[0]);
      const uint64_t address = windows_.front().address & 0x1FFFFFF;
      const int64_t first = p.word_bytes() - address % p.word_bytes();
      for (int64_t b = 0; b < p.word_bytes(); ++b) {
        if (windows_.front().address >> (b < first ? 32 : 33) & 1)
          bytes[b] = UbByte(address + b);
      }
      windows_.pop_front();
    }
  }

  VerilatedContext context_;
  std::unique_ptr<Model> m_;
  std::deque<Pending> answers_, windows_;
};

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

// A row of a tile each cycle, tile after tile and descriptor after descriptor.
template <typename Model>
void Rate(std::string_view preset) {
  Bench<Model> bench(preset, 3);
  isa::Tiles d;
  d.rows = static_cast<uint32_t>(bench.p.rows);
  d.cols = static_cast<uint32_t>(bench.p.cols);
  d.pitch = static_cast<uint32_t>(2 * bench.p.cols);
  d.tiles = 5;
  d.tile_stride = static_cast<uint32_t>(bench.p.tile_bytes());
  const Result r = bench.Run({d.Encode(), d.Encode(), d.Encode()}, {});
  EXPECT_EQ(r.windows, 15 * bench.p.rows);
  // Start, check of the first row, answer, beat, completion.
  EXPECT_LE(r.cycles, 15 * bench.p.rows + 7);
  EXPECT_EQ(r.second_words, 0);  // half a word each, aligned to that
}
TEST(Tiles, ARowEachCycle) {
  Rate<Vtiles_mini>("mini");
  Rate<Vtiles_v2>("v2");
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
