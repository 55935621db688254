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

// Whether a ProductUnit computes products of the types: all but i1 and 64-bit
// integers.
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

// Whether the vector unit can multiply integers of a type digit by digit.
// Digits have base 256, and fp32 sums up to MostDigitTerms of their products
// exactly.
bool IsProductInDigits(ElementType type);
int64_t MostDigitTerms(ElementType a, ElementType b);

// A sum of more terms than this is that of sections of so many, each a chain
// from +0, added from +0 in ascending order (docs/hlo.md, "Products").
inline constexpr int64_t kSectionTerms = 4096;

// c = a x b as the unit multiplies, section by section. A zero may have either
// sign.
absl::Status MultiplySections(int64_t m, int64_t k, int64_t n,
                              const uint16_t* a, const uint16_t* b, float* c,
                              ProductUnit& unit);

// The m x n product of an m x k and a k x n matrix, row-major, in the element
// type `result`. Floats are split into bf16 parts as the precision says,
// multiplied by the unit, and rounded once to the type (docs/hlo.md,
// "Products"). Integers are multiplied digit by digit in base 256, modulo
// 2^bits of the result.
absl::StatusOr<Literal> MatrixProduct(int64_t m, int64_t k, int64_t n,
                                      const Literal& a, const Literal& b,
                                      ElementType result, Precision precision,
                                      ProductUnit& unit);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_PRODUCTS_H_
