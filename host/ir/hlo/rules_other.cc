// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/rules.h"

namespace systole::ir {

Types InferRngBitGenerator(const Node& node) {
  SYSTOLE_IR_CHECK(node.results() == 2, node.results(), " results");
  const Type& state = node.operands[0].type();
  const bool threefry =
      node.attr<HloRngBitsAttributes>().algorithm == RngAlgorithm::kThreeFry;
  SYSTOLE_IR_CHECK(
      state.element == ElementType::kUint64 && state.rank() == 1 &&
          (state.shape[0] == 2 || (state.shape[0] == 3 && !threefry)),
      "the state is ", TypeText(state), ", not u64[2]",
      threefry ? "" : " or u64[3]");
  const Type& bits = node.result_type(1);
  SYSTOLE_IR_CHECK(IsInteger(bits.element), TypeText(bits),
                   " is no type of random bits");
  return std::vector<Type>{state, bits};
}

Types InferRng(const Node& node) {
  const Type& low = node.operands[0].type();
  const Type& shape = node.operands[2].type();
  SYSTOLE_IR_CHECK(low.rank() == 0 && node.operands[1].type() == low,
                   "limits are ", TypeText(low), " and ",
                   TypeText(node.operands[1].type()));
  SYSTOLE_IR_CHECK(
      IsFloat(low.element) || (node.attr<HloRngAttributes>().distribution ==
                                   RngDistribution::kUniform &&
                               low.element != ElementType::kBool),
      "no random numbers of ", TypeText(low));
  SYSTOLE_IR_CHECK(shape.rank() == 1 && IsInteger(shape.element) &&
                       shape.shape[0] == node.type.rank(),
                   "the shape is ", TypeText(shape), " for ",
                   TypeText(node.type));
  return std::vector<Type>{{low.element, node.type.shape, {}}};
}

Types InferBatchNorm(const Node& node) {
  const Type& operand = node.operands[0].type();
  const auto& a = node.attr<HloBatchNormAttributes>();
  SYSTOLE_IR_CHECK(IsFloat(operand.element), TypeText(operand),
                   " is no type of the operation");
  SYSTOLE_IR_CHECK(0 <= a.feature_index && a.feature_index < operand.rank(),
                   "feature dimension ", a.feature_index, " of ",
                   TypeText(operand));
  const Type feature{operand.element, {operand.shape[a.feature_index]}, {}};
  const bool gradient = node.op == Op::kHloBatchNormGrad;
  for (size_t i = 1; i < node.operands.size(); ++i) {
    const Type& wanted = gradient && i == 4 ? operand : feature;
    SYSTOLE_IR_CHECK(node.operands[i].type() == wanted, "operand ", i, " is ",
                     TypeText(node.operands[i].type()), ", not ",
                     TypeText(wanted));
  }
  if (node.op == Op::kHloBatchNormInference) return std::vector<Type>{operand};
  return std::vector<Type>{operand, feature, feature};
}

namespace {

absl::Status CheckSquares(const Type& type) {
  const int rank = type.rank();
  SYSTOLE_IR_CHECK(IsFloat(type.element) && rank >= 2 &&
                       type.shape[rank - 1] == type.shape[rank - 2],
                   TypeText(type), " is not of square matrices");
  return absl::OkStatus();
}

}  // namespace

Types InferCholesky(const Node& node) {
  const Type& type = node.operands[0].type();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckSquares(type));
  return std::vector<Type>{type};
}

Types InferTriangularSolve(const Node& node) {
  const Type& a = node.operands[0].type();
  const Type& b = node.operands[1].type();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckSquares(a));
  SYSTOLE_IR_CHECK(a.element == b.element && a.rank() == b.rank(), TypeText(a),
                   " and ", TypeText(b), " differ in type or rank");
  const int left = node.attr<HloTriangularSolveAttributes>().left_side ? 2 : 1;
  for (int i = 0; i < a.rank(); ++i) {
    const bool matrix = i >= a.rank() - 2;
    SYSTOLE_IR_CHECK(matrix ? i != a.rank() - left || a.shape[i] == b.shape[i]
                            : a.shape[i] == b.shape[i],
                     TypeText(b), " does not go with ", TypeText(a));
  }
  return std::vector<Type>{b};
}

// Collectives; with one replica they do nothing.
Types InferCollective(const Node& node) {
  const auto& a = node.attr<HloCollectiveAttributes>();
  SYSTOLE_IR_CHECK(
      a.group_size >= 1 &&
          static_cast<int64_t>(a.replica_groups.size()) % a.group_size == 0,
      a.replica_groups.size(), " replicas in groups of ", a.group_size);
  std::vector<Type> types;
  for (const Value& operand : node.operands) {
    Type type = operand.type();
    const auto scale = [&](int64_t dimension, bool grow) -> absl::Status {
      SYSTOLE_IR_CHECK(0 <= dimension && dimension < type.rank(), "dimension ",
                       dimension, " of ", TypeText(type));
      int64_t& size = type.shape[dimension];
      SYSTOLE_IR_CHECK(grow || size % a.group_size == 0, TypeText(type),
                       " is not split into ", a.group_size);
      size = grow ? size * a.group_size : size / a.group_size;
      return absl::OkStatus();
    };
    if (node.op == Op::kHloAllGather) {
      SYSTOLE_IR_RETURN_IF_ERROR(scale(a.dimension, true));
    } else if (node.op == Op::kHloReduceScatter) {
      SYSTOLE_IR_RETURN_IF_ERROR(scale(a.dimension, false));
    } else if (node.op == Op::kHloAllToAll) {
      SYSTOLE_IR_RETURN_IF_ERROR(scale(a.dimension, false));
      SYSTOLE_IR_RETURN_IF_ERROR(scale(a.concat_dimension, true));
    }
    types.push_back(std::move(type));
  }
  if (!node.regions.empty()) {
    const Type scalar{types[0].element, {}, {}};
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckRegion(node, 0, {scalar, scalar}, {scalar},
                    static_cast<int>(node.operands.size())));
  }
  return types;
}

Types InferDeviceId(const Node&) {
  return std::vector<Type>{{ElementType::kUint32, {}, {}}};
}

// Only the target is known.
Types InferCustomCall(const Node& node) {
  SYSTOLE_IR_CHECK(!node.attr<HloCustomCallAttributes>().target.empty(),
                   "a call without target");
  std::vector<Type> types;
  for (int i = 0; i < node.results(); ++i) {
    types.push_back(node.result_type(i));
  }
  return types;
}

}  // namespace systole::ir
