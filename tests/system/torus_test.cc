// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Chips of a torus: sends between all cores, posts behind the data, faults
// (docs/link.md).
//   --backend=iss|rtl --preset=minichip

#include "tests/system/torus_test.h"

#include <algorithm>
#include <cstdio>

#include "tests/testing/options.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

// A block goes to the neighbour, which copies it when its flag says that it is
// there.
TEST_F(TorusTest, DataIsThereWithThePost) {
  Open(2, 1);
  constexpr uint64_t kBytes = 3000;
  ASSERT_TRUE(cores_[0]->Write(kFrom, RandomBytes(1, kBytes)).ok());
  const Program none = Made({isa::Halt().Encode()});
  const auto stats = RunAll(
      {Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
             SendTo(3, kTo, kBytes, kLocal, 5).Encode(), isa::Halt().Encode()}),
       none, none,
       Made({LoadOf(kTo, kBytes, LinkFlag(5), kLocal).Encode(),
             StoreOf(2 * kTo, kBytes, kLocal, 0).Encode(),
             isa::Halt().Encode()})});
  for (const auto& s : stats) ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ReadBack(3, 2 * kTo, kBytes), RandomBytes(1, kBytes));
  EXPECT_GE(stats[0]->counter(csr::Counter::kSendBytes), kBytes);
}

// Every core sends a block of its own shape to every core, itself included, and
// ends when all have come.
void Expect(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want,
            int from, int to) {
  EXPECT_EQ(got, want) << "from core " << from << " to core " << to;
}

class AllToAllTest : public TorusTest,
                     public ::testing::WithParamInterface<std::pair<int, int>> {
};

