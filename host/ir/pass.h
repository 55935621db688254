// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Passes over modules.
//
//   PassManager passes;
//   passes.Add(std::make_unique<Simplification>());
//   passes.Add(std::make_unique<PadFolding>());
//   absl::Status status = passes.Run(module);
#ifndef SYSTOLE_HOST_IR_PASS_H_
#define SYSTOLE_HOST_IR_PASS_H_

#include "host/ir/module.h"
#include "host/ir/pass_manager.h"
#include "host/ir/verifier.h"

namespace systole::ir {

// A pass preserves the module's results bit-exactly.
using Pass = PassOver<Module>;
using PassManager = PassManagerOver<Module>;

// The passes that prepare an imported module for lowering, in their order.
PassManager StandardPasses();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASS_H_
