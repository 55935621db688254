// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Divides a module between device and host: networks of layers for the device,
// and the operators before, between and after them, which the host runs.
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
  int step = 0;        // even: host part step / 2; odd: network step / 2
  int64_t macs = 0;    // per image
  int64_t bytes = 0;   // of the result, per image
};

// Execution alternates: the host runs parts[0], the device networks[0], the
// host parts[1], and so on; the host runs the last part. Values are passed by
// name: an input of a network, or a parameter of a part after the first, is the
// output of that name of an earlier part, or the output tensor of that name of
// an earlier network. The first part has the module's parameters, the last one
// its outputs. A part without computation passes its values on.
struct Lowered {
  std::vector<model::Network> networks;  // at least one
  // Of every value that is passed between host and networks; the networks
  // process one.
  int64_t images = 1;
  // One more than networks; for ir::EvaluateModule.
  std::vector<std::unique_ptr<ir::Module>> parts;
  std::vector<Placement> placements;

  const ir::Module& head() const { return *parts.front(); }
  const ir::Module& tail() const { return *parts.back(); }
};

// Multiply-adds of an operator.
int64_t Macs(const ir::Node& node);

// Lowers for the target, or for every target that runs quantised networks.
// `alone`: the host may be alone, with a network that is empty. Errors:
// Unimplemented if nothing runs on the device; it says why.
absl::StatusOr<Lowered> LowerModule(const ir::Module& module,
                                    const Target* target = nullptr,
                                    bool alone = false);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LOWERING_H_
