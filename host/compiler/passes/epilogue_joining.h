// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_EPILOGUE_JOINING_H_
#define HOST_COMPILER_PASSES_EPILOGUE_JOINING_H_

#include <string>

#include "host/compiler/plan.h"

namespace systole::compiler {

// Marks layers that the requantise of the layer before can compute on the way:
// an addition to its result, or a function of it. The layer must be the only
// reader of that result.
class EpilogueJoining : public PlanPass {
 public:
  std::string name() const override { return "epilogue-joining"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_EPILOGUE_JOINING_H_
