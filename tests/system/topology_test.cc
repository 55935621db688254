// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips find their places by their cables, whatever numbers the host gives
// them; a wrong or a pulled cable is said by name; a device of which a chip
// hangs, or a link is down, is reset as a whole (docs/link.md).

#include <algorithm>
#include <string>

#include "tests/system/torus_test.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

class TopologyTest : public TorusTest {
 protected:
  std::string Refusal(int columns, int rows, std::vector<Cable> cables) {
    DeviceOptions options;
    options.preset = g_preset;
    options.torus = {columns, rows};
    options.simulation.cables = std::move(cables);
    const auto cores = Device::OpenCores(g_backend, options);
    return std::string(cores.status().message());
  }

  // Each core sends a block to each other one, and ends when it has all. The
  // blocks tell who sent them.
  void ExpectAllToAll() {
    constexpr uint64_t kBytes = 512;
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(100 + c, kBytes)).ok());
      ASSERT_TRUE(
          cores_[c]->Write(kTo, std::vector<uint8_t>(all() * kBytes)).ok());
      std::vector<isa::Descriptor> list = {
          LoadOf(kFrom, kBytes, 0, kLocal).Encode()};
      for (int i = 0; i < all(); ++i) {
        list.push_back(SendTo(i, kTo + c * kBytes, kBytes, i == 0 ? kLocal : 0,
                              c % isa::kNumLinkFlags)
                           .Encode());
      }
      list.push_back(
          HaltOn(((1u << all()) - 1) << isa::kFirstLinkFlag).Encode());
      programs.push_back(Made(std::move(list)));
    }
    const auto stats = RunAll(programs);
    for (int c = 0; c < all(); ++c) {
      ASSERT_TRUE(stats[c].ok()) << "core " << c << ": " << stats[c].status();
      for (int from = 0; from < all(); ++from) {
        EXPECT_EQ(ReadBack(c, kTo + from * kBytes, kBytes),
                  RandomBytes(100 + from, kBytes))
            << "core " << c << " from " << from;
      }
    }
  }
};

// From X+ to X-, or from Y+ to Y-.
Cable X(int from, int to) { return {{{from, 0}, {to, 1}}}; }
Cable Y(int from, int to) { return {{{from, 2}, {to, 3}}}; }

TEST_F(TopologyTest, ChipsInAnotherOrder) {
  // 0 2
  // 3 1
  DeviceOptions options;
  options.simulation.cables = {X(0, 2), X(2, 0), X(3, 1), X(1, 3),
                               Y(0, 3), Y(3, 0), Y(2, 1), Y(1, 2)};
  Open(2, 2, options);
  ExpectAllToAll();
  // A ring of four, 0 3 1 2.
  options.simulation.cables = {X(0, 3), X(3, 1), X(1, 2), X(2, 0)};
  Open(4, 1, options);
  ExpectAllToAll();
}

TEST_F(TopologyTest, WrongCables) {
  // Into the wrong socket.
  EXPECT_EQ(Refusal(2, 1, {X(0, 1), {{{1, 0}, {0, 3}}}}),
            "link Y- of chip 0 leads to link X+ of chip 1: it has to lead to a "
            "link Y+");
  EXPECT_EQ(Refusal(2, 2, {X(0, 1), X(1, 0), X(2, 3), X(3, 2)}),
            "no link leads to chip 2: chip 0 is in a torus of 2 x 1 without "
            "it");
  EXPECT_EQ(Refusal(2, 2, {X(0, 1), X(1, 2), X(2, 3), X(3, 0)}),
            "the cables form a torus of 4 x 1 chips, asked was for 2 x 2");
  EXPECT_EQ(Refusal(2, 1, {X(0, 1)}),
            "link X- of chip 0 hears nothing: is its cable connected, and the "
            "chip at the other end on?");
  EXPECT_EQ(Refusal(2, 1, {X(0, 1), X(0, 1)}),
            "two cables to link X+ of chip 0");
  EXPECT_EQ(Refusal(2, 1, {X(0, 2)}),
            "a cable to link 1 of chip 2: there are links 0 to 3 of chips 0 to "
            "1");
}

// A program that waits for ever on one chip, and others that wait for it.
TEST_F(TopologyTest, AChipHangs) {
  DeviceOptions options;
  options.watchdog = 3000;
  Open(2, 2, options);
  for (int round = 0; round < 2; ++round) {
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      // Core 3 waits for a local flag that nobody posts, with packets of others
      // on their way to it; all send, and wait for core 3.
      programs.push_back(c == 3 ? Made({HaltOn(kLocal).Encode()})
                                : Made({PostTo((c + 1) % all(), c % 7).Encode(),
                                        HaltOn(LinkFlag(7)).Encode()}));
    }
    const auto stats = RunAll(programs);
    for (int c = 0; c < all(); ++c) {
      ASSERT_FALSE(stats[c].ok());
      EXPECT_THAT(stats[c].status().message(), HasSubstr("watchdog"));
      EXPECT_EQ(cores_[c]->fault()->address,
                c == 3 ? 0u : isa::kFirstLinkFlag + 7u);
    }
    // No flag is left, or the next programs would end too early.
    ASSERT_EQ(cores_[5]->Reset(ResetScope::kDevice), absl::OkStatus());
    for (const auto& core : cores_) EXPECT_FALSE(core->fault().has_value());
    ExpectAllToAll();
  }
}

