// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The processes that take part in a collective. A program runs in replicas x
// partitions processes, each on its own device. Process r * partitions + p is
// partition p of replica r. Groups are defined in StableHLO's specification,
// "Collective ops" (docs/hlo.md, "Several devices").
#ifndef SYSTOLE_HOST_IR_HLO_PROCESS_GROUPS_H_
#define SYSTOLE_HOST_IR_HLO_PROCESS_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"

namespace systole::ir {

struct ProcessGrid {
  int replicas = 1, partitions = 1;
  int count() const { return replicas * partitions; }
};

// A group's processes in the order of their positions.
using ProcessGroup = std::vector<int>;

// The groups of a collective. For collective_permute, a group has the processes
// that pairs connect, in ascending order; a process without a pair is alone.
// Errors: InvalidArgument for groups that name a missing process, that do not
// have each process once, or whose size does not fit the node's types.
absl::StatusOr<std::vector<ProcessGroup>> ProcessGroupsOf(const Node& node,
                                                          ProcessGrid grid);

// For collective_permute: the source of each process, or -1. Errors:
// InvalidArgument.
absl::StatusOr<std::vector<int>> SourcesOf(const Node& node, ProcessGrid grid);

// Checks every collective of a verified module, also in regions. Errors name
// the node.
absl::Status CheckCollectives(const Module& module, ProcessGrid grid);

// Whether the module, or a region in it, has a collective or reads the number
// of its process.
bool HasCollectives(const Module& module);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_PROCESS_GROUPS_H_
