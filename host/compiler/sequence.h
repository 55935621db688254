// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptors on their way to a program, and what must come after what. The
// order of the steps is right when they are executed one by one; dependences,
// order and flags are passes over it (passes/).
//
//   sequence on nano {
//     %0 = load ub_addr=0 len=128 n1=1 n2=1
//     %1 = vrun tag=2; cycles=64; reads ub[0x0, 64, 4 * 512]; after %0
//     %2 = store len=64 n1=1 n2=1 hbm_addr=4096; after %1
//   }
//
// A step is an assembler line (docs/program_file.md) and what the descriptor
// does not say: cycles and accesses of a vector program, and the steps that it
// must come after. `sequence on nano, flagged {` once sync flags order them.
#ifndef HOST_COMPILER_SEQUENCE_H_
#define HOST_COMPILER_SEQUENCE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/access.h"
#include "host/ir/pass_manager.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

// The latest step of each queue that one must come after; -1 = none. Earlier
// ones of that queue are implied.
using Dependences = std::array<int, isa::kNumQueues>;
inline constexpr Dependences kNoDependences = {-1, -1, -1, -1, -1};

struct Step {
  isa::Descriptor descriptor{};
  std::vector<Access> touches;  // a superset, beside AccessesOf(descriptor)
  int64_t cycles = 0;           // beside CostOf(descriptor)
  Dependences after = kNoDependences;

  isa::Queue queue() const { return QueueOf(descriptor); }
};

struct Sequence {
  explicit Sequence(const Preset& on) : preset(&on) {}

  const Preset* preset;
  std::vector<Step> steps;
  bool flagged = false;

  int size() const { return static_cast<int>(steps.size()); }
};

using SequencePass = ir::PassOver<Sequence>;
using SequencePassManager = ir::PassManagerOver<Sequence>;

// ParseSequence(Print(s)) prints as s does. Errors: InvalidArgument, which
// names the line.
std::string Print(const Sequence& sequence);
absl::StatusOr<Sequence> ParseSequence(std::string_view text);

// What every sequence keeps: a step comes after earlier steps of other queues;
// every tile is taken before the next are pushed (rule 4 of docs/isa.md). Of a
// flagged one: the n-th wait of a flag follows its n-th post, and queues and
// flags alone order every dependence. Errors: Internal, which names the step.
absl::Status Verify(const Sequence& sequence);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_SEQUENCE_H_
