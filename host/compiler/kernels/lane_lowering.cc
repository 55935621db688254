// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_lowering.h"

#include "host/compiler/kernels/known_range.h"
#include "host/compiler/kernels/lane_bits.h"
#include "host/compiler/kernels/lane_functions.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::IsFloat;
using vpu::Op;
using Hlo = ir::Op;

// Operations on lanes of one type.
class Lowering {
 public:
  Lowering(LaneGraph& graph, ElementType type) : graph_(graph), type_(type) {}

  Lane Make(Op op, Lane a, Lane b = -1, Lane c = -1) {
    return graph_.Make(op, a, b, c);
  }
  Lane K(uint32_t bits) { return graph_.Constant(bits); }

  // Rounds or wraps an arithmetic result to the type.
  Lane Rounded(Lane lane) {
    switch (type_) {
      case ElementType::kBfloat16:
        return Make(Op::kBf16, lane);
      case ElementType::kFloat16:
        return RoundToFloat16(graph_, lane);
      case ElementType::kInt8:
      case ElementType::kInt16: {
        const Lane above = K(static_cast<uint32_t>(32 - Bits()));
        return Make(Op::kSar, Make(Op::kShl, lane, above), above);
      }
      case ElementType::kUint8:
      case ElementType::kUint16:
        return Unsigned(lane);
      default:
        return lane;
    }
  }

  // A number whose signed comparison orders values of the type.
  Lane Key(Lane a) {
    if (type_ == ElementType::kUint32) return Make(Op::kIxor, a, K(kSign));
    if (type_ == ElementType::kBool) return Make(Op::kIand, a, K(1));
    return a;
  }

  Lane Compare(ir::Direction direction, bool total, Lane a, Lane b) {
    using ir::Direction;
    const bool floats = IsFloat(type_) && !total;
    if (IsFloat(type_) && total) {
      a = TotalOrder(a);
      b = TotalOrder(b);
    } else if (!floats) {
      a = Key(a);
      b = Key(b);
    }
    switch (direction) {
      case Direction::kEq:
        return Make(floats ? Op::kFeq : Op::kIeq, a, b);
      case Direction::kNe:
        return Not(graph_, Make(floats ? Op::kFeq : Op::kIeq, a, b));
      case Direction::kGt:
        return Make(floats ? Op::kFlt : Op::kIlt, b, a);
      case Direction::kLt:
        return Make(floats ? Op::kFlt : Op::kIlt, a, b);
      case Direction::kGe:
        return floats ? Make(Op::kFle, b, a)
                      : Not(graph_, Make(Op::kIlt, a, b));
      case Direction::kLe:
        return floats ? Make(Op::kFle, a, b)
                      : Not(graph_, Make(Op::kIlt, b, a));
    }
    return -1;
  }

  Lane Combine(Hlo op, Lane a, Lane b) {
    if (type_ == ElementType::kBool) return OfBools(op, a, b);
    const bool floats = IsFloat(type_);
    switch (op) {
      case Hlo::kHloAdd:
        return Rounded(Make(floats ? Op::kFadd : Op::kIadd, a, b));
      case Hlo::kHloMultiply:
        return Rounded(Make(floats ? Op::kFmul : Op::kImul, a, b));
      case Hlo::kHloMaximum:
      case Hlo::kHloMinimum: {
        const bool max = op == Hlo::kHloMaximum;
        if (floats) return Make(max ? Op::kFmax : Op::kFmin, a, b);
        if (type_ != ElementType::kUint32)
          return Make(max ? Op::kImax : Op::kImin, a, b);
        const Lane less = Make(Op::kIlt, Key(a), Key(b));
        return max ? Make(Op::kSel, less, b, a) : Make(Op::kSel, less, a, b);
      }
      default:
        return floats ? -1 : OfBits(op, a, b);
    }
  }

