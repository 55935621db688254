// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_DEPENDENCE_ANALYSIS_H_
#define HOST_COMPILER_PASSES_DEPENDENCE_ANALYSIS_H_

#include "host/compiler/sequence.h"

namespace systole::compiler {

// Sets, for each step, the steps of other queues that it must come after:
// those that wrote what it reads or writes, and those that read what it writes.
// Of each queue the latest; queues themselves are in order. Whether anything
// changed.
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
