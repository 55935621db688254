// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// ECC of systole_hbm at 4 pseudo-channels, against a device model whose bits
// are turned: what is corrected and counted, what is reported with its address,
// partial writes, the scrubber, resets.

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "Vhbmecc.h"
#include "gtest/gtest.h"
#include "tests/hbm/any_traffic.h"
#include "tests/hbm/bandwidth.h"
#include "tests/hbm/schedule.h"

namespace systole::hbm {
namespace {

constexpr int kWordBits = 72;
constexpr int kOther = kReaders;  // counter of scrubber and partial writes

class EccTest : public testing::Test {
 protected:
  EccTest() : bench_(kPcs, 7, {}, kRefreshPostpone, /*ecc=*/true) {
    bench_.Idle(600);  // past the first refresh
    bench_.Run({}, {Linear(0, kBeats)}, 0, 20000);
  }

  void Flip(uint64_t address, int bit) {
    ASSERT_TRUE(bench_.device().Flip(address, bit).ok());
  }
  void Read(int reader, uint32_t beat, int64_t count = 1) {
    std::array<Traffic, kReaders> reads;
    reads[reader] = Linear(beat, count);
    bench_.Run(reads, {}, 0, 20000 + 2 * count);
  }
  int64_t Fixed() {
    int64_t sum = 0;
    for (int i = 0; i <= kReaders; ++i) sum += bench_.fixed(i);
    return sum;
  }
  size_t Bad() {
    size_t sum = 0;
    for (int i = 0; i <= kReaders; ++i) sum += bench_.bad(i).size();
    return sum;
  }

