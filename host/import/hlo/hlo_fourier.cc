// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/hlo/hlo_fourier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"

namespace systole::import {
namespace {

// What a further step costs, in terms of a factor: its multiplication and its
// change of order.
constexpr int64_t kStep = 128;

struct Plan {
  int64_t cost = 0;
  int64_t first = 0;  // the factor of the first step
};

int64_t ChirpLength(int64_t n) {
  int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  return length;
}

// The factors that cost least.
Plan PlanOf(int64_t n, std::map<int64_t, Plan>& plans) {
  const auto found = plans.find(n);
  if (found != plans.end()) return found->second;
  Plan best{n, n};
  for (int64_t d = 2; d <= n / d; ++d) {
    if (n % d != 0) continue;
    for (const int64_t first : {d, n / d}) {
      if (first > kMostDirect) continue;
      const int64_t cost = first + kStep + PlanOf(n / first, plans).cost;
      if (cost < best.cost || best.first > kMostDirect) best = {cost, first};
    }
  }
  if (best.first > kMostDirect) {
    // Two transforms, each longer than n, and three multiplications.
    const int64_t length = ChirpLength(n);
    best.cost = (2 * PlanOf(length, plans).cost + 3 * kStep) * length / n;
  }
  return plans[n] = best;
}

using Numbers = std::vector<std::complex<double>>;

// exp(2 pi i turn / n)
std::complex<double> Turn(int64_t turn, int64_t n) {
  return std::polar(
      1.0, 2 * M_PI * static_cast<double>(turn % n) / static_cast<double>(n));
}

// The forward transform of 2^k numbers.
Numbers TransformOf(const Numbers& x) {
  const auto n = static_cast<int64_t>(x.size());
  if (n == 1) return x;
  Numbers even, odd, y(n);
  for (int64_t i = 0; i < n; i += 2) {
    even.push_back(x[i]);
    odd.push_back(x[i + 1]);
  }
  even = TransformOf(even);
  odd = TransformOf(odd);
  for (int64_t k = 0; k < n / 2; ++k) {
    const std::complex<double> turned = std::conj(Turn(k, n)) * odd[k];
    y[k] = even[k] + turned;
    y[k + n / 2] = even[k] - turned;
  }
  return y;
}

class Transform {
 public:
  Transform(HloBuilder& b, ir::ElementType element, bool inverse)
      : b_(b), element_(element), sign_(inverse ? 1 : -1) {}

  // Along the last dimension. Of `results` numbers, as real ones if `real`;
  // times `scale`.
  Complex Along(const Complex& x, int64_t results, bool real, double scale) {
    const Ints shape = x.re.type().shape;
    const int64_t n = shape.back();
    const int64_t first = PlanOf(n, plans_).first;
    if (first == n && n > kMostDirect) return Chirp(x, results, real, scale);
    if (first == n) return Product(x, n, results, real, scale, 1);
    const int64_t rest = n / first;
    Ints split = shape;
    split.back() = first;
    split.push_back(rest);
    // [..., rest, first]
    Complex z =
        Turned(Product(Reshaped(x, split), first, first, false, scale, 2), n);
    if (PlanOf(rest, plans_).first == rest && rest <= kMostDirect) {
      z = Product(z, rest, rest, real, 1, 2);
    } else {
      z = Along(Swapped(z), rest, real, 1);
    }
    // Of [..., first, rest].
    return First(Reshaped(Swapped(z), shape), results);
  }

 private:
  // exp(+-2 pi i turn / n)
  std::complex<double> Root(int64_t turn, int64_t n) const {
    return sign_ > 0 ? Turn(turn, n) : std::conj(Turn(turn, n));
  }

  // The first elements of the last dimension.
  Complex First(const Complex& x, int64_t count) {
    const int64_t last = x.re.type().rank() - 1;
    return {b_.SliceIn(x.re, last, 0, count),
            x.im.node == nullptr ? x.im : b_.SliceIn(x.im, last, 0, count)};
  }

