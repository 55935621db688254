// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fixture: the chips of a torus by way of the driver, all of their cores
// opened.

#ifndef SYSTOLE_TESTS_SYSTEM_TORUS_TEST_H_
#define SYSTOLE_TESTS_SYSTEM_TORUS_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "systole/device.h"

namespace systole {

inline std::string g_backend = "iss";
inline std::string g_preset = "minichip";

constexpr uint64_t kProgram = 0x100000, kFrom = 0x1000, kTo = 0x40000;
constexpr uint32_t kLocal = 1u << 0;

constexpr uint32_t LinkFlag(int number) {
  return 1u << (isa::kFirstLinkFlag + number);
}

inline std::vector<uint8_t> RandomBytes(uint32_t seed, size_t size) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

class TorusTest : public ::testing::Test {
 protected:
  void Open(int columns, int rows, DeviceOptions options = {}) {
    cores_.clear();
    options.preset = g_preset;
    options.simulation.check_races = g_backend == "iss";
    options.torus = {columns, rows};
    columns_ = columns;
    auto cores = Device::OpenCores(g_backend, options);
    ASSERT_TRUE(cores.ok()) << cores.status();
    cores_ = *std::move(cores);
    ASSERT_EQ(cores_.size(), 2u * columns * rows);
  }
  int all() const { return static_cast<int>(cores_.size()); }

  Program Made(std::vector<isa::Descriptor> descriptors) const {
    Program p;
    p.preset = g_preset;
    p.prog_addr = kProgram;
    p.descriptors = std::move(descriptors);
    p.hbm_bytes = cores_[0]->preset().memory_bytes();
    return p;
  }
  static isa::Load LoadOf(uint64_t from, uint64_t bytes, uint32_t wait,
                          uint32_t post, uint64_t ub = 0) {
    isa::Load load;
    load.header.wait_mask = wait;
    load.header.post_mask = post;
    load.hbm_addr = from;
    load.ub_addr = static_cast<uint32_t>(ub);
    load.len = static_cast<uint32_t>(bytes);
    load.n1 = load.n2 = 1;
    return load;
  }
  static isa::Store StoreOf(uint64_t to, uint64_t bytes, uint32_t wait,
                            uint32_t post, uint64_t ub = 0) {
    isa::Store store;
    store.header.wait_mask = wait;
    store.header.post_mask = post;
    store.hbm_addr = to;
    store.ub_addr = static_cast<uint32_t>(ub);
    store.len = static_cast<uint32_t>(bytes);
    store.n1 = store.n2 = 1;
    return store;
  }
  // To the memory of core number `core` of the device; flag < 0: no post.
  isa::Send SendTo(int core, uint64_t to, uint64_t bytes, uint32_t wait,
                   int flag, uint64_t ub = 0) const {
    isa::Send send;
    send.header.wait_mask = wait;
    if (flag >= 0) {
      send.header.flags = isa::Send::kLinkPost;
      send.link_flag = static_cast<uint32_t>(flag);
    }
    send.dst_x = static_cast<uint32_t>(core / 2 % columns_);
    send.dst_y = static_cast<uint32_t>(core / 2 / columns_);
    send.dst_core = static_cast<uint32_t>(core % 2);
    send.hbm_addr = to;
    send.ub_addr = static_cast<uint32_t>(ub);
    send.len = static_cast<uint32_t>(bytes);
    send.n1 = send.n2 = 1;
    return send;
  }
  isa::Send PostTo(int core, int flag, uint32_t wait = 0) const {
    isa::Send send = SendTo(core, 0, 0, wait, flag);
    send.header.flags |= isa::Send::kEmpty;
    send.n1 = send.n2 = 0;
    return send;
  }
  static isa::Halt HaltOn(uint32_t wait) {
    isa::Halt halt;
    halt.header.wait_mask = wait;
    return halt;
  }
  std::vector<uint8_t> ReadBack(int core, uint64_t at, size_t size) {
    std::vector<uint8_t> bytes(size);
    EXPECT_TRUE(cores_[core]->Read(at, absl::MakeSpan(bytes)).ok());
    return bytes;
  }
  // Runs a program on each core, all at the same time, to their ends. Cores
  // beyond the list have none.
  std::vector<absl::StatusOr<RunStats>> RunAll(
      const std::vector<Program>& programs) {
    for (size_t c = 0; c < programs.size(); ++c)
      EXPECT_TRUE(cores_[c]->Load(programs[c]).ok());
    for (size_t c = 0; c < programs.size(); ++c)
      EXPECT_TRUE(cores_[c]->Start(programs[c]).ok());
    std::vector<absl::StatusOr<RunStats>> stats;
    for (size_t c = 0; c < programs.size(); ++c)
      stats.push_back(cores_[c]->Wait());
    return stats;
  }

  int columns_ = 1;
  std::vector<std::unique_ptr<Device>> cores_;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_SYSTEM_TORUS_TEST_H_
