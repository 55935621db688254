// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators with activations of 16 bits, and weights of 8 (docs/numerics.md,
// Models of 16 bits). They become operations of hlo/ on integers of 64 bits,
// which the host computes.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_WIDE_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_WIDE_H_

#include <vector>

#include "host/import/float/float_operator.h"
#include "host/ir/quant/fixed_point.h"

namespace systole::import {

constexpr ElementType kI64 = ElementType::kInt64;

// Whether there is an import of the operator for 16 bits. Operators that only
// move values have none: quant/ moves values of any type.
bool IsWideOperator(tflite::BuiltinOperator code);

// Adds the nodes of an operator whose operands are defined in `graph` as plain
// numbers. Messages do not name it.
absl::Status ImportWideOperator(FloatGraph& graph, const tflite::Operator& op,
                                tflite::BuiltinOperator code);

// Helpers for the import of one operator. After an error, its methods add
// nothing.
class WideOperator {
 public:
  explicit WideOperator(FloatOperator& in) : in(in), n(in.nodes()) {}

  FloatOperator& in;
  HloBuilder& n;

  // Operand `i`, whose values of 16 bits have zero point 0, as i64.
  Value Input(int i);
  // The only scale of operand `i`, and of the result.
  float Scale(int i) { return ScaleOf(in.AffineOf(i)); }
  float ResultScale() { return ScaleOf(in.ResultAffine()); }
  ir::Factor FactorOf(double real);

  // Rounding twice, as of sums of 32 bits.
  Value Scaled(Value x, ir::Factor factor);
  Value Scaled(Value x, double real) { return Scaled(x, FactorOf(real)); }
  // With multipliers of 16 bits, as of sums of 64 bits: one factor, or one for
  // each index of the last dimension.
  Value ScaledByShort(Value x, const std::vector<double>& reals);
  // Rounds the product with a number of double precision, halves away from 0.
  Value Multiplied(Value x, const std::vector<double>& reals);
  // a >> n, rounded down.
  Value Right(Value x, int64_t bits) {
    return n.Binary(Op::kHloShiftRightArithmetic, x, static_cast<double>(bits));
  }
  // table[index], of a table of integers.
  Value Lookup(const Ints& table, Value index);
  // The slices of `x` at these places along a dimension.
  Value Take(Value x, int64_t dimension, const Ints& places);

  // Makes the value the result, clamped to 16 bits and to the activation.
  void Set(Value value, tflite::Activation activation);
  void Set(Value value) { Set(value, tflite::Activation_NONE); }

 private:
  float ScaleOf(const std::optional<Affine>& affine);
  // A number for each index of the last dimension, or one for all.
  Value AlongLast(const Ints& numbers, Value like);
};

// A family's operators.
struct WideRule {
  tflite::BuiltinOperator code;
  void (*import)(WideOperator& op);
};
std::vector<WideRule> WideProductRules();   // convolutions, dense layers
std::vector<WideRule> WideFunctionRules();  // functions of one value, softmax

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_WIDE_H_
