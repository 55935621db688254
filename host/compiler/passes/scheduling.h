// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_SCHEDULING_H_
#define HOST_COMPILER_PASSES_SCHEDULING_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// Orders the steps by the start that the cost model expects. The sequencer
// dispatches in order; with this order it does not hold up a unit that could
// work: loads and tiles of a block, or of the next layer, run ahead of the work
// before them. Each queue keeps its order. Tiles stay right before the matmul
// that takes them. Loads come about 3,000 cycles before their data is needed.
//
// `loops`: repetitions keep their order in all passes (repeated_order.h).
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
