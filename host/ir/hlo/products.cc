// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/products.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

// Part `part` of each number: the bf16 nearest to the remainder of the parts
// before. Non-finite numbers have one part.
void Split(const float* from, int64_t count, int part, uint16_t* to) {
  if (part == 0) {
    for (int64_t i = 0; i < count; ++i) to[i] = Bfloat16(from[i]).bits;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i];
    for (int k = 0; k < part; ++k) {
      const float rounded = Bfloat16(value);
      value = rounded - rounded == 0 ? value - rounded : 0.0f;
    }
    to[i] = Bfloat16(value).bits;
  }
}

Literal Floats(const Literal& literal) {
  if (literal.element() == ElementType::kFloat32) return literal;
  return literal.Visit([](const auto& values) {
    std::vector<float> floats(values.size());
    for (size_t i = 0; i < floats.size(); ++i) {
      floats[i] = static_cast<float>(values[i]);
    }
    return Literal(std::move(floats));
  });
}

absl::StatusOr<Literal> FloatProduct(int64_t m, int64_t k, int64_t n,
                                     const Literal& a, const Literal& b,
                                     ElementType result, Precision precision,
                                     ProductUnit& unit) {
  const ProductPasses passes = PassesOf(a.element(), b.element(), precision);
  const int64_t count = static_cast<int64_t>(passes.size());
  const Literal left = Floats(a), right = Floats(b);
  const float* from_left = left.values<float>().data();
  const float* from_right = right.values<float>().data();
  // The passes are concatenated along the contraction.
  std::vector<uint16_t> all_left(m * k * count), all_right(k * n * count);
  for (int64_t pass = 0; pass < count; ++pass) {
    for (int64_t i = 0; i < (count == 1 ? 1 : m); ++i) {
      Split(from_left + i * k, count == 1 ? m * k : k, passes[pass].first,
            all_left.data() + (i * count + pass) * k);
    }
    Split(from_right, k * n, passes[pass].second,
          all_right.data() + pass * k * n);
  }
  std::vector<float> sums(m * n);
  const absl::Status status = MultiplySections(
      m, k * count, n, all_left.data(), all_right.data(), sums.data(), unit);
  if (!status.ok()) return status;
  for (float& sum : sums) sum = Canonical(sum + 0.0f);  // never -0
  if (result == ElementType::kFloat32) return Literal(std::move(sums));
  if (result == ElementType::kBfloat16) {
    return MapOne<Bfloat16, float>(Literal(std::move(sums)),
                                   [](float x) { return Bfloat16(x); });
  }
  return MapOne<Float16, float>(Literal(std::move(sums)),
                                [](float x) { return Float16(x); });
}

// A digit of base 256. A number is the sum of its digits times powers of 256;
// the last digit carries the sign.
std::vector<uint16_t> Digit(const std::vector<int64_t>& numbers,
                            ElementType type, int digit) {
  const int bytes = static_cast<int>(ElementBytes(type));
  std::vector<uint16_t> digits(numbers.size());
  for (size_t i = 0; i < digits.size(); ++i) {
    int64_t value = numbers[i] >> 8 * digit;
    if (digit + 1 < bytes) value &= 255;
    digits[i] = Bfloat16(static_cast<float>(value)).bits;
  }
  return digits;
}

// Multiplies the digits on the unit. Each product has at most as many terms as
// fp32 sums exactly.
template <typename R>
absl::StatusOr<Literal> DigitProduct(int64_t m, int64_t k, int64_t n,
                                     const std::vector<int64_t>& a,
                                     ElementType a_type,
                                     const std::vector<int64_t>& b,
                                     ElementType b_type, ProductUnit& unit) {
  const int64_t most = MostDigitTerms(a_type, b_type);
  std::vector<Word<R>> sums(m * n, 0);
  std::vector<uint16_t> left;
  std::vector<float> part(m * n);
  for (int p = 0; p < ElementBytes(a_type); ++p) {
    const std::vector<uint16_t> of_a = Digit(a, a_type, p);
    for (int q = 0; q < ElementBytes(b_type); ++q) {
      const int shift = 8 * (p + q);
      if (shift >= static_cast<int>(8 * sizeof(R))) break;
      const std::vector<uint16_t> of_b = Digit(b, b_type, q);
      for (int64_t first = 0; first < k; first += most) {
        const int64_t terms = std::min(most, k - first);
        left.resize(m * terms);
        for (int64_t i = 0; i < m; ++i) {
          std::copy_n(of_a.begin() + i * k + first, terms,
                      left.begin() + i * terms);
        }
        if (absl::Status s = unit.Multiply(
                m, terms, n, left.data(), of_b.data() + first * n, part.data());
            !s.ok())
          return s;
        for (size_t i = 0; i < sums.size(); ++i) {
          sums[i] += static_cast<Word<R>>(
              static_cast<uint64_t>(static_cast<int64_t>(part[i])) << shift);
        }
      }
    }
  }
  return Literal(std::vector<R>(sums.begin(), sums.end()));
}

