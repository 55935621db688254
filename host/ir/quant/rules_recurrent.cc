// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Rules of the steps of an LSTM, and of operations that only floats have.
#include <cmath>

#include "host/ir/quant/rules.h"
#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

bool IsFloat32(const Type& type) {
  return type.element == ElementType::kFloat32;
}

// Checks for four gate sums per unit, and a cell whose scale is a power of two.
absl::Status CheckLstmOperands(const Node& node) {
  const Type& cell = node.operands[2]->type;
  SYSTOLE_IR_CHECK(cell.element == ElementType::kInt16 && cell.quantization &&
                       !cell.quantization->per_channel() && cell.rank() == 2,
                   "the cell is ", TypeText(cell));
  const float scale = cell.quantization->scale();
  int exponent = 0;
  SYSTOLE_IR_CHECK(
      std::frexp(scale, &exponent) == 0.5f && -14 <= exponent && exponent <= -8,
      "the cell's scale ", FloatText(scale), " is not 2^-15 .. 2^-9");
  for (int i : {0, 1}) {
    const Type& sums = node.operands[i]->type;
    SYSTOLE_IR_CHECK(
        sums.element == ElementType::kInt32 && !sums.quantization &&
            sums.rank() == 2 && sums.shape[0] == cell.shape[0] &&
            sums.shape[1] == 4 * cell.shape[1],
        "sums of ", TypeText(sums), " for a cell of ", TypeText(cell));
  }
  return CheckShape(node.type, cell.shape);
}

}  // namespace

absl::Status CheckDenseSums(const Node& node) {
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(input, "input"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(weights, "weights"));
  SYSTOLE_IR_CHECK(weights.rank() == 2 && weights.quantization->zero_point == 0,
                   "weights ", TypeText(weights),
                   " not of rank 2 and zero point 0");
  SYSTOLE_IR_CHECK(input.rank() >= 1 && input.shape.back() == weights.shape[1],
                   "input ", TypeText(input), " is not rows of ",
                   weights.shape[1]);
  std::vector<int64_t> shape = input.shape;
  shape.back() = 4 * weights.shape[0];
  return CheckShape(node.type, shape);
}

absl::Status CheckBitcast(const Node& node) {
  const Type& input = node.operands[0]->type;
  SYSTOLE_IR_CHECK(input.element == ElementType::kInt8 &&
                       node.type.element == ElementType::kInt32 &&
                       !node.type.quantization && node.type.rank() >= 1,
                   TypeText(input), " to ", TypeText(node.type),
                   " is not i8 to plain i32");
  std::vector<int64_t> shape = node.type.shape;
  shape.back() *= 4;
  SYSTOLE_IR_CHECK(input.shape == shape, TypeText(input),
                   " are not the bytes of ", TypeText(node.type));
  return absl::OkStatus();
}

absl::Status CheckLstmCell(const Node& node) {
  const auto& a = node.attr<LstmCellAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLstmOperands(node));
  SYSTOLE_IR_CHECK(node.type == node.operands[2]->type, "the result is ",
                   TypeText(node.type), ", the cell ",
                   TypeText(node.operands[2]->type));
  SYSTOLE_IR_CHECK(0 <= a.clip && a.clip <= 32767, "clip ", a.clip);
  for (const Reals& factors : {a.input_factors, a.recurrent_factors}) {
    SYSTOLE_IR_CHECK(factors.size() == 3, factors.size(),
                     " factors of three gates");
    for (const float factor : factors) {
      SYSTOLE_IR_RETURN_IF_ERROR(CheckFactor(factor));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLstmOutput(const Node& node) {
  const auto& a = node.attr<LstmOutputAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckLstmOperands(node));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckFactor(a.input_factor));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckFactor(a.recurrent_factor));
  SYSTOLE_IR_CHECK(std::isfinite(a.hidden_scale) && a.hidden_scale > 0,
                   "hidden scale ", a.hidden_scale,
                   " is not finite and positive");
  SYSTOLE_IR_CHECK(-128 <= a.hidden_zero && a.hidden_zero <= 127,
                   "hidden zero point ", a.hidden_zero);
  return CheckFactor(std::ldexp(1.0 / a.hidden_scale, -30));
}

absl::Status CheckDiv(const Node& node) {
  for (const Type& type :
       {node.type, node.operands[0]->type, node.operands[1]->type}) {
    SYSTOLE_IR_CHECK(IsFloat32(type), TypeText(type), " is not f32");
  }
  return CheckBroadcast(node);
}

