// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops over elements. A literal of one value combines with one of any size, so
// a region of scalars can be evaluated for many sets of them at once.
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

// The types that programs mostly compute with; their loops are vectorised.
// Loops of the other types are kept short, because they are most of the code to
// compile.
template <typename... Ts>
constexpr bool kIsHot = ((std::is_same_v<Ts, float> ||
                          std::is_same_v<Ts, Bfloat16> ||
                          std::is_same_v<Ts, int32_t> ||
                          std::is_same_v<Ts, uint32_t> || kIsBool<Ts>)&&...);

// f(0) to f(count - 1).
template <bool kHot, typename F>
inline void Loop(size_t count, F f) {
  if constexpr (kHot) {
    for (size_t i = 0; i < count; ++i) f(i);
  } else {
#ifdef __clang__
#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)
#endif
    for (size_t i = 0; i < count; ++i) f(i);
  }
}

// The type in which floats are computed.
template <typename T>
using Wide = std::conditional_t<kIsFloat<T>, float, T>;

// The unsigned type in which integers wrap.
template <typename T>
using Word = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

// Maps every NaN to the canonical one.
inline float Canonical(float value) {
  return value != value ? FromBits(kNanBits) : value;
}

inline Literals Only(Literal literal) {
  Literals results;
  results.push_back(std::move(literal));
  return results;
}

// The elements, which must be of type T.
template <typename T>
const T* DataOf(const Literal& literal) {
  return literal.values<T>().data();
}
template <typename T>
T* DataOf(Literal& literal) {
  return literal.values<T>().data();
}

template <typename R, typename A, typename F>
Literal MapOne(const Literal& operand, F f) {
  Literal result = Literal::Zeros(ElementOf<R>::kType, operand.size());
  const A* from = DataOf<A>(operand);
  R* to = DataOf<R>(result);
  Loop<kIsHot<R, A>>(result.size(), [=](size_t i) { to[i] = f(from[i]); });
  return result;
}

template <typename R, typename A, typename B, typename F>
Literal MapTwo(const Literal& left, const Literal& right, F f) {
  const int64_t size = left.size() == 1 ? right.size() : left.size();
  const size_t step_a = left.size() == 1 ? 0 : 1;
  const size_t step_b = right.size() == 1 ? 0 : 1;
  Literal result = Literal::Zeros(ElementOf<R>::kType, size);
  const A* a = DataOf<A>(left);
  const B* b = DataOf<B>(right);
  R* r = DataOf<R>(result);
  if constexpr (!kIsHot<A, B>) {
    Loop<false>(size,
                [=](size_t i) { r[i] = f(a[i * step_a], b[i * step_b]); });
  } else if (step_a == step_b) {
    for (int64_t i = 0; i < size; ++i) r[i] = f(a[i], b[i]);
  } else if (step_a == 0) {
    const A value = *a;
    for (int64_t i = 0; i < size; ++i) r[i] = f(value, b[i]);
  } else {
    const B value = *b;
    for (int64_t i = 0; i < size; ++i) r[i] = f(a[i], value);
  }
  return result;
}

template <typename R, typename A, typename B, typename C, typename F>
Literal MapThree(const Literal& first, const Literal& second,
                 const Literal& third, F f) {
  int64_t size = first.size();
  if (size == 1) size = second.size();
  if (size == 1) size = third.size();
  const size_t step_a = first.size() == 1 ? 0 : 1;
  const size_t step_b = second.size() == 1 ? 0 : 1;
  const size_t step_c = third.size() == 1 ? 0 : 1;
  Literal result = Literal::Zeros(ElementOf<R>::kType, size);
  const A* a = DataOf<A>(first);
  const B* b = DataOf<B>(second);
  const C* c = DataOf<C>(third);
  R* r = DataOf<R>(result);
  if (kIsHot<A, B, C> && step_a == 1 && step_b == 1 && step_c == 1) {
    Loop<kIsHot<A, B, C>>(size, [=](size_t i) { r[i] = f(a[i], b[i], c[i]); });
  } else {
    Loop<false>(size, [=](size_t i) {
      r[i] = f(a[i * step_a], b[i * step_b], c[i * step_c]);
    });
  }
  return result;
}

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_ELEMENTWISE_H_