  Lane Binary(Hlo op, Lane a, Lane b) {
    const bool floats = IsFloat(type_);
    switch (op) {
      case Hlo::kHloSubtract:
        return Rounded(Make(floats ? Op::kFsub : Op::kIsub, a, b));
      case Hlo::kHloDivide:
        return Rounded(floats ? Divide(graph_, a, b) : Quotient(a, b));
      case Hlo::kHloRemainder:
        return Rounded(floats ? FloatRemainder(graph_, a, b) : Remainder(a, b));
      case Hlo::kHloAtan2:
        return Rounded(ArcTangent2(graph_, a, b));
      case Hlo::kHloPower:
        return Rounded(floats ? Power(graph_, a, b) : IntegerPower(a, b));
      case Hlo::kHloShiftLeft:
      case Hlo::kHloShiftRightLogical:
      case Hlo::kHloShiftRightArithmetic:
        return Rounded(Shift(op, a, b));
      default:
        return Combine(op, a, b);
    }
  }

  Lane Unary(Hlo op, Lane a) {
    return IsFloat(type_) ? Rounded(OfFloat(op, a)) : OfInteger(op, a);
  }

  Lane Convert(ElementType to, Lane a) {
    if (to == type_) return a;
    if (to == ElementType::kBool) {
      const Op equal = IsFloat(type_) ? Op::kFeq : Op::kIeq;
      return Not(graph_, Make(equal, a, K(0)));
    }
    Lowering target(graph_, to);
    if (IsFloat(to)) return target.Rounded(ToFloat(a));
    if (type_ == ElementType::kBool) return Make(Op::kIand, a, K(1));
    if (!IsFloat(type_)) return target.Rounded(a);
    switch (to) {
      case ElementType::kInt32:
        return ToInt32(graph_, a);
      case ElementType::kUint32:
        return ToUint32(graph_, a);
      default: {
        const int bits = target.Bits() - (ir::IsSigned(to) ? 1 : 0);
        const int32_t end = (1 << bits) - 1;
        return Between(ToInt32(graph_, a), ir::IsSigned(to) ? ~end : 0, end);
      }
    }
  }

 private:
  Lane TotalOrder(Lane a) {
    const Lane negative = Make(Op::kSar, a, K(31));
    return Make(Op::kIxor, a, Make(Op::kIand, negative, K(~kSign)));
  }

  Lane Between(Lane a, int32_t low, int32_t high) {
    return Make(Op::kImin, Make(Op::kImax, a, K(static_cast<uint32_t>(low))),
                K(static_cast<uint32_t>(high)));
  }

  Lane ToFloat(Lane a) {
    // Replaces all NaNs with one.
    if (IsFloat(type_)) return Make(Op::kFmax, a, a);
    if (type_ == ElementType::kBool) return Make(Op::kIand, a, K(kOne));
    if (type_ == ElementType::kUint32) return FromUint32(graph_, a);
    return Make(Op::kI2f, a);
  }

  Lane OfBools(Hlo op, Lane a, Lane b) {
    switch (op) {
      case Hlo::kHloAdd:
      case Hlo::kHloMaximum:
        return Make(Op::kIor, a, b);
      case Hlo::kHloMultiply:
      case Hlo::kHloMinimum:
        return Make(Op::kIand, a, b);
      default:
        return OfBits(op, a, b);
    }
  }

  Lane OfBits(Hlo op, Lane a, Lane b) {
    switch (op) {
      case Hlo::kHloAnd:
        return Make(Op::kIand, a, b);
      case Hlo::kHloOr:
        return Make(Op::kIor, a, b);
      case Hlo::kHloXor:
        return Make(Op::kIxor, a, b);
      default:
        return -1;
    }
  }

