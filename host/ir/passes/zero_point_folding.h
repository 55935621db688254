// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_ZERO_POINT_FOLDING_H_
#define SYSTOLE_HOST_IR_PASSES_ZERO_POINT_FOLDING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Puts the input's zero point into the bias of convolutions and dense layers:
// bias[c] - zero_point * (sum of the weights of c).
class ZeroPointFolding : public Pass {
 public:
  std::string name() const override { return "zero-point-folding"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_ZERO_POINT_FOLDING_H_
