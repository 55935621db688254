// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_
#define SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Of the two branches that an addition joins, puts the layer of a lighter one
// before that of the heavier one, so that the addition follows the heavier one
// and can be worked on between its blocks.
class ResidualOrdering : public Pass {
 public:
  std::string name() const override { return "residual-ordering"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_RESIDUAL_ORDERING_H_
