// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a descriptor on simulator and reference.h and compares all state, the
// fault, and the footprint with the bytes that the reference touched.
#ifndef SYSTOLE_TESTS_ISS_EXECUTE_FIXTURE_H_
#define SYSTOLE_TESTS_ISS_EXECUTE_FIXTURE_H_

#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/iss/iss.h"
#include "tests/iss/reference.h"

namespace systole::iss {

inline constexpr uint64_t kHbmBytes =
    1 << 17;  // that descriptors may touch; the program lies in its last bytes
inline constexpr uint64_t kProgram = kHbmBytes - 128;

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

inline std::set<uint64_t> Flatten(const Ranges& ranges) {
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
    const Footprint f =
        FootprintOf(d, preset_, iss_.state().vrun_log, iss_.state().dma_rows);
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

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_EXECUTE_FIXTURE_H_
