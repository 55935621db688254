// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Imports portable StableHLO artifacts (VHLO in MLIR bytecode) as modules of
// hlo/. JAX passes such artifacts to a PJRT plugin, and files of jax.export
// contain them (host/files/jax_export.h).
//
//   absl::StatusOr<StableHloProgram> program = ImportStableHlo(bytes);
//
// Calls of functions and composites are inlined. Outside values that a region
// reads become further parameters of the region; constants are copied into it.
// Splat constants become a scalar and a broadcast. The module computes whole
// arrays, and shardings are stored beside it. If the program has several
// partitions, marks (partitioner.h) keep the places of sharding constraints and
// of manual computations.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/module.h"
#include "host/partition/partitioner.h"

namespace systole::import {

struct StableHloArgument {
  // The output that reuses the argument's memory (tf.aliasing_output).
  std::optional<int> aliased_output;
  // Any output may reuse the memory (jax.buffer_donor).
  bool donated = false;
  // "#sdy.sharding<@mesh, [{"batch"}, {}]>", or XLA's notation; "": none.
  std::string sharding;
  std::optional<partition::Sharding> tiles;  // that of sdy
};

struct StableHloResult {
  std::string sharding;
  std::optional<partition::Sharding> tiles;
  std::string memory_kind;  // where the caller wants it, or ""
};

// Shardings of intermediate values in a program of several partitions, as in
// partition::GlobalProgram.
struct StableHloShardings {
  std::unordered_map<const ir::Node*,
                     std::vector<std::optional<partition::Sharding>>>
      suggested;
  std::unordered_map<const ir::Node*, partition::Sharding> marks;
};

struct StableHloProgram {
  // Parameters and outputs are in the program's order. They have the source's
  // names, made unique. The module is verified.
  std::unique_ptr<ir::Module> module;
  std::vector<StableHloArgument> arguments;  // one per parameter
  std::vector<StableHloResult> results;      // one per output
  int num_replicas = 1;
  int num_partitions = 1;
  std::vector<std::pair<std::string, std::string>> meshes;  // name, text
  StableHloShardings shardings;
  std::string version;  // of StableHLO: "1.13.7", or "" if the file has none
};

// kDataLoss: not bytecode, or damaged. kInvalidArgument: the artifact violates
// StableHLO's rules. kUnimplemented: a newer version, or unsupported operations
// and types; the message lists them with source lines. kResourceExhausted: over
// a million operations after inlining.
absl::StatusOr<StableHloProgram> ImportStableHlo(absl::string_view bytes);

// Takes the module and returns it as a program on whole arrays, to be divided
// among its partitions. Errors: Unimplemented for shardings in XLA's notation.
absl::StatusOr<partition::GlobalProgram> GlobalProgramOf(
    StableHloProgram& program);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_STABLEHLO_IMPORTER_H_