  IntegerQuotient DivideIntegers(Lane a, Lane b) {
    return ir::IsSigned(type_) ? DivideSigned(graph_, a, b)
                               : DivideUnsigned(graph_, a, b);
  }
  // Division by 0 gives all ones, and the whole dividend as remainder.
  Lane Quotient(Lane a, Lane b) {
    return Make(Op::kIor, DivideIntegers(a, b).quotient,
                Make(Op::kIeq, b, K(0)));
  }
  Lane Remainder(Lane a, Lane b) {
    return Make(Op::kSel, b, DivideIntegers(a, b).rest, a);
  }

  // A shift by the width or more, as unsigned number, gives 0 or the sign.
  Lane Shift(Hlo op, Lane a, Lane b) {
    const bool right = op == Hlo::kHloShiftRightArithmetic;
    const Op shift = op == Hlo::kHloShiftLeft ? Op::kShl
                     : right                  ? Op::kSar
                                              : Op::kShr;
    const auto bits = static_cast<uint32_t>(Bits());
    if (shift == Op::kShr) a = Unsigned(a);
    // For unsigned types the highest bit acts as a sign.
    if (right && !ir::IsSigned(type_) && bits < 32)
      a = Make(Op::kSar, Make(Op::kShl, a, K(32 - bits)), K(32 - bits));
    if (graph_.IsConstant(b) && graph_.node(b).bits < bits)
      return Make(shift, a, b);
    const Lane in_range =
        Make(Op::kIlt, Make(Op::kIxor, b, K(kSign)), K(kSign + bits));
    if (right) return Make(shift, a, Make(Op::kSel, in_range, b, K(31)));
    return Make(Op::kIand, Make(shift, a, b), in_range);
  }

  // A negative exponent gives 0, except for bases 1 and -1.
  Lane IntegerPower(Lane a, Lane b) {
    if (!ir::IsSigned(type_)) return PowerOfIntegers(graph_, a, b, Bits());
    const Lane power = PowerOfIntegers(graph_, a, b, Bits() - 1);
    const Lane one = Make(Op::kIand, Make(Op::kIeq, a, K(1)), K(1));
    // -1 to an odd exponent is -1, otherwise 1.
    const Lane sign =
        Make(Op::kIor, Make(Op::kIsub, K(0), Make(Op::kIand, b, K(1))), K(1));
    const Lane inverse =
        Make(Op::kIor, one, Make(Op::kIand, Make(Op::kIeq, a, K(~0u)), sign));
    return Make(Op::kSel, Make(Op::kIlt, b, K(0)), inverse, power);
  }

  Lane OfFloat(Hlo op, Lane a) {
    switch (op) {
      case Hlo::kHloAbs: {
        const Lane size = Magnitude(graph_, a);
        return Make(Op::kFmax, size, size);
      }
      case Hlo::kHloNegate:
        return Make(Op::kFsub, K(kSign), a);
      case Hlo::kHloSign: {
        const Lane one = Make(Op::kIor, Make(Op::kIand, a, K(kSign)), K(kOne));
        const Lane sign = Make(Op::kSel, Make(Op::kFeq, a, K(0)), a, one);
        return Make(Op::kSel, IsNanLane(graph_, a), K(0x7FC00000), sign);
      }
      case Hlo::kHloExponential:
        return Exponential(graph_, a);
      case Hlo::kHloLog:
        return Logarithm(graph_, a);
      case Hlo::kHloRsqrt:
        return Make(Op::kRsqrt, a);
      case Hlo::kHloTanh:
        return Make(Op::kTanh, a);
      case Hlo::kHloLogistic:
        return Logistic(graph_, a);
      case Hlo::kHloSqrt:
        return SquareRoot(graph_, a);
      case Hlo::kHloFloor:
        return Floor(graph_, a);
      case Hlo::kHloCeil:
        return Ceil(graph_, a);
      case Hlo::kHloRoundNearestAfz:
        return RoundAwayFromZero(graph_, a);
      case Hlo::kHloSine:
        return Sine(graph_, a);
      case Hlo::kHloCosine:
        return Cosine(graph_, a);
      case Hlo::kHloTan:
        return Tangent(graph_, a);
      case Hlo::kHloLogPlusOne:
        return LogPlusOne(graph_, a);
      case Hlo::kHloExponentialMinusOne:
        return ExpMinusOne(graph_, a);
      case Hlo::kHloCbrt:
        return CubeRoot(graph_, a);
      default:  // kHloRoundNearestEven
        return RoundToEven(graph_, a);
    }
  }

