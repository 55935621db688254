// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// matmul, tiles and weights of the bf16 cell: random descriptors against a
// reference that goes one element at a time, and each fault.

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "sim/iss/execute.h"
#include "sim/iss/vpu_lanes.h"
#include "systole/program.h"

namespace systole::iss {
namespace {

// The sentences of docs/isa.md. Notes every byte and row that it touches.
class Reference {
 public:
  explicit Reference(const State& s) : p_(s.preset), ub_(s.ub), acc(s.acc) {}

  void Push(const isa::Tiles& d) {
    for (uint32_t t = 0; t < d.tiles; ++t) {
      std::vector<uint16_t> w(p_.rows * p_.cols, 0);
      for (uint32_t i = 0; i < d.rows; ++i) {
        for (uint32_t j = 0; j < d.cols; ++j) {
          const bool turned = (d.header.flags & 1) != 0;
          w[turned ? j * p_.cols + i : i * p_.cols + j] =
              Element(d.ub_addr + t * d.tile_stride + i * d.pitch + 2 * j);
        }
      }
      fifo.push_back(w);
    }
  }

  void Run(const isa::Matmul& d) {
    const bool turned = (d.header.flags & 4) != 0;
    const bool accumulate = (d.header.flags & 1) != 0;
    int64_t pass = 0;
    for (int64_t p1 = 0; p1 < d.t1; ++p1) {
      for (int64_t p0 = 0; p0 < d.t0; ++p0, ++pass) {
        const bool keeps = pass == 0 ? (d.header.flags & 2) != 0 : turned;
        if (!keeps) tile = fifo.front(), fifo.pop_front();
        std::vector<std::vector<uint16_t>> a;
        for (int64_t i = 0; i < d.n; ++i)
          for (int64_t y = 0; y < d.ny; ++y)
            for (int64_t x = 0; x < d.nx; ++x)
              a.push_back(Vector(d, p1, p0, i, y, x));
        std::vector<std::vector<uint16_t>> in = a;
        if (turned) {
          a.resize(p_.rows, std::vector<uint16_t>(p_.rows, 0));
          in = a;
          for (int64_t j = 0; j < p_.rows; ++j)
            for (int64_t i = 0; i < p_.rows; ++i) in[j][i] = a[i][j];
        }
        const int64_t first = d.acc + (turned ? pass * p_.rows : 0);
        for (size_t v = 0; v < in.size(); ++v) {
          const int64_t row = first + static_cast<int64_t>(v);
          const bool adds = accumulate || (pass > 0 && !turned);
          if (accumulate && (pass == 0 || turned)) acc_read.insert(row);
          acc_written.insert(row);
          for (int64_t c = 0; c < p_.cols; ++c) {
            uint32_t sum = adds ? acc[row * p_.cols + c] : 0;
            for (int64_t r = 0; r < p_.rows; ++r) {
              const float f = std::fma(
                  Bf16(in[v][r]), Bf16(tile[r * p_.cols + c]), FloatOf(sum));
              sum = std::isnan(f) ? 0x7FC00000 : BitsOf(f);
            }
            acc[row * p_.cols + c] = static_cast<int32_t>(sum);
          }
        }
      }
    }
  }

 private:
  uint16_t Element(uint64_t at) {
    ub_read.insert(at), ub_read.insert(at + 1);
    return static_cast<uint16_t>(ub_[at] | ub_[at + 1] << 8);
  }
  std::vector<uint16_t> Vector(const isa::Matmul& d, int64_t p1, int64_t p0,
                               int64_t i, int64_t y, int64_t x) {
    std::vector<uint16_t> a;
    for (int s = 0; s < 4; ++s) {
      for (int64_t j = 0; j < d.seg_len[s]; ++j) {
        const int64_t line = y * d.sy + d.seg_dy[s] + p1 * d.t1_dy;
        const int64_t byte = x * d.sx + d.seg_dx[s] + p0 * d.t0_dx + 2 * j;
        const bool inside =
            line >= 0 && line < d.lines && byte >= 0 && byte < d.line_bytes;
        a.push_back(inside ? Element(d.ub_base + i * d.img_pitch +
                                     line * d.pitch + byte)
                           : 0);
      }
    }
    a.resize(p_.rows, 0);
    return a;
  }

  const Preset& p_;
  const std::vector<uint8_t>& ub_;

