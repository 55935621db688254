// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bench of the weight loader of a bf16 preset: lists of `weights` and `tiles`
// against tiles_reference.h, with memories and a FIFO that hold it off.
//
//   Bench<Vtiles_mini> bench("mini", seed);
//   bench.Run({bench.RandomDescriptor()}, Traffic{.window = 100});

#ifndef SYSTOLE_TESTS_RTL_DMA_TILES_BENCH_H_
#define SYSTOLE_TESTS_RTL_DMA_TILES_BENCH_H_

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "tests/rtl/dma/tiles_reference.h"
#include "verilated.h"

namespace systole::dma_test {

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
      : p(Of(preset, beat)), random(seed) {
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
    m_->rd_rsp_valid_i = 0;
    m_->win_rsp_valid_i = 0;
    for (int i = 0; i < 3; ++i) {
      m_->start_valid_i = i == 0;
      m_->rd_ready_i = random() & 1;
      m_->win_ready_i = random() & all_windows_;
      Clock();
      EXPECT_FALSE(m_->rd_valid_o || m_->win_valid_o || m_->wf_valid_o ||
                   m_->done_o || m_->progress_o || m_->fault_valid_o ||
                   m_->full_o)
          << "cycle " << i << " of a reset";
    }
    m_->rst_ni = 1;
    answers_.clear();
    windows_.assign(p.tile_windows(), {});
  }

  Result Run(const std::vector<isa::Descriptor>& list, const Traffic& t) {
    const TilesExpected want = TilesReference(p, limit, list);
    const int64_t fifo =
        t.fifo ? t.fifo : p.wfifo_tiles * p.tile_bytes() / p.beat_bytes();
    Result r;
    int64_t free = fifo, due = -1, quiet = 0;
    size_t next = 0, beats = 0;
    int faults = 0;
    bool offering = false, rd_held = false, moved = false;
    int64_t idle = 0;  // cycles with nothing under way
    uint32_t win_held = 0;
    uint64_t rd_addr = 0;
    std::vector<uint64_t> win_addr(p.tile_windows());
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
      m_->win_ready_i = 0;
      for (int w = 0; w < p.tile_windows(); ++w)
        m_->win_ready_i |= (Chance(t.window) ? 0 : 1) << w;
      if (free < fifo && !Chance(t.drain)) ++free;
      m_->wf_free_i = static_cast<uint16_t>(free);
      Answer(cycle, !Chance(t.answer));
      m_->eval();

      if (rd_held) EXPECT_TRUE(m_->rd_valid_o && m_->rd_addr_o == rd_addr);
      for (int w = 0; w < p.tile_windows(); ++w) {
        if ((win_held >> w & 1) != 0 && faults == 0)
          EXPECT_TRUE((m_->win_valid_o >> w & 1) != 0 &&
                      m_->win_addr_o[w] == win_addr[w]);
        win_addr[w] = m_->win_addr_o[w];
      }
      rd_held = m_->rd_valid_o && !m_->rd_ready_i;
      win_held = m_->win_valid_o & ~m_->win_ready_i;
      rd_addr = m_->rd_addr_o;

      // Rows that a tile lacks move without a window.
      EXPECT_TRUE(!moved || m_->progress_o);
      idle = next > r.done ? 0 : idle + 1;
      EXPECT_TRUE(idle < 3 || !(m_->progress_o || m_->full_o));
      const uint32_t granted = m_->win_valid_o & m_->win_ready_i;
      moved = m_->wf_valid_o || granted != 0;
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
        EXPECT_EQ(static_cast<isa::Fault>(m_->fault_code_o), want.fault);
        EXPECT_EQ(m_->fault_addr_o, want.fault_addr);
        EXPECT_TRUE(m_->fault_newest_o);
        EXPECT_EQ(next, want.complete + 1);
      }
      if (m_->rd_valid_o && m_->rd_ready_i)
        answers_.push_back({cycle + t.latency, m_->rd_addr_o});
      for (int w = 0; w < p.tile_windows(); ++w) {
        if ((granted >> w & 1) == 0) continue;
        windows_[w].push_back(
            {cycle + 2, uint64_t{m_->win_need_o[w]} << 32 | m_->win_addr_o[w]});
        ++r.windows;
        r.second_words += m_->win_need_o[w] >> 1 & 1;
      }
      if (r.done < list.size() && faults == 0) r.cycles = cycle + 2;
      Clock();
      if (::testing::Test::HasFailure()) break;
    }
    // After a fault the beat whose rows were cut off does not come.
    EXPECT_EQ(beats, want.beats.size());
    EXPECT_EQ(r.done, want.complete);
    EXPECT_EQ(faults, want.fault == isa::Fault::kNone ? 0 : 1);
    return r;
  }

  // One in three from HBM; tiles of part of the rows and columns at any pitch.
  isa::Descriptor RandomDescriptor() {
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
    if (random() % 3 == 0) {  // rows side by side
      d.cols = p.cols;
      d.pitch = 2 * p.cols;
    }
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

  static Preset Of(std::string_view preset, int64_t beat) {
    Preset p = *FindPreset(preset);
    if (beat != 0) p.beat = beat;
    return p;
  }
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
    m_->win_rsp_valid_i = 0;
    for (int w = 0; w < p.tile_windows(); ++w) AnswerWindow(cycle, w);
  }
  void AnswerWindow(int64_t cycle, int w) {
    for (int64_t b = 0; b < p.word_bytes() / 4; ++b)
      m_->win_data_i[w][b] = random();
    std::deque<Pending>& windows = windows_[w];
    if (windows.empty() || windows.front().cycle != cycle) return;
    m_->win_rsp_valid_i |= 1 << w;
    auto* bytes = reinterpret_cast<uint8_t*>(&m_->win_data_i[w][0]);
    const uint64_t address = windows.front().address & 0x1FFFFFF;
    const int64_t first = p.word_bytes() - address % p.word_bytes();
    for (int64_t b = 0; b < p.word_bytes(); ++b) {
      if (windows.front().address >> (b < first ? 32 : 33) & 1)
        bytes[b] = UbByte(address + b);
    }
    windows.pop_front();
  }

  VerilatedContext context_;
  std::unique_ptr<Model> m_;
  std::deque<Pending> answers_;
  std::vector<std::deque<Pending>> windows_;  // of each window
  const uint32_t all_windows_ = (1u << p.tile_windows()) - 1;
};

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_TILES_BENCH_H_
