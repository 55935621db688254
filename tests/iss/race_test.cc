// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The race check: random programs against an oracle that knows the whole graph
// of events.

#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "tests/iss/pipeline.h"
#include "tests/iss/reference.h"
#include "tests/testing/seeds.h"

namespace systole::iss {
namespace {

const Preset& Nano() { return *FindPreset("nano"); }

bool Meet(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](uint64_t v) { return b.count(v) != 0; });
}

// Which pairs race, from the definition: events start and complete of each
// descriptor, all orders between them, their transitive closure, and the bytes
// that the reference touches.
std::set<std::pair<uint32_t, uint32_t>> Oracle(
    const std::vector<isa::Descriptor>& program, const State& before) {
  const int n = static_cast<int>(program.size());
  std::vector<uint8_t> hbm(Pipeline::kHbmBytes);
  before.hbm.Read(0, absl::MakeSpan(hbm));
  Reference reference(Nano(), hbm, before.ub, before.acc);
  std::vector<Reference::Touched> touched(n);
  std::vector<int> queue(n);
  std::vector<std::vector<bool>> after(
      2 * n, std::vector<bool>(2 * n));  // 2i: start of i, 2i + 1: complete
  std::array<std::vector<int>, isa::kNumFlags> posts, waits;
  std::vector<int> tile_pusher;
  size_t taken = 0;
  int last[isa::kNumQueues] = {-1, -1, -1, -1, -1, -1};
  for (int i = 0; i < n; ++i) {
    EXPECT_FALSE(reference.Run(program[i]));
    touched[i] = reference.touched;
    queue[i] = static_cast<int>(isa::FindOp(program[i][0] % 256)->queue);
    after[2 * i][2 * i + 1] = true;
    if (int& before_i = last[queue[i]]; before_i >= 0) {
      after[2 * before_i][2 * i] = after[2 * before_i + 1][2 * i + 1] = true;
    }
    last[queue[i]] = i;
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if (isa::GetBits(program[i], 32 + f, 1)) waits[f].push_back(i);
      if (isa::GetBits(program[i], 64 + f, 1)) posts[f].push_back(i);
    }
    if (queue[i] == static_cast<int>(isa::Queue::kWeight)) {
      tile_pusher.insert(tile_pusher.end(),
                         isa::Weights::Decode(program[i]).tiles, i);
    }
    if (queue[i] == static_cast<int>(isa::Queue::kMxu)) {
      const isa::Matmul m = isa::Matmul::Decode(program[i]);
      for (uint32_t t = 0; t < m.t0 * m.t1; ++t, ++taken) {
        const bool is_last = taken + 1 == tile_pusher.size() ||
                             tile_pusher[taken + 1] != tile_pusher[taken];
        if (is_last) after[2 * tile_pusher[taken] + 1][2 * i + 1] = true;
      }
    }
  }
  for (int f = 0; f < isa::kNumFlags; ++f) {
    for (size_t k = 0; k < waits[f].size(); ++k)
      after[2 * posts[f][k] + 1][2 * waits[f][k]] = true;
  }
  for (int k = 0; k < 2 * n; ++k) {
    for (int i = 0; i < 2 * n; ++i) {
      for (int j = 0; after[i][k] && j < 2 * n; ++j)
        after[i][j] = after[i][j] || after[k][j];
    }
  }
  std::set<std::pair<uint32_t, uint32_t>> races;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if (queue[i] == queue[j] || after[2 * i + 1][2 * j]) continue;
      const Reference::Touched &a = touched[i], &b = touched[j];
      if (Meet(a.ub_written, b.ub_written) || Meet(a.ub_written, b.ub_read) ||
          Meet(a.ub_read, b.ub_written) || Meet(a.acc_written, b.acc_written) ||
          Meet(a.acc_written, b.acc_read) || Meet(a.acc_read, b.acc_written) ||
          Meet(a.hbm_written, b.hbm_written) ||
          Meet(a.hbm_written, b.hbm_read) || Meet(a.hbm_read, b.hbm_written)) {
        races.insert({i, j});
      }
    }
  }
  return races;
}

// Random programs over small memories, so that they conflict often. Rules 1, 2
// and 4 hold.
class ProgramMaker {
 public:
  explicit ProgramMaker(uint64_t seed) : random_(seed) {}

