// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which processes take part in a collective. A program runs in replicas x
// partitions processes, each on a device; process r * partitions + p is
// partition p of replica r. The groups are those of StableHLO's specification,
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

// Of collective_permute, the groups are those of processes that pairs join, in
// ascending order; processes without a pair are alone.
// Errors: InvalidArgument, for groups that are not of these processes, or whose
// number does not fit the node's types.
absl::StatusOr<std::vector<ProcessGroup>> ProcessGroupsOf(const Node& node,
                                                          ProcessGrid grid);

// Of collective_permute: for each process the one that sends to it, or -1.
// Errors: InvalidArgument.
absl::StatusOr<std::vector<int>> SourcesOf(const Node& node, ProcessGrid grid);

// Checks every collective of a verified module, also in regions. Errors name
// the node.
absl::Status CheckCollectives(const Module& module, ProcessGrid grid);

// Whether it or a region of it has a collective or an id of its process.
bool HasCollectives(const Module& module);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_PROCESS_GROUPS_H_
