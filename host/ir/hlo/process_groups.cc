// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/process_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/rules.h"

namespace systole::ir {
namespace {

using Groups = std::vector<ProcessGroup>;

// What a number in the attribute identifies.
enum class Numbers {
  kReplicas,    // replicas, in the same partition
  kPartitions,  // partitions, of the same replica
  kAllOf,       // replicas, each with all its partitions
  kProcesses,
};

Numbers NumbersOf(const Node& node, const HloCollectiveAttributes& a) {
  switch (node.op) {
    case Op::kHloAllToAll:
    case Op::kHloCollectivePermute:
    case Op::kHloCollectiveBroadcast:
      return a.channel > 0 ? Numbers::kPartitions : Numbers::kReplicas;
    default:
      if (a.channel <= 0) return Numbers::kReplicas;
      return a.use_global_device_ids ? Numbers::kProcesses : Numbers::kAllOf;
  }
}

int LimitOf(Numbers numbers, ProcessGrid grid) {
  switch (numbers) {
    case Numbers::kPartitions:
      return grid.partitions;
    case Numbers::kProcesses:
      return grid.count();
    default:
      return grid.replicas;
  }
}

// The groups of the attribute, without padding. Without any, all numbers form
// one group.
absl::StatusOr<Groups> ListsOf(const Node& node, int limit) {
  const auto& a = node.attr<HloCollectiveAttributes>();
  const bool pairs = node.op == Op::kHloCollectivePermute;
  Groups lists;
  if (a.replica_groups.empty() && !pairs) {
    std::iota(lists.emplace_back(limit).begin(), lists.back().end(), 0);
    return lists;
  }
  std::vector<bool> seen(limit, false);
  for (size_t i = 0; i < a.replica_groups.size(); ++i) {
    if (static_cast<int64_t>(i) % a.group_size == 0) lists.emplace_back();
    const int64_t number = a.replica_groups[i];
    if (number == -1 && node.op == Op::kHloAllReduce) continue;
    SYSTOLE_IR_CHECK(0 <= number && number < limit, "number ", number,
                     " in its groups; there are ", limit);
    if (!pairs) {
      SYSTOLE_IR_CHECK(!seen[number], "number ", number,
                       " is twice in its groups");
      seen[number] = true;
    }
    lists.back().push_back(static_cast<int>(number));
  }
  if (!pairs) {
    const auto missing = std::find(seen.begin(), seen.end(), false);
    SYSTOLE_IR_CHECK(missing == seen.end(), "number ", missing - seen.begin(),
                     " is in none of its groups");
  }
  return lists;
}

absl::StatusOr<Groups> Listed(const Node& node, ProcessGrid grid) {
  const Numbers numbers = NumbersOf(node, node.attr<HloCollectiveAttributes>());
  const absl::StatusOr<Groups> lists = ListsOf(node, LimitOf(numbers, grid));
  if (!lists.ok()) return lists.status();
  Groups groups;
  for (const ProcessGroup& list : *lists) {
    if (list.empty()) continue;
    const int copies = numbers == Numbers::kReplicas     ? grid.partitions
                       : numbers == Numbers::kPartitions ? grid.replicas
                                                         : 1;
    for (int copy = 0; copy < copies; ++copy) {
      ProcessGroup& group = groups.emplace_back();
      for (const int number : list) {
        switch (numbers) {
          case Numbers::kReplicas:
            group.push_back(number * grid.partitions + copy);
            break;
          case Numbers::kPartitions:
            group.push_back(copy * grid.partitions + number);
            break;
          case Numbers::kProcesses:
            group.push_back(number);
            break;
          case Numbers::kAllOf:
            break;
        }
      }
      // All replicas of the first partition, then those of the second, and so
      // on.
      for (int p = 0; numbers == Numbers::kAllOf && p < grid.partitions; ++p) {
        for (const int replica : list)
          group.push_back(replica * grid.partitions + p);
      }
    }
  }
  return groups;
}

// Checks that the result types fit the operand types in a group of `count`.
absl::Status CheckCount(const Node& node, int64_t count) {
  const auto& a = node.attr<HloCollectiveAttributes>();
  for (int i = 0; i < node.results(); ++i) {
    const int64_t from = node.operands[i].type().shape.empty()
                             ? 1
                             : node.operands[i].type().shape[a.dimension];
    const int64_t to = node.result_type(i).shape.empty()
                           ? 1
                           : node.result_type(i).shape[a.dimension];
    const bool fits = node.op == Op::kHloAllGather       ? from * count == to
                      : node.op == Op::kHloReduceScatter ? from == to * count
                      : node.op == Op::kHloAllToAll      ? count == a.group_size
                                                         : true;
    SYSTOLE_IR_CHECK(fits, "a group of ", count, " does not make ",
                     TypeText(node.result_type(i)), " of ",
                     TypeText(node.operands[i].type()));
  }
  return absl::OkStatus();
}

// Groups of processes that pairs of source and target connect.
Groups Joined(const Groups& pairs, int count) {
  std::vector<int> first(count);  // the smallest process of its group
  std::iota(first.begin(), first.end(), 0);
  for (const ProcessGroup& pair : pairs) {
    const auto [low, high] = std::minmax(first[pair[0]], first[pair[1]]);
    std::replace(first.begin(), first.end(), int{high}, int{low});
  }
  Groups groups(count);
  for (int process = 0; process < count; ++process)
    groups[first[process]].push_back(process);
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [](const auto& group) { return group.empty(); }),
               groups.end());
  return groups;
}

}  // namespace

