// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random programs for the sequencer's bench: every descriptor has its opcode,
// flags and random fields; what they mean to a unit does not matter here.
#ifndef SYSTOLE_TESTS_RTL_SEQUENCER_PROGRAMS_H_
#define SYSTOLE_TESTS_RTL_SEQUENCER_PROGRAMS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "systole/gen/isa.h"

namespace systole::sequencer_test {

inline constexpr int kQueues = isa::kNumQueues;
inline constexpr int kPlainQueues = kQueues - 1;  // without links: no sends
inline constexpr isa::Opcode kOpcodes[] = {
    isa::Opcode::kLoad,    isa::Opcode::kStore, isa::Opcode::kWeights,
    isa::Opcode::kMatmul,  isa::Opcode::kPool,  isa::Opcode::kAdd,
    isa::Opcode::kRequant, isa::Opcode::kSend,
};
inline constexpr int kPlainOpcodes = 7, kChipOpcodes = 8;

// A descriptor with legal random bits.
inline isa::Descriptor MakeDescriptor(isa::Opcode opcode, uint32_t wait,
                                      uint32_t post, std::mt19937_64& random) {
  const isa::OpInfo& op = *isa::FindOp(static_cast<uint8_t>(opcode));
  isa::Descriptor d{};
  for (int bit = 96; bit < op.width; bit += 16) {
    isa::PutBits(d, bit, std::min(16, op.width - bit), random() & 0xffff);
  }
  isa::PutBits(d, op.width - op.width % 16, op.width % 16,
               random() & ((1u << op.width % 16) - 1));
  isa::PutBits(d, 0, 8, static_cast<uint8_t>(opcode));
  isa::PutBits(d, 16, 16, random() & 0xffff);
  isa::PutBits(d, 32, 32, wait);
  isa::PutBits(d, 64, 32, post);
  return d;
}

inline uint32_t WaitMask(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, 32, 32));
}
inline uint32_t PostMask(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, 64, 32));
}
// Queue of a descriptor; kQueues for a halt.
inline int QueueOf(const isa::Descriptor& d) {
  const isa::OpInfo* op =
      isa::FindOp(static_cast<uint8_t>(isa::GetBits(d, 0, 8)));
  if (op == nullptr || op->queue == isa::Queue::kNone) return kQueues;
  return static_cast<int>(op->queue);
}

// A program, and how often packets have to post each link flag for its end.
struct Program {
  std::vector<isa::Descriptor> descriptors;
  std::array<int, isa::kNumLinkFlags> link_posts = {};
};

// `count` descriptors and a halt. Pairs of queues have a flag of their own
// (to = kQueues: the halt); every wait is met in serial order. With links there
// are sends, and each flag of packets belongs to a queue or to the halt; there
// are fewer flags than pairs then, and some pairs have none.
inline Program RandomChipProgram(int count, double sync, bool links,
                                 std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const int queues = links ? kQueues : kPlainQueues;
  Program out;
  std::vector<int> flags;
  for (int f = 0; f < isa::kNumFlags; ++f) {
    if (!links || f < isa::kFirstLinkFlag || f >= isa::kFirstPeerFlag)
      flags.push_back(f);
  }
  std::shuffle(flags.begin(), flags.end(), random);
  std::vector<std::pair<int, int>> pairs;
  for (int from = 0; from < queues; ++from) {
    for (int to = 0; to < queues; ++to)
      if (from != to) pairs.push_back({from, to});
    pairs.push_back({from, kQueues});
  }
  std::shuffle(pairs.begin(), pairs.end(), random);
  uint32_t masks[kQueues][kQueues + 1] = {};
  for (size_t i = 0; i < std::min(pairs.size(), flags.size()); ++i)
    masks[pairs[i].first][pairs[i].second] = 1u << flags[i];
  std::array<int, isa::kNumLinkFlags> waiter;
  for (int& queue : waiter) {
    queue = static_cast<int>(random() % (queues + 1));
    if (queue == queues) queue = kQueues;
  }
  // What a descriptor of a queue, or the halt, waits for.
  int available[kQueues][kQueues + 1] = {};
  const auto waits = [&](int q, double chance) {
    uint32_t wait = 0;
    for (int p = 0; p < queues; ++p) {
      if (p == q || available[p][q] == 0 || unit(random) >= chance) continue;
      --available[p][q];
      wait |= masks[p][q];
    }
    for (int f = 0; links && f < isa::kNumLinkFlags; ++f) {
      if (waiter[f] != q || unit(random) >= chance / 4) continue;
      ++out.link_posts[f];
      wait |= 1u << (isa::kFirstLinkFlag + f);
    }
    return wait;
  };
  const double skew = unit(random);
  const int opcodes = links ? kChipOpcodes : kPlainOpcodes;
  for (int i = 0; i < count; ++i) {
    const isa::Opcode opcode =
        unit(random) < skew / 2 ? kOpcodes[0] : kOpcodes[random() % opcodes];
    const int q = QueueOf(MakeDescriptor(opcode, 0, 0, random));
    const uint32_t wait = waits(q, sync);
    uint32_t post = 0;
    for (int p = 0; p <= kQueues; ++p) {
      if (p == q || masks[q][p] == 0 || unit(random) >= sync / 2) continue;
      ++available[q][p];
      post |= masks[q][p];
    }
    out.descriptors.push_back(MakeDescriptor(opcode, wait, post, random));
  }
  out.descriptors.push_back(
      MakeDescriptor(isa::Opcode::kHalt, waits(kQueues, 1), 0, random));
  return out;
}

inline std::vector<isa::Descriptor> RandomProgram(int count, double sync,
                                                  std::mt19937_64& random) {
  return RandomChipProgram(count, sync, /*links=*/false, random).descriptors;
}

}  // namespace systole::sequencer_test

#endif  // SYSTOLE_TESTS_RTL_SEQUENCER_PROGRAMS_H_
