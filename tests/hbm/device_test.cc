// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The HBM device model alone: latencies, masks, backdoor, address map,
// never-written memory.

#include "verif/hbm_model/device.h"

#include <cstring>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace systole::hbm {
namespace {

using testing::HasSubstr;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() : device_(Device::Create({}).value()) {}
  PhyOut Step(PhyIn in) {
    PhyOut out;
    in.wdata = wdata_;
    device_->Tick(0, in, &out);
    return out;
  }
  void Idle(int cycles) {
    for (int i = 0; i < cycles; ++i) Step({});
  }
  static PhyIn Act(uint8_t bank, uint32_t row) {
    PhyIn in;
    in.row_cmd = RowCmd::kAct;
    in.row_bank = bank;
    in.row_addr = row;
    return in;
  }
  static PhyIn Column(ColCmd command, uint8_t bank, uint8_t col) {
    PhyIn in;
    in.col_cmd = command;
    in.col_bank = bank;
    in.col_addr = col;
    return in;
  }

  std::unique_ptr<Device> device_;
  uint8_t wdata_[kPhyBytes] = {};
};

TEST_F(DeviceTest, AnswersAtExactlyTheTablesLatencies) {
  Timing t;
  Step(Act(6, 100));
  Idle(t.tRCDWR - 1);
  Step(Column(ColCmd::kWr, 6, 9));
  Idle(t.tCWL - 1);
  PhyIn data;
  std::memset(wdata_, 0x11, sizeof(wdata_));
  data.wmask = 0xFFFF;
  Step(data);  // tCWL after WR
  std::memset(wdata_, 0x22, sizeof(wdata_));
  data.wmask = 0x00FF;  // upper half of the second data stays
  Step(data);
  std::memset(wdata_, 0x33, sizeof(wdata_));
  data.wmask = 0xFFFF;
  Step(data);  // too late: not taken
  Idle(t.tWTR_L);
  Step(Column(ColCmd::kRd, 6, 9));
  for (int i = 1; i < t.tCL; ++i) EXPECT_EQ(Step({}).data, nullptr) << i;
  PhyOut out = Step({});
  ASSERT_NE(out.data, nullptr);
  const auto* bytes = static_cast<const uint8_t*>(out.data);
  for (int i = 0; i < kPhyBytes; ++i) EXPECT_EQ(bytes[i], 0x11);
  out = Step({});
  ASSERT_NE(out.data, nullptr);
  bytes = static_cast<const uint8_t*>(out.data);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(bytes[i], 0x22);
  EXPECT_EQ(Step({}).data, nullptr);
  EXPECT_EQ(device_->log().count(), 0) << device_->log().violations()[0].text;
  // The upper 8 bytes of the burst were never written: the read is reported
  // with its address.
  ASSERT_EQ(device_->unwritten_read_count(), 1);
  EXPECT_EQ(device_->unwritten_reads()[0].address,
            uint64_t{BeatAt({0, 6, 100, 9})} * BeatBytes(2));
}

TEST_F(DeviceTest, BackdoorGoesThroughTheMap) {
  std::vector<uint8_t> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 7);
  ASSERT_TRUE(device_->Write(12345, bytes).ok());
  std::vector<uint8_t> back(bytes.size());
  ASSERT_TRUE(device_->Read(12345, absl::MakeSpan(back)).ok());
  EXPECT_EQ(back, bytes);
  // Through the front door: the burst at beat 400 (a beat of two
  // pseudo-channels is one burst).
  uint32_t beat = 400;
  Location l = Locate(beat);
  PhyOut out;
  for (int pc = 0; pc < 2; ++pc) {
    if (pc != static_cast<int>(l.group)) continue;
    device_->Tick(pc, Act(static_cast<uint8_t>(l.bank), l.row), &out);
    for (int i = 0; i < 13; ++i) device_->Tick(pc, {}, &out);
    device_->Tick(pc,
                  Column(ColCmd::kRd, static_cast<uint8_t>(l.bank),
                         static_cast<uint8_t>(l.col)),
                  &out);
    for (int i = 0; i < 14; ++i) device_->Tick(pc, {}, &out);
  }
  ASSERT_NE(out.data, nullptr);
  EXPECT_EQ(std::memcmp(out.data, &bytes[beat * 32 - 12345], kPhyBytes), 0);
  EXPECT_EQ(device_->unwritten_read_count(), 0);
}

