// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_IR_PASSES_CLAMP_FUSION_H_
#define SYSTOLE_HOST_IR_PASSES_CLAMP_FUSION_H_

#include "host/ir/pass.h"

namespace systole::ir {

// Moves a ReLU into the clamp of the operation before it, if both have the same
// scale and zero point and the ReLU is its only user.
class ClampFusion : public Pass {
 public:
  std::string name() const override { return "clamp-fusion"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASSES_CLAMP_FUSION_H_