  int Bits() const { return 8 * ir::ElementBytes(type_); }
  Lane Unsigned(Lane a) {
    return Bits() == 32 ? a : Make(Op::kIand, a, K((1u << Bits()) - 1));
  }

  Lane OfInteger(Hlo op, Lane a) {
    const bool is_signed = ir::IsSigned(type_);
    switch (op) {
      case Hlo::kHloNot:
        return Rounded(Not(graph_, a));
      case Hlo::kHloNegate:
        return Rounded(Make(Op::kIsub, K(0), a));
      case Hlo::kHloPopcnt:
        return CountOnes(graph_, Unsigned(a));
      case Hlo::kHloCountLeadingZeros:
        return Make(Op::kIsub, CountLeadingZeros(graph_, Unsigned(a)),
                    K(static_cast<uint32_t>(32 - Bits())));
      case Hlo::kHloAbs:
        if (!is_signed) return a;
        return Rounded(Make(Op::kImax, a, Make(Op::kIsub, K(0), a)));
      default:  // kHloSign
        if (!is_signed)
          return Make(Op::kIand, Not(graph_, Make(Op::kIeq, a, K(0))), K(1));
        return Make(Op::kIsub, Make(Op::kIlt, a, K(0)),
                    Make(Op::kIlt, K(0), a));
    }
  }

  LaneGraph& graph_;
  const ElementType type_;
};

}  // namespace

Lane Lower(LaneGraph& graph, const ir::Node& node,
           const std::vector<Lane>& operands) {
  const ElementType type = node.operands[0].type().element;
  Lowering lowering(graph, type);
  switch (node.op) {
    case Hlo::kHloCompare: {
      const auto& a = node.attr<ir::HloCompareAttributes>();
      return lowering.Compare(a.direction,
                              a.type == ir::CompareType::kTotalOrder,
                              operands[0], operands[1]);
    }
    case Hlo::kHloSelect: {
      const Lane chosen =
          graph.Make(Op::kSel, operands[0], operands[1], operands[2]);
      return HasOneNan(node.type.element)
                 ? graph.Make(Op::kFmax, chosen, chosen)
                 : chosen;
    }
    case Hlo::kHloClamp:
      return lowering.Combine(
          Hlo::kHloMinimum,
          lowering.Combine(Hlo::kHloMaximum, operands[1], operands[0]),
          operands[2]);
    case Hlo::kHloConvert:
      return lowering.Convert(node.type.element, operands[0]);
    case Hlo::kHloIsFinite:
      return graph.Make(Op::kIlt, Magnitude(graph, operands[0]),
                        graph.Constant(kInfinity));
    case Hlo::kHloReducePrecision: {
      const auto& a = node.attr<ir::HloReducePrecisionAttributes>();
      return lowering.Rounded(
          ReducePrecision(graph, operands[0], static_cast<int>(a.exponent_bits),
                          static_cast<int>(a.mantissa_bits)));
    }
    default:
      break;
  }
  if (operands.size() == 1) return lowering.Unary(node.op, operands[0]);
  const Lane lane = lowering.Binary(node.op, operands[0], operands[1]);
  if (SubtractsLargest(node)) graph.SetNotPositive(lane);
  return lane;
}

Lane Combine(LaneGraph& graph, ir::Op op, ElementType type, Lane a, Lane b) {
  return Lowering(graph, type).Combine(op, a, b);
}

}  // namespace systole::lanes