absl::Status CheckConv3D(const Node& node) {
  const auto& a = node.attr<Conv3DAttributes>();
  const Type& input = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_CHECK(
      IsFloat32(node.type) && IsFloat32(input) && IsFloat32(weights) &&
          input.rank() == 5 && weights.rank() == 5,
      TypeText(input), " by ", TypeText(weights), " is not f32 of rank 5");
  SYSTOLE_IR_CHECK(input.shape[4] == weights.shape[3], "input has ",
                   input.shape[4], " channels, weights ", weights.shape[3]);
  SYSTOLE_IR_CHECK(
      a.stride.size() == 3 && a.dilation.size() == 3 && a.padding.size() == 6,
      "a window of other than three axes");
  std::vector<int64_t> shape = {input.shape[0], 0, 0, 0, weights.shape[4]};
  for (int i = 0; i < 3; ++i) {
    const auto sane = [](int64_t value, int64_t low) {
      return low <= value && value <= kMaxWindow;
    };
    SYSTOLE_IR_CHECK(sane(a.stride[i], 1) && sane(a.dilation[i], 1) &&
                         sane(a.padding[i], 0) && sane(a.padding[i + 3], 0) &&
                         sane(weights.shape[i], 1),
                     "stride ", ShapeText(a.stride), ", dilation ",
                     ShapeText(a.dilation), ", padding ", ShapeText(a.padding));
    shape[1 + i] =
        WindowPositions(input.shape[1 + i], weights.shape[i], a.stride[i],
                        a.dilation[i], a.padding[i], a.padding[i + 3]);
    SYSTOLE_IR_CHECK(shape[1 + i] > 0, "the window is larger than ",
                     TypeText(input), " and its padding");
  }
  if (node.operands.size() == 3) {
    const Type& bias = node.operands[2]->type;
    SYSTOLE_IR_CHECK(IsFloat32(bias) && bias.elements() == weights.shape[4],
                     "bias ", TypeText(bias), " for ", weights.shape[4],
                     " channels");
  }
  return CheckShape(node.type, shape);
}

namespace {

// Values of 8 or 16 bits with one scale.
absl::Status CheckState(const Type& type, const std::string& what) {
  SYSTOLE_IR_CHECK((type.element == ElementType::kInt8 ||
                    type.element == ElementType::kInt16) &&
                       type.quantization && !type.quantization->per_channel() &&
                       type.rank() == 2,
                   what, " is ", TypeText(type));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSvdfState(const Node& node) {
  const Type& sums = node.operands[0]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckState(node.type, "the state"));
  SYSTOLE_IR_CHECK(node.type == node.operands[1]->type, "the result is ",
                   TypeText(node.type), ", the state ",
                   TypeText(node.operands[1]->type));
  SYSTOLE_IR_CHECK(
      sums.element == ElementType::kInt32 && !sums.quantization &&
          sums.rank() == 2 && sums.shape[0] == node.type.shape[0] &&
          sums.shape[1] > 0 && node.type.shape[1] % sums.shape[1] == 0,
      "sums of ", TypeText(sums), " for a state of ", TypeText(node.type));
  return CheckFactor(node.attr<SvdfAttributes>().factor);
}

absl::Status CheckSvdfOutput(const Node& node) {
  const auto& a = node.attr<SvdfAttributes>();
  const Type& state = node.operands[0]->type;
  const Type& weights = node.operands[1]->type;
  SYSTOLE_IR_RETURN_IF_ERROR(CheckState(state, "the state"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckState(weights, "the weights"));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckActivation(node.type, "result"));
  SYSTOLE_IR_CHECK(weights.element == state.element &&
                       weights.elements() == state.shape[1] && a.rank >= 1 &&
                       weights.shape[0] % a.rank == 0,
                   "weights ", TypeText(weights), " of rank ", a.rank,
                   " for a state of ", TypeText(state));
  const int64_t units = weights.shape[0] / a.rank;
  if (node.operands.size() == 3) {
    const Type& bias = node.operands[2]->type;
    SYSTOLE_IR_CHECK(bias.element == ElementType::kInt32 &&
                         bias.shape == std::vector<int64_t>{units},
                     "bias is ", TypeText(bias), ", not i32[", units, "]");
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckShape(node.type, {state.shape[0], units}));
  return CheckFactor(a.factor);
}

}  // namespace systole::ir
