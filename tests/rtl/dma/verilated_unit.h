// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#ifndef SYSTOLE_TESTS_RTL_DMA_VERILATED_UNIT_H_
#define SYSTOLE_TESTS_RTL_DMA_VERILATED_UNIT_H_

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/rtl/dma/bench.h"
#include "verilated.h"

namespace systole::dma_test {

template <typename Model>
class VerilatedUnit : public Unit {
 public:
  VerilatedUnit(Kind kind, const Preset& preset, uint32_t seed)
      : kind_(kind),
        preset_(preset),
        beat_(preset.beat_bytes()),
        random_(seed),
        salt_(random_() | 1) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed | 1));
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
    Reset();
  }
  ~VerilatedUnit() override { model_->final(); }

  const Preset& preset() const override { return preset_; }
  Kind kind() const override { return kind_; }

  void Reset() override {
    Model& m = *model_;
    m.clk_i = m.rst_ni = 0;
    m.eval();
    m.freeze_i = m.rd_rsp_valid_i = m.index_rsp_valid_i = 0;
    m.wf_free_i = 0;
    for (int i = 0; i < 3; ++i) {
      m.start_valid_i = i == 0;
      m.rd_ready_i = m.wr_ready_i = m.index_ready_i = random_() & 1;
      Clock();
      EXPECT_FALSE(m.rd_valid_o || m.wr_valid_o || m.done_o || m.progress_o ||
                   m.fault_valid_o || m.full_o || m.index_valid_o)
          << "cycle " << i << " of a reset";
    }
    context_.gotError(false);
    m.rst_ni = 1;
    pending_.clear();
    tables_.clear();
    held_read_ = held_write_ = held_index_ = moved_ = false;
  }

  RunResult Run(const std::vector<isa::Descriptor>& descriptors,
                const Traffic& t) override {
    Model& m = *model_;
    RunResult r;
    const Expected want =
        Reference(kind_, preset_, hbm_limit, descriptors, hbm_base);
    const int64_t fifo =
        t.fifo ? t.fifo : preset_.wfifo_tiles * preset_.tile_bytes() / beat_;
    int64_t fifo_free = fifo, ask = 0, write = 0, started = 0, due = -1;
    size_t next = 0;
    bool offering = false;
    int64_t after = 0;
    bool frozen = false;  // in the cycle before
    int late_asks = 0;
    for (cycle_ = 0; cycle_ < t.limit &&
                     (after < kAfter || (write < ask && !t.block_writes));
         ++cycle_) {
      if (cycle_ == t.cut_at) return r;
      m.hbm_base_i = hbm_base;
      m.hbm_end_i = hbm_limit;
      m.freeze_i = (t.freeze_at >= 0 && cycle_ >= t.freeze_at) ||
                   (t.freeze_on_fault && r.faults > 0);
      offering =
          next < descriptors.size() && (offering || !Chance(t.hold_start));
      m.start_valid_i = offering;
      for (int w = 0; w < 16; ++w) {
        m.start_desc_i[w] = static_cast<uint32_t>(
            offering ? descriptors[next][w / 2] >> (w % 2 * 32) : random_());
      }
      m.rd_ready_i = !Chance(t.hold_read);
      m.index_ready_i = !Chance(t.hold_read);
      m.wr_ready_i = !t.block_writes && !Chance(t.hold_write);
      if (kind_ == Kind::kWeights) {
        if (m.wr_ready_i && fifo_free < fifo) ++fifo_free;
        m.wf_free_i = static_cast<uint16_t>(fifo_free);
      }
      Answer(t);
      AnswerIndex(t);
      m.eval();
      const bool held_before = held_read_;
      CheckHolds();

      // A request is new when the port was free in the cycle before.
      const bool asks = m.rd_valid_o && !held_before;
      EXPECT_EQ(m.progress_o, moved_ || asks) << where();
      // A store's beat may have been on its way to the port.
      if (asks && frozen) ++late_asks;
      EXPECT_FALSE(frozen && m.index_valid_o && !held_index_) << where();
      CheckIndex();
      EXPECT_LE(late_asks, kind_ == Kind::kStore ? 1 : 0) << where();
      EXPECT_EQ(m.done_o, due == cycle_) << where();
      if (m.done_o) {
        r.done.push_back(cycle_);
        --started;
      }
      if (m.fault_valid_o) {
        ++r.faults;
        r.fault = static_cast<isa::Fault>(m.fault_code_o);
        r.fault_addr = m.fault_addr_o;
        r.fault_newest = m.fault_newest_o;
        EXPECT_EQ(static_cast<int64_t>(next), want.complete + 1)
            << "not of the descriptor started last; " << where();
      }
      if (m.start_valid_i && m.start_ready_o) {
        EXPECT_FALSE(m.freeze_i) << where();
        EXPECT_EQ(r.faults, 0) << "a start after a fault; " << where();
        ++next;
        offering = false;
        r.most_started = std::max(r.most_started, ++started);
      }
      moved_ = m.rd_rsp_valid_i && kind_ != Kind::kStore;
      const bool out =
          m.wr_valid_o && (kind_ == Kind::kWeights || m.wr_ready_i);
      if (out) {
        moved_ = true;
        r.writes.push_back(cycle_);
        CheckWrite(want, write);
        const bool known = write < static_cast<int64_t>(want.beats.size());
        if (known && want.beats[write].last) due = cycle_ + 1;
        ++write;
        --fifo_free;
        EXPECT_TRUE(kind_ != Kind::kWeights || fifo_free >= 0) << where();
      }
      frozen = m.freeze_i;
      if (m.index_valid_o && m.index_ready_i) {
        ++r.table_reads;
        // What is loaded before may be the table.
        if (kind_ == Kind::kLoad && next <= want.begins.size())
          EXPECT_GE(write, want.begins[next - 1]) << where();
        tables_.push_back({cycle_ + 2, m.index_addr_o});
      }
      if (m.rd_valid_o && m.rd_ready_i) {
        r.reads.push_back(cycle_);
        const bool known = ask < static_cast<int64_t>(want.beats.size());
        EXPECT_TRUE(known) << "a read too many; " << where();
        if (known) {
          EXPECT_EQ(m.rd_addr_o, want.beats[ask].source) << where();
        }
        ++ask;
        pending_.push_back({cycle_ + t.latency, m.rd_addr_o});
      }
      r.full += m.full_o;
      EXPECT_FALSE(m.win_valid_o) << where();
      r.most_in_flight = std::max(r.most_in_flight, ask - write);
      if (r.faults > 0 || m.freeze_i || r.done.size() == descriptors.size()) {
        ++after;
      } else {
        r.cycles = cycle_ + 1;
      }
      Clock();
      if (context_.gotError()) {
        context_.gotError(false);
        ADD_FAILURE() << "an assertion of the RTL failed; " << where();
        break;
      }
      if (::testing::Test::HasFailure()) break;
    }
    if (!t.block_writes) {
      EXPECT_EQ(ask, write);  // what was asked for has drained
    }
    if (t.freeze_at < 0) {
      EXPECT_EQ(r.fault, want.fault);
    }
    if (r.faults > 0) {
      EXPECT_EQ(r.faults, 1);
      EXPECT_TRUE(r.fault_newest);
      const uint64_t mask = (uint64_t{1} << 36) - 1;
      EXPECT_EQ(r.fault_addr, want.fault_addr & mask);
    }
    return r;
  }

 private:
  static constexpr int kAfter = 60;  // cycles to look on after the end

  struct Pending {
    int64_t cycle;
    uint64_t address;
  };

  bool Chance(int in_256) {
    return in_256 != 0 && static_cast<int>(random_() & 255) < in_256;
  }
  std::string where() const { return "cycle " + std::to_string(cycle_); }

  uint32_t SourceWord(uint64_t address) const {
    uint64_t x = (address + 1) * 0x9E3779B97F4A7C15u ^ salt_;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    return static_cast<uint32_t>(x >> 32);
  }

  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  void Answer(const Traffic& t) {
    Model& m = *model_;
    const bool due = !pending_.empty() && pending_.front().cycle <= cycle_;
    m.rd_rsp_valid_i = due && !Chance(t.hold_answer);
    for (int64_t w = 0; w < beat_ / 4; ++w) {
      m.rd_rsp_data_i[w] = m.rd_rsp_valid_i
                               ? SourceWord(pending_.front().address + 4 * w)
                               : static_cast<uint32_t>(random_());
    }
    if (m.rd_rsp_valid_i) pending_.pop_front();
  }

  // The unified buffer answers two cycles later, or behind another unit.
  void AnswerIndex(const Traffic& t) {
    Model& m = *model_;
    const bool due = !tables_.empty() && tables_.front().cycle <= cycle_;
    m.index_rsp_valid_i = due && !Chance(t.hold_answer);
    for (int64_t w = 0; w < beat_ / 4; ++w) {
      m.index_data_i[w] = m.index_rsp_valid_i
                              ? EntryAt(tables_.front().address + 4 * w)
                              : static_cast<uint32_t>(random_());
    }
    if (m.index_rsp_valid_i) tables_.pop_front();
  }

  void CheckIndex() {
    const Model& m = *model_;
    EXPECT_TRUE(!held_index_ ||
                (m.index_valid_o && m.index_addr_o == last_index_))
        << where();
    held_index_ = m.index_valid_o && !m.index_ready_i;
    last_index_ = m.index_addr_o;
    EXPECT_TRUE(!m.index_valid_o ||
                (m.index_addr_o % beat_ == 0 &&
                 m.index_addr_o < static_cast<uint64_t>(preset_.ub_bytes)))
        << where();
  }

  // What was refused in the cycle before is still offered.
  void CheckHolds() {
    const Model& m = *model_;
    {
      if (held_read_) {
        EXPECT_TRUE(m.rd_valid_o && m.rd_addr_o == last_read_) << where();
      }
      if (held_write_) {
        EXPECT_TRUE(
            m.wr_valid_o && m.wr_addr_o == last_write_ &&
            std::equal(last_data_.begin(), last_data_.end(), &m.wr_data_o[0]) &&
            std::equal(last_mask_.begin(), last_mask_.end(), &m.wr_mask_o[0]))
            << where();
      }
    }
    held_read_ = m.rd_valid_o && !m.rd_ready_i;
    held_write_ = m.wr_valid_o && !m.wr_ready_i && kind_ != Kind::kWeights;
    last_read_ = m.rd_addr_o;
    last_write_ = m.wr_addr_o;
    if (held_write_) {
      last_data_.assign(&m.wr_data_o[0], &m.wr_data_o[0] + beat_ / 4);
      last_mask_.assign(&m.wr_mask_o[0], &m.wr_mask_o[0] + beat_ / 32);
    }
  }

  void CheckWrite(const Expected& want, int64_t write) {
    const Model& m = *model_;
    if (write >= static_cast<int64_t>(want.beats.size())) {
      ADD_FAILURE() << "a write too many; " << where();
      return;
    }
    const Beat& b = want.beats[write];
    EXPECT_EQ(m.wr_addr_o, b.target) << where();
    bool data = true, mask = true;
    for (int64_t w = 0; w < beat_ / 4; ++w) {
      data &= m.wr_data_o[w] == SourceWord(b.source + 4 * w);
    }
    for (int64_t i = 0; i < beat_ && kind_ != Kind::kWeights; ++i) {
      mask &= (m.wr_mask_o[i / 32] >> (i % 32) & 1) == (i < b.bytes);
    }
    EXPECT_TRUE(data) << "data of beat " << write << "; " << where();
    EXPECT_TRUE(mask) << "mask of beat " << write << "; " << where();
  }

  const Kind kind_;
  const Preset& preset_;
  const int64_t beat_;
  std::mt19937 random_;
  const uint64_t salt_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::deque<Pending> pending_, tables_;
  int64_t cycle_ = 0;
  bool held_read_ = false, held_write_ = false, held_index_ = false;
  bool moved_ = false;
  uint64_t last_read_ = 0, last_write_ = 0, last_index_ = 0;
  std::vector<uint32_t> last_data_, last_mask_;
};

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_VERILATED_UNIT_H_
