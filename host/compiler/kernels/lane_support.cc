// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations that lanes support, by element type.
#include "host/compiler/kernels/lane_lowering.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::IsFloat;
using Hlo = ir::Op;

bool AllFit(const ir::Node& node) {
  if (node.results() != 1 || !FitsLane(node.type.element)) return false;
  for (const ir::Value& operand : node.operands) {
    if (!FitsLane(operand.type().element)) return false;
  }
  return true;
}

}  // namespace

bool CanLower(const ir::Node& node) {
  if (!AllFit(node)) return false;
  const ElementType type = node.operands.empty()
                               ? node.type.element
                               : node.operands[0].type().element;
  const bool floats = IsFloat(type);
  switch (node.op) {
    case Hlo::kHloAdd:
    case Hlo::kHloSubtract:
    case Hlo::kHloMultiply:
    case Hlo::kHloMaximum:
    case Hlo::kHloMinimum:
    case Hlo::kHloAnd:
    case Hlo::kHloOr:
    case Hlo::kHloXor:
    case Hlo::kHloCompare:
    case Hlo::kHloClamp:
    case Hlo::kHloConvert:
    case Hlo::kHloSelect:
      return true;
    case Hlo::kHloShiftLeft:
    case Hlo::kHloShiftRightLogical:
    case Hlo::kHloShiftRightArithmetic:
    case Hlo::kHloNot:
      return !floats;
    case Hlo::kHloAbs:
    case Hlo::kHloNegate:
    case Hlo::kHloSign:
    case Hlo::kHloDivide:
    case Hlo::kHloRemainder:
    case Hlo::kHloPower:
      return type != ElementType::kBool;
    case Hlo::kHloPopcnt:
    case Hlo::kHloCountLeadingZeros:
      return !floats && type != ElementType::kBool;
    case Hlo::kHloRoundNearestAfz:
    case Hlo::kHloSine:
    case Hlo::kHloCosine:
    case Hlo::kHloTan:
    case Hlo::kHloLogPlusOne:
    case Hlo::kHloExponentialMinusOne:
    case Hlo::kHloCbrt:
    case Hlo::kHloAtan2:
    case Hlo::kHloExponential:
    case Hlo::kHloLog:
    case Hlo::kHloRsqrt:
    case Hlo::kHloTanh:
    case Hlo::kHloSqrt:
    case Hlo::kHloFloor:
    case Hlo::kHloCeil:
    case Hlo::kHloRoundNearestEven:
    case Hlo::kHloIsFinite:
    case Hlo::kHloLogistic:
    case Hlo::kHloReducePrecision:
      return floats;
    default:
      return false;
  }
}

}  // namespace systole::lanes
