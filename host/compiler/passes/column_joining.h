// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef HOST_COMPILER_PASSES_COLUMN_JOINING_H_
#define HOST_COMPILER_PASSES_COLUMN_JOINING_H_

#include "host/compiler/plan.h"

namespace systole::compiler {

// Counts neighbouring outputs as channels of one position, if a layer has too
// few channels for the array's columns. It joins the number of outputs that
// takes the fewest cycles (layer_work.h).
class ColumnJoining : public PlanPass {
 public:
  std::string name() const override { return "column-joining"; }
  absl::StatusOr<bool> Run(Plan& plan) override;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PASSES_COLUMN_JOINING_H_
