// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the firmware costs the digits network: cycles from the host's word to
// its interrupt, by a launch and by the register that starts the same program
// straight, on an int8 core with a scalar unit (`make launch`). docs/scalar.md.
//   --batch=N images a program

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "firmware/scalar/boot.h"
#include "host/scalar/command_queue.h"
#include "host/scalar/core_programs.h"
#include "sim/rtl/scalar_port.h"
#include "systole/compiler.h"
#include "systole/gen/csr.h"
#include "systole/model.h"
#include "tests/testing/options.h"
#include "verif/tb/simulation.h"

namespace systole {
namespace {

int g_batch = 8;
constexpr char kPreset[] = "edgechip";
constexpr uint64_t kCycles = 10000000;

class LaunchCost : public ::testing::Test {
 protected:
  void SetUp() override {
    tb::Simulation::Options options;
    options.preset = kPreset;
    auto sim = tb::Simulation::Create(options);
    ASSERT_TRUE(sim.ok()) << sim.status();
    sim_ = std::move(*sim);
    port_ = std::make_unique<ScalarPort>(tb::CorePort(sim_));
    const auto network =
        model::ReadNetwork(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors");
    ASSERT_TRUE(network.ok()) << network.status();
    auto program = compiler::CompileNetwork(*network, *FindPreset(kPreset),
                                            {.batch = g_batch});
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    for (const DataSegment& s : program_.segments) Write(s.hbm_addr, s.data);
    Write(program_.prog_addr,
          {reinterpret_cast<const uint8_t*>(program_.descriptors.data()),
           program_.descriptors.size() * sizeof(isa::Descriptor)});
    std::mt19937 rng(3);
    for (const TensorInfo& t : program_.tensors) {
      std::vector<uint8_t> bytes(Bytes(t));
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
      Write(t.hbm_addr, bytes);
    }
  }
  static uint64_t Bytes(const TensorInfo& t) {
    return static_cast<uint64_t>(t.img_pitch * g_batch);
  }
  void Write(uint64_t at, absl::Span<const uint8_t> bytes) {
    ASSERT_TRUE(sim_->WriteMemory(at, bytes).ok());
  }
  void Set(uint32_t reg, uint32_t value) {
    ASSERT_TRUE(sim_->WriteRegister(reg, value).ok());
  }
  // The results, without what lies between them; then they are spoilt, so that
  // the next run makes its own.
  std::vector<uint8_t> Results() {
    const TensorInfo& t = *std::find_if(
        program_.tensors.begin(), program_.tensors.end(),
        [](const TensorInfo& tensor) { return tensor.is_output; });
    std::vector<uint8_t> results, bytes(Bytes(t));
    EXPECT_TRUE(sim_->ReadMemory(t.hbm_addr, absl::MakeSpan(bytes)).ok());
    for (int64_t i = 0; i < g_batch; ++i) {
      const auto image = bytes.begin() + i * t.img_pitch;
      results.insert(results.end(), image, image + t.line_bytes());
    }
    Write(t.hbm_addr, std::vector<uint8_t>(bytes.size(), 0xA5));
    return results;
  }

  std::shared_ptr<tb::Simulation> sim_;
  std::unique_ptr<ScalarPort> port_;
  Program program_;
};

TEST_F(LaunchCost, TheFirmwareTakesLessThanTwoPercentOfTheDigits) {
  const auto length = static_cast<uint32_t>(program_.descriptors.size());
  const std::pair<uint32_t, uint32_t> words[] = {
      {csr::kIrqEnable, csr::kIrqDone | csr::kIrqFault},
      {csr::kProgAddrLo, static_cast<uint32_t>(program_.prog_addr)},
      {csr::kProgLen, length},
      {csr::kHbmLimitLo, static_cast<uint32_t>(program_.hbm_bytes)},
      {csr::kHbmLimitHi, static_cast<uint32_t>(program_.hbm_bytes >> 32)}};
  for (const auto& [reg, value] : words) Set(reg, value);
  uint64_t straight = 0, launched = 0;
  std::vector<uint8_t> expected;
  for (int i = 0; i < 2; i++) {  // the first one waits for the HBM to start
    const uint64_t before = sim_->core().cycles();
    Set(csr::kCtrl, csr::kCtrlStart);
    ASSERT_TRUE(sim_->WaitInterrupt(kCycles).ok());
    straight = sim_->core().cycles() - before;
    Set(csr::kIrq, 7);
    expected = Results();
  }

  scalar::BootOptions options;
  constexpr uint64_t kReserved = scalar::CommandQueue::kReserved;
  constexpr uint64_t kPrograms = scalar::CommandQueue::kPrograms;
  auto programs = scalar::MakeCorePrograms(
      *FindPreset(kPreset), port_->memory_bytes() - kReserved + kPrograms,
      kReserved - kPrograms);
  ASSERT_TRUE(programs.ok()) << programs.status();
  options.test_core = true;
  options.known = programs->options;
  options.data = std::move(programs->data);
  auto queue = scalar::CommandQueue::Boot(port_.get(), options);
  ASSERT_TRUE(queue.ok()) << queue.status();
  for (int i = 0; i < 2; i++) {
    // Submit writes the command, then rings: the doorbell is its last access.
    const auto tag = (*queue)->Submit({.program = program_.prog_addr,
                                       .length = length,
                                       .limit = program_.hbm_bytes});
    const uint64_t rung = sim_->core().cycles();
    ASSERT_TRUE(tag.ok()) << tag.status();
    ASSERT_TRUE(sim_->WaitInterrupt(kCycles).ok());
    launched = sim_->core().cycles() - rung;
    const auto done = (*queue)->Wait(*tag, kCycles);
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->status, static_cast<uint32_t>(STATUS_DONE));
    EXPECT_EQ(Results(), expected);
  }
  const double share =
      static_cast<double>(launched) / static_cast<double>(straight) - 1;
  std::printf(
      "[ figure   ] digits, batch %d, %s: %d cycles by a register, %d by the "
      "firmware: %.2f %% more\n",
      g_batch, kPreset, static_cast<int>(straight), static_cast<int>(launched),
      100 * share);
  EXPECT_LT(share, 0.02);
}

// A core that computes something else is seen at the boot.
TEST_F(LaunchCost, ABootWithAnotherKnownAnswerFails) {
  scalar::BootOptions options;
  constexpr uint64_t kReserved = scalar::CommandQueue::kReserved;
  constexpr uint64_t kPrograms = scalar::CommandQueue::kPrograms;
  auto programs = scalar::MakeCorePrograms(
      *FindPreset(kPreset), port_->memory_bytes() - kReserved + kPrograms,
      kReserved - kPrograms);
  ASSERT_TRUE(programs.ok()) << programs.status();
  options.test_core = true;
  options.known = programs->options;
  options.known.test_sum ^= 1;
  options.data = std::move(programs->data);
  const auto queue = scalar::CommandQueue::Boot(port_.get(), options);
  ASSERT_FALSE(queue.ok());
  EXPECT_THAT(queue.status().message(),
              ::testing::HasSubstr("known answer is wrong"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"batch", &systole::g_batch}});
}
