// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One element as a number, and the elementwise operations of docs/hlo.md. This
// file is written from that page alone. An element is represented by its bits.
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_SCALARS_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_SCALARS_H_

#include <cstdint>

#include "host/ir/hlo/attributes.h"
#include "host/ir/op.h"
#include "host/ir/type.h"

namespace systole::golden::hlo {

using Element = ir::ElementType;

int Width(Element element);  // in bits; of i1: 1
bool IsReal(Element element);
bool HasSign(Element element);
// A number modulo 2^width.
uint64_t Wrapped(Element element, uint64_t number);
// The value of an integer, with its sign if the type has one.
int64_t Whole(Element element, uint64_t bits);
// The exact value of a float, and its inverse: to nearest even, with one NaN.
float Real(Element element, uint64_t bits);
uint64_t FromReal(Element element, float number);

// add to shift_right_arithmetic.
uint64_t Binary(ir::Op op, Element element, uint64_t a, uint64_t b);
// not to is_finite.
uint64_t Unary(ir::Op op, Element element, uint64_t a);
bool Compare(const ir::HloCompareAttributes& how, Element element, uint64_t a,
             uint64_t b);
uint64_t Convert(Element from, Element to, uint64_t bits);
uint64_t ReducePrecision(const ir::HloReducePrecisionAttributes& how,
                         Element element, uint64_t bits);

// Functions of fp32 in several operations (real_functions.cc).
float Exponential(float x);
float Logarithm(float x);
float Power(float x, float y);
float Sine(float x);
float Cosine(float x);
float LogPlusOne(float x);
float ExponentialMinusOne(float x);
float CubeRoot(float x);
float Angle(float y, float x);  // atan2

}  // namespace systole::golden::hlo

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_SCALARS_H_
