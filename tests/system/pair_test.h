// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fixture: a chip with two cores by way of the driver, both opened.
//
//   TEST_F(PairTest, ...) { RunBoth(Copy(kFrom, own() + kTo, 64), ...); }

#ifndef SYSTOLE_TESTS_SYSTEM_PAIR_TEST_H_
#define SYSTOLE_TESTS_SYSTEM_PAIR_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "systole/device.h"

namespace systole {

inline std::string g_backend = "iss";
inline std::string g_preset = "minichip";
inline int g_threads = 1;  // that simulate the chip

constexpr uint64_t kProgram = 0x100000, kFrom = 0x1000, kTo = 0x40000;
constexpr uint32_t kLocal = 1u << 0, kData = 1u << isa::kFirstPeerFlag,
                   kTaken = 2u << isa::kFirstPeerFlag;

inline std::vector<uint8_t> RandomBytes(uint32_t seed, size_t size) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

class PairTest : public ::testing::Test {
 protected:
  // A chip is shared by the tests of a program that open no other: its firmware
  // boots for a second on the RTL.
  void SetUp() override {
    if (cores_.empty()) return Open({});
    for (const auto& core : cores_)
      ASSERT_TRUE(core->Reset(ResetScope::kCore).ok());
  }
  void TearDown() override {
    if (g_backend == "iss" || HasFailure() || opened_) cores_.clear();
  }
  static void TearDownTestSuite() { cores_.clear(); }
  void OpenAnother(const DeviceOptions& options) {
    opened_ = true;
    Open(options);
  }
  void Open(DeviceOptions options) {
    cores_.clear();
    options.preset = g_preset;
    options.simulation.check_races = true;
    options.simulation.threads = g_threads;
    auto cores = Device::OpenCores(g_backend, options);
    ASSERT_TRUE(cores.ok()) << cores.status();
    cores_ = *std::move(cores);
    ASSERT_EQ(cores_.size(), 2u);
  }
  uint64_t own() const { return cores_[0]->preset().memory_bytes(); }

  Program Made(std::vector<isa::Descriptor> descriptors) const {
    Program p;
    p.preset = g_preset;
    p.prog_addr = kProgram;
    p.descriptors = std::move(descriptors);
    p.hbm_bytes = 2 * own();
    return p;
  }
  // From memory to memory through the unified buffer.
  template <typename Move>  // isa::Load, isa::Store
  static Move MoveOf(uint64_t hbm, uint64_t bytes, uint32_t wait, uint32_t post,
                     uint64_t ub) {
    Move move;
    move.header.wait_mask = wait;
    move.header.post_mask = post;
    move.hbm_addr = hbm;
    move.ub_addr = ub;
    move.len = bytes;
    move.n1 = move.n2 = 1;
    return move;
  }
  static isa::Load LoadOf(uint64_t from, uint64_t bytes, uint32_t wait,
                          uint32_t post, uint64_t ub = 0) {
    return MoveOf<isa::Load>(from, bytes, wait, post, ub);
  }
  static isa::Store StoreOf(uint64_t to, uint64_t bytes, uint32_t wait,
                            uint32_t post, uint64_t ub = 0) {
    return MoveOf<isa::Store>(to, bytes, wait, post, ub);
  }
  Program Copy(uint64_t from, uint64_t to, uint64_t bytes) const {
    return Made({LoadOf(from, bytes, 0, kLocal).Encode(),
                 StoreOf(to, bytes, kLocal, 0).Encode(), isa::Halt().Encode()});
  }
  std::vector<uint8_t> ReadBack(int core, uint64_t at, size_t size) {
    std::vector<uint8_t> bytes(size);
    EXPECT_TRUE(cores_[core]->Read(at, absl::MakeSpan(bytes)).ok());
    return bytes;
  }
  // Runs both to their ends.
  std::array<absl::StatusOr<RunStats>, 2> RunBoth(const Program& first,
                                                  const Program& second) {
    const Program* programs[] = {&first, &second};
    for (int c = 0; c < 2; ++c) {
      EXPECT_TRUE(cores_[c]->Load(*programs[c]).ok());
    }
    for (int c = 0; c < 2; ++c) {
      EXPECT_TRUE(cores_[c]->Start(*programs[c]).ok());
    }
    auto a = cores_[0]->Wait();
    auto b = cores_[1]->Wait();
    return {std::move(a), std::move(b)};
  }

  static inline std::vector<std::unique_ptr<Device>> cores_;
  bool opened_ = false;  // by the test itself
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_SYSTEM_PAIR_TEST_H_
