// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_SYNC_FLAGS_H_
#define HOST_COMPILER_PASSES_SYNC_FLAGS_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// The flag of the channel between two queues, or -1: their descriptors never
// depend on each other, because no place that one writes is the other's too
// (matmuls take tiles through the weight FIFO, which orders them). Flags stay
// below those that others post (isa::kFirstLinkFlag).
int ChannelFlag(isa::Queue from, isa::Queue to);

// Sets the wait and post masks that make every step start after the steps that
// it depends on; flags from isa::kFirstLinkFlag on, which other cores post or
// wait for, stay as they are. Dependences that queues or other flags imply need
// no flag. The n-th wait of a channel meets the n-th post. ResourceExhausted: a
// flag may exceed its maximum count. Internal: a dependence between queues that
// have no channel.
class SyncFlags : public SequencePass {
 public:
  std::string name() const override { return "sync-flags"; }
  absl::StatusOr<bool> Run(Sequence& sequence) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_SYNC_FLAGS_H_