TEST_P(AllToAllTest, EveryBlockArrives) {
  const auto [columns, rows] = GetParam();
  DeviceOptions options;
  options.simulation.stall_rate = 40;
  Open(columns, rows, options);
  const auto beat = static_cast<uint64_t>(cores_[0]->preset().beat_bytes());
  std::mt19937 rng(static_cast<uint32_t>(columns * 8 + rows));
  constexpr uint64_t kPlace = 0x4000, kBlock = 1 << 13;
  std::vector<std::vector<isa::Send>> sends(all());
  std::vector<Program> programs;
  for (int c = 0; c < all(); ++c) {
    ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c, 1 << 16)).ok());
    std::vector<isa::Descriptor> list = {
        LoadOf(kFrom, 1 << 16, 0, kLocal).Encode()};
    // In an order of its own; at most eight cores are told by a flag each.
    std::vector<int> order(all());
    for (int i = 0; i < all(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), rng);
    for (int i = 0; i < all(); ++i) {
      isa::Send s = SendTo(order[i], kTo + c * kPlace, 1 + rng() % 700,
                           i == 0 ? kLocal : 0, c % isa::kNumLinkFlags,
                           rng() % 1024 * beat);
      s.n1 = 1 + rng() % 3;
      s.n2 = 1 + rng() % 2;
      s.hbm_stride1 = (s.len + beat - 1) / beat * beat + rng() % 3 * beat;
      s.hbm_stride2 = s.n1 * s.hbm_stride1 + rng() % 2 * beat;
      s.ub_stride1 = static_cast<uint32_t>(rng() % 64 * beat);
      s.ub_stride2 = static_cast<uint32_t>(rng() % 256 * beat);
      s.header.flags |= rng() % 2 ? isa::Send::kNegative : 0;
      sends[c].push_back(s);
      list.push_back(s.Encode());
    }
    // A flag a descriptor, as a wait takes 1.
    for (int i = isa::kNumLinkFlags; i < all(); ++i) {
      isa::Store store =
          StoreOf(0x20000, beat, LinkFlag(i % isa::kNumLinkFlags), 0);
      list.push_back(store.Encode());
    }
    list.push_back(HaltOn(all() >= isa::kNumLinkFlags
                              ? 0xffu << isa::kFirstLinkFlag
                              : ((1u << all()) - 1) << isa::kFirstLinkFlag)
                       .Encode());
    programs.push_back(Made(std::move(list)));
  }
  static_assert(kBlock <= kPlace);
  const auto stats = RunAll(programs);
  for (int c = 0; c < all(); ++c)
    ASSERT_TRUE(stats[c].ok()) << "core " << c << ": " << stats[c].status();
  for (int c = 0; c < all(); ++c) {
    const std::vector<uint8_t> source = RandomBytes(c, 1 << 16);
    for (const isa::Send& s : sends[c]) {
      const int to =
          static_cast<int>((s.dst_y * columns + s.dst_x) * 2 + s.dst_core);
      for (uint32_t j = 0; j < s.n2; ++j) {
        for (uint32_t i = 0; i < s.n1; ++i) {
          const auto from =
              source.begin() + s.ub_addr + i * s.ub_stride1 + j * s.ub_stride2;
          Expect(
              ReadBack(to, s.hbm_addr + i * s.hbm_stride1 + j * s.hbm_stride2,
                       s.len),
              {from, from + s.len}, c, to);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tori, AllToAllTest,
                         ::testing::Values(std::pair{1, 1}, std::pair{2, 1},
                                           std::pair{1, 2}, std::pair{2, 2}));

// Neither the number of threads nor the order in which chips are simulated
// changes a completion of any core. (The RTL's.)
TEST_F(TorusTest, ThreadsChangeNoCycle) {
  constexpr uint64_t kBytes = 8 << 10;
  std::vector<std::vector<std::pair<uint32_t, uint64_t>>> retires;
  for (const int threads : {1, 2, 4}) {
    DeviceOptions options;
    options.simulation.threads = threads;
    options.simulation.stall_rate = 30;
    options.simulation.wire_errors = 30;
    Open(2, 2, options);
    std::vector<Program> programs;
    for (int c = 0; c < all(); ++c) {
      ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c, kBytes)).ok());
      programs.push_back(
          Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
                SendTo(all() - 1 - c, kTo, kBytes, kLocal, 0).Encode(),
                SendTo((c + 3) % all(), 2 * kTo, kBytes, 0, 1).Encode(),
                HaltOn(LinkFlag(0) | LinkFlag(1)).Encode()}));
    }
    const auto stats = RunAll(programs);
    auto& of_run = retires.emplace_back();
    for (const auto& s : stats) {
      ASSERT_TRUE(s.ok()) << s.status();
      for (const Retire& r : s->retires) of_run.emplace_back(r.index, r.cycle);
      of_run.emplace_back(~0u, s->cycles);
    }
    EXPECT_EQ(of_run, retires[0]) << threads << " threads";
  }
  EXPECT_EQ(retires[0].size(), 8u * 4);
  DeviceOptions options;
  options.preset = g_preset;
  options.torus = {2, 2};
  options.simulation.threads = 5;
  EXPECT_THAT(Device::OpenCores(g_backend, options).status().message(),
              HasSubstr("4 chips are simulated by 1 to 4, one a chip"));
}

// Bits that turn on the wires cost time and nothing else. (The simulator has no
// wires.)
TEST_F(TorusTest, WiresMaySpoilBits) {
  DeviceOptions options;
  options.simulation.wire_errors = 60;
  Open(2, 2, options);
  constexpr uint64_t kBytes = 48 << 10;
  std::vector<Program> programs;
  for (int c = 0; c < all(); ++c) {
    ASSERT_TRUE(cores_[c]->Write(kFrom, RandomBytes(c, kBytes)).ok());
    const int to = all() - 1 - c;  // over both dimensions
    programs.push_back(Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
                             SendTo(to, kTo, kBytes, kLocal, 0).Encode(),
                             HaltOn(LinkFlag(0)).Encode()}));
  }
  const auto stats = RunAll(programs);
  uint32_t replays = 0, errors = 0;
  for (const auto& s : stats) {
    ASSERT_TRUE(s.ok()) << s.status();
    ASSERT_EQ(s->links.size(), 4u);
    for (const LinkCounts& link : s->links) {
      replays += link.replays;
      errors += link.crc_errors;
      EXPECT_EQ(link.packets_lost, 0u);
    }
  }
  EXPECT_GT(replays, 20u);
  EXPECT_GT(errors, 20u);
  for (int c = 0; c < all(); ++c)
    EXPECT_EQ(ReadBack(c, kTo, kBytes), RandomBytes(all() - 1 - c, kBytes));
}

