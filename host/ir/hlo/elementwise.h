// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops over elements. A literal of one value goes with one of any size, so
// that a region of scalars is evaluated for many sets of them at once.
#ifndef SYSTOLE_HOST_IR_HLO_ELEMENTWISE_H_
#define SYSTOLE_HOST_IR_HLO_ELEMENTWISE_H_

#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/hlo/kernels.h"

namespace systole::ir {

template <typename T>
constexpr bool kIsFloat = IsFloat(ElementOf<T>::kType);
template <typename T>
constexpr bool kIsBool = std::is_same_v<T, Bool>;
template <typename T>
constexpr bool kIsInteger = !kIsFloat<T> && !kIsBool<T>;

// What floats are computed in.
template <typename T>
using Wide = std::conditional_t<kIsFloat<T>, float, T>;

// The one NaN for any.
inline float Canonical(float value) {
  return value != value ? FromBits(kNanBits) : value;
}

inline Literals Only(Literal literal) {
  Literals results;
  results.push_back(std::move(literal));
  return results;
}

template <typename R, typename A, typename F>
Literal MapOne(const Literal& operand, F f) {
  const std::vector<A>& a = operand.values<A>();
  std::vector<R> result(a.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = f(a[i]);
  return Literal(std::move(result));
}

template <typename R, typename A, typename B, typename F>
Literal MapTwo(const Literal& left, const Literal& right, F f) {
  const std::vector<A>& va = left.values<A>();
  const std::vector<B>& vb = right.values<B>();
  const size_t size = va.size() == 1 ? vb.size() : va.size();
  std::vector<R> result(size);
  const A* a = va.data();
  const B* b = vb.data();
  R* r = result.data();
  if (va.size() == vb.size()) {
    for (size_t i = 0; i < size; ++i) r[i] = f(a[i], b[i]);
  } else if (va.size() == 1) {
    const A value = *a;
    for (size_t i = 0; i < size; ++i) r[i] = f(value, b[i]);
  } else {
    const B value = *b;
    for (size_t i = 0; i < size; ++i) r[i] = f(a[i], value);
  }
  return Literal(std::move(result));
}

template <typename R, typename A, typename B, typename C, typename F>
Literal MapThree(const Literal& first, const Literal& second,
                 const Literal& third, F f) {
  const std::vector<A>& a = first.values<A>();
  const std::vector<B>& b = second.values<B>();
  const std::vector<C>& c = third.values<C>();
  size_t size = a.size();
  if (size == 1) size = b.size();
  if (size == 1) size = c.size();
  const size_t step_a = a.size() == 1 ? 0 : 1;
  const size_t step_b = b.size() == 1 ? 0 : 1;
  const size_t step_c = c.size() == 1 ? 0 : 1;
  std::vector<R> result(size);
  if (step_a == 1 && step_b == 1 && step_c == 1) {
    for (size_t i = 0; i < size; ++i) result[i] = f(a[i], b[i], c[i]);
  } else {
    for (size_t i = 0; i < size; ++i) {
      result[i] = f(a[i * step_a], b[i * step_b], c[i * step_c]);
    }
  }
  return Literal(std::move(result));
}

// Calls `function(std::integral_constant<Op, op>())` for the operations that a
// reduction may have as its only one; whether it is one of them.
template <typename Function>
bool WithCombiner(Op op, Function&& function) {
  switch (op) {
    case Op::kHloAdd:
      function(std::integral_constant<Op, Op::kHloAdd>());
      return true;
    case Op::kHloMultiply:
      function(std::integral_constant<Op, Op::kHloMultiply>());
      return true;
    case Op::kHloMaximum:
      function(std::integral_constant<Op, Op::kHloMaximum>());
      return true;
    case Op::kHloMinimum:
      function(std::integral_constant<Op, Op::kHloMinimum>());
      return true;
    case Op::kHloAnd:
      function(std::integral_constant<Op, Op::kHloAnd>());
      return true;
    case Op::kHloOr:
      function(std::integral_constant<Op, Op::kHloOr>());
      return true;
    case Op::kHloXor:
      function(std::integral_constant<Op, Op::kHloXor>());
      return true;
    default:
      return false;
  }
}

// What integers wrap in.
template <typename T>
using Word = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

// Binary operations, which reductions use too. And, or, xor of floats do not
// exist.
template <Op kOp, typename T>
inline T Combine(T left, T right) {
  if constexpr (kIsBool<T>) {
    const bool a = left, b = right;
    if constexpr (kOp == Op::kHloAdd || kOp == Op::kHloMaximum ||
                  kOp == Op::kHloOr) {
      return a | b;
    } else if constexpr (kOp == Op::kHloXor) {
      return a ^ b;
    } else {
      return a & b;
    }
  } else if constexpr (kIsFloat<T>) {
    const float a = left, b = right;
    float r = a;
    if constexpr (kOp == Op::kHloAdd) {
      r = a + b;
    } else if constexpr (kOp == Op::kHloMultiply) {
      r = a * b;
    } else {
      // -0 is less than +0, whichever way they come; a NaN stays.
      constexpr bool kMax = kOp == Op::kHloMaximum;
      const uint32_t both =
          kMax ? BitsOf(a) & BitsOf(b) : BitsOf(a) | BitsOf(b);
      const float ordered = (kMax ? a > b : a < b) ? a : b;
      r = a == b ? FromBits(both) : ordered;
      r = a != a ? a : r;
    }
    return static_cast<T>(Canonical(r));
  } else {
    using W = Word<T>;
    const W a = static_cast<W>(left), b = static_cast<W>(right);
    if constexpr (kOp == Op::kHloAdd) {
      return static_cast<T>(a + b);
    } else if constexpr (kOp == Op::kHloMultiply) {
      return static_cast<T>(a * b);
    } else if constexpr (kOp == Op::kHloMaximum) {
      return left > right ? left : right;
    } else if constexpr (kOp == Op::kHloMinimum) {
      return left < right ? left : right;
    } else if constexpr (kOp == Op::kHloAnd) {
      return static_cast<T>(a & b);
    } else if constexpr (kOp == Op::kHloOr) {
      return static_cast<T>(a | b);
    } else {
      return static_cast<T>(a ^ b);
    }
  }
}

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_ELEMENTWISE_H_