  std::vector<isa::Descriptor> Make(int length) {
    program_.clear();
    flags_.fill(0);
    post_chance_ = In(0, 4), wait_chance_ = In(3, 5);
    while (static_cast<int>(program_.size()) < length) {
      switch (In(0, 4)) {
        case 0: {
          isa::Load d;
          FillDma(&d);
          Push(d, 0);
          break;
        }
        case 1: {
          isa::Store d;
          FillDma(&d);
          Push(d, 4);
          break;
        }
        case 2: {
          isa::Weights w;
          w.hbm_addr = In(0, 15) * 32, w.tiles = In(1, 3);
          Push(w, 1);
          for (int left = w.tiles; left > 0;) {
            const int tiles = In(1, left);
            PushMatmul(tiles);
            left -= tiles;
          }
          break;
        }
        case 3: {
          isa::Requant d;
          d.header.flags = isa::Requant::kRaw;
          d.acc = In(0, 9), d.n = d.ny = 1, d.nx = In(1, 3), d.cols = In(1, 8);
          d.dst = In(0, 400), d.dst_sx = 4 * d.cols + In(0, 9);
          Push(d, 3);
          break;
        }
        default: {
          isa::Add d;
          d.src0 = In(0, 400), d.src1 = In(0, 400), d.dst = 600 + In(0, 200);
          d.ny = In(1, 2), d.line_bytes = In(1, 30),
          d.pitch0 = d.pitch1 = d.dst_pitch = In(30, 60);
          d.mult = d.mult0 = d.mult1 = 1 << 30, d.clamp_max = 127;
          Push(d, 3);
        }
      }
    }
    return program_;
  }

 private:
  int64_t In(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  template <typename D>
  void FillDma(D* d) {
    d->hbm_addr = In(0, 30) * 32, d->ub_addr = In(0, 25) * 32;
    d->len = In(1, 70), d->n1 = In(1, 2), d->n2 = 1;
    d->hbm_stride1 = In(3, 5) * 32, d->ub_stride1 = In(3, 5) * 32;
  }

  void PushMatmul(int tiles) {
    isa::Matmul d;
    d.header.flags = In(0, 1);
    d.ub_base = In(0, 400), d.pitch = In(8, 40), d.lines = In(1, 3),
    d.line_bytes = 8;
    d.n = d.nx = 1, d.ny = In(1, 3), d.sy = 1, d.t0 = tiles, d.t1 = 1;
    d.acc = In(0, 9), d.seg_len[0] = In(1, 8);
    Push(d, 2);
  }

  // Nothing here sends. Flag 4q + r, or 4q + r - 1 for r > q, is the channel
  // from queue q to queue r.
  static constexpr int kQueues = 5;
  static int Channel(int from, int to) {
    return (kQueues - 1) * from + (to < from ? to : to - 1);
  }

  template <typename D>
  void Push(D d, int queue) {
    for (int other = 0; other < kQueues; ++other) {
      if (other == queue) continue;
      const int in = Channel(other, queue), out = Channel(queue, other);
      if (flags_[in] > 0 && In(1, 5) <= wait_chance_) {
        d.header.wait_mask |= 1u << in;
        --flags_[in];
      }
      if (In(1, 5) <= post_chance_) {
        d.header.post_mask |= 1u << out;
        ++flags_[out];
      }
    }
    program_.push_back(d.Encode());
  }

  std::mt19937_64 random_;
  std::vector<isa::Descriptor> program_;
  std::array<int, 32> flags_ = {};
  int64_t post_chance_ = 0, wait_chance_ = 0;
};

TEST(Race, RandomProgramsAgainstTheOracle) {
  int racy = 0, clean = 0;
  for (const uint64_t seed : systole::testing_options::Seeds(1500)) {
    ProgramMaker maker(seed);
    const std::vector<isa::Descriptor> program = maker.Make(2 + seed % 14);
    Iss iss(Nano(), seed);
    const auto want = Oracle(program, iss.state());
    std::vector<isa::Descriptor> with_halt = program;
    with_halt.push_back(isa::Halt{}.Encode());
    ASSERT_EQ(RunChecked(with_halt, &iss), Iss::Event::kHalted)
        << "seed " << seed;
    // One pair a conflict is enough for the report, but it must be a true one,
    // and there must be one if there is any.
    for (const Finding& f : iss.races()->findings) {
      ASSERT_EQ(f.rule, 3) << "seed " << seed << ": " << f.text;
      ASSERT_TRUE(want.count({f.first, f.second}))
          << "seed " << seed << ": " << f.text;
    }
    ASSERT_EQ(iss.races()->count > 0, !want.empty()) << "seed " << seed;
    ++(want.empty() ? clean : racy);
  }
  EXPECT_GT(racy, 200);
  EXPECT_GT(clean, 200);
}

}  // namespace
}  // namespace systole::iss
