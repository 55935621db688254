// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Discrete Fourier transforms along the last dimension, as products with
// matrices of cosines and sines:
//
//   y[k] = sum over j of x[j] exp(-2 pi i j k / n)
//
// A length n = n1 n2 with j = n2 j1 + j2 and k = k1 + n1 k2 takes two products
// of n1 and n2 numbers, and a multiplication in between:
//
//   z[j2, k1] = exp(-2 pi i j2 k1 / n) sum over j1 of x[j1, j2] W(n1)[j1, k1]
//   y[k2, k1] = sum over j2 of z[j2, k1] W(n2)[j2, k2]
//
// and so on for more factors. A prime factor n above kMostDirect is a
// convolution instead, since 2 j k = j^2 + k^2 - (k - j)^2: with w[j] = exp(-pi
// i j^2 / n),
//
//   y[k] = w[k] sum over j of (x[j] w[j]) / w[k - j]
//
// for which both sides are transformed at a power of two of at least 2 n - 1.
//
// A sum of more than kFourierChain numbers is added up from sums of at most so
// many. All products have precision HIGHEST.
#ifndef SYSTOLE_HOST_IMPORT_HLO_HLO_FOURIER_H_
#define SYSTOLE_HOST_IMPORT_HLO_HLO_FOURIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/import/hlo/hlo_complex.h"

namespace systole::import {

constexpr int64_t kLongestFourier = int64_t{1} << 20;
constexpr int64_t kMostDirect = 512;
constexpr int64_t kFourierChain = 256;

// Unimplemented for a length above kLongestFourier, which the message has;
// InvalidArgument for one below 1.
absl::Status CheckFourier(int64_t length);

// Of n complex numbers, or of real ones, if x.im.node is null. The inverse
// turns the other way round and divides by n.
Complex Fourier(HloBuilder& b, const Complex& x, bool inverse);
// The first n / 2 + 1 results for n real numbers: the others are conjugates.
Complex FourierOfReal(HloBuilder& b, const Value& x);
// The inverse of that: n real numbers of n / 2 + 1 complex ones. The imaginary
// parts of the first one, and of the last one for an even n, do not count.
Value FourierToReal(HloBuilder& b, const Complex& x, int64_t length);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_HLO_HLO_FOURIER_H_