template <typename R>
Literal IntegerProduct(int64_t m, int64_t k, int64_t n,
                       const std::vector<int64_t>& a,
                       const std::vector<int64_t>& b) {
  std::vector<Word<R>> sums(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      const auto value = static_cast<Word<R>>(a[i * k + p]);
      const int64_t* row = b.data() + p * n;
      Word<R>* to = sums.data() + i * n;
      for (int64_t j = 0; j < n; ++j) {
        to[j] += value * static_cast<Word<R>>(row[j]);
      }
    }
  }
  return Literal(std::vector<R>(sums.begin(), sums.end()));
}

// Widens to 64 bits, so that there are few combinations of types.
Literal Widen(const Literal& literal) {
  return literal.Visit([](const auto& values) {
    return Literal(std::vector<int64_t>(values.begin(), values.end()));
  });
}

}  // namespace

bool IsProductInDigits(ElementType type) {
  return IsInteger(type) && ElementBytes(type) <= 4;
}

int64_t MostDigitTerms(ElementType a, ElementType b) {
  const auto largest = [](ElementType type) {
    return IsSigned(type) && ElementBytes(type) == 1 ? 128 : 255;
  };
  return (int64_t{1} << 24) / (largest(a) * largest(b));
}

bool IsProductOnUnit(ElementType a, ElementType b) {
  const auto is = [](ElementType type) {
    return IsFloat(type) ||
           (type != ElementType::kBool && ElementBytes(type) <= 4);
  };
  return is(a) && is(b);
}

ProductPasses PassesOf(ElementType a, ElementType b, Precision precision) {
  if (a == ElementType::kBfloat16 && b == ElementType::kBfloat16) {
    return {{0, 0}};
  }
  if (a == ElementType::kFloat16 && b == ElementType::kFloat16) {
    return {{1, 1}, {1, 0}, {0, 1}, {0, 0}};  // exact
  }
  switch (precision) {
    case Precision::kDefault:
      return {{0, 0}};
    case Precision::kHigh:
      return {{1, 0}, {0, 1}, {0, 0}};
    case Precision::kHighest:
      return {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
  }
  return {};
}

absl::Status MultiplySections(int64_t m, int64_t k, int64_t n,
                              const uint16_t* a, const uint16_t* b, float* c,
                              ProductUnit& unit) {
  if (k <= kSectionTerms) return unit.Multiply(m, k, n, a, b, c);
  std::fill(c, c + m * n, 0.0f);
  std::vector<uint16_t> left(m * kSectionTerms);
  std::vector<float> sums(m * n);
  for (int64_t first = 0; first < k; first += kSectionTerms) {
    const int64_t terms = std::min(kSectionTerms, k - first);
    for (int64_t i = 0; i < m; ++i)
      std::copy_n(a + i * k + first, terms, left.data() + i * terms);
    if (absl::Status s =
            unit.Multiply(m, terms, n, left.data(), b + first * n, sums.data());
        !s.ok())
      return s;
    for (int64_t i = 0; i < m * n; ++i) c[i] += sums[i];
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> MatrixProduct(int64_t m, int64_t k, int64_t n,
                                      const Literal& a, const Literal& b,
                                      ElementType result, Precision precision,
                                      ProductUnit& unit) {
  if (m * n == 0) return Literal::Zeros(result, 0);
  if (IsFloat(result)) {
    if (k == 0) return Literal::Zeros(result, m * n);
    return FloatProduct(m, k, n, a, b, result, precision, unit);
  }
  const Literal left = Widen(a), right = Widen(b);
  return WithElement(result, [&](auto tag) -> absl::StatusOr<Literal> {
    using R = typename decltype(tag)::type;
    if constexpr (kIsInteger<R>) {
      const std::vector<int64_t>& x = left.values<int64_t>();
      const std::vector<int64_t>& y = right.values<int64_t>();
      if (IsProductOnUnit(a.element(), b.element())) {
        return DigitProduct<R>(m, k, n, x, a.element(), y, b.element(), unit);
      }
      return IntegerProduct<R>(m, k, n, x, y);
    }
    return absl::UnimplementedError("products of this type");
  });
}

}  // namespace systole::ir
