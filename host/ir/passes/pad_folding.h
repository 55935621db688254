// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_
#define SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Moves a pad with the zero point in height and width into the convolution
// after it.
class PadFolding : public Pass {
 public:
  std::string name() const override { return "pad-folding"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_