  Complex Chirp(const Complex& x, int64_t results, bool real, double scale) {
    const int64_t n = x.re.type().shape.back(), length = ChirpLength(n);
    Numbers w, other(length, 0);
    for (int64_t j = 0; j < n; ++j) {
      w.push_back(Root(j * j % (2 * n), 2 * n));
      other[j] = other[(length - j) % length] = std::conj(w[j]);
    }
    const Complex chirp = Table({n}, w);
    Complex y = x.im.node
                    ? Multiply(b_, x, chirp)
                    : Complex{b_.Binary(Op::kHloMultiply, x.re, chirp.re),
                              b_.Binary(Op::kHloMultiply, x.re, chirp.im)};
    Ints low(x.re.type().rank(), 0), high = low;
    high.back() = length - n;
    const Value zero = b_.Scalar(element_, 0);
    y = {b_.Pad(y.re, zero, low, high), b_.Pad(y.im, zero, low, high)};
    y = Transform(b_, element_, false).Along(y, length, false, 1);
    y = Multiply(b_, y, Table({length}, TransformOf(other)));
    y = Transform(b_, element_, true)
            .Along(y, n, false, scale / static_cast<double>(length));
    y = Multiply(b_, First(y, results), First(chirp, results));
    return {y.re, real ? Value() : y.im};
  }

  // The n numbers of a dimension, counted from the end, become `results` ones
  // of the last dimension: [..., n, rest] becomes [..., rest, results].
  Complex Product(const Complex& x, int64_t n, int64_t results, bool real,
                  double scale, int64_t from_end) {
    const bool parts = x.im.node != nullptr;
    const int64_t axis = x.re.type().rank() - from_end;
    const Value left = parts ? b_.Concatenate({x.re, x.im}, axis) : x.re;
    const int64_t lines = parts ? 2 * n : n;
    const int64_t columns = real ? results : 2 * results;
    // Zeros make the sums equally long.
    const int64_t sums = (lines + kFourierChain - 1) / kFourierChain;
    const int64_t chain = (lines + sums - 1) / sums;
    std::vector<double> table(sums * chain * columns, 0);
    for (int64_t j = 0; j < lines; ++j) {
      const bool imaginary = j >= n;
      double* const row = &table[j * columns];
      for (int64_t k = 0; k < results; ++k) {
        const int64_t turn = (imaginary ? j - n : j) * k;
        const std::complex<double> root = scale * Root(turn, n);
        row[k] = imaginary ? -root.imag() : root.real();
        if (!real) row[results + k] = imaginary ? root.real() : root.imag();
      }
    }
    ir::HloDotAttributes how;
    Value product;
    if (sums == 1) {
      how.lhs_contracting = {axis};
      how.rhs_contracting = {0};
      product = Dot(left, Table({lines, columns}, table), how);
    } else {
      Ints high(left.type().rank(), 0), split = left.type().shape;
      high[axis] = sums * chain - lines;
      split[axis] = chain;
      split.insert(split.begin() + axis, sums);
      const Value padded =
          b_.Pad(left, b_.Scalar(element_, 0), Ints(high.size(), 0), high);
      how.lhs_batching = {axis};
      how.rhs_batching = {0};
      how.lhs_contracting = {axis + 1};
      how.rhs_contracting = {1};
      product = b_.Reduce(Op::kHloAdd,
                          Dot(b_.Reshape(padded, split),
                              Table({sums, chain, columns}, table), how),
                          {0});
    }
    if (real) return {product, {}};
    const int64_t last = product.type().rank() - 1;
    return {b_.SliceIn(product, last, 0, results),
            b_.SliceIn(product, last, results, columns)};
  }

  Value Dot(const Value& x, const Value& y, const ir::HloDotAttributes& how) {
    const ir::Precision given = b_.state().precision;
    b_.state().precision = ir::Precision::kHighest;
    const Value product = b_.DotGeneral(x, y, how);
    b_.state().precision = given;
    return product;
  }

