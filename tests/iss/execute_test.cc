// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Random descriptors of each operation: simulator against reference.h, all
// state, every fault, and the footprint against the bytes that the reference
// touched.

#include <random>
#include <string>

#include "gtest/gtest.h"
#include "sim/iss/iss.h"
#include "tests/iss/reference.h"

namespace systole::iss {
namespace {

constexpr uint64_t kHbmBytes =
    1 << 17;  // that descriptors may touch; the program lies in its last bytes
constexpr uint64_t kProgram = kHbmBytes - 128;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t In(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool OneIn(int n) { return In(1, n) == 1; }
  uint64_t operator()() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

std::set<uint64_t> Flatten(const Ranges& ranges) {
  std::set<uint64_t> all;
  for (const Range& r : ranges) {
    for (uint64_t at = r.begin; at < r.end; ++at) all.insert(all.end(), at);
  }
  return all;
}

class ExecuteTest : public ::testing::TestWithParam<const char*> {
 protected:
  ExecuteTest()
      : preset_(*FindPreset(GetParam())),
        random_(20240501),
        iss_(preset_, 7),
        beat_(preset_.beat_bytes()) {}

  // Small values sometimes, extremes sometimes.
  void FillMemories() {
    const int kind = random_.In(0, 2);
    for (uint8_t& b : iss_.state().ub) {
      b = kind == 0 ? static_cast<uint8_t>(random_())
                    : (kind == 1 ? 0x80 : (random_() & 1 ? 0x80 : 0x7F));
    }
    for (int32_t& v : iss_.state().acc) {
      v = kind == 0 ? static_cast<int32_t>(random_()) >> random_.In(0, 24)
                    : (random_() & 1 ? INT32_MAX : INT32_MIN);
    }
    std::vector<uint8_t> bytes(kHbmBytes);
    for (uint8_t& b : bytes)
      b = random_.OneIn(3) ? 0x80 : static_cast<uint8_t>(random_());
    iss_.state().hbm.Write(0, bytes);
  }

  std::vector<uint8_t> Hbm() const {
    std::vector<uint8_t> bytes(kHbmBytes);
    iss_.state().hbm.Read(0, absl::MakeSpan(bytes));
    return bytes;
  }

  // Runs the descriptor, after `tiles` weight tiles were pushed and, mostly, a
  // table was given where it wants one, on both.
  // Whether it executed without a fault.
  bool Compare(const isa::Descriptor& d, int tiles = 0) {
    SCOPED_TRACE(Disassemble(d));
    std::vector<isa::Descriptor> program;
    if (tiles > 0) {
      isa::Weights w;
      w.hbm_addr = random_.In(0, 20) * beat_, w.tiles = tiles;
      program.push_back(w.Encode());
    }
    const bool vector = isa::FindOp(d[0] & 0xFF)->queue == isa::Queue::kVector;
    if (vector && (d[0] >> 8 & isa::Add::kTable) && !random_.OneIn(20)) {
      isa::Table t;
      t.src =
          random_.In(0, (preset_.ub_bytes - 256) / preset_.rows) * preset_.rows;
      program.push_back(t.Encode());
    }
    program.push_back(d);
    std::vector<uint8_t> bytes;
    for (const isa::Descriptor& each : program) {
      for (uint64_t word : each) {
        for (int i = 0; i < 8; ++i)
          bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
      }
    }
    iss_.state().hbm.Write(kProgram, bytes);
    iss_.Start({kProgram, static_cast<uint32_t>(program.size()), kHbmBytes});
    Reference reference(preset_, Hbm(), iss_.state().ub, iss_.state().acc);
    if (program.size() > 1) {
      EXPECT_EQ(iss_.Step(), Iss::Event::kRetired);
      EXPECT_FALSE(reference.Run(program[0]));
    }
    iss_.Step();
    const std::optional<isa::Fault> want = reference.Run(d);
    const std::optional<isa::Fault> got =
        iss_.fault() ? std::optional(iss_.fault()->cause) : std::nullopt;
    EXPECT_EQ(want, got);
    if (want || got) {
      if (got) ++faults_[static_cast<int>(*got)];
      iss_.Reset();
      return false;
    }
    EXPECT_EQ(iss_.state().ub, reference.ub);
    EXPECT_EQ(iss_.state().acc, reference.acc);
    EXPECT_EQ(Hbm(), reference.hbm);
    EXPECT_EQ(iss_.state().acc_saturated, reference.saturated);
    EXPECT_EQ(iss_.state().weight_fifo.size(), reference.fifo.size());
    if (!reference.tile.empty()) {
      EXPECT_EQ(*iss_.state().tile, reference.tile);
    }
    saturated_ += reference.saturated;
    CompareFootprint(d, reference.touched);
    return true;
  }

  void CompareFootprint(const isa::Descriptor& d,
                        const Reference::Touched& touched) {
    const Footprint f = FootprintOf(d, preset_, iss_.state().vrun_log);
    EXPECT_EQ(Flatten(f.read(Space::kUb)), touched.ub_read);
    EXPECT_EQ(Flatten(f.write(Space::kUb)), touched.ub_written);
    EXPECT_EQ(Flatten(f.read(Space::kHbm)), touched.hbm_read);
    EXPECT_EQ(Flatten(f.write(Space::kHbm)), touched.hbm_written);
    EXPECT_EQ(Flatten(f.read(Space::kAcc)), touched.acc_read);
    EXPECT_EQ(Flatten(f.write(Space::kAcc)), touched.acc_written);
  }

  // Runs `make()` until `wanted` descriptors executed without a fault.
  template <typename F>
  void Rounds(int wanted, F make) {
    int good = 0, all = 0;
    for (; good < wanted && all < 20 * wanted && !HasFailure(); ++all) {
      if (all % 8 == 0) FillMemories();
      good += make();
    }
    EXPECT_EQ(good, wanted) << "of " << all;
  }

  template <typename D>
  D RandomDma() {
    D d;
    d.hbm_addr = random_.In(0, 300) * beat_;
    d.ub_addr = random_.In(0, 300) * beat_;
    d.len = random_.In(1, 5 * beat_);
    d.n1 = random_.In(1, 6), d.n2 = random_.In(1, 5);
    d.hbm_stride1 = random_.In(0, 9) * beat_,
    d.hbm_stride2 = random_.In(0, 50) * beat_;
    d.ub_stride1 = random_.In(0, 9) * beat_,
    d.ub_stride2 = random_.In(0, 50) * beat_;
    switch (random_.In(0, 24)) {
      case 0:
        d.hbm_addr += random_.In(1, 3);
        break;
      case 1:
        d.ub_stride2 += 8;
        break;
      case 2:
        d.hbm_addr = kHbmBytes - 3 * beat_;
        break;
      case 3:
        d.ub_addr = preset_.ub_bytes - random_.In(0, 4) * beat_;
        break;
      case 4:
        (random_() & 1 ? d.n1 : d.n2) = 0;
        break;
      case 5:
        d.hbm_stride1 = (uint64_t{1} << 36) - beat_;
        break;
      default:
        break;
    }
    return d;
  }

  uint32_t AccRow(int64_t rows) {
    if (random_.OneIn(25)) return random_.In(0, 8191);
    const int64_t bank = preset_.acc_rows / 2;
    return random_.In(0, 1) * bank +
           random_.In(0, std::max<int64_t>(bank - rows, 0));
  }

  template <typename D>
  void RandomDestination(D* d, int bytes) {
    d->dst_sx =
        random_.OneIn(4) ? random_.In(0, 2 * bytes) : bytes + random_.In(0, 9);
    d->dst_pitch = d->nx * d->dst_sx + random_.In(0, 30);
    d->dst_img_pitch = d->ny * d->dst_pitch + random_.In(0, 30);
    d->dst = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 400)
                               : random_.In(0, preset_.ub_bytes / 2);
  }

  const Preset& preset_;
  Random random_;
  Iss iss_;
  const int64_t beat_;
  int faults_[16] = {};
  int saturated_ = 0;
};

TEST_P(ExecuteTest, Load) {
  Rounds(150, [&] { return Compare(RandomDma<isa::Load>().Encode()); });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kMisaligned,
                       isa::Fault::kUbRange, isa::Fault::kHbmRange}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
}

TEST_P(ExecuteTest, Store) {
  Rounds(150, [&] {
    isa::Store d = RandomDma<isa::Store>();
    d.hbm_addr %= kHbmBytes / 2;  // not over its own program
    return Compare(d.Encode());
  });
}

TEST_P(ExecuteTest, Weights) {
  Rounds(60, [&] {
    isa::Weights d;
    d.hbm_addr = random_.OneIn(10) ? random_.In(0, kHbmBytes)
                                   : random_.In(0, 400) * beat_;
    d.tiles = random_.In(0, 4);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
}

TEST_P(ExecuteTest, Matmul) {
  Rounds(preset_.rows > 8 ? 120 : 400, [&] {
    isa::Matmul d;
    d.lines = random_.In(1, 7), d.line_bytes = random_.In(1, 3 * preset_.rows);
    d.pitch = d.line_bytes + random_.In(0, 9);
    d.img_pitch = d.lines * d.pitch + random_.In(0, 9);
    d.ub_base = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 500)
                                  : random_.In(0, preset_.ub_bytes / 2);
    d.pad = random_.In(-128, 127);
    d.n = random_.In(1, 3), d.ny = random_.In(1, 5), d.nx = random_.In(1, 5);
    d.sy = random_.In(0, 3), d.sx = random_.In(0, 2 * preset_.rows);
    d.t0 = random_.In(1, 3), d.t0_dx = random_.In(0, 2 * preset_.rows);
    d.t1 = random_.In(1, 2), d.t1_dy = random_.In(0, 3);
    d.acc = AccRow(d.n * d.ny * d.nx);
    int64_t left = preset_.rows;
    for (int s = 0; s < 4; ++s) {
      d.seg_len[s] = random_.In(0, left);
      left -= d.seg_len[s];
      d.seg_dy[s] = random_.In(-4, 4),
      d.seg_dx[s] = random_.In(-2 * preset_.rows, 2 * preset_.rows);
    }
    if (random_.OneIn(30)) d.seg_len[3] += preset_.rows;
    if (random_.OneIn(50)) d.ny = 0;
    d.header.flags = random_.In(0, 1) * isa::Matmul::kAccumulate;
    if (random_.OneIn(20))
      d.header.flags |= isa::Matmul::kKeepWeights;  // illegal: nothing was
                                                    // taken since the start
    const int tiles = d.t0 * d.t1 - (random_.OneIn(30) ? 1 : 0);
    return Compare(d.Encode(), tiles);
  });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kAccRange,
                       isa::Fault::kUbRange, isa::Fault::kWatchdog}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
  EXPECT_GT(saturated_, 0);
}

TEST_P(ExecuteTest, Requant) {
  Rounds(300, [&] {
    isa::Requant d;
    d.header.flags = random_.In(0, 2);
    if (random_.OneIn(3)) {
      d.header.flags = random_.In(0, 1) * 2 + isa::Requant::kResidual +
                       random_.In(0, 3) * isa::Requant::kResidualWide;
      d.src = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 300)
                                : random_.In(0, preset_.ub_bytes / 2);
      d.src_sx = random_.In(0, 2 * preset_.cols),
      d.src_pitch = random_.In(0, 900), d.src_img_pitch = random_.In(0, 4000);
      d.src_zp = random_.In(-128, 127), d.sum_zp = random_.In(-128, 127);
      d.sum_mult1 = random_.In(1 << 30, INT32_MAX),
      d.sum_mult = random_.In(1 << 30, INT32_MAX);
      d.sum_shift1 = random_.In(-6, 0), d.sum_shift = random_.In(-22, -14);
      d.sum_min = random_.In(-128, 0), d.sum_max = random_.In(0, 127);
    } else if (random_.OneIn(3)) {
      d.header.flags = isa::Requant::kTable + random_.In(0, 1) * 2;
    }
    if (random_.OneIn(20)) d.header.flags = random_.In(0, 63);
    const bool raw = d.header.flags & isa::Requant::kRaw;
    d.n = random_.In(1, 3), d.ny = random_.In(1, 4), d.nx = random_.In(1, 5);
    d.cols = random_.OneIn(20) ? random_.In(0, preset_.cols + 3)
                               : random_.In(1, preset_.cols);
    d.acc = AccRow(d.n * d.ny * d.nx);
    RandomDestination(&d, raw ? 4 * d.cols : d.cols);
    d.params = preset_.ub_bytes -
               (random_.OneIn(20) ? random_.In(1, 9) : random_.In(9, 30)) *
                   preset_.rows;
    if (random_.OneIn(20)) d.params += 1;
    d.zp = random_.In(-128, 127), d.clamp_min = random_.In(-128, 127),
    d.clamp_max = random_.In(d.clamp_min, 127);
    for (int64_t c = 0;
         c < preset_.cols && d.params + 9 * preset_.cols <= preset_.ub_bytes;
         ++c) {
      const uint32_t bias =
          random_.OneIn(3) ? random_() : random_.In(-1000, 1000);
      const uint32_t mult =
          random_.OneIn(9) ? random_() : random_.In(1 << 30, INT32_MAX);
      const int shift =
          random_.OneIn(3) ? random_.In(-31, 30) : random_.In(-22, -10);
      for (int i = 0; i < 4; ++i) {
        iss_.state().ub[d.params + 4 * c + i] = bias >> 8 * i;
        iss_.state().ub[d.params + 4 * preset_.cols + 4 * c + i] =
            mult >> 8 * i;
      }
      iss_.state().ub[d.params + 8 * preset_.cols + c] =
          static_cast<uint8_t>(shift);
    }
    return Compare(d.Encode());
  });
  for (isa::Fault f : {isa::Fault::kIllegalDescriptor, isa::Fault::kMisaligned,
                       isa::Fault::kAccRange, isa::Fault::kUbRange}) {
    EXPECT_GT(faults_[static_cast<int>(f)], 0) << static_cast<int>(f);
  }
  EXPECT_GT(saturated_, 0);
}

