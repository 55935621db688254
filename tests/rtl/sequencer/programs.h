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
#include <numeric>
#include <random>
#include <vector>

#include "systole/gen/isa.h"

namespace systole::sequencer_test {

inline constexpr int kQueues = isa::kNumQueues;
inline constexpr isa::Opcode kOpcodes[] = {
    isa::Opcode::kLoad,    isa::Opcode::kStore, isa::Opcode::kWeights,
    isa::Opcode::kMatmul,  isa::Opcode::kPool,  isa::Opcode::kAdd,
    isa::Opcode::kRequant,
};

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

// `count` descriptors and a halt. Each pair of queues has a flag of its own,
// any of all (to = 5: the halt); every wait is met in serial order.
inline std::vector<isa::Descriptor> RandomProgram(int count, double sync,
                                                  std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<isa::Descriptor> program;
  int available[kQueues][kQueues + 1] = {};
  std::array<int, isa::kNumFlags> flags;
  std::iota(flags.begin(), flags.end(), 0);
  std::shuffle(flags.begin(), flags.end(), random);
  const auto flag = [&flags](int from, int to) {
    return 1u << flags[6 * from + to];
  };
  const double skew = unit(random);
  for (int i = 0; i < count; ++i) {
    const isa::Opcode opcode =
        unit(random) < skew / 2 ? kOpcodes[0] : kOpcodes[random() % 7];
    const int q = QueueOf(MakeDescriptor(opcode, 0, 0, random));
    uint32_t wait = 0, post = 0;
    for (int p = 0; p < kQueues; ++p) {
      if (p != q && available[p][q] > 0 && unit(random) < sync) {
        --available[p][q];
        wait |= flag(p, q);
      }
    }
    for (int p = 0; p <= kQueues; ++p) {
      if (p != q && unit(random) < sync / 2) {
        ++available[q][p];
        post |= flag(q, p);
      }
    }
    program.push_back(MakeDescriptor(opcode, wait, post, random));
  }
  uint32_t wait = 0;
  for (int p = 0; p < kQueues; ++p) {
    if (available[p][kQueues] > 0) wait |= flag(p, kQueues);
  }
  program.push_back(MakeDescriptor(isa::Opcode::kHalt, wait, 0, random));
  return program;
}

}  // namespace systole::sequencer_test

#endif  // SYSTOLE_TESTS_RTL_SEQUENCER_PROGRAMS_H_
