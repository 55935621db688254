// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Several devices"; groups as in StableHLO's specification.
#include "absl/strings/str_cat.h"
#include "verif/golden/hlo/processes.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;
using Group = std::vector<int>;

// The rows of replica_groups, without padding.
std::vector<Group> Rows(const ir::HloCollectiveAttributes& a) {
  std::vector<Group> rows;
  for (size_t i = 0; i < a.replica_groups.size(); ++i) {
    if (i % a.group_size == 0) rows.emplace_back();
    if (a.replica_groups[i] >= 0)
      rows.back().push_back(static_cast<int>(a.replica_groups[i]));
  }
  return rows;
}

// The groups by the specification's cross_replica, cross_partition,
// cross_replica_and_partition or flattened_ids.
std::vector<Group> GroupsOf(const Node& node, const Processes& run) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const bool of_partitions = node.op == Op::kHloAllToAll ||
                             node.op == Op::kHloCollectivePermute ||
                             node.op == Op::kHloCollectiveBroadcast;
  const auto process = [&](int replica, int partition) {
    return replica * run.partitions() + partition;
  };
  std::vector<Group> rows = Rows(a);
  const bool by_id = !of_partitions && a.channel > 0 && a.use_global_device_ids;
  if (rows.empty() && node.op != Op::kHloCollectivePermute) {
    const int all = by_id ? run.replicas() * run.partitions()
                    : of_partitions && a.channel > 0 ? run.partitions()
                                                     : run.replicas();
    rows.emplace_back();
    for (int i = 0; i < all; ++i) rows[0].push_back(i);
  }
  if (by_id) return rows;
  std::vector<Group> groups;
  for (const Group& row : rows) {
    if (a.channel > 0 && of_partitions) {
      for (int replica = 0; replica < run.replicas(); ++replica) {
        groups.emplace_back();
        for (const int partition : row)
          groups.back().push_back(process(replica, partition));
      }
    } else if (a.channel > 0) {
      groups.emplace_back();
      for (int partition = 0; partition < run.partitions(); ++partition)
        for (const int replica : row)
          groups.back().push_back(process(replica, partition));
    } else {
      for (int partition = 0; partition < run.partitions(); ++partition) {
        groups.emplace_back();
        for (const int replica : row)
          groups.back().push_back(process(replica, partition));
      }
    }
  }
  return groups;
}

// Reduces element i over the group. In each step, positions that differ in one
// bit are combined. Elements of the first half take the bits from the lowest to
// the highest. Elements of the second half take the lowest, then the others
// from the highest down. The first half is a multiple of 256 elements.
class Reduction {
 public:
  Reduction(const Node& node, Evaluation& run)
      : combine_(*node.regions[0], {}, run),
        types_(2, node.operands[0].type().element) {}

  Tensor Of(const Tensors& parts) {
    Tensor result(parts[0].element, parts[0].shape);
    constexpr int64_t kBlock = 256;
    int64_t first_half = 0;
    while (2 * first_half < result.size()) first_half += kBlock;
    for (int64_t i = 0; i < result.size(); ++i) {
      std::vector<uint64_t> values;
      for (const Tensor& part : parts) values.push_back(part.bits[i]);
      result.bits[i] = Combined(std::move(values), i >= first_half);
    }
    return result;
  }

 private:
  uint64_t Combined(std::vector<uint64_t> values, bool downwards) {
    std::vector<size_t> distances;
    for (size_t d = 1; d < values.size(); d *= 2) distances.push_back(d);
    if (downwards && !distances.empty()) {
      const std::vector<size_t> upwards = distances;
      for (size_t l = 1; l < upwards.size(); ++l)
        distances[l] = upwards[upwards.size() - l];
    }
    for (const size_t distance : distances) {
      std::vector<uint64_t> next = values;
      for (size_t p = 0; p + distance < values.size(); ++p) {
        if (p / distance % 2 == 0)
          next[p] = combine_.Call(types_, {values[p], values[p + distance]})[0];
      }
      values = next;
    }
    return values[0];
  }

