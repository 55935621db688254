// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operands are transposed to [batch, free, contracting] and [batch,
// contracting, free]; each batch is a product of matrices.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/products.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

// The operand with its dimensions permuted to that order.
Literal Ordered(const Literal& operand, const Ints& shape, const Ints& order) {
  if (std::is_sorted(order.begin(), order.end())) return operand;
  const Ints strides = StridesOf(shape);
  Ints sizes, from;
  for (int64_t dimension : order) {
    sizes.push_back(shape[dimension]);
    from.push_back(strides[dimension]);
  }
  Literal result = Literal::Zeros(operand.element(), operand.size());
  CopyStrided(ElementBytes(operand.element()), sizes, {operand.data(), from},
              {result.data(), StridesOf(sizes)});
  return result;
}

Ints Free(size_t rank, const Ints& a, const Ints& b) {
  Ints free;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i) {
    if (std::count(a.begin(), a.end(), i) + std::count(b.begin(), b.end(), i) ==
        0) {
      free.push_back(i);
    }
  }
  return free;
}

Ints Joined(const Ints& a, const Ints& b, const Ints& c) {
  Ints all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

int64_t Product(const Ints& shape, const Ints& dimensions) {
  int64_t product = 1;
  for (int64_t dimension : dimensions) product *= shape[dimension];
  return product;
}

}  // namespace

DotShape DotShapeOf(const Node& node) {
  const auto& a = node.attr<HloDotAttributes>();
  const Ints& left = node.operands[0].type().shape;
  const Ints& right = node.operands[1].type().shape;
  DotShape shape;
  shape.rows = Free(left.size(), a.lhs_batching, a.lhs_contracting);
  shape.columns = Free(right.size(), a.rhs_batching, a.rhs_contracting);
  shape.batch = Product(left, a.lhs_batching);
  shape.m = Product(left, shape.rows);
  shape.k = Product(left, a.lhs_contracting);
  shape.n = Product(right, shape.columns);
  return shape;
}

absl::StatusOr<Literals> EvaluateDotGeneral(const Node& node,
                                            const Operands& operands,
                                            Evaluation& evaluation) {
  const auto& a = node.attr<HloDotAttributes>();
  const Ints& left = node.operands[0].type().shape;
  const Ints& right = node.operands[1].type().shape;
  const auto [rows, columns, batch, m, k, n] = DotShapeOf(node);
  const Literal lhs = Ordered(*operands[0], left,
                              Joined(a.lhs_batching, rows, a.lhs_contracting));
  const Literal rhs = Ordered(
      *operands[1], right, Joined(a.rhs_batching, a.rhs_contracting, columns));
  Literal result = Literal::Zeros(node.type.element, 0);
  for (int64_t i = 0; i < batch; ++i) {
    const bool whole = batch == 1;
    absl::StatusOr<Literal> product =
        MatrixProduct(m, k, n, whole ? lhs : lhs.Slice(i * m * k, m * k),
                      whole ? rhs : rhs.Slice(i * k * n, k * n),
                      node.type.element, a.precision, evaluation.products());
    if (!product.ok()) return product.status();
    if (whole) return Only(*std::move(product));
    result.Append(*product);
  }
  return Only(std::move(result));
}

absl::StatusOr<Literals> EvaluateMatrixProduct(const Node& node,
                                               const Operands& operands,
                                               Evaluation& evaluation) {
  const auto& a = node.attr<HloMatrixProductAttributes>();
  const int64_t batch = node.type.shape[0];
  const int64_t m = node.type.shape[1], n = node.type.shape[2];
  const Type& right = node.operands[1].type();
  const int64_t k = right.shape[a.transposed ? 2 : 1];
  Literal lhs = Literal::Zeros(right.element, batch * m * k);
  CopyStrided(ElementBytes(right.element), a.sizes,
              {operands[0]->data(), a.strides},
              {lhs.data(), StridesOf(a.sizes)});
  const Literal rhs = a.transposed
                          ? Ordered(*operands[1], right.shape, {0, 2, 1})
                          : *operands[1];
  const auto* x = reinterpret_cast<const uint16_t*>(std::as_const(lhs).data());
  const auto* y = reinterpret_cast<const uint16_t*>(rhs.data());
  std::vector<float> sums(batch * m * n);
  for (int64_t i = 0; i < batch; ++i) {
    const absl::Status status =
        MultiplySections(m, k, n, x + i * m * k, y + i * k * n,
                         sums.data() + i * m * n, evaluation.products());
    if (!status.ok()) return status;
  }
  return Only(Literal(std::move(sums)));
}

}  // namespace systole::ir