// A block goes around: each core sends on what came from the one before, and
// says that its place may be used again. Many rounds.
TEST_F(TorusTest, FlagsOrderRounds) {
  Open(2, 2);
  constexpr int kRounds = 6;
  constexpr uint64_t kBytes = 1024;
  std::vector<Program> programs;
  ASSERT_TRUE(cores_[0]->Write(kTo, RandomBytes(5, kBytes)).ok());
  for (int c = 0; c < all(); ++c) {
    const int next = (c + 1) % all();
    std::vector<isa::Descriptor> list;
    for (int r = 0; r < kRounds; ++r) {
      const uint32_t wait = c == 0 && r == 0 ? 0 : LinkFlag(0);
      isa::Load load = LoadOf(kTo, kBytes, wait, kLocal);
      // The next load may overwrite the unified buffer when the send is done.
      if (r > 0) load.header.wait_mask |= 2 * kLocal;
      isa::Send send = SendTo(next, kTo, kBytes, kLocal, 0);
      send.header.post_mask = 2 * kLocal;
      list.push_back(load.Encode());
      list.push_back(send.Encode());
    }
    list.push_back(HaltOn((c == 0 ? LinkFlag(0) : 0) | 2 * kLocal).Encode());
    programs.push_back(Made(std::move(list)));
  }
  const auto stats = RunAll(programs);
  for (const auto& s : stats) ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ReadBack(0, kTo, kBytes), RandomBytes(5, kBytes));
  if (stats[0]->cycles != 0) {
    std::printf("[ figure   ] %d x 8 hops of %d bytes in %llu cycles\n",
                kRounds, static_cast<int>(kBytes),
                static_cast<unsigned long long>(stats[0]->cycles));
  }
}

// A stream to a neighbour goes at the rate of the link.
TEST_F(TorusTest, AStreamFillsTheLink) {
  Open(2, 1);
  constexpr uint64_t kBytes = 96 << 10;
  ASSERT_TRUE(cores_[0]->Write(kFrom, RandomBytes(1, kBytes)).ok());
  const Program none = Made({isa::Halt().Encode()});
  const auto stats = RunAll(
      {Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
             SendTo(2, kTo, kBytes, kLocal, 0).Encode(), isa::Halt().Encode()}),
       none, Made({HaltOn(LinkFlag(0)).Encode()}), none});
  for (const auto& s : stats) ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ReadBack(2, kTo, kBytes), RandomBytes(1, kBytes));
  if (stats[0]->cycles == 0) return;
  const double bound = static_cast<double>(kBytes) * 17 / 16 /
                       static_cast<double>(cores_[0]->preset().chip.link_bytes);
  const auto busy =
      static_cast<double>(stats[0]->counter(csr::Counter::kSendBusy));
  std::printf("[ figure   ] %d bytes in %.0f cycles, %.1f %% of the bound\n",
              static_cast<int>(kBytes), busy, 100 * bound / busy);
  EXPECT_GT(bound / busy, 0.95);
}

// Posts alone go back and forth between neighbours.
TEST_F(TorusTest, PostsGoBackAndForth) {
  Open(2, 1);
  constexpr int kRounds = 20;
  std::vector<isa::Descriptor> ping, pong;
  for (int i = 0; i < kRounds; ++i) {
    ping.push_back(PostTo(2, 0, i == 0 ? 0 : LinkFlag(1)).Encode());
    pong.push_back(PostTo(0, 1, LinkFlag(0)).Encode());
  }
  ping.push_back(HaltOn(LinkFlag(1)).Encode());
  pong.push_back(isa::Halt().Encode());
  const Program none = Made({isa::Halt().Encode()});
  const auto stats = RunAll({Made(ping), none, Made(pong), none});
  for (const auto& s : stats) ASSERT_TRUE(s.ok()) << s.status();
  if (stats[0]->retires.size() < 3 || stats[0]->cycles == 0) return;
  const auto& retires = stats[0]->retires;
  std::printf(
      "[ figure   ] a post from program to program: %.1f cycles\n",
      static_cast<double>(retires[kRounds - 1].cycle - retires[1].cycle) /
          (2.0 * (kRounds - 2)));
}

