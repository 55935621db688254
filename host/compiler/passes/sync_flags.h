// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_SYNC_FLAGS_H_
#define HOST_COMPILER_PASSES_SYNC_FLAGS_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// The flag of the channel between two queues; one for each ordered pair.
int ChannelFlag(isa::Queue from, isa::Queue to);

// Sets the wait and post masks that make every step start after those that it
// must come after. What queues or other flags imply gets none; the n-th post of
// a channel meets the n-th wait. ResourceExhausted: a flag may count further
// than it can.
class SyncFlags : public SequencePass {
 public:
  std::string name() const override { return "sync-flags"; }
  absl::StatusOr<bool> Run(Sequence& sequence) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_SYNC_FLAGS_H_
