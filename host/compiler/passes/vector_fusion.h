// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_VECTOR_FUSION_H_
#define HOST_COMPILER_PASSES_VECTOR_FUSION_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Marks additions and pools that directly follow a layer with weights and read
// its result. Their blocks run between the blocks of that layer: the vector
// unit adds or pools finished blocks while the array works on the next one.
class VectorFusion : public PlanPass {
 public:
  std::string name() const override { return "vector-fusion"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_VECTOR_FUSION_H_
