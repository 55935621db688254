// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Divides a module between device and host: a network of layers for the
// device, and the operators before and behind it, which the host runs.
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

// Values go from one part to the next by name: an input of the network or a
// parameter of the tail is the head's output of that name or, of the tail, the
// network's output tensor of that name. The head has the module's parameters,
// the tail its outputs; a part that computes nothing hands its values on.
struct Lowered {
  model::Network network;
  std::unique_ptr<ir::Module> head, tail;  // for ir::EvaluateModule
  std::vector<Placement> placements;
};

// Errors: Unimplemented, which names the operator that neither device nor host
// can run, or that only the device can run and that needs a result of the host
// behind it.
absl::StatusOr<Lowered> LowerModule(const ir::Module& module);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LOWERING_H_
