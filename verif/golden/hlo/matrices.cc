// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Batch normalisation, factors": fp32, each operation rounded.
#include <algorithm>
#include <cmath>

#include "verif/golden/fp32.h"
#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;
using Line = std::vector<float>;

Line Reals(const Tensor& tensor) {
  Line reals;
  for (const uint64_t bits : tensor.bits)
    reals.push_back(Real(tensor.element, bits));
  return reals;
}

Tensor OfReals(Element element, const Index& shape, const Line& reals) {
  Tensor tensor(element, shape);
  for (size_t i = 0; i < reals.size(); ++i)
    tensor.bits[i] = FromReal(element, reals[i]);
  return tensor;
}

float Sum(const Line& values) {
  float sum = 0;
  for (const float value : values) sum = sum + value;
  return sum;
}

// Results for one feature of an operand x. In Gradient, `g` is the feature of
// the gradient.
struct Feature {
  Line result;
  float first = 0, second = 0;
};

Feature Training(const Line& x, float scale, float offset, float epsilon) {
  const auto n = static_cast<float>(x.size());
  const float mean = Sum(x) / n;
  Line squares;
  for (const float v : x) squares.push_back((v - mean) * (v - mean));
  const float variance = Sum(squares) / n;
  Feature feature{{}, mean, variance};
  for (const float v : x) {
    feature.result.push_back(
        scale * (v - mean) / std::sqrt(variance + epsilon) + offset);
  }
  return feature;
}

Feature Gradient(const Line& x, const Line& g, float scale, float mean,
                 float variance, float epsilon) {
  const auto n = static_cast<float>(x.size());
  const float d = std::sqrt(variance + epsilon);
  Line of_scale, centred;
  for (size_t i = 0; i < x.size(); ++i) {
    of_scale.push_back(g[i] * ((x[i] - mean) / d));
    centred.push_back(g[i] * (x[i] - mean));
  }
  const float sum = Sum(g), sum_centred = Sum(centred);
  Feature feature{{}, Sum(of_scale), sum};
  for (size_t i = 0; i < x.size(); ++i) {
    feature.result.push_back(
        scale / d / n *
        (g[i] * n - sum - sum_centred * (x[i] - mean) / (variance + epsilon)));
  }
  return feature;
}

struct Matrix {
  Line values;
  int64_t rows, columns;
  float& at(int64_t i, int64_t j) { return values[i * columns + j]; }
  float at(int64_t i, int64_t j) const { return values[i * columns + j]; }
  Matrix Turned() const {
    Matrix turned{Line(values.size()), columns, rows};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) turned.at(j, i) = at(i, j);
    return turned;
  }
};

// The matrices of a batch.
std::vector<Matrix> Matrices(const Tensor& tensor) {
  const int64_t rows = tensor.shape[tensor.rank() - 2];
  const int64_t columns = tensor.shape[tensor.rank() - 1];
  const Line all = Reals(tensor);
  std::vector<Matrix> matrices;
  for (int64_t first = 0; first < tensor.size(); first += rows * columns) {
    matrices.push_back(
        {{all.begin() + first, all.begin() + first + rows * columns},
         rows,
         columns});
  }
  return matrices;
}

Tensor OfMatrices(Element element, const Index& shape,
                  const std::vector<Matrix>& matrices) {
  Line all;
  for (const Matrix& m : matrices)
    all.insert(all.end(), m.values.begin(), m.values.end());
  return OfReals(element, shape, all);
}

// L with a = L L^T, computed from the lower triangle of a.
Matrix Cholesky(const Matrix& a) {
  Matrix l{Line(a.values.size(), 0.0f), a.rows, a.columns};
  for (int64_t j = 0; j < a.rows; ++j) {
    for (int64_t i = j; i < a.rows; ++i) {
      float rest = a.at(i, j);
      for (int64_t k = 0; k < j; ++k) rest = rest - l.at(i, k) * l.at(j, k);
      l.at(i, j) = i == j ? std::sqrt(rest) : rest / l.at(j, j);
    }
  }
  return l;
}

