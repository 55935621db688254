// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Divides a module between device and host: networks of layers for the device,
// and the operators before, between and behind them, which the host runs.
//
//   absl::StatusOr<Lowered> lowered = lower::LowerModule(*module);
//   for (const model::Network& network : lowered->networks)
//     absl::StatusOr<Program> program =
//         compiler::CompileNetwork(network, preset, options);
#ifndef SYSTOLE_HOST_LOWER_LOWERING_H_
#define SYSTOLE_HOST_LOWER_LOWERING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "systole/model.h"
#include "systole/target.h"

namespace systole::lower {

// Where an operator runs.
struct Placement {
  std::string node;
  std::string op;
  std::string unit;    // "array", "vector unit", "host" or "nowhere"
  std::string reason;  // why on the host, or nowhere
  int step = 0;        // even: the host's part step / 2; odd: network step / 2
  int64_t macs = 0;    // of one image
  int64_t bytes = 0;   // of the result, of one image
};

// The host runs parts[0], the device networks[0], the host parts[1], ..., the
// host the last part. Values go on by name: an input of a network or a
// parameter of a part behind the first is the output of that name of an earlier
// part, or the output tensor of that name of an earlier network. The first part
// has the module's parameters, the last one its outputs; a part that computes
// nothing hands its values on.
struct Lowered {
  std::vector<model::Network> networks;            // at least one
  std::vector<std::unique_ptr<ir::Module>> parts;  // one more; for
                                                   // ir::EvaluateModule
  std::vector<Placement> placements;

  const ir::Module& head() const { return *parts.front(); }
  const ir::Module& tail() const { return *parts.back(); }
};

// Multiplications and additions of an operator.
int64_t Macs(const ir::Node& node);

// For the target, or for every one that runs quantised networks. Errors:
// Unimplemented if nothing runs on the device.
absl::StatusOr<Lowered> LowerModule(const ir::Module& module,
                                    const Target* target = nullptr);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LOWERING_H_
