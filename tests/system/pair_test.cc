// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip with two cores: programs on both at the same time, each other's
// memory, sync flags between them (docs/chip.md).
//   --backend=iss|rtl --preset=minichip --threads=1|2

#include "tests/system/pair_test.h"

#include <cstdio>
#include <cstring>

#include "systole/float_matmul.h"
#include "tests/testing/options.h"
#include "verif/golden/float_ops.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

TEST_F(PairTest, EachCoreHasAMemory) {
  for (uint32_t c = 0; c < 2; ++c)
    ASSERT_TRUE(cores_[c]->Write(kFrom - 3, RandomBytes(c, 1000)).ok());
  for (uint32_t c = 0; c < 2; ++c)
    EXPECT_EQ(ReadBack(static_cast<int>(c), kFrom - 3, 1000),
              RandomBytes(c, 1000));
  std::vector<uint8_t> bytes(64);
  EXPECT_TRUE(absl::IsOutOfRange(cores_[1]->Write(own() - 32, bytes)));
}

TEST_F(PairTest, ProgramsRunAtTheSameTime) {
  constexpr uint64_t kBytes = 64 << 10;
  for (uint32_t c = 0; c < 2; ++c)
    ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c + 7, kBytes)).ok());
  const auto stats =
      RunBoth(Copy(kFrom, kTo, kBytes), Copy(kFrom, kTo, kBytes));
  for (int c = 0; c < 2; ++c) {
    ASSERT_TRUE(stats[c].ok()) << stats[c].status();
    EXPECT_EQ(ReadBack(c, kTo, kBytes), RandomBytes(c + 7, kBytes));
    EXPECT_EQ(stats[c]->retires.size(), 2u);
  }
}

// Each reads the other's memory and writes into it, while both run.
TEST_F(PairTest, EachReachesTheOthersMemory) {
  constexpr uint64_t kBytes = 32 << 10;
  for (uint32_t c = 0; c < 2; ++c)
    ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c + 17, kBytes)).ok());
  const auto reads = RunBoth(Copy(own() + kFrom, kTo, kBytes),
                             Copy(own() + kFrom, kTo, kBytes));
  for (int c = 0; c < 2; ++c) {
    ASSERT_TRUE(reads[c].ok()) << reads[c].status();
    EXPECT_EQ(ReadBack(c, kTo, kBytes), RandomBytes(18 - c, kBytes));
  }
  const auto writes = RunBoth(Copy(kFrom, own() + 2 * kTo, kBytes),
                              Copy(kFrom, own() + 2 * kTo, kBytes));
  for (int c = 0; c < 2; ++c) {
    ASSERT_TRUE(writes[c].ok()) << writes[c].status();
    EXPECT_EQ(ReadBack(c, 2 * kTo, kBytes), RandomBytes(18 - c, kBytes));
  }
  const uint64_t across = own() - 512;  // from one memory into the other
  ASSERT_TRUE(cores_[0]->Write(kFrom, RandomBytes(3, 1024)).ok());
  if (g_backend == "rtl") return;  // the rings of the firmware lie there
  const auto run =
      RunBoth(Copy(kFrom, across, 1024), Made({isa::Halt().Encode()}));
  ASSERT_TRUE(run[0].ok()) << run[0].status();
  std::vector<uint8_t> both = ReadBack(0, across, 512);
  const std::vector<uint8_t> rest = ReadBack(1, 0, 512);
  both.insert(both.end(), rest.begin(), rest.end());
  EXPECT_EQ(both, RandomBytes(3, 1024));
}

// The programs whose limit is their core's own memory are kept out of the
// other one.
TEST_F(PairTest, TheLimitGuardsTheOtherMemory) {
  for (const bool write : {false, true}) {
    Program p = write ? Copy(kFrom, own(), 256) : Copy(own(), kTo, 256);
    p.hbm_bytes = own();
    ASSERT_TRUE(cores_[0]->Load(p).ok());
    const auto stats = cores_[0]->Run(p);
    ASSERT_FALSE(stats.ok());
    EXPECT_THAT(stats.status().message(), HasSubstr("hbm_range"));
    ASSERT_TRUE(cores_[0]->fault().has_value());
    ASSERT_TRUE(cores_[0]->Reset(ResetScope::kCore).ok());
  }
}

