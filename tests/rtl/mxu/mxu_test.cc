// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random matmul descriptors on the matrix unit with unified buffer and accumulators, against the walk of docs/isa.md;
// throughput; faults. Parameter of the random tests: the seed.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VMxuEdge.h"
#include "VMxuNano.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"
#include "verilated.h"

namespace systole {
namespace {

using Tile = std::vector<int8_t>;  // [Rows][Cols]

template <typename Model>
class Bench {
 public:
  Bench(const char* preset, uint32_t seed, int stall_percent)
      : p_(*FindPreset(preset)),
        ub(p_.ub_bytes),
        acc(p_.acc_rows * p_.cols),
        rng(seed),
        stall_percent_(stall_percent) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
    dut_->rst_ni = 0;
    dut_->flush_i = dut_->freeze_i = dut_->start_valid_i = dut_->wf_valid_i = 0;
    dut_->ub_wr_valid_i = dut_->acc_rd_valid_i = 0;
    dut_->stall_i = 0;
    Clock();
    Clock();
    dut_->rst_ni = 1;
    dut_->flush_i = 1;
    Clock();
    dut_->flush_i = 0;
    for (int8_t& v : ub) v = static_cast<int8_t>(rng());
    for (int64_t a = 0; a < p_.ub_bytes; a += p_.beat_bytes()) {
      dut_->ub_wr_valid_i = 1;
      dut_->ub_wr_addr_i = a;
      std::memcpy(&dut_->ub_wr_data_i, &ub[a], p_.beat_bytes());
      Clock();
    }
    dut_->ub_wr_valid_i = 0;
  }

  void Clock() {
    if (stall_percent_ != 0 && dut_->rst_ni) {
      uint16_t bits = 0;
      for (int i = 0; i < 16; ++i) bits |= static_cast<uint16_t>(static_cast<int>(rng() % 100) < stall_percent_) << i;
      dut_->stall_i = bits & ~(1u << 8);  // not the port that fills the buffer
    }
    dut_->clk_i = 0;
    dut_->eval();
    accepted_ = dut_->start_valid_i && dut_->start_ready_o && dut_->rst_ni;
    done_ += dut_->rst_ni && dut_->done_o;
    vectors += dut_->rst_ni && dut_->vector_o;
    if (dut_->rst_ni && dut_->fault_valid_o && !fault) {
      fault = dut_->fault_code_o;
      fault_addr = dut_->fault_addr_o;
    }
    dut_->clk_i = 1;
    dut_->eval();
    ++cycles;
  }

  // Runs descriptors with the tiles that they take; returns cycles from the first start to the last completion.
  uint64_t Run(const std::vector<isa::Matmul>& list, const std::vector<Tile>& tiles) {
    size_t next = 0, beat = 0;
    const size_t beats_per_tile = p_.tile_bytes() / p_.beat_bytes();
    done_ = 0;
    const uint64_t begin = cycles;
    while (done_ < list.size() && !fault) {
      const bool want = next < list.size();
      dut_->start_valid_i = want;
      if (want) {
        const isa::Descriptor d = list[next].Encode();
        std::memcpy(&dut_->start_desc_i, d.data(), sizeof(d));
      }
      dut_->wf_valid_i = beat < tiles.size() * beats_per_tile && dut_->wf_free_o != 0 &&
                         (stall_percent_ == 0 || static_cast<int>(rng() % 100) >= stall_percent_);
      if (dut_->wf_valid_i) {
        std::memcpy(&dut_->wf_data_i, &tiles[beat / beats_per_tile][beat % beats_per_tile * p_.beat_bytes()],
                    p_.beat_bytes());
        ++beat;
      }
      Clock();
      if (accepted_) ++next;
      if (cycles - begin > 2000000) {
        ADD_FAILURE() << "no end";
        return 0;
      }
    }
    dut_->start_valid_i = dut_->wf_valid_i = 0;
    return cycles - begin;
  }

