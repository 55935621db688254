// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From a program on whole arrays to the program that each of n devices runs on
// its tiles, with the collectives between them.
//
//   GlobalProgram program = ...;   // from an importer
//   absl::StatusOr<LocalProgram> local = Partition(program);
//   client.Compile(std::move(local->module), {1, program.devices});
//
// Every node is taken in turn. Its rule (op_rules.h) says which dimensions may
// be divided; a suggested sharding of the result, or else those that the
// operands have, says which are. Operands come into the tiles that this needs:
// all_gather of what is divided otherwise, then each device's slice. What has
// no rule for a divided dimension is computed whole on every device.
#ifndef SYSTOLE_HOST_PARTITION_PARTITIONER_H_
#define SYSTOLE_HOST_PARTITION_PARTITIONER_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/partition/sharding.h"

namespace systole::partition {

// Calls of these targets mark where a part of the program begins and ends that
// computes with tiles itself. Their sharding in `marks` is that of the whole
// array. The type of the first one's result is that of a tile.
inline constexpr char kToTiles[] = "SPMDFullToShardShape";
inline constexpr char kToWhole[] = "SPMDShardToFullShape";
// The sharding in `marks` is that which the value gets here.
inline constexpr char kConstraint[] = "Sharding";

struct GlobalProgram {
  std::unique_ptr<ir::Module> module;
  int devices = 1;
  // Of parameters and outputs; none: replicated, and as it comes.
  std::vector<std::optional<Sharding>> inputs, outputs;
  // Suggestions for results of nodes, also in regions.
  std::unordered_map<const ir::Node*, std::vector<std::optional<Sharding>>>
      suggested;
  std::unordered_map<const ir::Node*, Sharding> marks;
};

struct LocalProgram {
  std::unique_ptr<ir::Module> module;     // of tiles
  std::vector<Sharding> inputs, outputs;  // of parameters and outputs
  // What every device computes whole although operands were divided.
  std::map<std::string, int64_t> whole;
  // Whose sizes are no multiples of the tiles of their shardings. They are
  // whole, or in as many tiles as divide them.
  std::map<std::string, int64_t> uneven;
};

// Errors: InvalidArgument, for a sharding that does not divide a value evenly
// of which a part of the program has tiles.
absl::StatusOr<LocalProgram> Partition(const GlobalProgram& program);

}  // namespace systole::partition

#endif  // SYSTOLE_HOST_PARTITION_PARTITIONER_H_
