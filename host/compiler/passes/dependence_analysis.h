// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_DEPENDENCE_ANALYSIS_H_
#define HOST_COMPILER_PASSES_DEPENDENCE_ANALYSIS_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// Sets, for each step, the steps of other queues that it depends on: the
// writers of what it reads or writes, and the readers of what it writes. Only
// the latest step of each queue is kept, because queues are in order. Returns
// whether anything changed.
bool FindDependences(Sequence& sequence);

class DependenceAnalysis : public SequencePass {
 public:
  std::string name() const override { return "dependence-analysis"; }
  absl::StatusOr<bool> Run(Sequence& sequence) override {
    return FindDependences(sequence);
  }
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_DEPENDENCE_ANALYSIS_H_