// x with a x = b; only one triangle of a is used.
Matrix Solve(const Matrix& a, Matrix b, bool lower, bool unit) {
  const int64_t n = a.rows;
  for (int64_t j = 0; j < b.columns; ++j) {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      for (int64_t known = 0; known < step; ++known) {
        const int64_t k = lower ? known : n - 1 - known;
        b.at(i, j) = b.at(i, j) - a.at(i, k) * b.at(k, j);
      }
      if (!unit) b.at(i, j) = b.at(i, j) / a.at(i, i);
    }
  }
  return b;
}

float SumByHalves(Line x) {
  while (x.size() > 1) {
    size_t half = 1;
    while (2 * half < x.size()) half *= 2;
    for (size_t i = 0; i < half && i + half < x.size(); ++i)
      x[i] = x[i] + x[i + half];
    x.resize(half);
  }
  return 0.0f + x[0];
}

// Of one of so many columns: in sections, like every sum down columns.
float SumOfColumn(Line x, int64_t columns) {
  while (const size_t section = SectionOfSum(x.size(), columns > 1)) {
    Line sums;
    for (size_t i = 0; i < x.size(); i += section) {
      const size_t end = std::min(i + section, x.size());
      sums.push_back(SumByHalves(Line(x.data() + i, x.data() + end)));
    }
    x = sums;
  }
  return SumByHalves(x);
}

// Subtracts the reflection from column j; v is 0 above row k.
void Reflect(const Line& v, float t, Matrix& a, int64_t j) {
  Line terms;
  for (int64_t i = 0; i < a.rows; ++i) terms.push_back(v[i] * a.at(i, j));
  const float part = t * SumOfColumn(terms, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) a.at(i, j) = a.at(i, j) - v[i] * part;
}

Line Qr(Matrix& a) {
  Line factors;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    float largest = 0;
    for (int64_t i = k + 1; i < a.rows; ++i)
      largest = fp32::Max(largest, std::fabs(a.at(i, k)));
    factors.push_back(0);
    if (largest == 0) continue;
    const float g = fp32::Max(largest, std::fabs(a.at(k, k)));
    Line squares(a.rows, 0.0f);
    for (int64_t i = k; i < a.rows; ++i)
      squares[i] = (a.at(i, k) / g) * (a.at(i, k) / g);
    const float norm = g * std::sqrt(SumByHalves(squares));
    const float beta = a.at(k, k) < 0 ? norm : -norm;
    factors[k] = (beta - a.at(k, k)) / beta;
    Line v(a.rows, 0.0f);
    v[k] = 1;
    for (int64_t i = k + 1; i < a.rows; ++i)
      v[i] = a.at(i, k) / (a.at(k, k) - beta);
    a.at(k, k) = beta;
    for (int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) = v[i];
    for (int64_t j = k + 1; j < a.columns; ++j) {
      // Rows above k are unchanged.
      Matrix below = a;
      Reflect(v, factors[k], below, j);
      for (int64_t i = k; i < a.rows; ++i) a.at(i, j) = below.at(i, j);
    }
  }
  return factors;
}

Matrix Reflections(const Matrix& vectors, const Line& factors) {
  Matrix q{Line(vectors.values.size(), 0.0f), vectors.rows, vectors.columns};
  for (int64_t i = 0; i < std::min(q.rows, q.columns); ++i) q.at(i, i) = 1;
  for (auto k = static_cast<int64_t>(factors.size()); k-- > 0;) {
    Line v(q.rows, 0.0f);
    v[k] = 1;
    for (int64_t i = k + 1; i < q.rows; ++i) v[i] = vectors.at(i, k);
    for (int64_t j = 0; j < q.columns; ++j) {
      Matrix next = q;
      Reflect(v, factors[k], next, j);
      for (int64_t i = k; i < q.rows; ++i) q.at(i, j) = next.at(i, j);
    }
  }
  return q;
}

}  // namespace

