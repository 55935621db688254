// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Type rules of collectives. The size of a group depends on the program's
// replicas and partitions, which a node does not know. process_groups.h
// therefore checks the sizes for all_gather, reduce_scatter and all_to_all.
#include "host/ir/hlo/rules.h"

namespace systole::ir {
namespace {

absl::Status CheckDimension(int64_t dimension, const Type& type) {
  SYSTOLE_IR_CHECK(0 <= dimension && dimension < type.rank(), "dimension ",
                   dimension, " of ", TypeText(type));
  return absl::OkStatus();
}

// Sets `dimension` of the operand's type to its size in the node's result type.
// That size must be a multiple of the operand's or, if `part`, a divisor of it.
absl::Status Scale(const Type& result, int64_t dimension, bool part,
                   Type& type) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckDimension(dimension, type));
  if (result.rank() != type.rank()) return absl::OkStatus();
  const int64_t whole = (part ? type : result).shape[dimension];
  const int64_t piece = (part ? result : type).shape[dimension];
  SYSTOLE_IR_CHECK(piece == 0 ? whole == 0 : whole % piece == 0, TypeText(type),
                   " is not of pieces of ", TypeText(result));
  type.shape[dimension] = result.shape[dimension];
  return absl::OkStatus();
}

Types InferAllToAll(const Node& node, const HloCollectiveAttributes& a) {
  std::vector<Type> types;
  for (const Value& operand : node.operands) {
    Type type = operand.type();
    SYSTOLE_IR_RETURN_IF_ERROR(CheckDimension(a.dimension, type));
    SYSTOLE_IR_RETURN_IF_ERROR(CheckDimension(a.concat_dimension, type));
    SYSTOLE_IR_CHECK(type.shape[a.dimension] % a.group_size == 0,
                     TypeText(type), " is not split into ", a.group_size);
    type.shape[a.dimension] /= a.group_size;
    type.shape[a.concat_dimension] *= a.group_size;
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace

Types InferCollective(const Node& node) {
  const auto& a = node.attr<HloCollectiveAttributes>();
  SYSTOLE_IR_CHECK(
      a.group_size >= 1 &&
          static_cast<int64_t>(a.replica_groups.size()) % a.group_size == 0,
      a.replica_groups.size(), " replicas in groups of ", a.group_size);
  if (node.op == Op::kHloAllToAll) return InferAllToAll(node, a);
  const bool gathers = node.op == Op::kHloAllGather;
  const bool scatters = node.op == Op::kHloReduceScatter;
  std::vector<Type> types;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    Type type = node.operands[i].type();
    if ((gathers || scatters) && static_cast<int>(i) < node.results()) {
      SYSTOLE_IR_RETURN_IF_ERROR(Scale(node.result_type(static_cast<int>(i)),
                                       a.dimension, scatters, type));
    }
    types.push_back(std::move(type));
  }
  if (!node.regions.empty()) {
    const ElementType element = types[0].element;
    for (const Type& type : types) {
      SYSTOLE_IR_CHECK(type.element == element,
                       "operands of different element types");
    }
    const Type scalar{element, {}, {}};
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckRegion(node, 0, {scalar, scalar}, {scalar},
                    static_cast<int>(node.operands.size())));
  }
  return types;
}

Types InferDeviceId(const Node&) {
  return std::vector<Type>{{ElementType::kUint32, {}, {}}};
}

Types InferShard(const Node& node) {
  const Type& from = node.operands[0].type();
  const auto& a = node.attr<HloShardAttributes>();
  for (const int64_t size : a.sizes)
    SYSTOLE_IR_CHECK(0 <= size && size <= kMaxElements, "size ", size);
  Type type{from.element, a.sizes, {}};
  SYSTOLE_IR_CHECK(!a.starts.empty(), "a shard of no process");
  for (const int64_t start : a.starts) {
    SYSTOLE_IR_CHECK(0 <= start && start <= from.elements() - type.elements(),
                     TypeText(type), " from element ", start, " of ",
                     TypeText(from));
  }
  return std::vector<Type>{type};
}

}  // namespace systole::ir