TEST_F(TorusTest, AnEmptySendPosts) {
  Open(1, 2);
  const Program none = Made({isa::Halt().Encode()});
  const auto stats =
      RunAll({Made({PostTo(2, 7).Encode(), PostTo(2, 7).Encode(),
                    PostTo(1, 3).Encode(), isa::Halt().Encode()}),
              Made({HaltOn(LinkFlag(3)).Encode()}),
              Made({StoreOf(kTo, 64, LinkFlag(7), 0).Encode(),
                    HaltOn(LinkFlag(7)).Encode()}),
              none});
  for (const auto& s : stats) EXPECT_TRUE(s.ok()) << s.status();
}

// A soft reset amid a stream: what has begun arrives whole, and the core sends
// again. (The simulator has no time.)
TEST_F(TorusTest, AResetAmidAStream) {
  DeviceOptions options;
  int asked = -1000000;  // not while the firmware boots
  options.stop = [&] { return ++asked == 2; };
  Open(2, 1, options);
  ASSERT_FALSE(cores_.empty());
  constexpr uint64_t kBytes = 96 << 10;
  ASSERT_TRUE(cores_[0]->Write(kFrom, RandomBytes(1, kBytes)).ok());
  const Program stream =
      Made({LoadOf(kFrom, kBytes, 0, kLocal).Encode(),
            SendTo(2, kTo, kBytes, kLocal, 0).Encode(), isa::Halt().Encode()});
  asked = -1000000;
  const auto whole = cores_[0]->Run(stream);
  ASSERT_TRUE(whole.ok()) << whole.status();
  asked = 0;
  const auto cut = cores_[0]->Run(stream);
  ASSERT_TRUE(absl::IsCancelled(cut.status())) << cut.status();
  ASSERT_TRUE(cores_[0]->Reset(ResetScope::kCore).ok());
  asked = -1000000;
  const auto again = cores_[0]->Run(stream);
  EXPECT_TRUE(again.ok()) << again.status();
  const auto end =
      cores_[2]->Run(Made({StoreOf(kFrom, 32, LinkFlag(0), 0).Encode(),
                           HaltOn(LinkFlag(0)).Encode()}));
  EXPECT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(ReadBack(2, kTo, kBytes), RandomBytes(1, kBytes));
}

// Each core has its own simulator, and a reset of the device is one of all.
using SimulatorsTest = TorusTest;
TEST_F(SimulatorsTest, AreTheSameForEachCore) {
  DeviceOptions options;
  options.watchdog = 3000;
  Open(2, 2, options);
  for (int c = 0; c < all(); ++c) EXPECT_EQ(cores_[c]->chip(), c / 2);
  isa::Load bad = LoadOf(kFrom, 64, 0, 0);
  bad.ub_addr = ~0u << 6;
  const Program fails = Made({bad.Encode(), isa::Halt().Encode()});
  const Program waits = Made({HaltOn(LinkFlag(0)).Encode()});
  EXPECT_TRUE(absl::IsAborted(cores_[1]->Run(fails).status()));
  EXPECT_TRUE(absl::IsAborted(cores_[2]->Run(fails).status()));
  EXPECT_TRUE(absl::IsAborted(cores_[6]->Run(waits).status()));
  ASSERT_EQ(cores_[2]->Reset(ResetScope::kCore), absl::OkStatus());
  ASSERT_TRUE(cores_[3]->Write(kFrom, std::vector<uint8_t>(8, 0xff)).ok());
  ASSERT_TRUE(cores_[3]->simulator()->Flip({kFrom, 8}).ok());
  for (int c = 0; c < all(); ++c) {
    EXPECT_EQ(cores_[c]->fault().has_value(), c == 1 || c == 6) << c;
    EXPECT_EQ(cores_[c]->simulator()->runs(), c == 1 || c == 2 || c == 6) << c;
  }
  ASSERT_EQ(cores_[0]->Reset(ResetScope::kDevice), absl::OkStatus());
  const Program program =
      Made({LoadOf(kFrom, 64, 0, kLocal).Encode(), HaltOn(kLocal).Encode()});
  for (int c = 0; c < all(); ++c) {
    EXPECT_FALSE(cores_[c]->fault().has_value()) << c;
    EXPECT_TRUE(cores_[c]->Run(program).ok()) << c;
  }
  const bool ecc = cores_[3]->preset().chip.ecc != 0;
  EXPECT_EQ(ReadBack(3, kFrom, 8)[1], ecc ? 0xff : 0xfe);
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