  static constexpr int kPcs = 4;
  static constexpr int kBeats = 200;
  static constexpr int kSize = kPcs * kPhyBytes;
  Bench<Vhbmecc> bench_;
};

TEST_F(EccTest, EverySingleBitIsCorrectedAndCounted) {
  int64_t expected[kReaders] = {};
  for (int word = 0; word < kSize / 8; ++word) {
    for (int bit = 0; bit < kWordBits; ++bit) {
      const int reader = bit % kReaders;
      const uint32_t beat = word + 8 * (bit % 20);
      const uint64_t address = uint64_t{beat} * kSize + word * 8;
      Flip(address, bit);
      Read(reader, beat);
      ++expected[reader];
      ASSERT_EQ(bench_.fixed(reader), expected[reader])
          << "word " << word << " bit " << bit;
      ASSERT_EQ(bench_.fixed_at(reader), address);
      Flip(address, bit);  // reading corrects the answer, not the memory
    }
  }
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_EQ(Bad(), 0u);
  Read(0, 0, kBeats);
  EXPECT_EQ(Fixed(), kWordBits * kSize / 8);
}

TEST_F(EccTest, TwoBitsAreReportedWithTheAddress) {
  // Of check bits, so that the data are right.
  std::vector<uint64_t> expected;
  for (int a = 64; a < kWordBits; ++a) {
    for (int b = a + 1; b < kWordBits; ++b) {
      const auto beat = static_cast<uint32_t>(a * 2 % 7 + b);
      const uint64_t address = uint64_t{beat} * kSize + a % 8 * 8;
      Flip(address, a);
      Flip(address, b);
      Read(2, beat);
      Flip(address, a);
      Flip(address, b);
      expected.push_back(address);
    }
  }
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_EQ(bench_.bad(2), expected);
  EXPECT_EQ(Bad(), expected.size());
  EXPECT_EQ(Fixed(), 0);
  // Where words with one and with two wrong bits are in a beat, the first
  // with two is named.
  Flip(7 * kSize, 9);
  for (const int word : {3, 6}) {
    Flip(7 * kSize + word * 8, 65);
    Flip(7 * kSize + word * 8, 70);
  }
  Read(3, 7);
  EXPECT_EQ(bench_.bad(3), std::vector<uint64_t>{7 * kSize + 3 * 8});
  EXPECT_EQ(bench_.fixed(3), 1);
  // Of data: reported too, and the answer is what the memory holds.
  Flip(5 * kSize + 16, 3);
  Flip(5 * kSize + 16, 60);
  Read(1, 5);
  EXPECT_EQ(bench_.bad(1), std::vector<uint64_t>{5 * kSize + 16});
  ASSERT_EQ(bench_.errors().size(), 1u);
  EXPECT_NE(bench_.errors()[0].find("beat 0x5, byte 16"), std::string::npos);
}

TEST_F(EccTest, WritesOfSomeBytesKeepTheOthers) {
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  for (int i = 0; i < kReaders; ++i) {
    reads[i] = Random(i, 0, 64, 800);
    reads[i].window = 8 << i;
  }
  for (int i = 0; i < kWriters; ++i) {
    writes[i] = Random(10 + i, 0, 64, 800);
    writes[i].partial = 0.1;
    writes[i].bursts = 0.4;
  }
  const Result result = bench_.Run(reads, writes, 0.1, 400000);
  bench_.CompareMemory();
  Read(0, 0, kBeats);
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_EQ(Fixed(), 0);
  EXPECT_EQ(Bad(), 0u);
  std::printf(
      "[ figure   ] hbm with ECC, a tenth of the writes of some bytes of a "
      "burst: %.2f beats a cycle\n",
      result.Efficiency());
}

// Of all clients, at rows, banks and beats in which they meet: what is read
// behind a write of some bytes is what that left, wherever it waits.
TEST_F(EccTest, AnyTrafficReadsWhatWasWritten) {
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    std::mt19937_64 random(round);
    std::array<Traffic, kReaders> reads;
    std::array<Traffic, kWriters> writes;
    for (Traffic& write : writes) {
      write = AnyTraffic(&random, 300);
      write.partial = round % 3 * 0.3;
      write.bursts = round % 2 * 0.3;
    }
    // The readers go where the writers went.
    for (int i = 0; i < kReaders; ++i) {
      reads[i] = AnyTraffic(&random, 300);
      if (i < 3) reads[i].beat = writes[i % kWriters].beat;
    }
    bench_.Run(reads, writes, round % 4 == 0 ? 0.2 : 0, 400000);
    bench_.CompareMemory();
    ASSERT_TRUE(bench_.Clean()) << bench_.Report();
  }
  EXPECT_EQ(Fixed(), 0);
  EXPECT_EQ(Bad(), 0u);
}

// Lines that end within a beat: each third write is of some bytes. Alone, and
// beside readers, who get their turn.
TEST_F(EccTest, WritesOfSomeBytesOverlap) {
  for (const bool beside : {false, true}) {
    std::array<Traffic, kReaders> reads;
    std::array<Traffic, kWriters> writes;
    writes[0] = Linear(0, 600);
    writes[0].partial = 0.33;
    if (beside) reads[0] = Linear(1000, 600);
    if (beside) bench_.Run({}, {Linear(1000, 600)}, 0, 20000);
    const Result result = bench_.Run(reads, writes, 0, 40000);
    bench_.CompareMemory();
    EXPECT_TRUE(bench_.Clean()) << bench_.Report();
    const double cycles = static_cast<double>(result.cycles) / 600;
    std::printf(
        "[ figure   ] hbm with ECC, a third of a writer's beats in part%s: "
        "%.1f "
        "cycles a beat\n",
        beside ? ", beside a reader" : "", cycles);
    EXPECT_LT(cycles, beside ? 12 : 8);  // one at a time: 17
  }
}

// A writer of nothing else never leaves the list empty for long.
TEST_F(EccTest, ReadsGetTheirTurnBesideWritesOfSomeBytes) {
  bench_.Run({}, {Linear(1000, 300)}, 0, 20000);
  std::array<Traffic, kReaders> reads;
  std::array<Traffic, kWriters> writes;
  reads[0] = Linear(1000, 300);
  writes[0] = Random(3, 0, 500, 3000);
  writes[0].partial = 1;
  bench_.Run(reads, writes, 0, 60000);
  bench_.CompareMemory();
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  std::printf(
      "[ figure   ] hbm with ECC, beside a writer of parts of beats: a read "
      "waits %d cycles at most, 300 of them take %d\n",
      static_cast<int>(bench_.longest_wait()),
      static_cast<int>(bench_.last_answer()));
  EXPECT_LT(bench_.longest_wait(), 600);
  // 32 in each pause of the list; without the pauses they take as long as the
  // writes, which are ten times as many.
  EXPECT_LT(bench_.last_answer(), 4000);
}

TEST_F(EccTest, AWriteOfSomeBytesRepairsTheWordOrLeavesIt) {
  Flip(9 * kSize + 8, 17);
  Flip(11 * kSize + 40, 70);
  Traffic write = Linear(9, 3);  // beats 9, 10, 11
  write.partial = 1;
  bench_.Run({}, {write}, 0, 20000);
  bench_.CompareMemory();
  EXPECT_EQ(bench_.fixed(kOther), 2);
  Read(3, 9, 3);
  EXPECT_EQ(Fixed(), 2);
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  // What cannot be corrected is not made to look right.
  Flip(20 * kSize, 65);
  Flip(20 * kSize, 66);
  write = Linear(20, 1);
  write.partial = 1;
  bench_.Run({}, {write}, 0, 20000);
  EXPECT_EQ(bench_.bad(kOther), std::vector<uint64_t>{20 * kSize});
  Read(3, 20);
  EXPECT_EQ(bench_.bad(3), std::vector<uint64_t>{20 * kSize});
}

TEST_F(EccTest, TheScrubberRepairsBeforeTheSecondBit) {
  const auto flip_all = [&](int bit) {
    for (uint64_t beat = 0; beat < 100; ++beat)
      Flip(beat * kSize + beat % 8 * 8, (static_cast<int>(beat) + bit) % 72);
  };
  bench_.model().scrub_i = 200;
  flip_all(0);
  bench_.Idle(100 * 200 + 2000);
  EXPECT_EQ(bench_.fixed(kOther), 100);
  EXPECT_EQ(bench_.looks(), 100);
  flip_all(31);
  Read(0, 0, 100);
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_EQ(bench_.fixed(0), 100);
  EXPECT_EQ(bench_.looks(), 100);
  EXPECT_EQ(Bad(), 0u);
  // Without it a second bit is too many.
  bench_.model().scrub_i = 0;
  bench_.Idle(100 * 200);
  Flip(3 * kSize + 3 * 8, 40);
  Read(0, 3);
  EXPECT_EQ(bench_.bad(0), std::vector<uint64_t>{3 * kSize + 3 * 8});
}

// A reset begins the scrubber's period anew.
TEST_F(EccTest, AResetBeginsThePeriodOfTheScrubber) {
  Flip(0, 3);
  bench_.model().scrub_i = 10000;
  bench_.Idle(9000);
  bench_.Reset(1);
  bench_.Idle(9900);
  EXPECT_EQ(bench_.fixed(kOther), 0);
  bench_.Idle(400);
  EXPECT_EQ(bench_.fixed(kOther), 1);
}

// One that comes due while partial writes are on their way waits for them.
TEST_F(EccTest, ABusyListDelaysTheScrubberAndLosesNothing) {
  constexpr int kPeriod = 3000;
  Flip(0, 3);
  Traffic write = Linear(300000, 1000);
  write.partial = 1;
  bench_.model().scrub_i = kPeriod;
  const int64_t began = bench_.cycle();
  bench_.Run({}, {write}, 0, 100000);
  const int64_t took = bench_.cycle() - began;
  EXPECT_GT(took, kPeriod + 100);
  EXPECT_LT(took, 2 * kPeriod - 300);
  bench_.Idle(200);
  EXPECT_EQ(bench_.looks(), 1);
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
}

TEST_F(EccTest, ScrubbingBesideTraffic) {
  bench_.model().scrub_i = 1000;
  for (int i = 0; i < 6; ++i) Flip(uint64_t(i) * kSize, 5 + i);
  std::array<Traffic, kReaders> reads = {Linear(0, 12000), Linear(70000, 8000)};
  std::array<Traffic, kWriters> writes = {Linear(300000, 6000)};
  writes[0].partial = 0.001;
  const Result result = bench_.Run(reads, writes, 0, 100000);
  bench_.CompareMemory();
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_GE(bench_.fixed(kOther), 6);
  std::printf(
      "[ figure   ] hbm with ECC, two readers and a writer, a scrub each 1,000 "
      "cycles: %.1f %% of peak\n",
      100 * result.Efficiency());
  EXPECT_GE(result.Efficiency(), 0.83);
}

TEST(EccBandwidthTest, GoalsAreKept) {
  const std::set<std::string> names = {"one linear reader",
                                       "two linear readers and a linear writer",
                                       "random reader and random writer"};
  size_t seen = 0;
  for (const BandwidthCase& c : BandwidthCases()) {
    if (names.count(c.name) == 0) continue;
    ++seen;
    Bench<Vhbmecc> bench(4, 31, {}, kRefreshPostpone, /*ecc=*/true);
    bench.Idle(600);
    const Result result = bench.Run(c.reads, c.writes, 0, 400000);
    EXPECT_TRUE(bench.Clean()) << c.name << "\n" << bench.Report();
    std::printf("[ figure   ] hbm with ECC, %s: %.1f %% of peak\n", c.name,
                100 * result.Efficiency());
    EXPECT_GE(result.Efficiency(), c.limit * c.at_least) << c.name;
  }
  EXPECT_EQ(seen, names.size());
}

TEST(EccScheduleTest, TakesTheRecordedCycles) {
  CheckSchedule<Vhbmecc>(4, true);
}

// A reset between WR and its data: the data come all the same, and no word is
// left with another one's check bits.
TEST_F(EccTest, AResetLeavesWholeWords) {
  auto& model = bench_.model();
  uint32_t beat = 4096;
  for (int i = 0; i < 60; ++i) {
    model.wr_valid_i = 1;
    for (int n = 540 + static_cast<int>(bench_.random()() % 100); n > 0; --n) {
      bench_.SetWrite(beat, static_cast<uint8_t>(beat * 7));
      model.eval();
      const bool accepted = model.wr_ready_o & 1;
      bench_.Idle(1);
      beat += accepted;
    }
    bench_.Reset(1 + i % 3);
  }
  model.wr_valid_i = 0;
  ASSERT_GT(beat, 4096u + 300);
  // Old or new, whole.
  auto fresh = Device::Create({kPcs, /*seed=*/7}).value();
  for (uint32_t k = 4096; k < beat; ++k) {
    std::vector<uint8_t> now(kSize), old(kSize);
    ASSERT_TRUE(
        bench_.device().Read(uint64_t{k} * kSize, absl::MakeSpan(now)).ok());
    ASSERT_TRUE(fresh->Read(uint64_t{k} * kSize, absl::MakeSpan(old)).ok());
    for (int b = 0; b < kSize; ++b) {
      ASSERT_TRUE(now[b] == old[b] || now[b] == static_cast<uint8_t>(k * 7))
          << "beat " << k << " byte " << b;
    }
  }
  Read(0, 4096, beat - 4096);
  Read(0, 0, kBeats);
  EXPECT_TRUE(bench_.Clean()) << bench_.Report();
  EXPECT_EQ(Fixed(), 0);
  EXPECT_EQ(Bad(), 0u);
}

TEST(EccDeviceTest, RefusesWhatItCannotFlip) {
  auto plain = Device::Create({2}).value();
  EXPECT_EQ(plain->Flip(0, 64).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(plain->Flip(0, 72).code(), absl::StatusCode::kOutOfRange);
  Device::Options options;
  options.ecc = true;
  auto device = Device::Create(options).value();
  EXPECT_EQ(device->Flip(0, 72).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device->Flip(device->capacity(), 0).code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace systole::hbm
