// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Divides a module between device and host: a network of layers for the
// device, and the operators behind it, which the host runs.
//
//   absl::StatusOr<Lowered> lowered = lower::LowerModule(*module);
//   absl::StatusOr<Program> program =
//       compiler::CompileNetwork(lowered->network, preset, options);
#ifndef SYSTOLE_HOST_LOWER_LOWERING_H_
#define SYSTOLE_HOST_LOWER_LOWERING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"

namespace systole::lower {

// Where an operator runs.
struct Placement {
  std::string node;
  std::string op;
  std::string unit;    // "array", "vector unit", "host" or "nowhere"
  std::string reason;  // why on the host, or nowhere
};

struct Lowered {
  model::Network network;
  // From the network's output to the module's, for ir::EvaluateModule; only the
  // parameter when the device does it all.
  std::unique_ptr<ir::Module> host;
  std::vector<Placement> placements;
};

// The module must have one input and one output. Errors: Unimplemented, which
// names the operator that neither device nor host can run, or between which
// and the device more than one value would go to and fro.
absl::StatusOr<Lowered> LowerModule(const ir::Module& module);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LOWERING_H_