// A block goes back and forth between the cores, each adding nothing but its
// order: core 0 writes into core 1's memory, posts, core 1 copies it and writes
// it back, many times.
TEST_F(PairTest, PostsFollowTheWrites) {
  constexpr int kRounds = 12;
  constexpr uint64_t kBytes = 1024;
  std::vector<isa::Descriptor> ping, pong;
  for (uint64_t i = 0; i < kRounds; ++i) {
    const uint64_t at = kTo + i * kBytes, next = at + kBytes;
    // Core 0: its block i to core 1, which answers with its block i + 1.
    ping.push_back(LoadOf(at, kBytes, i == 0 ? 0 : kTaken, kLocal).Encode());
    ping.push_back(StoreOf(own() + at, kBytes, kLocal, kData).Encode());
    pong.push_back(LoadOf(at, kBytes, kData, kLocal).Encode());
    pong.push_back(StoreOf(own() + next, kBytes, kLocal, kTaken).Encode());
  }
  isa::Halt end;
  end.header.wait_mask = kTaken;
  ping.push_back(end.Encode());
  pong.push_back(isa::Halt().Encode());
  ASSERT_TRUE(cores_[0]->Write(kTo, RandomBytes(5, kBytes)).ok());
  for (int again = 0; again < 2; ++again) {
    const auto stats = RunBoth(Made(ping), Made(pong));
    for (int c = 0; c < 2; ++c) ASSERT_TRUE(stats[c].ok()) << stats[c].status();
    EXPECT_EQ(ReadBack(0, kTo + kRounds * kBytes, kBytes),
              RandomBytes(5, kBytes));
    if (stats[0]->cycles != 0)
      std::printf("[ figure   ] %d round trips of %d bytes in %llu cycles\n",
                  kRounds, static_cast<int>(kBytes),
                  static_cast<unsigned long long>(stats[0]->cycles));
  }
}

// A wait that nothing meets ends as any other: in a fault of its core alone.
TEST_F(PairTest, AWaitForTheOtherCoreEnds) {
  DeviceOptions options;
  options.watchdog = 3000;
  OpenAnother(options);
  ASSERT_FALSE(cores_.empty());
  isa::Halt halt;
  halt.header.wait_mask = kData;
  ASSERT_TRUE(cores_[1]->Write(kFrom, RandomBytes(2, 256)).ok());
  const auto stats = RunBoth(Made({halt.Encode()}), Copy(kFrom, kTo, 256));
  ASSERT_FALSE(stats[0].ok());
  EXPECT_THAT(stats[0].status().message(), HasSubstr("watchdog"));
  EXPECT_TRUE(stats[1].ok()) << stats[1].status();
  ASSERT_TRUE(cores_[0]->Reset(ResetScope::kCore).ok());
  const auto again = cores_[0]->Run(Copy(kFrom, kTo, 256));
  EXPECT_TRUE(again.ok()) << again.status();
}

// Without the post, what two cores do to one place is a race.
TEST_F(PairTest, RacesBetweenCoresAreFound) {
  if (g_backend != "iss") GTEST_SKIP() << "the simulator's";
  constexpr uint64_t kBytes = 256;
  const auto race = [&](bool waits, bool writes) {
    const uint64_t shared = own() + kTo;
    const Program a = Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
                            StoreOf(shared, kBytes, kLocal, kData).Encode(),
                            isa::Halt().Encode()});
    isa::Halt end;
    end.header.wait_mask = waits ? 0 : kData;
    const Program b =
        writes
            ? Made({LoadOf(kFrom, kBytes, waits ? kData : 0, kLocal).Encode(),
                    StoreOf(kTo, kBytes, kLocal, 0).Encode(), end.Encode()})
            : Made({LoadOf(kTo, kBytes, waits ? kData : 0, 0).Encode(),
                    end.Encode()});
    const auto stats = RunBoth(a, b);
    return std::string(stats[0].status().message()) +
           std::string(stats[1].status().message());
  };
  EXPECT_EQ(race(true, false), "");
  EXPECT_EQ(race(true, true), "");
  EXPECT_THAT(race(false, false), HasSubstr("race on HBM bytes"));
  EXPECT_THAT(race(false, true), HasSubstr("core 0"));
  // Into the program that the other core fetches.
  const auto stats =
      RunBoth(Copy(kFrom, own() + kProgram + 0x40, 64), Copy(kFrom, kTo, 64));
  EXPECT_THAT(stats[0].status().message(), HasSubstr("fetched"));
}

