// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cholesky factors and triangular systems, in fp32. The terms of a sum are
// subtracted one after the other, in ascending order.
#include <cmath>

#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

template <typename Function>
Literal OfFloats(const Literal& operand, Function function) {
  return operand.Visit([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    std::vector<float> floats;
    for (const T& value : values) floats.push_back(static_cast<float>(value));
    function(floats);
    std::vector<T> rounded;
    for (float v : floats) rounded.push_back(static_cast<T>(Canonical(v)));
    return Literal(std::move(rounded));
  });
}

}  // namespace

absl::StatusOr<Literals> EvaluateCholesky(const Node& node,
                                          const Operands& operands,
                                          Evaluation&) {
  const bool lower = node.attr<HloCholeskyAttributes>().lower;
  const int64_t n = node.type.shape.back();
  return Only(OfFloats(*operands[0], [&](std::vector<float>& all) {
    for (size_t first = 0; first < all.size(); first += n * n) {
      float* a = all.data() + first;
      // Element (i, j) of the lower factor, i >= j.
      const auto at = [&](int64_t i, int64_t j) -> float& {
        return lower ? a[i * n + j] : a[j * n + i];
      };
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = j; i < n; ++i) {
          float sum = at(i, j);
          for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
          at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
        }
        for (int64_t i = 0; i < j; ++i) at(i, j) = 0;
      }
    }
  }));
}

absl::StatusOr<Literals> EvaluateTriangularSolve(const Node& node,
                                                 const Operands& operands,
                                                 Evaluation&) {
  const auto& t = node.attr<HloTriangularSolveAttributes>();
  const Ints& shape = node.type.shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t n = node.operands[0].type().shape.back();
  std::vector<float> matrices;
  OfFloats(*operands[0], [&](std::vector<float>& all) { matrices = all; });
  return Only(OfFloats(*operands[1], [&](std::vector<float>& all) {
    size_t batch = 0;
    for (size_t first = 0; first < all.size();
         first += rows * columns, ++batch) {
      const float* a = matrices.data() + batch * n * n;
      float* b = all.data() + first;
      // x * op(a) = b is solved as op(a)^T * x^T = b^T.
      const bool transposed = t.transpose_a == t.left_side;
      const bool forward = t.lower != transposed;
      const auto coefficient = [&](int64_t i, int64_t k) {
        return transposed ? a[k * n + i] : a[i * n + k];
      };
      for (int64_t j = 0; j < (t.left_side ? columns : rows); ++j) {
        const auto x = [&](int64_t i) -> float& {
          return t.left_side ? b[i * columns + j] : b[j * columns + i];
        };
        for (int64_t step = 0; step < n; ++step) {
          const int64_t i = forward ? step : n - 1 - step;
          float sum = x(i);
          for (int64_t s = 0; s < step; ++s) {
            const int64_t k = forward ? s : n - 1 - s;
            sum -= coefficient(i, k) * x(k);
          }
          x(i) = t.unit_diagonal ? sum : sum / coefficient(i, i);
        }
      }
    }
  }));
}

}  // namespace systole::ir
