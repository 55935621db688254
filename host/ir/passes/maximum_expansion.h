// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_
#define SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_

#include <string>

#include "host/ir/pass.h"

namespace systole::ir {

// Makes max(a, b) = a + relu(b - a) and min(a, b) = a - relu(a - b) of int8
// tensors, where all have one scale and zero point: a difference of two int8 is
// 0..255 where it is not cut off, which is int8 with zero point -128, so every
// value stays what it was. The device adds and subtracts, and has no maximum.
class MaximumExpansion : public Pass {
 public:
  std::string name() const override { return "maximum-expansion"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_MAXIMUM_EXPANSION_H_
