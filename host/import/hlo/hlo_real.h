// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values with the operators of arithmetic, for formulas of several operations:
//
//   Real t = low / high;
//   return high * Root(1 + t * t);
//
// Comparisons give truth values; their operands have the same shape, or one is
// a number.
#ifndef SYSTOLE_HOST_IMPORT_HLO_HLO_REAL_H_
#define SYSTOLE_HOST_IMPORT_HLO_HLO_REAL_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// Of an array of floats. The builder must outlive it.
class Real {
 public:
  Real(HloBuilder& b, const Value& value) : b_(&b), value_(value) {}

  HloBuilder& builder() const { return *b_; }
  const Value& value() const { return value_; }
  operator Value() const { return value_; }  // NOLINT: converts

  Real Apply(Op op) const { return {*b_, b_->Unary(op, value_)}; }
  Real With(Op op, const Real& y) const {
    return {*b_, b_->Binary(op, value_, y.value_)};
  }
  // A number in every element.
  Real Like(double number) const { return {*b_, b_->Like(value_, number)}; }

  friend Real operator+(const Real& x, const Real& y) {
    return x.With(Op::kHloAdd, y);
  }
  friend Real operator-(const Real& x, const Real& y) {
    return x.With(Op::kHloSubtract, y);
  }
  friend Real operator*(const Real& x, const Real& y) {
    return x.With(Op::kHloMultiply, y);
  }
  friend Real operator/(const Real& x, const Real& y) {
    return x.With(Op::kHloDivide, y);
  }
  friend Real operator+(const Real& x, double y) { return x + x.Like(y); }
  friend Real operator+(double x, const Real& y) { return y.Like(x) + y; }
  friend Real operator-(const Real& x, double y) { return x - x.Like(y); }
  friend Real operator*(const Real& x, double y) { return x * x.Like(y); }
  friend Real operator*(double x, const Real& y) { return y * x; }
  friend Real operator/(double x, const Real& y) { return y.Like(x) / y; }
  friend Real operator-(const Real& x) { return x.Apply(Op::kHloNegate); }

  friend Value operator<(const Real& x, const Real& y) {
    return x.b_->Compare(ir::Direction::kLt, x, y);
  }
  friend Value operator==(const Real& x, const Real& y) {
    return x.b_->Compare(ir::Direction::kEq, x, y);
  }
  friend Value operator<(const Real& x, double y) { return x < x.Like(y); }
  friend Value operator>(const Real& x, double y) { return x.Like(y) < x; }
  friend Value operator==(const Real& x, double y) { return x == x.Like(y); }

 private:
  HloBuilder* b_;
  Value value_;
};

inline Real Magnitude(const Real& x) { return x.Apply(Op::kHloAbs); }
inline Real Root(const Real& x) { return x.Apply(Op::kHloSqrt); }
inline Real Larger(const Real& x, const Real& y) {
  return x.With(Op::kHloMaximum, y);
}
inline Real Smaller(const Real& x, const Real& y) {
  return x.With(Op::kHloMinimum, y);
}
// x where the condition holds, otherwise y.
inline Real Choose(const Value& condition, const Real& x, const Real& y) {
  return {x.builder(), x.builder().Select(condition, x, y)};
}
inline Real Choose(const Value& condition, const Real& x, double y) {
  return Choose(condition, x, x.Like(y));
}
inline Real Choose(const Value& condition, double x, const Real& y) {
  return Choose(condition, y.Like(x), y);
}

// Whether the sign of an f32 is set, also of zeros.
inline Value SignOf(const Real& x) {
  HloBuilder& b = x.builder();
  const Value bits =
      b.AddOne(Op::kHloBitcastConvert, {x.value()}, {},
               ir::Type{ir::ElementType::kInt32, x.value().type().shape, {}});
  return b.Compare(ir::Direction::kLt, bits, 0.0);
}
// The magnitude of x, which is not negative, with the sign of y.
inline Real Signed(const Real& x, const Real& y) {
  return Choose(SignOf(y), -x, x);
}

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_HLO_HLO_REAL_H_
