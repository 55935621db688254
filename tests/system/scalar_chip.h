// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Fixture: `minichip` on the RTL, with core 0's command rings. Core 1 stands
// still unless a test wants it.
//
//   class Launches : public ScalarChip {};
//   TEST_F(Launches, ...) { Boot(); Write(0x8000, program); Run(launch); }

#ifndef SYSTOLE_TESTS_SYSTEM_SCALAR_CHIP_H_
#define SYSTOLE_TESTS_SYSTEM_SCALAR_CHIP_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "host/scalar/command_queue.h"
#include "sim/rtl/scalar_port.h"
#include "systole/gen/isa.h"
#include "verif/tb/simulation.h"

namespace systole {

class ScalarChip : public ::testing::Test {
 protected:
  // What a launch may take.
  static constexpr uint64_t kMostCycles = 2000000;

  void SetUp() override {
    tb::Simulation::Options options;
    options.preset = "minichip";
    options.alone = alone_;
    auto sim = tb::Simulation::Create(options);
    ASSERT_TRUE(sim.ok()) << sim.status();
    sim_ = std::move(*sim);
    port_ = std::make_unique<ScalarPort>(tb::CorePort(sim_));
  }
  void Boot(const scalar::BootOptions& options = {}) {
    auto queue = scalar::CommandQueue::Boot(port_.get(), options);
    ASSERT_TRUE(queue.ok()) << queue.status();
    queue_ = std::move(*queue);
  }

  // `bytes` between memory and the start of the unified buffer.
  template <typename Move>  // isa::Load, isa::Store
  static Move MoveOf(uint64_t hbm, uint32_t bytes, uint32_t wait = 0,
                     uint32_t post = 0) {
    Move move;
    move.header.wait_mask = wait;
    move.header.post_mask = post;
    move.hbm_addr = hbm;
    move.len = bytes;
    move.n1 = move.n2 = 1;
    return move;
  }
  void Write(uint64_t at, const std::vector<isa::Descriptor>& program) {
    ASSERT_TRUE(
        sim_->WriteMemory(at, {reinterpret_cast<const uint8_t*>(program.data()),
                               program.size() * sizeof(isa::Descriptor)})
            .ok());
  }
  std::vector<uint8_t> Read(uint64_t at, size_t bytes) {
    std::vector<uint8_t> data(bytes);
    EXPECT_TRUE(sim_->ReadMemory(at, absl::MakeSpan(data)).ok());
    return data;
  }
  // Random bytes, which are returned.
  std::vector<uint8_t> Scatter(uint64_t at, uint32_t seed, size_t bytes) {
    std::vector<uint8_t> data(bytes);
    for (uint8_t& b : data) b = (seed = seed * 1664525 + 1013904223) >> 24;
    EXPECT_TRUE(sim_->WriteMemory(at, data).ok());
    return data;
  }
  completion Run(const scalar::Launch& launch) {
    auto tag = queue_->Submit(launch);
    EXPECT_TRUE(tag.ok()) << tag.status();
    if (!tag.ok()) return {};
    auto done = queue_->Wait(*tag, kMostCycles);
    EXPECT_TRUE(done.ok()) << done.status();
    return done.value_or(completion{});
  }

  bool alone_ = true;
  std::shared_ptr<tb::Simulation> sim_;
  std::unique_ptr<ScalarPort> port_;
  std::unique_ptr<scalar::CommandQueue> queue_;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_SYSTEM_SCALAR_CHIP_H_