TEST_P(ExecuteTest, Pool) {
  Rounds(200, [&] {
    isa::Pool d;
    d.header.flags = random_.In(0, 1);
    if (random_.OneIn(3)) d.header.flags |= isa::Pool::kTable;
    if (random_.OneIn(3)) {
      d.header.flags =
          isa::Pool::kSum | random_.In(0, 3) * isa::Pool::kSingleRound;
      if (random_.OneIn(20)) d.header.flags |= isa::Pool::kAverage;
      d.src_zp = random_.In(-128, 127), d.zp = random_.In(-128, 127);
      d.mult = random_.In(1 << 30, INT32_MAX), d.shift = random_.In(-12, 2);
    }
    d.n = random_.In(1, 2), d.ny = random_.In(1, 4), d.nx = random_.In(1, 4);
    d.lines = random_.In(0, 8), d.line_bytes = random_.In(0, 80);
    d.src_pitch = random_.In(0, 100), d.src_img_pitch = random_.In(0, 900);
    d.src = random_.OneIn(20) ? preset_.ub_bytes - random_.In(1, 300)
                              : random_.In(0, preset_.ub_bytes / 2);
    d.sy = random_.In(0, 3), d.src_sx = random_.In(0, 20);
    d.dy = random_.In(-3, 3), d.dx = random_.In(-20, 20);
    d.kh = random_.In(1, 4), d.kw = random_.In(1, 4), d.kx = random_.In(0, 16);
    if (random_.OneIn(20)) d.kh = 17, d.kw = random_.In(15, 16);
    if (random_.OneIn(50)) d.kh = 127, d.kw = 127;
    if (random_.OneIn(40)) d.kw = 0;
    d.cols = random_.In(1, preset_.cols);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    RandomDestination(&d, d.cols);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Add) {
  Rounds(200, [&] {
    isa::Add d;
    d.header.flags = random_.In(0, 3) * isa::Add::kSingleRound;
    d.ny = random_.OneIn(30) ? 0 : random_.In(1, 5),
    d.line_bytes = random_.In(1, 3 * preset_.cols);
    d.pitch0 = d.line_bytes + random_.In(0, 9),
    d.pitch1 = d.line_bytes + random_.In(0, 9);
    d.dst_pitch = d.line_bytes + random_.In(0, 9);
    d.src0 = random_.In(0, 20000), d.src1 = random_.In(20000, 40000),
    d.dst = random_.In(40000, 60000);
    if (random_.OneIn(3)) d.dst = d.src0, d.dst_pitch = d.pitch0;
    if (random_.OneIn(12))
      (random_() & 1 ? d.src0 : d.dst) = preset_.ub_bytes - random_.In(1, 300);
    d.zp0 = random_.In(-128, 127), d.zp1 = random_.In(-128, 127),
    d.zp = random_.In(-128, 127);
    d.mult0 = random_.In(1 << 30, INT32_MAX),
    d.mult1 = random_.In(1 << 30, INT32_MAX),
    d.mult = random_.In(1 << 30, INT32_MAX);
    d.shift0 = random_.In(-31, 0), d.shift1 = random_.In(-6, 0),
    d.shift = random_.In(-21, -10);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Mul) {
  Rounds(200, [&] {
    isa::Mul d;
    d.header.flags = random_.In(0, 3) * isa::Mul::kSingleRound;
    d.n = random_.In(1, 3), d.ny = random_.In(1, 4), d.nx = random_.In(1, 5);
    if (random_.OneIn(30)) (random_() & 1 ? d.n : d.nx) = 0;
    d.cols = random_.OneIn(20) ? random_.In(0, preset_.cols + 3)
                               : random_.In(1, preset_.cols);
    RandomDestination(&d, d.cols);
    d.src0 = random_.In(0, preset_.ub_bytes / 2),
    d.src1 = random_.In(0, preset_.ub_bytes / 2);
    d.sx0 = random_.In(0, 50), d.sx1 = random_.In(0, 1) * 40;
    d.pitch0 = random_.In(0, 300), d.pitch1 = random_.In(0, 1) * 200;
    d.img_pitch0 = random_.In(0, 999), d.img_pitch1 = random_.In(0, 999);
    if (random_.OneIn(3)) {  // in place
      d.src0 = d.dst, d.sx0 = d.dst_sx, d.pitch0 = d.dst_pitch,
      d.img_pitch0 = d.dst_img_pitch;
    }
    if (random_.OneIn(12))
      (random_() & 1 ? d.src0 : d.src1) = preset_.ub_bytes - random_.In(1, 300);
    d.zp0 = random_.In(-128, 127), d.zp1 = random_.In(-128, 127),
    d.zp = random_.In(-128, 127);
    d.mult = random_.In(1 << 30, INT32_MAX), d.shift = random_.In(-14, 2);
    d.clamp_min = random_.In(-128, 0), d.clamp_max = random_.In(0, 127);
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kIllegalDescriptor)], 0);
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kUbRange)], 0);
}

TEST_P(ExecuteTest, Table) {
  Rounds(50, [&] {
    isa::Table d;
    d.src = random_.In(0, preset_.ub_bytes / preset_.rows - 1) * preset_.rows;
    if (random_.OneIn(5))
      d.src =
          preset_.ub_bytes - random_.In(0, 256 / preset_.rows) * preset_.rows;
    if (random_.OneIn(10)) d.src += 1;
    return Compare(d.Encode());
  });
  EXPECT_GT(faults_[static_cast<int>(isa::Fault::kMisaligned)], 0);
}

INSTANTIATE_TEST_SUITE_P(Presets, ExecuteTest,
                         ::testing::Values("nano", "edge"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::iss
