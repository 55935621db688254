// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <memory>

#include "host/ir/pass.h"
#include "host/ir/passes/clamp_fusion.h"
#include "host/ir/passes/constant_folding.h"
#include "host/ir/passes/maximum_expansion.h"
#include "host/ir/passes/pad_folding.h"
#include "host/ir/passes/prelu_expansion.h"
#include "host/ir/passes/residual_ordering.h"
#include "host/ir/passes/simplification.h"

namespace systole::ir {

PassManager StandardPasses() {
  PassManager passes;
  passes.Add(std::make_unique<Simplification>());
  passes.Add(std::make_unique<ConstantFolding>());
  passes.Add(std::make_unique<ClampFusion>());
  passes.Add(std::make_unique<PadFolding>());
  passes.Add(std::make_unique<MaximumExpansion>());
  passes.Add(std::make_unique<PreluExpansion>());
  passes.Add(std::make_unique<ResidualOrdering>());
  return passes;
}

}  // namespace systole::ir
