// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_SCHEDULING_H_
#define HOST_COMPILER_PASSES_SCHEDULING_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// Orders the steps by the start that the cost model expects of them, so that
// the sequencer, which dispatches in order, never holds up a unit that could
// work: loads and tiles of a block, or of the next layer, run ahead of the work
// before it. Each queue keeps its order; tiles stay right before the matmul
// that takes them; loads come about 3,000 cycles before their data are needed.
//
// `loops`: what repeats itself keeps its order in all its passes
// (repeated_order.h).
class Scheduling : public SequencePass {
 public:
  explicit Scheduling(bool loops = false) : loops_(loops) {}
  std::string name() const override { return "scheduling"; }
  absl::StatusOr<bool> Run(Sequence& sequence) override;

 private:
  const bool loops_;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_SCHEDULING_H_
