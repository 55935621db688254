// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a module of op set hlo, element by element, as docs/hlo.md and the
// StableHLO specification say: the definition that the host's evaluation and
// the devices are compared with, to the bit. Slow.
//
//   std::vector<ir::Literal> outputs = golden::RunHlo(*module, inputs).value();
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::golden {

// The outputs of a verified module from its inputs in their order. Errors:
// Unimplemented, with the node's name, for calls that it does not know and for
// what is in no artifact.
absl::StatusOr<std::vector<ir::Literal>> RunHlo(
    const ir::Module& module, const std::vector<ir::Literal>& inputs);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_INTERPRETER_H_
