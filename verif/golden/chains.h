// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The chains of fused multiply-adds of docs/training.md, many at a time.
#ifndef SYSTOLE_VERIF_GOLDEN_CHAINS_H_
#define SYSTOLE_VERIF_GOLDEN_CHAINS_H_

#include <cstdint>

namespace systole::golden {

// Element (i, k) is data[i * row + k * step].
struct StridedOperand {
  const float* data;
  int64_t row, step;
};

// sum(i, j) = fma(a(i, k), b(k, j), sum(i, j)) with ascending k; i < rows, k <
// length, j < columns. b and sum are dense and row-major. NaNs are not
// canonicalised.
void ExtendChains(int64_t rows, int64_t columns, int64_t length,
                  StridedOperand a, const float* b, float* sum);

// fma(+0, +0, sum) for `count` sums.
void FillUpChains(int64_t count, float* sum);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_CHAINS_H_
