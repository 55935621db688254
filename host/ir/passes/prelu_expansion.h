// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_PRELU_EXPANSION_H_
#define SYSTOLE_HOST_IR_PASSES_PRELU_EXPANSION_H_

#include <string>

#include "host/ir/pass.h"

namespace systole::ir {

// Rewrites prelu(x, a) with a constant a, one value for each channel or for
// each element, as relu(x) + min(x, 0) * a. Either term is zero, so the sum is
// exact, and both terms have the factors and roundings of the prelu. The device
// has tables, products and sums, but no prelu of several slopes.
class PreluExpansion : public Pass {
 public:
  std::string name() const override { return "prelu-expansion"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_PRELU_EXPANSION_H_
