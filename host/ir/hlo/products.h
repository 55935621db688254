// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of matrices of any element type, as dot_general and convolution
// need them.
#ifndef SYSTOLE_HOST_IR_HLO_PRODUCTS_H_
#define SYSTOLE_HOST_IR_HLO_PRODUCTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/evaluate.h"

namespace systole::ir {

// Whether a ProductUnit computes products of the types: all but i1 and those of
// 64 bits.
bool IsProductOnUnit(ElementType a, ElementType b);

// The pairs of parts that are multiplied (0: the largest), in this order,
// concatenated along the contraction.
using ProductPasses = std::vector<std::pair<int, int>>;
ProductPasses PassesOf(ElementType a, ElementType b, Precision precision);

// A dot_general as matrix products: the operand dimensions that form rows and
// columns, and the sizes.
struct DotShape {
  Ints rows, columns;
  int64_t batch = 1, m = 1, k = 1, n = 1;
};
DotShape DotShapeOf(const Node& node);

// Whether integers of a type are multiplied digit by digit with the vector
// unit's operations: products in base 256 that fp32 adds exactly.
bool IsProductInDigits(ElementType type);
int64_t MostDigitTerms(ElementType a, ElementType b);

// The m x n product of an m x k and a k x n matrix, row-major, in the element
// type `result`. Floats: split into bf16 parts as the precision says,
// multiplied by the unit, rounded once to the type (docs/hlo.md, "Products");
// integers: modulo 2^bits of the result, digit by digit of base 256.
absl::StatusOr<Literal> MatrixProduct(int64_t m, int64_t k, int64_t n,
                                      const Literal& a, const Literal& b,
                                      ElementType result, Precision precision,
                                      ProductUnit& unit);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_PRODUCTS_H_
