// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// ECC of the HBM as programs and the driver see it: what is corrected and
// counted, what is a fault with its address; the same on both backends.
//   --backend=iss|rtl --preset=minichip|mini

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "systole/device.h"
#include "systole/gen/hbm.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

std::string g_backend = "iss";
std::string g_preset = "minichip";

constexpr uint64_t kProgram = 0x100000, kFrom = 0x1000, kTo = 0x40000;
constexpr uint32_t kLoaded = 1u << 0;
constexpr uint64_t kBytes = 4096;

class EccTest : public ::testing::Test {
 protected:
  // Of a chip with two cores the first one alone, or both.
  void SetUp() override { Open({}); }
  void Open(DeviceOptions options, bool both_cores = false) {
    cores_.clear();
    options.preset = g_preset;
    options.simulation.checked = g_preset == "mini" && g_backend == "rtl";
    options.simulation.alone = true;
    if (!both_cores) {
      auto core = Device::Open(g_backend, options);
      ASSERT_TRUE(core.ok()) << core.status();
      cores_.push_back(*std::move(core));
    } else {
      auto both = Device::OpenCores(g_backend, options);
      ASSERT_TRUE(both.ok()) << both.status();
      cores_ = *std::move(both);
    }
    std::mt19937 rng(11);
    data_.resize(kBytes);
    for (uint8_t& b : data_) b = static_cast<uint8_t>(rng());
    for (auto& core : cores_) ASSERT_TRUE(core->Write(kFrom, data_).ok());
  }
  Device& core(size_t c = 0) { return *cores_[c]; }
  uint64_t own() const { return cores_[0]->preset().memory_bytes(); }
  uint64_t beat() const {
    return static_cast<uint64_t>(cores_[0]->preset().beat_bytes());
  }

  Program Copy(uint64_t from, uint64_t to, uint64_t bytes) const {
    isa::Load load;
    load.header.post_mask = kLoaded;
    load.hbm_addr = from;
    load.len = bytes;
    load.n1 = load.n2 = 1;
    isa::Store store;
    store.header.wait_mask = kLoaded;
    store.hbm_addr = to;
    store.len = bytes;
    store.n1 = store.n2 = 1;
    Program p;
    p.preset = g_preset;
    p.prog_addr = kProgram;
    p.descriptors = {load.Encode(), store.Encode(), isa::Halt().Encode()};
    p.hbm_bytes = own() * cores_.size();
    return p;
  }
  void Flip(uint64_t address, int bit, size_t c = 0) {
    const absl::Status status = core(c).simulator()->Flip({address, bit});
    ASSERT_TRUE(status.ok()) << status;
  }
  // Of a program that is loaded.
  absl::StatusOr<RunStats> Run(const Program& p, size_t c = 0) {
    if (absl::Status s = core(c).Start(p); !s.ok()) return s;
    return core(c).Wait();
  }
  std::vector<uint8_t> Read(uint64_t at, size_t bytes, size_t c = 0) {
    std::vector<uint8_t> read(bytes);
    const absl::Status status = core(c).Read(at, absl::MakeSpan(read));
    EXPECT_TRUE(status.ok()) << status;
    return read;
  }
  void ExpectFault(const absl::Status& status, uint64_t address, size_t c = 0) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(status.message(), HasSubstr("ecc_error"));
    EXPECT_THAT(status.message(),
                HasSubstr(absl::StrFormat("address 0x%x (", address)));
    ASSERT_TRUE(core(c).fault().has_value());
    EXPECT_EQ(core(c).fault()->cause, isa::Fault::kEccError);
    EXPECT_EQ(core(c).fault()->address, address);
    EXPECT_EQ(core(c).fault()->queue, 7u);
  }

  std::vector<std::unique_ptr<Device>> cores_;
  std::vector<uint8_t> data_;
};

TEST_F(EccTest, OneWrongBitAWordChangesNothingAndIsCounted) {
  const Program p = Copy(kFrom, kTo, kBytes);
  ASSERT_TRUE(core().Load(p).ok());
  ASSERT_TRUE(Run(p).ok());  // the HBM has started
  auto stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 0u);
  EXPECT_EQ(stats->ecc.Describe(), "");
  const uint64_t cycles = stats->cycles;

  std::mt19937 rng(5);
  const uint64_t words = beat() / 8;
  uint64_t answers = 0;
  for (uint64_t b = 3; b < kBytes / beat(); b += 5, ++answers) {
    const uint64_t word = rng() % words;
    Flip(kFrom + b * beat() + word * 8, static_cast<int>(rng() % 72));
    // Another of the same beat is the same answer.
    if (b % 2 == 0)
      Flip(kFrom + b * beat() + (word + 1) % words * 8,
           static_cast<int>(rng() % 72));
  }
  stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, answers);
  EXPECT_EQ(stats->ecc.uncorrected, 0u);
  EXPECT_EQ(stats->ecc.first / beat(), kFrom / beat() + 3);
  EXPECT_EQ(stats->ecc.last / beat(), kFrom / beat() + 3 + 5 * (answers - 1));
  EXPECT_THAT(stats->ecc.Describe(), HasSubstr("corrected"));
  EXPECT_NEAR(static_cast<double>(stats->cycles), static_cast<double>(cycles),
              200);
  EXPECT_EQ(Read(kTo, kBytes), data_);

  // The host's reads count too, in the next program's; descriptors as all else.
  EXPECT_EQ(Read(kFrom, kBytes), data_);
  Flip(kProgram + 64, 33);
  stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 2 * answers + 1);
  // What is written is right again.
  ASSERT_TRUE(core().Write(kFrom, data_).ok());
  ASSERT_TRUE(core().Load(p).ok());
  stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 0u);
}