Tensors Normalised(const Node& node, const Tensors& operands) {
  const auto& a = node.attr<ir::HloBatchNormAttributes>();
  const Tensor& x = operands[0];
  const Element element = x.element;
  const Index each = {x.shape[a.feature_index]};
  Tensor result(element, x.shape), first(element, each), second(element, each);
  for (int64_t f = 0; f < each[0]; ++f) {
    std::vector<int64_t> places;
    ForEach(x.shape, [&](const Index& index) {
      if (index[a.feature_index] == f) places.push_back(x.At(index));
    });
    const auto of = [&](size_t operand) {
      return Real(operands[operand].element, operands[operand].bits[f]);
    };
    const auto line = [&](size_t operand) {
      Line values;
      for (const int64_t place : places)
        values.push_back(Real(element, operands[operand].bits[place]));
      return values;
    };
    Feature feature;
    if (node.op == Op::kHloBatchNormTraining) {
      feature = Training(line(0), of(1), of(2), a.epsilon);
    } else if (node.op == Op::kHloBatchNormGrad) {
      feature = Gradient(line(0), line(4), of(1), of(2), of(3), a.epsilon);
    } else {
      for (const float v : line(0)) {
        feature.result.push_back(
            of(1) * (v - of(3)) / std::sqrt(of(4) + a.epsilon) + of(2));
      }
    }
    for (size_t i = 0; i < places.size(); ++i)
      result.bits[places[i]] = FromReal(element, feature.result[i]);
    first.bits[f] = FromReal(element, feature.first);
    second.bits[f] = FromReal(element, feature.second);
  }
  if (node.op == Op::kHloBatchNormInference) return {result};
  return {result, first, second};
}

Tensor Factor(const Node& node, const Tensors& operands) {
  std::vector<Matrix> matrices = Matrices(operands[0]), results;
  if (node.op == Op::kHloCholesky) {
    const bool lower = node.attr<ir::HloCholeskyAttributes>().lower;
    for (const Matrix& m : matrices)
      results.push_back(lower ? Cholesky(m) : Cholesky(m.Turned()).Turned());
    return OfMatrices(node.type.element, node.type.shape, results);
  }
  const auto& a = node.attr<ir::HloTriangularSolveAttributes>();
  const std::vector<Matrix> right = Matrices(operands[1]);
  for (size_t i = 0; i < matrices.size(); ++i) {
    // x a = b is solved as a^T x^T = b^T.
    const bool turned = a.transpose_a == a.left_side;
    const Matrix left = turned ? matrices[i].Turned() : matrices[i];
    const Matrix b = a.left_side ? right[i] : right[i].Turned();
    const Matrix x = Solve(left, b, a.lower != turned, a.unit_diagonal);
    results.push_back(a.left_side ? x : x.Turned());
  }
  return OfMatrices(node.type.element, node.type.shape, results);
}

Tensors Householder(const Node& node, const Tensors& operands) {
  const std::vector<Matrix> matrices = Matrices(operands[0]);
  std::vector<Matrix> results;
  Line factors;
  const bool product = operands.size() > 1;
  const Line given = product ? Reals(operands[1]) : Line();
  const size_t each = product ? operands[1].shape.back() : 0;
  for (size_t i = 0; i < matrices.size(); ++i) {
    if (product) {
      const auto first = given.begin() + static_cast<int64_t>(i * each);
      results.push_back(Reflections(
          matrices[i], Line(first, first + static_cast<int64_t>(each))));
    } else {
      results.push_back(matrices[i]);
      const Line found = Qr(results.back());
      factors.insert(factors.end(), found.begin(), found.end());
    }
  }
  Tensors tensors = {OfMatrices(node.type.element, node.type.shape, results)};
  if (!product) {
    const ir::Type& type = node.result_type(1);
    tensors.push_back(OfReals(type.element, type.shape, factors));
  }
  return tensors;
}

}  // namespace systole::golden::hlo
