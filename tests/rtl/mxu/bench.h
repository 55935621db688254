// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Verilated matrix unit with unified buffer and accumulators. The bench
// plays sequencer, weight loader, vector unit and DMA, and checks each finished
// descriptor's last row at once and all other rows later.
//
//   Bench<VMxuNano> bench("nano", seed,
//                         {.stall_percent = 15, .traffic_percent = 50});
//   bench.Push(RandomTile(...));
//   bench.Run({matmul, ...});
//   bench.CheckRows(matmul);

#ifndef SYSTOLE_TESTS_RTL_MXU_BENCH_H_
#define SYSTOLE_TESTS_RTL_MXU_BENCH_H_

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "tests/rtl/mxu/reference.h"
#include "verilated.h"

namespace systole::mxu_test {

struct Load {
  int stall_percent = 0;    // of each stall bit, and of the weight beats
  int traffic_percent = 0;  // of each port of vector unit and DMA
};

template <typename Model>
class Bench {
 public:
  Bench(std::string_view preset, uint32_t seed, Load load)
      : p(*FindPreset(preset)), rng(seed), state(p) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
    dut_->stall_i = 0;
    dut_->start_peek_i = 0;
    dut_->freeze_i = dut_->start_valid_i = dut_->wf_valid_i =
        dut_->acc_rd_valid_i = 0;
    dut_->ub_wr_valid_i = dut_->vec_rd_valid_i = dut_->vec_wr_valid_i =
        dut_->dma_rd_valid_i = 0;
    Reset();
    RandomElements(&rng, p, &state.ub);
    for (int64_t a = 0; a < p.ub_bytes; a += p.beat_bytes()) {
      dut_->ub_wr_valid_i = 1;
      dut_->ub_wr_addr_i = a;
      std::memcpy(&dut_->ub_wr_data_i, &state.ub[a], p.beat_bytes());
      Clock();
    }
    // Every accumulator row gets a value, so that adding is defined.
    for (int bank = 0; bank < 2; ++bank) {
      isa::Matmul d = PlainMatmul(p, static_cast<int>(p.acc_bank_rows()));
      d.sy = 0;
      d.acc = bank * p.acc_bank_rows();
      Push(RandomTile(&rng, p));
      Run({d});
    }
    load_ = load;
  }

  // As the sequencer does before a program; memories keep their data.
  void Reset() { Begin(true, true); }
  // By the reset, by the start of a program, or by both.
  void Begin(bool reset, bool flush) {
    dut_->flush_i = 0;
    dut_->start_peek_i = dut_->start_valid_i = 0;
    dut_->rst_ni = !reset;
    for (int i = 0; i < 2 * reset; ++i) Clock();
    dut_->rst_ni = 1;
    dut_->flush_i = flush;
    if (flush) Clock();
    dut_->flush_i = 0;
    beats_.clear();
    state.tiles.clear();
    in_flight_.clear();
    reading_ = false;
    read_due_ = -1;
    fault = faults = 0;
  }

  void Push(const Tile& tile) {
    state.tiles.push_back(tile);
    for (int64_t b = 0; b < p.tile_bytes(); b += p.beat_bytes()) {
      const auto beat = tile.bytes.begin() + b;
      beats_.push_back({{beat, beat + p.beat_bytes()}, tile.transpose});
    }
  }
  void PushFor(const isa::Matmul& d) {
    for (int64_t t = 0; t < TilesOf(d); ++t) Push(RandomTile(&rng, p));
  }

  // Beats of weights that the unit takes by itself.
  int64_t Room() {
    const size_t before = beats_.size();
    while (static_cast<int64_t>(beats_.size()) * p.beat_bytes() <
           2 * p.wfifo_tiles * p.tile_bytes())
      Push(RandomTile(&rng, p));
    const size_t offered = beats_.size();
    Idle(4000);
    EXPECT_EQ(before, 0u);
    return static_cast<int64_t>(offered - beats_.size());
  }

  // The weights that were pushed never come.
  void LoseBeats() { beats_.clear(); }

  // A first descriptor that does not wait is prepared before it starts.
  static constexpr int kPreparation = 16;

  // Runs until all are complete or a fault; returns the cycles.
  int64_t Run(const std::vector<isa::Matmul>& list) {
    size_t next = 0;
    const int64_t begin = cycles, limit = begin + 1000000;
    dut_->start_peek_i = !list.empty();
    while ((next < list.size() || !in_flight_.empty() || reading_) &&
           fault == 0) {
      dut_->start_valid_i = next < list.size() && !Chance(load_.stall_percent);
      if (dut_->start_peek_i) {
        const isa::Descriptor d = list[next].Encode();
        std::memcpy(&dut_->start_desc_i, d.data(), sizeof(d));
      }
      Clock();
      if (accepted_) in_flight_.push_back(list[next++]);
      dut_->start_peek_i = next < list.size();
      most_in_flight = std::max(most_in_flight, in_flight_.size());
      if (cycles > limit) {
        ADD_FAILURE() << "no end after " << next << " descriptors";
        break;
      }
    }
    dut_->start_valid_i = 0;  // what has been peeked at stays
    return cycles - begin;
  }

