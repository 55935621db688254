// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_CONSTANT_FOLDING_H_
#define SYSTOLE_HOST_IR_PASSES_CONSTANT_FOLDING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Replaces operations on constants by their result if the host implements them
// and the result is not much larger than the operands.
class ConstantFolding : public Pass {
 public:
  std::string name() const override { return "constant-folding"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_CONSTANT_FOLDING_H_
