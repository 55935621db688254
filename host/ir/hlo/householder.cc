// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The custom calls of a QR decomposition. Matrices are fp32, with batch
// dimensions in front. Each step is rounded.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/tree.h"

namespace systole::ir {
namespace {

struct Matrix {
  float* data;
  int64_t rows, columns;
  float& at(int64_t i, int64_t j) const { return data[i * columns + j]; }
};

// Sums along a dimension behind which `inner` sums lie next to each other
// (docs/hlo.md).
float Sum(std::vector<float> x, int64_t inner) {
  const auto by_halves = [&](int64_t first, int64_t n) {
    for (int64_t half = FirstHalf(n); half > 0; half /= 2) {
      for (int64_t i = first; i + half < first + n; ++i) x[i] += x[i + half];
      n = half;
    }
    return x[first];
  };
  while (const int64_t section =
             SectionOf(static_cast<int64_t>(x.size()), inner)) {
    const auto n = static_cast<int64_t>(x.size());
    std::vector<float> sums;
    for (int64_t i = 0; i < n; i += section)
      sums.push_back(by_halves(i, std::min(section, n - i)));
    x = std::move(sums);
  }
  return 0 + by_halves(0, static_cast<int64_t>(x.size()));
}

float Largest(float a, float b) {
  return a != a || b != b ? FromBits(kNanBits) : std::max(a, b);
}

// Applies a reflection to the columns from `first` on, from row k down: a - v *
// (tau * (v^T a)). v is 1 at row k and, below it, column k of `vectors`.
void Reflect(const Matrix& vectors, int64_t k, float tau, const Matrix& a,
             int64_t first) {
  const auto v = [&](int64_t i) { return i == k ? 1.0f : vectors.at(i, k); };
  std::vector<float> terms(a.rows);
  for (int64_t j = first; j < a.columns; ++j) {
    for (int64_t i = k; i < a.rows; ++i) terms[i] = v(i) * a.at(i, j);
    const float part = tau * Sum(terms, a.columns);
    for (int64_t i = k; i < a.rows; ++i) a.at(i, j) -= v(i) * part;
  }
}

// Factors `a` in place: the factor R goes on and above the diagonal, the
// vectors of the reflections go below it. The scale factors of the reflections
// go to `tau`.
void Qr(const Matrix& a, float* tau) {
  const int64_t steps = std::min(a.rows, a.columns);
  for (int64_t k = 0; k < steps; ++k) {
    float largest = 0;
    for (int64_t i = k + 1; i < a.rows; ++i)
      largest = Largest(largest, std::fabs(a.at(i, k)));
    tau[k] = 0;
    if (largest == 0) continue;
    const float alpha = a.at(k, k);
    largest = Largest(largest, std::fabs(alpha));
    std::vector<float> squares(a.rows);  // scaled to avoid overflow
    for (int64_t i = k; i < a.rows; ++i) {
      const float scaled = a.at(i, k) / largest;
      squares[i] = scaled * scaled;
    }
    const float norm = largest * std::sqrt(Sum(squares, 1));
    const float beta = alpha < 0 ? norm : -norm;
    tau[k] = (beta - alpha) / beta;
    for (int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) /= alpha - beta;
    a.at(k, k) = beta;
    Reflect(a, k, tau[k], a, k + 1);
  }
}

// The first columns of the product of the reflections.
void Product(const Matrix& vectors, const float* tau, int64_t steps,
             const Matrix& q) {
  for (int64_t i = 0; i < q.rows; ++i) {
    for (int64_t j = 0; j < q.columns; ++j) q.at(i, j) = i == j ? 1.0f : 0.0f;
  }
  for (int64_t k = steps - 1; k >= 0; --k) Reflect(vectors, k, tau[k], q, 0);
}

std::vector<float> WithOneNan(std::vector<float> values) {
  for (float& value : values) value = Canonical(value);
  return values;
}

// Checks the operands and results: matrices [..., m, n] and factors [..., k],
// all of f32.
absl::Status CheckMatrices(const Node& node, const Ints& shape,
                           const Ints& factors) {
  const bool product = node.operands.size() == 2;
  const auto is = [](const Type& type, const Ints& expected) {
    return type.element == ElementType::kFloat32 && type.shape == expected;
  };
  if (shape.size() >= 2 && is(node.operands[0].type(), shape) &&
      is(node.type, shape) && node.results() == (product ? 1 : 2) &&
      is(product ? node.operands[1].type() : node.result_type(1), factors) &&
      factors.back() <= std::min(shape[shape.size() - 2], shape.back())) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("'", node.attr<HloCustomCallAttributes>().target,
                   "' of other values than matrices of f32"));
}

}  // namespace

absl::StatusOr<Literals> EvaluateQr(const Node& node,
                                    const Operands& operands) {
  const Ints& shape = node.type.shape;
  Ints factors(shape.begin(), shape.end() - std::min<size_t>(2, shape.size()));
  factors.push_back(
      shape.size() < 2 ? 0 : std::min(shape[shape.size() - 2], shape.back()));
  if (absl::Status s = CheckMatrices(node, shape, factors); !s.ok()) return s;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t steps = factors.back();
  std::vector<float> all = operands[0]->values<float>();
  const int64_t count =
      all.empty() ? 0 : static_cast<int64_t>(all.size()) / (rows * columns);
  std::vector<float> tau(count * steps);
  for (int64_t i = 0; i < count; ++i) {
    Qr({all.data() + i * rows * columns, rows, columns},
       tau.data() + i * steps);
  }
  Literals results;
  results.emplace_back(WithOneNan(std::move(all)));
  results.emplace_back(WithOneNan(std::move(tau)));
  return results;
}

absl::StatusOr<Literals> EvaluateHouseholderProduct(const Node& node,
                                                    const Operands& operands) {
  const Ints& shape = node.type.shape;
  Ints factors(shape.begin(), shape.end() - std::min<size_t>(2, shape.size()));
  const Ints& given = node.operands.back().type().shape;
  factors.push_back(given.empty() ? 0 : given.back());
  if (absl::Status s = CheckMatrices(node, shape, factors); !s.ok()) return s;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t steps = factors.back();
  std::vector<float> vectors = operands[0]->values<float>();
  const std::vector<float>& tau = operands[1]->values<float>();
  std::vector<float> all(vectors.size());
  const int64_t size = rows * columns;
  for (int64_t i = 0; i * size < static_cast<int64_t>(all.size()); ++i) {
    Product({vectors.data() + i * size, rows, columns}, tau.data() + i * steps,
            steps, {all.data() + i * size, rows, columns});
  }
  return Only(Literal(WithOneNan(std::move(all))));
}

}  // namespace systole::ir