 public:
  std::vector<int32_t> acc;
  std::deque<std::vector<uint16_t>> fifo;
  std::vector<uint16_t> tile;
  std::set<uint64_t> ub_read, acc_read, acc_written;
};

std::set<uint64_t> Flatten(const Ranges& ranges) {
  std::set<uint64_t> all;
  for (const Range& r : ranges) {
    for (uint64_t at = r.begin; at < r.end; ++at) all.insert(all.end(), at);
  }
  return all;
}

class Bf16Test : public ::testing::Test {
 protected:
  int64_t In(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool OneIn(int n) { return In(1, n) == 1; }
  int64_t Even(int64_t low, int64_t high) { return In(low, high) / 2 * 2; }

  // bf16 everywhere: moderate numbers, sometimes special ones.
  void FillMemories() {
    const bool special = OneIn(3);
    for (size_t i = 0; i < state_.ub.size(); i += 2) {
      uint16_t v = static_cast<uint16_t>((random_() & 0x80FF) | 0x3F00);
      if (OneIn(8)) v = 0;
      if (special && OneIn(30)) {
        constexpr uint16_t kSpecial[] = {0x7F80, 0xFF80, 0x7FC1, 0xFFFF,
                                         0x0001, 0x807F, 0x8000, 0x7F7F};
        v = kSpecial[In(0, 7)];
      }
      std::memcpy(&state_.ub[i], &v, 2);
    }
    for (int32_t& v : state_.acc)
      v = static_cast<int32_t>(
          OneIn(9) ? random_() : (random_() & 0x807FFFFF) | 0x3F000000);
  }

  isa::Matmul RandomMatmul(bool turned) {
    const int64_t rows = preset_.rows;
    isa::Matmul d;
    d.lines = In(1, 7), d.line_bytes = 2 * In(1, 3 * rows);
    d.pitch = d.line_bytes + Even(0, 9);
    d.img_pitch = d.lines * d.pitch + Even(0, 9);
    d.ub_base = Even(0, preset_.ub_bytes / 2);
    d.n = In(1, 2), d.ny = In(1, 5), d.nx = In(1, 5);
    if (turned) d.n = 1, d.ny = In(1, 4), d.nx = In(1, 2);
    d.sy = In(0, 3), d.sx = Even(0, 4 * rows);
    d.t0 = In(1, 3), d.t0_dx = Even(0, 4 * rows);
    d.t1 = In(1, 2), d.t1_dy = In(0, 3);
    const int64_t block = turned ? d.t0 * d.t1 * rows : d.n * d.ny * d.nx;
    d.acc = In(0, 1) * preset_.acc_bank_rows() +
            In(0, preset_.acc_bank_rows() - block);
    int64_t left = rows;
    for (int s = 0; s < 4; ++s) {
      d.seg_len[s] = In(s == 0 ? 1 : 0, left);
      left -= d.seg_len[s];
      d.seg_dy[s] = In(-4, 4), d.seg_dx[s] = Even(-4 * rows, 4 * rows);
    }
    d.header.flags = (turned ? isa::Matmul::kTranspose : 0) |
                     (OneIn(2) ? isa::Matmul::kAccumulate : 0);
    return d;
  }
  isa::Tiles RandomTiles(int64_t tiles) {
    isa::Tiles d;
    d.rows = In(1, preset_.rows), d.cols = In(1, preset_.cols);
    d.pitch = Even(0, 4 * preset_.cols);
    d.tile_stride = Even(0, 3000);
    d.tiles = tiles;
    d.ub_addr = Even(0, preset_.ub_bytes / 2);
    if (OneIn(2)) d.header.flags = isa::Tiles::kTranspose;
    return d;
  }

  void ExpectTrap(const Result& r, isa::Fault cause, uint64_t address) {
    ASSERT_TRUE(r);
    EXPECT_EQ(r->cause, cause);
    EXPECT_EQ(r->address, address);
  }

  const Preset& preset_ = *FindPreset("mini");
  std::mt19937_64 random_{9};
  State state_{preset_, 3};
};

TEST_F(Bf16Test, MatmulsWithTilesAgainstTheReference) {
  int nans = 0;
  for (int round = 0; round < 600; ++round) {
    if (round % 10 == 0) FillMemories();
    const bool turned = OneIn(2);
    const isa::Matmul d = RandomMatmul(turned);
    SCOPED_TRACE(Disassemble(d.Encode()));
    const isa::Tiles tiles = RandomTiles(turned ? 1 : d.t0 * d.t1);
    Reference reference(state_);
    state_.weight_fifo.clear();
    ASSERT_FALSE(Execute(tiles, &state_)) << Disassemble(tiles.Encode());
    reference.Push(tiles);
    EXPECT_EQ(
        Flatten(FootprintOf(tiles.Encode(), preset_, {}, {}).read(Space::kUb)),
        reference.ub_read);
    reference.ub_read.clear();
    ASSERT_FALSE(Execute(d, &state_));
    reference.Run(d);
    ASSERT_EQ(state_.acc, reference.acc);
    EXPECT_TRUE(state_.weight_fifo.empty());
    const Footprint f = FootprintOf(d.Encode(), preset_, {}, {});
    EXPECT_EQ(Flatten(f.read(Space::kUb)), reference.ub_read);
    EXPECT_EQ(Flatten(f.read(Space::kAcc)), reference.acc_read);
    EXPECT_EQ(Flatten(f.write(Space::kAcc)), reference.acc_written);
    for (uint64_t row : reference.acc_written)
      nans += IsNan(reference.acc[row * preset_.cols]);

    // Again with the tile that is in the array.
    isa::Matmul again = d;
    again.t0 = again.t1 = 1, again.header.flags |= isa::Matmul::kKeepWeights;
    ASSERT_FALSE(Execute(again, &state_));
    reference.Run(again);
    ASSERT_EQ(state_.acc, reference.acc);
  }
  EXPECT_GT(nans, 100);
}

TEST_F(Bf16Test, WeightsFromHbm) {
  FillMemories();
  const uint64_t bytes = preset_.tile_bytes();
  state_.hbm.Write(preset_.beat_bytes(),
                   absl::MakeSpan(state_.ub).subspan(64, 3 * bytes));
  isa::Weights d;
  d.hbm_addr = preset_.beat_bytes(), d.tiles = 3;
  ASSERT_FALSE(Execute(d, &state_));
  d.header.flags = isa::Weights::kTranspose;
  ASSERT_FALSE(Execute(d, &state_));
  ASSERT_EQ(state_.weight_fifo.size(), 6u);
  for (uint64_t t = 0; t < 3; ++t) {
    for (int64_t r = 0; r < preset_.rows; ++r) {
      for (int64_t c = 0; c < preset_.cols; ++c) {
        const uint64_t at = 2 * (r * preset_.cols + c);
        const uint64_t turned = 2 * (c * preset_.cols + r);
        EXPECT_EQ(std::memcmp(&state_.weight_fifo[t][at],
                              &state_.ub[64 + t * bytes + at], 2),
                  0);
        EXPECT_EQ(std::memcmp(&state_.weight_fifo[3 + t][at],
                              &state_.ub[64 + t * bytes + turned], 2),
                  0);
      }
    }
  }
}

// C = A^T * B by one descriptor: contraction over the positions.
TEST_F(Bf16Test, TransposeMultipliesByPositions) {
  const int64_t L = preset_.rows;
  std::fill(state_.ub.begin(), state_.ub.end(), 0);
  const auto put = [&](uint64_t at, float v) {
    const uint16_t bits = static_cast<uint16_t>(BitsOf(v) >> 16);
    std::memcpy(&state_.ub[at], &bits, 2);
  };
  for (int64_t k = 0; k < L; ++k) {
    for (int64_t i = 0; i < 2 * L; ++i)
      put(k * 4 * L + 2 * i, static_cast<float>(k + 3 * i));
    for (int64_t j = 0; j < L; ++j)
      put(4096 + k * 2 * L + 2 * j, static_cast<float>(2 * k - j));
  }
  isa::Tiles b;
  b.ub_addr = 4096, b.pitch = 2 * L, b.rows = L, b.cols = L, b.tiles = 1;
  isa::Matmul d;
  d.header.flags = isa::Matmul::kTranspose;
  d.pitch = d.line_bytes = 4 * L, d.lines = L;
  d.n = 1, d.ny = L, d.nx = 1, d.sy = 1, d.t1 = 1;
  d.t0 = 2, d.t0_dx = 2 * L, d.seg_len[0] = L;
  ASSERT_FALSE(Execute(b, &state_));
  ASSERT_FALSE(Execute(d, &state_));
  for (int64_t i = 0; i < 2 * L; ++i) {
    for (int64_t j = 0; j < L; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < L; ++k)
        sum += static_cast<float>((k + 3 * i) * (2 * k - j));
      EXPECT_EQ(FloatOf(static_cast<uint32_t>(state_.acc_row(i)[j])), sum);
    }
  }
}

TEST_F(Bf16Test, Faults) {
  FillMemories();
  isa::Tiles tiles;
  tiles.rows = tiles.cols = 8, tiles.tiles = 1, tiles.pitch = 16;
  isa::Matmul good;
  good.lines = 8, good.pitch = good.line_bytes = 16;
  good.n = good.ny = good.nx = good.t0 = good.t1 = 1;
  good.seg_len[0] = 8;
  ASSERT_FALSE(Execute(tiles, &state_));
  ASSERT_FALSE(Execute(good, &state_));

  const auto matmul = [&](isa::Fault cause, uint64_t address, auto spoil) {
    isa::Matmul d = good;
    d.header.flags = isa::Matmul::kKeepWeights;
    spoil(&d);
    SCOPED_TRACE(Disassemble(d.Encode()));
    ExpectTrap(Execute(d, &state_), cause, address);
  };
  const isa::Fault illegal = isa::Fault::kIllegalDescriptor,
                   misaligned = isa::Fault::kMisaligned,
                   acc_range = isa::Fault::kAccRange,
                   ub_range = isa::Fault::kUbRange;
  using M = isa::Matmul;
  matmul(illegal, 0, [](M* d) { d->pad = 1; });
  matmul(illegal, 0, [](M* d) { d->nx = 0; });
  matmul(illegal, 0, [](M* d) { d->seg_len[1] = 1; });
  matmul(misaligned, 3, [](M* d) { d->ub_base = 3; });
  matmul(misaligned, 17, [](M* d) { d->pitch = 17, d->img_pitch = 19; });
  matmul(misaligned, 19, [](M* d) { d->img_pitch = 19; });
  matmul(misaligned, 15, [](M* d) { d->line_bytes = 15, d->sx = 1; });
  matmul(misaligned, 1, [](M* d) { d->sx = 1; });
  matmul(misaligned, 5, [](M* d) { d->t0_dx = 5; });
  matmul(misaligned, static_cast<uint64_t>(-7),
         [](M* d) { d->seg_dx[2] = -7; });
  matmul(acc_range, 250, [](M* d) { d->acc = 250, d->nx = 7; });
  matmul(ub_range, 131070,
         [](M* d) { d->ub_base = 131070, d->seg_len[0] = 2; });
  // Transposing: at most Rows vectors, Rows accumulator rows a pass.
  matmul(illegal, 0, [](M* d) {
    d->nx = 9;
    d->header.flags |= isa::Matmul::kTranspose;
  });
  matmul(acc_range, 241, [](M* d) {
    d->t0 = 2, d->acc = 241;
    d->header.flags |= isa::Matmul::kTranspose;
  });
  matmul(isa::Fault::kWatchdog, 1, [](M* d) { d->t0 = 2; });
  isa::Matmul fits = good;
  fits.header.flags = isa::Matmul::kTranspose | isa::Matmul::kKeepWeights;
  fits.t0 = 2, fits.acc = 240;
  EXPECT_FALSE(Execute(fits, &state_));

  const auto tile = [&](isa::Fault cause, uint64_t address, auto spoil) {
    isa::Tiles d = tiles;
    spoil(&d);
    SCOPED_TRACE(Disassemble(d.Encode()));
    ExpectTrap(Execute(d, &state_), cause, address);
  };
  using T = isa::Tiles;
  tile(illegal, 0, [](T* d) { d->tiles = 0; });
  tile(illegal, 0, [](T* d) { d->rows = 0; });
  tile(illegal, 0, [](T* d) { d->rows = 9; });
  tile(illegal, 0, [](T* d) { d->cols = 0; });
  tile(illegal, 0, [](T* d) { d->cols = 9; });
  tile(misaligned, 5, [](T* d) { d->ub_addr = 5; });
  tile(misaligned, 17, [](T* d) { d->pitch = 17; });
  tile(misaligned, 9, [](T* d) { d->tile_stride = 9; });
  tile(ub_range, 131058, [](T* d) { d->ub_addr = 131026, d->rows = 5; });
}

}  // namespace
}  // namespace systole::iss