  std::vector<int32_t> ReadRow(int row) {
    dut_->acc_rd_valid_i = 1;
    dut_->acc_rd_row_i = row;
    bool granted = false;
    while (!granted) {
      dut_->clk_i = 0;
      dut_->eval();
      const uint16_t stall = dut_->stall_i;
      dut_->stall_i = stall & ~(1u << 14);
      dut_->eval();
      granted = dut_->acc_rd_ready_o;
      dut_->clk_i = 1;
      dut_->eval();
    }
    dut_->acc_rd_valid_i = 0;
    Clock();
    std::vector<int32_t> out(p_.cols);
    std::memcpy(out.data(), &dut_->acc_rd_data_o[0], 4 * p_.cols);
    return out;
  }

  // docs/isa.md, word for word.
  void Reference(const isa::Matmul& d, std::deque<const Tile*>* fifo) {
    const bool accumulate = d.header.flags & isa::Matmul::kAccumulate;
    bool first = true;
    for (uint32_t p1 = 0; p1 < d.t1; ++p1) {
      for (uint32_t p0 = 0; p0 < d.t0; ++p0) {
        if (!(first && (d.header.flags & isa::Matmul::kKeepWeights))) {
          tile = fifo->front();
          fifo->pop_front();
        }
        int64_t row = d.acc;
        for (int64_t i = 0; i < d.n; ++i) {
          for (int64_t y = 0; y < d.ny; ++y) {
            for (int64_t x = 0; x < d.nx; ++x, ++row) {
              std::vector<int> a(p_.rows, 0);
              int r = 0;
              for (int s = 0; s < 4; ++s) {
                for (uint32_t j = 0; j < d.seg_len[s]; ++j) {
                  const int64_t line = y * d.sy + d.seg_dy[s] + static_cast<int64_t>(p1) * d.t1_dy;
                  const int64_t byte = x * d.sx + d.seg_dx[s] + static_cast<int64_t>(p0) * d.t0_dx + j;
                  const bool inside = line >= 0 && line < d.lines && byte >= 0 && byte < d.line_bytes;
                  a[r++] = inside ? ub.at(d.ub_base + i * d.img_pitch + line * d.pitch + byte) : d.pad;
                }
              }
              for (int64_t c = 0; c < p_.cols; ++c) {
                int64_t sum = 0;
                for (int64_t k = 0; k < p_.rows; ++k) sum += a[k] * (*tile)[k * p_.cols + c];
                int32_t& out = acc[row * p_.cols + c];
                const int64_t total = (first && !accumulate ? 0 : static_cast<int64_t>(out)) + sum;
                out = static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(total, INT32_MIN), INT32_MAX));
              }
            }
          }
        }
        first = false;
      }
    }
  }

  Tile RandomTile() {
    Tile t(p_.tile_bytes());
    const int kind = rng() % 4;
    for (int8_t& v : t) v = kind == 0 ? (rng() % 2 ? -128 : 127) : static_cast<int8_t>(rng());
    return t;
  }

  const Preset& p_;
  std::vector<int8_t> ub;
  std::vector<int32_t> acc;
  std::mt19937 rng;
  const Tile* tile = nullptr;
  uint64_t cycles = 0, vectors = 0;
  int fault = 0;
  uint64_t fault_addr = 0;

 private:
  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  int stall_percent_;
  bool accepted_ = false;
  size_t done_ = 0;
};

int Pick(std::mt19937* rng, int low, int high) { return low + static_cast<int>((*rng)() % (high - low + 1)); }

