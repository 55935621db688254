// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_VECTOR_FUSION_H_
#define HOST_COMPILER_PASSES_VECTOR_FUSION_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Marks additions and pools that directly follow a layer with weights and read
// its result: their blocks are to go between that layer's, so that the vector
// unit adds or pools what is done while the array works on the next block.
class VectorFusion : public PlanPass {
 public:
  std::string name() const override { return "vector-fusion"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_VECTOR_FUSION_H_