TEST_F(EccTest, TwoWrongBitsOfAWordAreAFault) {
  const Program p = Copy(kFrom, kTo, kBytes);
  ASSERT_TRUE(core().Load(p).ok());
  std::mt19937 rng(6);
  for (int round = 0; round < 6; ++round) {
    const uint64_t address = kFrom + rng() % (kBytes / 8) * 8;
    const int bit = static_cast<int>(rng() % 71);
    Flip(address, bit);
    Flip(address, bit + 1);
    const auto stats = Run(p);
    ExpectFault(stats.status(), address);
    EXPECT_THAT(core().Start(p).message(), HasSubstr("Reset"));
    ASSERT_TRUE(core().Reset(ResetScope::kCore).ok());
    ASSERT_TRUE(core().Write(kFrom, data_).ok());
    const auto again = Run(p);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(Read(kTo, kBytes), data_);
  }
  // In a descriptor.
  Flip(kProgram + 2 * 64 + 8, 1);
  Flip(kProgram + 2 * 64 + 8, 71);
  ExpectFault(Run(p).status(), kProgram + 2 * 64 + 8);
  ASSERT_TRUE(core().Reset(ResetScope::kCore).ok());
}

TEST_F(EccTest, TheHostDoesNotReadWrongData) {
  Flip(kFrom + 72, 9);
  EXPECT_EQ(Read(kFrom, kBytes), data_);
  Flip(kFrom + 72, 10);
  std::vector<uint8_t> bytes(96);
  const absl::Status status = core().Read(kFrom + 40, absl::MakeSpan(bytes));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(status.message(),
              HasSubstr(absl::StrFormat("address 0x%x (", kFrom + 72)));
  ASSERT_TRUE(core().Reset(ResetScope::kCore).ok());
  ASSERT_TRUE(core().Write(kFrom, data_).ok());
  EXPECT_EQ(Read(kFrom, kBytes), data_);
}

// A burst that is written in part is read first.
TEST_F(EccTest, PartOfABurstIsWritten) {
  constexpr uint64_t kPart = 32 + 8;
  const Program p = Copy(kFrom, kTo, kPart);
  ASSERT_TRUE(core().Write(kTo, data_).ok());
  ASSERT_TRUE(core().Load(p).ok());
  std::vector<uint8_t> want = data_;
  Flip(kTo + 32 + 16, 50);  // in the beat, not in what is written
  auto stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 1u);
  EXPECT_EQ(stats->ecc.first, kTo + 32 + 16);
  std::copy_n(data_.begin(), kPart, want.begin());
  EXPECT_EQ(Read(kTo, kBytes), want);
  stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 0u) << "it was repaired";
  Flip(kTo + 32 + 24, 50);
  Flip(kTo + 32 + 24, 51);
  ExpectFault(Run(p).status(), kTo + 32 + 24);
  ASSERT_TRUE(core().Reset(ResetScope::kCore).ok());
}

TEST_F(EccTest, TheOtherCoresMemory) {
  if (core().preset().chip.cores < 2)
    GTEST_SKIP() << g_preset << " has one core";
  Open({}, true);
  const Program p = Copy(own() + kFrom, kTo, kBytes);
  ASSERT_TRUE(core().Load(p).ok());
  Flip(kFrom + 1000, 3, 1);
  auto stats = Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 0u) << "it is counted where it is";
  EXPECT_EQ(Read(kTo, kBytes), data_);
  Flip(kFrom + 1000, 65, 1);
  ExpectFault(Run(p).status(), own() + kFrom + 1000);
  EXPECT_THAT(std::string(Run(p).status().message()), HasSubstr("Reset"));
  ASSERT_TRUE(core().Reset(ResetScope::kCore).ok());
  // Core 1 goes on all the same, and has counted both.
  const Program there = Copy(kTo, 2 * kTo, kBytes);
  ASSERT_TRUE(core(1).Load(there).ok());
  stats = Run(there, 1);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 1u);
  EXPECT_EQ(stats->ecc.uncorrected, 1u);
  EXPECT_EQ(stats->ecc.bad, kFrom + 1000);
}

TEST_F(EccTest, FlipsOfTheOptions) {
  DeviceOptions options;
  options.simulation.flips = {{kFrom + 8, 1}, {kFrom + 2048, 64}};
  Open(options);
  const Program p = Copy(kFrom, kTo, kBytes);
  const auto stats = core().Run(p);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->ecc.corrected, 2u);
  EXPECT_EQ(stats->ecc.first, kFrom + 8);
  EXPECT_EQ(stats->ecc.last, kFrom + 2048);
  EXPECT_EQ(Read(kTo, kBytes), data_);
  EXPECT_TRUE(absl::IsOutOfRange(core().simulator()->Flip({own(), 0})));
  EXPECT_TRUE(absl::IsOutOfRange(core().simulator()->Flip({0, 72})));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