// A legal descriptor whose reads stay inside the buffer.
isa::Matmul RandomMatmul(std::mt19937* rng, const Preset& p, bool may_keep) {
  while (true) {
    isa::Matmul d;
    if (Pick(rng, 0, 1)) d.header.flags |= isa::Matmul::kAccumulate;
    if (may_keep && Pick(rng, 0, 3) == 0) d.header.flags |= isa::Matmul::kKeepWeights;
    d.pitch = Pick(rng, 1, 300);
    d.lines = Pick(rng, 1, 20);
    d.line_bytes = Pick(rng, 1, 260);
    d.img_pitch = Pick(rng, 0, 3000);
    d.ub_base = Pick(rng, 0, static_cast<int>(p.ub_bytes) - 1);
    d.pad = static_cast<int8_t>((*rng)());
    d.n = Pick(rng, 1, 3);
    d.ny = Pick(rng, 1, 8);
    d.nx = Pick(rng, 1, 8);
    d.sy = Pick(rng, 0, 3);
    d.sx = Pick(rng, 0, 40);
    d.t0 = Pick(rng, 1, 3);
    d.t1 = Pick(rng, 1, 3);
    d.t0_dx = Pick(rng, 0, 40);
    d.t1_dy = Pick(rng, 0, 3);
    int left = static_cast<int>(p.rows);
    const int segments = Pick(rng, 1, 4);
    for (int s = 0; s < segments; ++s) {
      d.seg_len[s] = s == segments - 1 ? Pick(rng, s == 0 ? 1 : 0, left) : Pick(rng, s == 0 ? 1 : 0, left / 2 + 1);
      if (static_cast<int>(d.seg_len[s]) > left) d.seg_len[s] = left;
      left -= static_cast<int>(d.seg_len[s]);
      d.seg_dy[s] = Pick(rng, -4, 6);
      d.seg_dx[s] = Pick(rng, -60, 120);
    }
    const int rows = static_cast<int>(d.n * d.ny * d.nx), bank = static_cast<int>(p.acc_bank_rows());
    if (rows > bank) continue;
    d.acc = Pick(rng, 0, 1) * bank + Pick(rng, 0, bank - rows);
    // The last byte that any vector could read.
    const int64_t top = d.ub_base + int64_t{d.n - 1} * d.img_pitch + int64_t{d.lines - 1} * d.pitch + d.line_bytes;
    if (top > p.ub_bytes) continue;
    return d;
  }
}

// Every accumulator row gets a value first, so that accumulating is defined anywhere.
template <typename Model>
void FillAccumulators(Bench<Model>* bench) {
  const Preset& p = bench->p_;
  isa::Matmul d;
  d.lines = 1;
  d.pitch = d.line_bytes = p.rows;
  d.n = d.nx = d.t0 = d.t1 = 1;
  d.ny = p.acc_bank_rows();
  d.seg_len[0] = p.rows;
  isa::Matmul second = d;
  second.acc = p.acc_bank_rows();
  const Tile a = bench->RandomTile(), b = bench->RandomTile();
  static std::deque<Tile> kept;
  kept.push_back(a);
  kept.push_back(b);
  std::deque<const Tile*> fifo = {&kept[kept.size() - 2], &kept[kept.size() - 1]};
  bench->Reference(d, &fifo);
  bench->Reference(second, &fifo);
  bench->Run({d, second}, {a, b});
}

class MxuRandom : public ::testing::TestWithParam<int> {};

template <typename Model>
void RandomProgram(const char* preset, uint32_t seed, int rounds) {
  SCOPED_TRACE(::testing::Message() << preset << " seed " << seed);
  Bench<Model> bench(preset, seed, seed % 3 == 0 ? 0 : seed % 3 == 1 ? 15 : 50);
  std::deque<Tile> kept;
  FillAccumulators(&bench);
  for (int round = 0; round < rounds; ++round) {
    std::vector<isa::Matmul> list;
    std::vector<Tile> tiles;
    std::deque<const Tile*> fifo;
    for (int i = Pick(&bench.rng, 1, 8); i > 0; --i) {
      list.push_back(RandomMatmul(&bench.rng, bench.p_, true));
      const int take = static_cast<int>(list.back().t0 * list.back().t1) -
                       ((list.back().header.flags & isa::Matmul::kKeepWeights) ? 1 : 0);
      for (int t = 0; t < take; ++t) {
        tiles.push_back(bench.RandomTile());
        kept.push_back(tiles.back());
        fifo.push_back(&kept.back());
      }
      bench.Reference(list.back(), &fifo);
    }
    bench.Run(list, tiles);
    ASSERT_EQ(bench.fault, 0) << "round " << round;
    for (const isa::Matmul& d : list) {
      for (uint32_t m = 0; m < d.n * d.ny * d.nx; ++m) {
        const std::vector<int32_t> row = bench.ReadRow(static_cast<int>(d.acc + m));
        for (int64_t c = 0; c < bench.p_.cols; ++c) {
          ASSERT_EQ(row[c], bench.acc[(d.acc + m) * bench.p_.cols + c])
              << "round " << round << " row " << d.acc + m << " column " << c;
        }
      }
    }
  }
}

