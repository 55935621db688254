// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/combiner.h"

#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

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
      // -0 is less than +0 in either order; a NaN operand gives NaN.
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

template <Op kOp, typename T>
void Map(int64_t count, const void* left, int64_t step_a, const void* right,
         int64_t step_b, void* to) {
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  T* r = static_cast<T*>(to);
  if constexpr (kIsHot<T>) {
    if (step_a == 1 && step_b == 1 && a == r) {  // in place; compilers miss it
      for (int64_t i = 0; i < count; ++i) r[i] = Combine<kOp>(r[i], b[i]);
      return;
    }
    if (step_a == 1 && step_b == 1) {
      for (int64_t i = 0; i < count; ++i) r[i] = Combine<kOp>(a[i], b[i]);
      return;
    }
    if (step_a == 0 && step_b == 1) {
      const T value = *a;
      for (int64_t i = 0; i < count; ++i) r[i] = Combine<kOp>(value, b[i]);
      return;
    }
    if (step_a == 1 && step_b == 0) {
      const T value = *b;
      for (int64_t i = 0; i < count; ++i) r[i] = Combine<kOp>(a[i], value);
      return;
    }
  }
  Loop<false>(count, [=](int64_t i) {
    r[i] = Combine<kOp>(a[i * step_a], b[i * step_b]);
  });
}

template <Op kOp>
std::optional<Combiner> Of(ElementType element) {
  return WithElement(element, [](auto tag) -> std::optional<Combiner> {
    using T = typename decltype(tag)::type;
    constexpr bool kBitwise =
        kOp == Op::kHloAnd || kOp == Op::kHloOr || kOp == Op::kHloXor;
    if constexpr (kBitwise && kIsFloat<T>) {
      return std::nullopt;
    } else {
      return Combiner{Map<kOp, T>};
    }
  });
}

}  // namespace

bool IsCombiner(Op op) {
  return FindCombiner(op, ElementType::kInt32).has_value();
}

std::optional<Combiner> FindCombiner(Op op, ElementType element) {
  switch (op) {
    case Op::kHloAdd:
      return Of<Op::kHloAdd>(element);
    case Op::kHloMultiply:
      return Of<Op::kHloMultiply>(element);
    case Op::kHloMaximum:
      return Of<Op::kHloMaximum>(element);
    case Op::kHloMinimum:
      return Of<Op::kHloMinimum>(element);
    case Op::kHloAnd:
      return Of<Op::kHloAnd>(element);
    case Op::kHloOr:
      return Of<Op::kHloOr>(element);
    case Op::kHloXor:
      return Of<Op::kHloXor>(element);
    default:
      return std::nullopt;
  }
}

}  // namespace systole::ir