  // Starts one descriptor and leaves it after some cycles.
  void Start(const isa::Matmul& d, int count) {
    const isa::Descriptor encoded = d.Encode();
    std::memcpy(&dut_->start_desc_i, encoded.data(), sizeof(encoded));
    dut_->start_peek_i = dut_->start_valid_i = 1;
    for (int i = 0; i < count; ++i) {
      Clock();
      if (accepted_) {
        in_flight_.push_back(d);
        dut_->start_peek_i = dut_->start_valid_i = 0;
      }
    }
  }

  void Idle(int count) {
    for (int i = 0; i < count; ++i) Clock();
  }

  void CheckRows(const isa::Matmul& d) {
    for (int64_t r = d.acc;
         r < d.acc + RowsOf(p, d) && !::testing::Test::HasFailure(); ++r) {
      read_row_ = r;
      reading_ = true;
      while (reading_) Clock();
    }
  }

  bool progress() const { return dut_->progress_o; }
  bool saturated() const { return dut_->saturated_o; }
  void Freeze(bool on) { dut_->freeze_i = on; }

  const Preset& p;
  std::mt19937 rng;
  State state;
  int64_t cycles = 0, vectors = 0, done = 0, stall_weights = 0, stall_swap = 0,
          stall_acc = 0, stall_ub = 0, window_checks = 0;
  size_t most_in_flight = 0;
  int fault = 0, faults = 0;
  uint64_t fault_addr = 0;
  bool fault_newest = false;

 private:
  struct Answer {
    int64_t cycle, addr;
  };

  bool Chance(int percent) {
    return percent != 0 && static_cast<int>(rng() % 100) < percent;
  }

  void Clock() {
    if (load_.stall_percent != 0) {
      uint32_t bits = 0;
      for (int i = 0; i < 16; ++i)
        bits |= Chance(load_.stall_percent) ? 1u << i : 0;
      dut_->stall_i = bits;
    } else {
      dut_->stall_i = 0;
    }
    if (dut_->rst_ni && load_.traffic_percent != 0) OfferTraffic();
    dut_->wf_valid_i = dut_->rst_ni && !beats_.empty() &&
                       dut_->wf_free_o != 0 && !Chance(load_.stall_percent);
    if (dut_->wf_valid_i)
      std::memcpy(&dut_->wf_data_i, beats_.front().bytes.data(),
                  p.beat_bytes());
    dut_->wf_transpose_i =
        beats_.empty() ? rng() & 1 : beats_.front().transpose;
    dut_->acc_rd_valid_i = reading_ && read_due_ < 0;
    if (dut_->acc_rd_valid_i) dut_->acc_rd_row_i = read_row_;
    dut_->clk_i = 0;
    dut_->eval();
    accepted_ = dut_->rst_ni && dut_->start_valid_i && dut_->start_ready_o;
    if (dut_->rst_ni) {
      Observe();
    } else {
      windows_.clear();
      stores_.clear();
    }
    dut_->clk_i = 1;
    dut_->eval();
    ++cycles;
    // What was taken is no longer asked for.
    if (taken_[0]) dut_->vec_rd_valid_i = 0;
    if (taken_[1]) dut_->dma_rd_valid_i = 0;
    if (taken_[2]) dut_->vec_wr_valid_i = 0;
    if (taken_[3]) dut_->ub_wr_valid_i = 0;
  }

  void Observe() {
    if (dut_->wf_valid_i) beats_.pop_front();
    vectors += dut_->vector_o;
    stall_weights += dut_->stall_weights_o;
    stall_swap += dut_->stall_swap_o;
    stall_acc += dut_->stall_acc_o;
    stall_ub += dut_->stall_ub_o;
    if (dut_->fault_valid_o) {
      ++faults;
      fault = dut_->fault_code_o;
      fault_addr = dut_->fault_addr_o;
      fault_newest = dut_->fault_newest_o;
    }
    ObserveRead();
    if (dut_->done_o) Done();
    ObserveTraffic();
  }