TEST_P(MxuRandom, NanoMatchesTheWalk) { RandomProgram<VMxuNano>("nano", GetParam(), 40); }
TEST_P(MxuRandom, EdgeMatchesTheWalk) { RandomProgram<VMxuEdge>("edge", 100 + GetParam(), 6); }
INSTANTIATE_TEST_SUITE_P(Seeds, MxuRandom, ::testing::Range(0, 9));

// Passes long enough, weights there, segments in different banks: a vector every cycle.
template <typename Model>
void Throughput(const char* preset, int segments, int vectors) {
  SCOPED_TRACE(::testing::Message() << preset << " segments " << segments << " vectors " << vectors);
  Bench<Model> bench(preset, 5, 0);
  const Preset& p = bench.p_;
  const int64_t stride = std::max(2 * p.word_bytes(), p.beat_bytes());
  isa::Matmul d;
  d.pitch = stride;  // lines next to each other, in different banks
  while (d.pitch % (p.ub_banks * p.word_bytes()) != stride % (p.ub_banks * p.word_bytes())) d.pitch += stride;
  d.lines = 8;
  d.line_bytes = stride;
  d.n = d.ny = 1;
  d.nx = vectors;
  d.sx = 0;
  d.t0 = 12;
  d.t1 = 1;
  for (int s = 0; s < segments; ++s) {
    d.seg_len[s] = p.rows / segments;
    d.seg_dy[s] = s;
    d.seg_dx[s] = 1;
  }
  std::vector<isa::Matmul> list = {d, d};
  list[1].acc = p.acc_bank_rows();
  std::vector<Tile> tiles(24);
  for (Tile& t : tiles) t = bench.RandomTile();
  const uint64_t cycles = bench.Run(list, tiles);
  EXPECT_EQ(bench.vectors, 24u * vectors);
  // The first tile must come in, and the last vector must leave.
  const uint64_t overhead = p.tile_bytes() / p.beat_bytes() + p.rows + 2 * p.cols + 16;
  EXPECT_LE(cycles, 24u * vectors + overhead);
}

TEST(MxuThroughput, PassesRunBackToBack) {
  for (int segments = 1; segments <= 4; ++segments) {
    Throughput<VMxuNano>("nano", segments, 8 + 2);
    Throughput<VMxuNano>("nano", segments, 40);
    Throughput<VMxuEdge>("edge", segments, 32 + 2);
    Throughput<VMxuEdge>("edge", segments, 100);
  }
}

TEST(MxuFaults, NameTheirCause) {
  struct Case {
    isa::Fault cause;
    void (*spoil)(isa::Matmul*);
  };
  const Case cases[] = {
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->n = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->ny = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->nx = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->t0 = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->t1 = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->lines = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->line_bytes = 0; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->seg_len[3] = 1; }},
      {isa::Fault::kIllegalDescriptor, [](isa::Matmul* d) { d->seg_len[0] = 0; }},
      {isa::Fault::kAccRange, [](isa::Matmul* d) { d->acc = 250; }},
      {isa::Fault::kAccRange, [](isa::Matmul* d) { d->acc = 8000; }},
      {isa::Fault::kUbRange, [](isa::Matmul* d) { d->ub_base = 65536 - 12; }},
      {isa::Fault::kUbRange, [](isa::Matmul* d) { d->img_pitch = (1 << 25) - 1, d->n = 2; }},
  };
  int index = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << "case " << index++);
    Bench<VMxuNano> bench("nano", 3, 0);
    isa::Matmul d;
    d.pitch = d.line_bytes = 16;
    d.lines = 8;
    d.n = d.nx = d.t0 = d.t1 = 1;
    d.ny = 8;
    d.sy = 1;
    d.seg_len[0] = 8;
    c.spoil(&d);
    bench.Run({d}, {bench.RandomTile()});
    EXPECT_EQ(bench.fault, static_cast<int>(c.cause));
  }
}

}  // namespace
}  // namespace systole