absl::StatusOr<std::vector<int>> SourcesOf(const Node& node, ProcessGrid grid) {
  const absl::StatusOr<Groups> pairs = Listed(node, grid);
  if (!pairs.ok()) return pairs.status();
  std::vector<int> sources(grid.count(), -1);
  std::vector<bool> sends(grid.count(), false);
  for (const ProcessGroup& pair : *pairs) {
    SYSTOLE_IR_CHECK(pair.size() == 2, "a pair of ", pair.size());
    SYSTOLE_IR_CHECK(!sends[pair[0]] && sources[pair[1]] < 0, "two pairs ",
                     sends[pair[0]] ? "from " : "to ",
                     sends[pair[0]] ? pair[0] : pair[1]);
    sends[pair[0]] = true;
    sources[pair[1]] = pair[0];
  }
  return sources;
}

absl::StatusOr<Groups> ProcessGroupsOf(const Node& node, ProcessGrid grid) {
  absl::StatusOr<Groups> groups = Listed(node, grid);
  if (!groups.ok()) return groups;
  if (node.op == Op::kHloCollectivePermute) {
    const absl::StatusOr<std::vector<int>> sources = SourcesOf(node, grid);
    if (!sources.ok()) return sources.status();
    return Joined(*groups, grid.count());
  }
  for (const ProcessGroup& group : *groups) {
    if (absl::Status s = CheckCount(node, static_cast<int64_t>(group.size()));
        !s.ok())
      return s;
  }
  return groups;
}

absl::Status CheckCollectives(const Module& module, ProcessGrid grid) {
  for (const auto& node : module.nodes()) {
    if (IsCollective(node->op)) {
      const absl::Status status = ProcessGroupsOf(*node, grid).status();
      if (!status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "node '", node->name, "'", node->location.empty() ? "" : " at ",
            node->location, ": ", OpName(node->op), " of ", grid.replicas,
            " replicas of ", grid.partitions,
            " partitions: ", status.message()));
      }
    }
    for (const auto& region : node->regions) {
      if (absl::Status s = CheckCollectives(*region, grid); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

bool HasCollectives(const Module& module) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(), [](const auto& node) {
        return IsCollective(node->op) || node->op == Op::kHloPartitionId ||
               node->op == Op::kHloReplicaId ||
               std::any_of(
                   node->regions.begin(), node->regions.end(),
                   [](const auto& region) { return HasCollectives(*region); });
      });
}

}  // namespace systole::ir
