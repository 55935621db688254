// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptors on their way to a program, with their dependences. The order of
// the steps is correct when they are executed one by one. Dependences, order
// and flags are passes over the sequence (passes/).
//
//   sequence on nano {
//     %0 = load ub_addr=0 len=128 n1=1 n2=1
//     %1 = vrun tag=2; cycles=64; reads ub[0x0, 64, 4 * 512]; after %0
//     %2 = store len=64 n1=1 n2=1 hbm_addr=4096; after %1
//   }
//
// A step is an assembler line (docs/program_file.md), followed by what the
// descriptor does not say: cycles and accesses of a vector program, and the
// steps that it depends on. The header is `sequence on nano, flagged {` once
// sync flags order the steps.
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

// The latest step of each queue that a step must come after; -1 = none. Earlier
// steps of that queue are implied.
using Dependences = std::array<int, isa::kNumQueues>;
inline constexpr Dependences kNoDependences = {-1, -1, -1, -1, -1, -1};

struct Step {
  isa::Descriptor descriptor{};
  // A superset, in addition to AccessesOf(descriptor).
  std::vector<Access> touches;
  int64_t cycles = 0;  // in addition to CostOf(descriptor)
  Dependences after = kNoDependences;
  // Cycles by which what it waits for may come later than expected.
  int64_t slack = 0;

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

// ParseSequence(Print(s)) prints as s does. InvalidArgument names the line.
std::string Print(const Sequence& sequence);
absl::StatusOr<Sequence> ParseSequence(std::string_view text);

// Checks the rules of every sequence: a step depends on earlier steps of other
// queues only; all tiles are taken before the next ones are pushed (rule 4 of
// docs/isa.md). Flagged: the n-th wait on a flag comes after its n-th post, and
// queues and flags alone enforce every dependence. Internal names the step.
absl::Status Verify(const Sequence& sequence);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_SEQUENCE_H_