  // The oldest descriptor is complete: its last row must be there for a read
  // from the next cycle on, if no younger one touches it.
  void Done() {
    ++done;
    ASSERT_FALSE(in_flight_.empty());
    const isa::Matmul d = in_flight_.front();
    in_flight_.pop_front();
    state.Execute(d);
    const int64_t last = d.acc + RowsOf(p, d) - 1;
    for (const isa::Matmul& y : in_flight_) {
      if (last >= y.acc && last < y.acc + RowsOf(p, y)) return;
    }
    if (!reading_ && !accepted_) {
      reading_ = true;
      read_row_ = last;
    }
  }

  void ObserveRead() {
    if (reading_ && read_due_ < 0) {
      // A younger descriptor may have begun with the row before the read was
      // accepted: then it is not checked.
      for (const isa::Matmul& y : in_flight_) {
        if (read_row_ >= y.acc && read_row_ < y.acc + RowsOf(p, y))
          reading_ = false;
      }
      if (reading_ && dut_->acc_rd_valid_i && dut_->acc_rd_ready_o) {
        read_due_ = cycles + 2;
        expected_.assign(state.Row(read_row_), state.Row(read_row_) + p.cols);
      }
    } else if (reading_ && read_due_ == cycles) {
      for (int64_t c = 0; c < p.cols; ++c) {
        EXPECT_EQ(static_cast<int32_t>(dut_->acc_rd_data_o[c]), expected_[c])
            << "cycle " << cycles << " row " << read_row_ << " column " << c;
      }
      reading_ = false;
      read_due_ = -1;
    }
  }

  // Reads anywhere, and writes of what is there already: they compete for banks
  // and change nothing.
  void OfferTraffic() {
    const int64_t words = p.ub_bytes / p.word_bytes(),
                  beats = p.ub_bytes / p.beat_bytes();
    if (!dut_->vec_rd_valid_i && Chance(load_.traffic_percent)) {
      dut_->vec_rd_valid_i = 1;
      dut_->vec_rd_addr_i = rng() % (p.ub_bytes - p.word_bytes());
    }
    if (!dut_->dma_rd_valid_i && Chance(load_.traffic_percent)) {
      dut_->dma_rd_valid_i = 1;
      dut_->dma_rd_addr_i = rng() % beats * p.beat_bytes();
    }
    if (!dut_->vec_wr_valid_i && Chance(load_.traffic_percent)) {
      const int64_t a = rng() % words * p.word_bytes() - (rng() % 2 ? 3 : 0);
      if (a >= 0) {
        dut_->vec_wr_valid_i = 1;
        dut_->vec_wr_addr_i = a;
        std::memcpy(&dut_->vec_wr_data_i, &state.ub[a], p.word_bytes());
      }
    }
    if (!dut_->ub_wr_valid_i && Chance(load_.traffic_percent)) {
      dut_->ub_wr_valid_i = 1;
      dut_->ub_wr_addr_i = rng() % beats * p.beat_bytes();
      std::memcpy(&dut_->ub_wr_data_i, &state.ub[dut_->ub_wr_addr_i],
                  p.beat_bytes());
    }
  }

  void ObserveTraffic() {
    if (dut_->vec_rd_rsp_valid_o)
      CheckAnswer(&windows_, &dut_->vec_rd_data_o, p.word_bytes());
    if (dut_->dma_rd_rsp_valid_o)
      CheckAnswer(&stores_, &dut_->dma_rd_data_o, p.beat_bytes());
    if (dut_->vec_rd_valid_i && dut_->vec_rd_ready_o)
      windows_.push_back({cycles + 2, int64_t{dut_->vec_rd_addr_i}});
    if (dut_->dma_rd_valid_i && dut_->dma_rd_ready_o)
      stores_.push_back({cycles + 2, int64_t{dut_->dma_rd_addr_i}});
    taken_[0] = dut_->vec_rd_ready_o;
    taken_[1] = dut_->dma_rd_ready_o;
    taken_[2] = dut_->vec_wr_ready_o;
    taken_[3] = dut_->ub_wr_ready_o;
  }

  void CheckAnswer(std::deque<Answer>* queue, const void* data, int64_t bytes) {
    ASSERT_FALSE(queue->empty());
    EXPECT_EQ(queue->front().cycle, cycles);
    EXPECT_EQ(std::memcmp(data, &state.ub[queue->front().addr], bytes), 0)
        << "address " << queue->front().addr;
    queue->pop_front();
    ++window_checks;
  }

  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  Load load_;
  std::deque<Tile> beats_;
  std::deque<isa::Matmul> in_flight_;
  std::deque<Answer> windows_, stores_;
  bool accepted_ = false, reading_ = false;
  bool taken_[4] = {};
  int64_t read_row_ = 0, read_due_ = -1;
  std::vector<int32_t> expected_;
};

}  // namespace systole::mxu_test

#endif  // SYSTOLE_TESTS_RTL_MXU_BENCH_H_