  Value Table(const Ints& shape, const std::vector<double>& values) {
    return b_.Constant({element_, shape, {}}, LiteralOf(element_, values));
  }

  Complex Table(const Ints& shape, const Numbers& values) {
    std::vector<double> re, im;
    for (const std::complex<double>& value : values) {
      re.push_back(value.real());
      im.push_back(value.imag());
    }
    return {Table(shape, re), Table(shape, im)};
  }

  // [..., j2, k1] times exp(+-2 pi i j2 k1 / n).
  Complex Turned(const Complex& z, int64_t n) {
    const Ints& shape = z.re.type().shape;
    const auto rank = static_cast<int64_t>(shape.size());
    const Ints last = {shape[rank - 2], shape[rank - 1]};
    Numbers roots;
    for (int64_t j = 0; j < last[0]; ++j)
      for (int64_t k = 0; k < last[1]; ++k) roots.push_back(Root(j * k, n));
    return Multiply(b_, z, Table(last, roots));
  }

  Complex Reshaped(const Complex& x, const Ints& shape) {
    return {b_.Reshape(x.re, shape),
            x.im.node == nullptr ? x.im : b_.Reshape(x.im, shape)};
  }

  // The last two dimensions.
  Complex Swapped(const Complex& x) {
    Ints order = Range(0, x.re.type().rank());
    std::swap(order[order.size() - 2], order.back());
    return {b_.Transpose(x.re, order),
            x.im.node == nullptr ? x.im : b_.Transpose(x.im, order)};
  }

  HloBuilder& b_;
  const ir::ElementType element_;
  const int sign_;
  std::map<int64_t, Plan> plans_;
};

}  // namespace

absl::Status CheckFourier(int64_t length) {
  if (length < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a Fourier transform of ", length, " values"));
  }
  if (length <= kLongestFourier) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a Fourier transform of ", length,
                   " values: the largest length is ", kLongestFourier));
}

Complex Fourier(HloBuilder& b, const Complex& x, bool inverse) {
  const ir::Type& type = x.re.type();
  const int64_t n = type.shape.empty() ? 0 : type.shape.back();
  if (const absl::Status s = CheckFourier(n); !s.ok())
    return {b.Fail(s), b.Fail(s)};
  return Transform(b, type.element, inverse)
      .Along(x, n, false, inverse ? 1 / static_cast<double>(n) : 1);
}

Complex FourierOfReal(HloBuilder& b, const Value& x) {
  const ir::Type& type = x.type();
  const int64_t n = type.shape.empty() ? 0 : type.shape.back();
  if (const absl::Status s = CheckFourier(n); !s.ok())
    return {b.Fail(s), b.Fail(s)};
  return Transform(b, type.element, false).Along({x, {}}, n / 2 + 1, false, 1);
}

Value FourierToReal(HloBuilder& b, const Complex& x, int64_t length) {
  const ir::Type& type = x.re.type();
  if (const absl::Status s = CheckFourier(length); !s.ok()) return b.Fail(s);
  const int64_t last = type.rank() - 1, half = length / 2 + 1;
  if (type.rank() == 0 || type.shape.back() != half) {
    return b.Fail(absl::InvalidArgumentError(absl::StrCat(
        ir::TypeText(type), " where ", half, " values become ", length)));
  }
  // The others in descending order: those of half - 1, or of half - 2 for an
  // even length, to 1.
  const auto all = [&](const Value& part, bool conjugate) {
    if (length - half == 0) return part;
    const Value others =
        b.Reverse(b.SliceIn(part, last, 1, length - half + 1), {last});
    return b.Concatenate(
        {part, conjugate ? b.Unary(Op::kHloNegate, others) : others}, last);
  };
  return Transform(b, type.element, true)
      .Along({all(x.re, false), all(x.im, true)}, length, true,
             1 / static_cast<double>(length))
      .re;
}

}  // namespace systole::import
