// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_
#define SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Orders the two branches of an addition: the lighter one comes first. The
// addition then follows the heavier one and can be computed between its blocks.
class ResidualOrdering : public Pass {
 public:
  std::string name() const override { return "residual-ordering"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_
