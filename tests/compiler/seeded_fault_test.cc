// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The checks that the random tests rely on find what is wrong: a weight, a
// parameter or a descriptor field that was changed is a mismatch that names the
// place; a flag that was dropped is a race or a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/tools/checker.h"
#include "host/tools/workload.h"
#include "systole/device.h"
#include "tests/compiler/random_case.h"

namespace systole {
namespace {

using testing::HasSubstr;

class SeededFault : public testing::Test {
 protected:
  void SetUp() override {
    tools::ConvSpec spec;
    spec.name = "conv";
    spec.width = spec.height = 12;
    spec.channels = 20;
    spec.kernel_w = spec.kernel_h = 3;
    spec.filters = 24;
    network_ = tools::ConvNetwork(spec, 7);
    std::mt19937_64 rng(8);
    input_ = tools::RandomInt8(3 * network_.tensors[0].size(), rng);
    compiler::Options options;
    options.batch = 3;
    options.ub_bytes = 16384;  // slots are used again and again
    auto program = compiler::CompileNetwork(network_, preset_, options);
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    auto expected = tools::GoldenTensors(network_, input_, false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    expected_ = *std::move(expected);
  }

  absl::StatusOr<tools::CheckedRun> Run(const Program& program) {
    DeviceOptions options;
    options.preset = "nano";
    options.simulation.check_races = true;
    auto device = Device::Open("iss", options);
    if (!device.ok()) return device.status();
    return tools::RunChecked(**device, program, network_, input_, expected_);
  }

  std::string MismatchOf(const Program& program) {
    const auto run = Run(program);
    if (!run.ok()) return std::string(run.status().message());
    return run->mismatches().empty() ? "" : run->mismatches()[0];
  }

  DataSegment& Segment(const std::string& name) {
    for (DataSegment& s : program_.segments) {
      if (s.name == name) return s;
    }
    ADD_FAILURE() << "no segment " << name;
    return program_.segments[0];
  }

  const Preset& preset_ = *FindPreset("nano");
  model::Network network_;
  std::vector<int8_t> input_;
  Program program_;
  std::vector<tools::ExpectedTensor> expected_;
};

TEST_F(SeededFault, NoneIsClean) { EXPECT_EQ(MismatchOf(program_), ""); }

TEST_F(SeededFault, WeightBit) {
  Segment("conv.tiles").data[5] ^= 0x40;
  const std::string text = MismatchOf(program_);
  EXPECT_THAT(text, HasSubstr("conv (conv2d): image 0, row "));
  EXPECT_THAT(text, HasSubstr("channel 5: got "));
  EXPECT_THAT(text, HasSubstr("written by descriptor "));
}

TEST_F(SeededFault, BiasBit) {
  Segment("conv.params").data[preset_.rows * 0 + 4 * 2 + 1] ^= 0x10;
  EXPECT_THAT(MismatchOf(program_), HasSubstr("channel 2: got "));
}

TEST_F(SeededFault, InputPixel) {
  input_[77] ^= 0x55;
  EXPECT_THAT(MismatchOf(program_), HasSubstr("image 0, row 0, column 2"));
}

TEST_F(SeededFault, Clamp) {
  for (isa::Descriptor& d : program_.descriptors) {
    if (compiler::OpcodeOf(d) != isa::Opcode::kRequant) continue;
    isa::Requant r = isa::Requant::Decode(d);
    r.clamp_max = 40;
    d = r.Encode();
    break;
  }
  EXPECT_THAT(MismatchOf(program_), HasSubstr("got 40, golden "));
}

// Each edge alone: taking one wait and its post away must be noticed, so every
// edge that is planned is needed.
TEST_F(SeededFault, EachDroppedFlag) {
  int dropped = 0;
  for (size_t waiter = 0; waiter < program_.descriptors.size(); ++waiter) {
    const uint32_t waits = static_cast<uint32_t>(
        isa::GetBits(program_.descriptors[waiter], 32, 32));
    for (int flag = 0; flag < isa::kNumFlags; ++flag) {
      if (!(waits >> flag & 1)) continue;
      // The n-th wait meets the n-th post.
      int n = 0;
      for (size_t i = 0; i < waiter; ++i)
        n += isa::GetBits(program_.descriptors[i], 32 + flag, 1);
      Program broken = program_;
      isa::PutBits(broken.descriptors[waiter], 32 + flag, 1, 0);
      for (isa::Descriptor& d : broken.descriptors) {
        if (isa::GetBits(d, 64 + flag, 1) && n-- == 0)
          isa::PutBits(d, 64 + flag, 1, 0);
      }
      const auto run = Run(broken);
      EXPECT_FALSE(run.ok()) << absl::StrFormat(
          "descriptor %d does not wait for flag %d, and nothing is said",
          waiter, flag);
      ++dropped;
    }
  }
  EXPECT_GT(dropped, 20);
  std::printf("%d edges dropped one by one\n", dropped);
}

}  // namespace
}  // namespace systole
