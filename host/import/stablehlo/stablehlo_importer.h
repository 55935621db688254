// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads portable StableHLO artifacts (VHLO in MLIR bytecode), which is what JAX
// hands to a PJRT plugin, as modules of the operations of hlo/.
//
//   absl::StatusOr<StableHloProgram> program = ImportStableHlo(bytes);
//
// Calls of functions and composites are inlined. A region reads what it needs
// from around it as further parameters; constants come along instead. Splat
// constants are a scalar and a broadcast. Shardings and barriers of placement
// are kept beside the module or dropped: the module computes global values.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/module.h"

namespace systole::import {

struct StableHloArgument {
  // The output that shall take over the argument's memory
  // (tf.aliasing_output).
  std::optional<int> aliased_output;
  // The memory may be used by any output (jax.buffer_donor).
  bool donated = false;
  // "#sdy.sharding<@mesh, [{"batch"}, {}]>", or XLA's notation; "": none.
  std::string sharding;
};

struct StableHloResult {
  std::string sharding;
};

struct StableHloProgram {
  // Parameters and outputs in the order of the program's; their names are
  // those of the source, made unique. Verified.
  std::unique_ptr<ir::Module> module;
  std::vector<StableHloArgument> arguments;  // one a parameter
  std::vector<StableHloResult> results;      // one an output
  int num_replicas = 1;
  int num_partitions = 1;
  std::vector<std::pair<std::string, std::string>> meshes;  // name, text
  std::string version;  // of StableHLO: "1.13.7", or "" if the file has none
};

// kDataLoss: not bytecode, or damaged; kInvalidArgument: against the rules of
// StableHLO; kUnimplemented: a newer version, or operations and types that are
// not supported, all of which the message names with their source lines;
// kResourceExhausted: over a million operations once calls are inlined.
absl::StatusOr<StableHloProgram> ImportStableHlo(absl::string_view bytes);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_
