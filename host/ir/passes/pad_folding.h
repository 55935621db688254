// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_
#define SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Lets a convolution pad its input itself, where a pad by the zero point in
// height and width comes before it.
class PadFolding : public Pass {
 public:
  std::string name() const override { return "pad-folding"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_PAD_FOLDING_H_