// Both halves of a product's rows, and then all of it in both memories.
TEST_F(PairTest, HalvesOfAProduct) {
  std::mt19937_64 rng(11);
  const auto random = [&rng](int rows, int cols) {
    golden::Bf16Matrix m(rows, cols);
    for (int64_t i = 0; i < m.size(); ++i)
      m.data()[i] = static_cast<uint16_t>((rng() & 0x807F) |
                                          (120 + (rng() >> 40) % 10) << 7);
    return m;
  };
  const auto bytes = [](const auto& m) {
    std::vector<uint8_t> raw(m.size() * sizeof(*m.data()));
    std::memcpy(raw.data(), m.data(), raw.size());
    return raw;
  };
  const Preset& preset = cores_[0]->preset();
  compiler::FloatMatmulSpec spec;
  spec.m = 2 * preset.rows;
  spec.k = 3 * preset.rows + 5;
  spec.n = 2 * preset.cols;  // rows of c fill beats: it lies dense
  const golden::Bf16Matrix b =
      random(static_cast<int>(spec.k), static_cast<int>(spec.n));
  spec.b.assign(b.data(), b.data() + b.size());
  std::array<golden::Bf16Matrix, 2> a;
  std::array<Program, 2> programs;
  std::vector<uint8_t> want;
  // No program of the compiler has these.
  constexpr uint32_t kArrived = 1u << 19, kBoth = 1u << 18;
  const uint64_t whole = 0x2000000;
  for (int c = 0; c < 2; ++c) {
    a[c] = random(static_cast<int>(spec.m), static_cast<int>(spec.k));
    const std::vector<uint8_t> half = bytes(golden::ToBf16(
        golden::FloatMatmul(golden::FromBf16(a[c]), golden::FromBf16(b),
                            static_cast<int>(preset.rows))));
    want.insert(want.end(), half.begin(), half.end());
    auto program = compiler::CompileFloatMatmul(spec, preset);
    ASSERT_TRUE(program.ok()) << program.status();
    const TensorInfo& out = *program->FindTensor("c");
    const uint64_t size = half.size();
    const auto at = [&](int core) { return whole + core * size; };
    // The last store tells the other core; then its half comes over.
    std::vector<isa::Descriptor>& d = program->descriptors;
    for (const isa::Descriptor& any : d)
      ASSERT_EQ((isa::GetBits(any, 32, 32) | isa::GetBits(any, 64, 32)) &
                    (kArrived | kBoth | kData | kTaken),
                0u);
    d.pop_back();
    size_t last = d.size();
    while (isa::FindOp(static_cast<uint8_t>(isa::GetBits(d[last - 1], 0, 8)))
               ->queue != isa::Queue::kStore)
      --last;
    isa::PutBits(d[last - 1], 64, 32,
                 isa::GetBits(d[last - 1], 64, 32) | kData | kArrived);
    const uint64_t ub = preset.ub_bytes / 2;
    ASSERT_EQ(out.hbm_addr % preset.beat_bytes(), 0u);
    ASSERT_EQ(static_cast<uint64_t>(out.h * out.pitch), size);
    d.push_back(
        LoadOf(own() + out.hbm_addr, size, kData | kArrived, 0, ub).Encode());
    d.push_back(
        LoadOf(out.hbm_addr, size, 0, kBoth | kTaken, ub + size).Encode());
    d.push_back(StoreOf(at(1 - c), size, kBoth, 0, ub).Encode());
    d.push_back(StoreOf(at(c), size, 0, 0, ub + size).Encode());
    isa::Halt end;
    end.header.wait_mask = kTaken;
    d.push_back(end.Encode());
    program->hbm_bytes = 2 * own();
    programs[c] = *std::move(program);
  }
  for (int c = 0; c < 2; ++c) {
    ASSERT_TRUE(cores_[c]->Load(programs[c]).ok());
    ASSERT_TRUE(
        cores_[c]->WriteTensor(*programs[c].FindTensor("a"), bytes(a[c])).ok());
  }
  for (int c = 0; c < 2; ++c) ASSERT_TRUE(cores_[c]->Start(programs[c]).ok());
  for (int c = 0; c < 2; ++c) {
    const auto stats = cores_[c]->Wait();
    ASSERT_TRUE(stats.ok()) << stats.status();
    if (stats->cycles != 0)
      std::printf("[ figure   ] core %d: %llu cycles\n", c,
                  static_cast<unsigned long long>(stats->cycles));
  }
  for (int c = 0; c < 2; ++c)
    EXPECT_EQ(ReadBack(c, whole, want.size()), want) << "core " << c;
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"threads", &systole::g_threads}});
}
