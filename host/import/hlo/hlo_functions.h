// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Functions of floats that expand to several operations of hlo/.
#ifndef SYSTOLE_HOST_IMPORT_HLO_HLO_FUNCTIONS_H_
#define SYSTOLE_HOST_IMPORT_HLO_HLO_FUNCTIONS_H_

#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

// exp(beta (x - max)) / sum over one dimension.
Value Softmax(HloBuilder& b, const Value& x, int64_t axis, double beta = 1);
// The logarithm of the softmax.
Value LogSoftmax(HloBuilder& b, const Value& x, int64_t axis);

// Gauss's error function. In fp32 its error is below 5e-7.
Value Erf(HloBuilder& b, const Value& x);

// x / 2 * (1 + erf(x / sqrt(2))).
Value Gelu(HloBuilder& b, const Value& x);
// x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
Value GeluOfTanh(HloBuilder& b, const Value& x);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_HLO_HLO_FUNCTIONS_H_