TEST_F(DeviceTest, BackdoorReachesOpenRows) {
  Timing t;
  Step(Act(0, 0));
  Idle(t.tRCDRD - 1);
  uint64_t address = uint64_t{BeatAt({0, 0, 0, 0})} * BeatBytes(2);
  std::vector<uint8_t> bytes(32, 0xAB);
  ASSERT_TRUE(device_->Write(address, bytes).ok());
  Step(Column(ColCmd::kRd, 0, 0));
  Idle(t.tCL - 1);
  PhyOut out = Step({});
  ASSERT_NE(out.data, nullptr);
  EXPECT_EQ(*static_cast<const uint8_t*>(out.data), 0xAB);
}

TEST_F(DeviceTest, NeverWrittenMemoryIsASeededPattern) {
  std::vector<uint8_t> a(64), b(64), c(64);
  ASSERT_TRUE(device_->Read(4096, absl::MakeSpan(a)).ok());
  auto same = Device::Create({}).value();
  ASSERT_TRUE(same->Read(4096, absl::MakeSpan(b)).ok());
  Device::Options options;
  options.seed = 2;
  auto other = Device::Create(options).value();
  ASSERT_TRUE(other->Read(4096, absl::MakeSpan(c)).ok());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  // Writing one byte of a page keeps the pattern around it.
  std::vector<uint8_t> one = {0x5A};
  ASSERT_TRUE(device_->Write(4100, one).ok());
  a[4] = 0x5A;
  ASSERT_TRUE(device_->Read(4096, absl::MakeSpan(b)).ok());
  EXPECT_EQ(a, b);
}

TEST_F(DeviceTest, ViolationsAreLogged) {
  Step(Column(ColCmd::kRd, 3, 0));
  ASSERT_EQ(device_->log().count(), 1);
  EXPECT_EQ(device_->log().violations()[0].rule, kRuleClosed);
}

TEST_F(DeviceTest, BadArgumentsAreErrors) {
  Device::Options options;
  options.pcs = 3;
  EXPECT_THAT(Device::Create(options).status().message(),
              HasSubstr("3 pseudo-channels"));
  options = {};
  options.timing.tRP = 0;
  EXPECT_THAT(Device::Create(options).status().message(),
              HasSubstr("tRP is 0"));
  std::vector<uint8_t> bytes(2);
  EXPECT_TRUE(device_->Write(device_->capacity() - 2, bytes).ok());
  EXPECT_EQ(device_->Write(device_->capacity() - 1, bytes).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(device_->Read(~uint64_t{0}, absl::MakeSpan(bytes)).code(),
            absl::StatusCode::kOutOfRange);
}

TEST(AddressMapTest, IsOneToOne) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint32_t k = random() & ((1u << kBeatBits) - 1);
    Location l = Locate(k);
    ASSERT_LT(l.bank, static_cast<uint32_t>(kBanks));
    ASSERT_LT(l.row, static_cast<uint32_t>(kRows));
    ASSERT_LT(l.col, static_cast<uint32_t>(kCols));
    ASSERT_EQ(BeatAt(l), k);
  }
}

// What the hashes promise: beats 2j and 2j + 1 in different groups; a group's
// next beat in another bank group.
TEST(AddressMapTest, LinearStreamsAlternate) {
  int last_group[2] = {-1, -1};
  int repeats = 0;
  for (uint32_t k = 0; k < 1u << 16; ++k) {
    Location l = Locate(k);
    ASSERT_NE(l.group, Locate(k ^ 1).group);
    int group = static_cast<int>(l.bank) / kBanksPerGroup;
    repeats += group == last_group[l.group];
    last_group[l.group] = group;
  }
  EXPECT_LT(repeats,
            (1 << 16) / 16);  // only where a carry reaches the hashed bits
}

TEST(AddressMapTest, PowerOfTwoStridesUseManyBanks) {
  for (int shift = 0; shift <= 14; ++shift) {
    std::set<uint32_t> groups, bank_groups, banks;
    for (uint32_t i = 0; i < 256; ++i) {
      Location l = Locate((i << shift) & ((1u << kBeatBits) - 1));
      groups.insert(l.group);
      bank_groups.insert(l.bank / kBanksPerGroup);
      banks.insert(l.group << 4 | l.bank);
    }
    EXPECT_EQ(groups.size(), 2u) << "stride 2^" << shift;
    EXPECT_GE(bank_groups.size(), 2u) << "stride 2^" << shift;
    if (shift >= 8) {
      EXPECT_GE(banks.size(), 16u) << "stride 2^" << shift;
    }
  }
}

}  // namespace
}  // namespace systole::hbm
