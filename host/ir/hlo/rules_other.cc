// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/detections.h"
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

// Of most custom calls nothing is known except the target.
Types InferCustomCall(const Node& node) {
  const std::string& target = node.attr<HloCustomCallAttributes>().target;
  SYSTOLE_IR_CHECK(!target.empty(), "a call without target");
  if (target == kDetections) return InferDetections(node);
  std::vector<Type> types;
  for (int i = 0; i < node.results(); ++i) {
    types.push_back(node.result_type(i));
  }
  return types;
}

}  // namespace systole::ir