  Combiner combine_;
  const std::vector<Element> types_;
};

// `count` pieces along a dimension.
Tensors Split(const Tensor& whole, int64_t dimension, int64_t count) {
  Index shape = whole.shape;
  shape[dimension] /= count;
  Tensors pieces;
  for (int64_t piece = 0; piece < count; ++piece) {
    Tensor part(whole.element, shape);
    ForEach(shape, [&](const Index& index) {
      Index from = index;
      from[dimension] += piece * shape[dimension];
      part[index] = whole[from];
    });
    pieces.push_back(part);
  }
  return pieces;
}

Tensor Joined(const Tensors& pieces, int64_t dimension) {
  Index shape = pieces[0].shape;
  const int64_t each = shape[dimension];
  shape[dimension] *= static_cast<int64_t>(pieces.size());
  Tensor whole(pieces[0].element, shape);
  ForEach(shape, [&](const Index& index) {
    Index from = index;
    from[dimension] %= each;
    whole[index] = pieces[index[dimension] / each][from];
  });
  return whole;
}

// One operand of all members of the group, in their order. Returns their
// results in the same order.
Tensors Together(const Node& node, const Tensors& parts, Evaluation& run) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const size_t count = parts.size();
  switch (node.op) {
    case Op::kHloAllReduce:
      return Tensors(count, Reduction(node, run).Of(parts));
    case Op::kHloReduceScatter:
      return Split(Reduction(node, run).Of(parts), a.dimension,
                   static_cast<int64_t>(count));
    case Op::kHloAllGather:
      return Tensors(count, Joined(parts, a.dimension));
    case Op::kHloCollectiveBroadcast:
      return Tensors(count, parts[0]);
    case Op::kHloAllToAll: {
      std::vector<Tensors> pieces;
      for (const Tensor& part : parts)
        pieces.push_back(Split(part, a.dimension, static_cast<int64_t>(count)));
      Tensors results;
      for (size_t to = 0; to < count; ++to) {
        Tensors received;
        for (size_t from = 0; from < count; ++from)
          received.push_back(pieces[from][to]);
        results.push_back(Joined(received, a.concat_dimension));
      }
      return results;
    }
    default:
      return {};
  }
}

}  // namespace

ByProcess Exchanged(const Node& node, const ByProcess& operands,
                    Processes& processes) {
  ByProcess results;
  for (const auto& [process, values] : operands) {
    for (int i = 0; i < node.results(); ++i) {
      const ir::Type& type = node.result_type(i);
      results[process].emplace_back(type.element, type.shape);
    }
  }
  const int all = processes.replicas() * processes.partitions();
  for (const Group& group : GroupsOf(node, processes)) {
    int here = 0;
    for (const int process : group) {
      if (process < 0 || process >= all) {
        processes.Fail(node, absl::StatusCode::kInvalidArgument,
                       absl::StrCat("process ", process, " of ", all));
        return results;
      }
      here += operands.count(process) > 0 ? 1 : 0;
    }
    if (here == 0) continue;
    if (here < static_cast<int>(group.size())) {
      processes.Fail(
          node, absl::StatusCode::kFailedPrecondition,
          absl::StrCat(here, " of a group of ", group.size(), " come to it"));
      return results;
    }
    if (node.op == Op::kHloCollectivePermute) {
      results[group[1]] = operands.at(group[0]);
      continue;
    }
    for (int i = 0; i < node.results(); ++i) {
      Tensors parts;
      for (const int process : group) parts.push_back(operands.at(process)[i]);
      const Tensors made =
          Together(node, parts, processes.evaluation(group[0]));
      for (size_t p = 0; p < group.size(); ++p) {
        if (made[p].shape != results[group[p]][i].shape) {
          processes.Fail(node, absl::StatusCode::kInvalidArgument,
                         absl::StrCat("a group of ", group.size(),
                                      " makes results of another shape"));
          return results;
        }
        results[group[p]][i] = made[p];
      }
    }
  }
  return results;
}

}  // namespace systole::golden::hlo
