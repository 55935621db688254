// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_SIMPLIFICATION_H_
#define SYSTOLE_HOST_IR_PASSES_SIMPLIFICATION_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Removes operations without an effect: conversions to the same shape, type or
// order, empty padding, a clamp to the whole range, chains of reshapes.
class Simplification : public Pass {
 public:
  std::string name() const override { return "simplification"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_SIMPLIFICATION_H_
