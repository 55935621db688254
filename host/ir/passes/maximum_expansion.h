// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_
#define SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_

#include <string>

#include "host/ir/pass.h"

namespace systole::ir {

// Rewrites max(a, b) = a + relu(b - a) and min(a, b) = a - relu(a - b) of int8
// tensors that all have the same scale and zero point. The clamped difference
// of two int8 is 0..255, which is int8 with zero point -128, so all values are
// exact. The device has addition and subtraction, but no maximum.
class MaximumExpansion : public Pass {
 public:
  std::string name() const override { return "maximum-expansion"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_