// Flags that cores have posted to each other before a reset, over links and in
// their chips, are gone behind it.
TEST_F(TopologyTest, NoFlagIsLeft) {
  DeviceOptions options;
  options.watchdog = 3000;
  Open(2, 1, options);
  constexpr uint32_t kPeer = 1u << isa::kFirstPeerFlag;
  for (const uint32_t flag : {LinkFlag(2), kPeer}) {
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      isa::Load post = LoadOf(kFrom, 64, 0, kPeer);
      programs.push_back(Made({PostTo(all() - 1 - c, 2).Encode(), post.Encode(),
                               HaltOn(kLocal).Encode()}));
    }
    for (const auto& end : RunAll(programs))
      EXPECT_THAT(end.status().message(), HasSubstr("watchdog"));
    ASSERT_EQ(cores_[1]->Reset(ResetScope::kDevice), absl::OkStatus());
    programs.assign(all(), Made({HaltOn(flag).Encode()}));
    for (const auto& end : RunAll(programs))
      EXPECT_THAT(end.status().message(), HasSubstr("watchdog"));
    ASSERT_EQ(cores_[1]->Reset(ResetScope::kDevice), absl::OkStatus());
  }
}

// All cores send without end when their device is reset; the cables are busy.
// (The simulator has no time.)
TEST_F(TopologyTest, AResetAmidTraffic) {
  DeviceOptions options;
  options.simulation.stall_rate = 20;
  int asked = -1000000;
  options.stop = [&] { return ++asked >= 2; };
  Open(2, 2, options);
  constexpr uint64_t kBytes = 96 << 10;
  for (int round = 0; round < 2; ++round) {
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      std::vector<isa::Descriptor> list = {
          LoadOf(kFrom, kBytes, 0, kLocal).Encode()};
      for (int i = 0; i < 8; ++i) {
        list.push_back(
            SendTo((c + 3 + i) % all(), 2 * kTo, kBytes, i == 0 ? kLocal : 0, i)
                .Encode());
      }
      list.push_back(isa::Halt().Encode());
      programs.push_back(Made(list));
    }
    asked = -round;
    for (const auto& end : RunAll(programs)) {
      EXPECT_TRUE(absl::IsCancelled(end.status())) << end.status();
    }
    asked = -1000000;
    ASSERT_EQ(cores_[0]->Reset(ResetScope::kDevice), absl::OkStatus());
    ExpectAllToAll();
  }
}

// A cable is pulled before the first packet: the link trains for ever, and what
// wants to go over it waits. A reset of the core alone would wait, too. (The
// RTL's.)
TEST_F(TopologyTest, ACableIsMissing) {
  DeviceOptions options;
  options.watchdog = 20000;
  options.simulation.cables = {X(0, 1), X(1, 0)};
  options.simulation.cables[0].until = 100000;  // the firmware has booted
  Open(2, 1, options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(cores_[0]->Run(Made({HaltOn(kLocal).Encode()})).ok());
    ASSERT_EQ(cores_[0]->Reset(ResetScope::kCore), absl::OkStatus());
  }
  const auto end = cores_[0]->Run(Made(
      {LoadOf(kFrom, 96 << 10, 0, kLocal).Encode(),
       SendTo(2, kTo, 96 << 10, kLocal, 0).Encode(), isa::Halt().Encode()}));
  EXPECT_THAT(end.status().message(), HasSubstr("watchdog"));
  EXPECT_EQ(std::string(cores_[0]->Reset(ResetScope::kDevice).message()),
            "link X+ of chip 0 hears nothing: is its cable connected, and the "
            "chip at the other end on?");
  EXPECT_THAT(cores_[2]->Run(Made({isa::Halt().Encode()})).status().message(),
              HasSubstr("has not booted since its device was reset"));
}

// A cable is pulled while packets want to go over it. (The RTL's.)
TEST_F(TopologyTest, ACableIsPulled) {
  DeviceOptions options;
  options.simulation.cables = {X(0, 1), X(1, 0)};
  options.simulation.cables[0].until = 100000;  // the firmware has booted
  Open(2, 1, options);
  constexpr uint64_t kBytes = 96 << 10;
  absl::Status end;
  for (int i = 0; i < 200 && end.ok(); ++i) {
    end = cores_[0]
              ->Run(Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
                          SendTo(2, kTo, kBytes, kLocal, 0).Encode(),
                          SendTo(0, kTo, 32, 0, 1).Encode(),
                          HaltOn(LinkFlag(1)).Encode()}))
              .status();
  }
  EXPECT_THAT(end.message(), HasSubstr("link_down"));
  EXPECT_THAT(end.message(),
              HasSubstr("link X+ of chip 0, to link X- of chip 1, is down: "
                        "packets get no further"));
  // The reset says what is missing, and does not hang.
  EXPECT_EQ(std::string(cores_[0]->Reset(ResetScope::kDevice).message()),
            "link X+ of chip 0 hears nothing: is its cable connected, and the "
            "chip at the other end on?");
}

}  // namespace
}  // namespace systole
