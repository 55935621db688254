// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Matrix products and conversions of the bf16 cores (docs/numerics.md) on
// tensors, computed with Eigen and the host's floating point.
#ifndef SYSTOLE_VERIF_GOLDEN_FLOAT_OPS_H_
#define SYSTOLE_VERIF_GOLDEN_FLOAT_OPS_H_

#include <Eigen/Core>
#include <cstdint>

namespace systole::golden {

using Bf16Matrix =
    Eigen::Matrix<uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Fp32Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Exact conversion.
Fp32Matrix FromBf16(const Bf16Matrix& bits);
// Rounds to nearest even; every NaN becomes 0x7FC0.
Bf16Matrix ToBf16(const Fp32Matrix& values);

// a (m x k) times b (k x n): each element is the chain
//   row = fma(a(i, k), b(k, j), row), k ascending, row = +0 before the first,
// and then fma(+0, +0, row) until the number of steps is a multiple of `k_step`
// (the rows of the array). NaN results are 0x7FC00000.
Fp32Matrix FloatMatmul(const Fp32Matrix& a, const Fp32Matrix& b, int k_step);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_FLOAT_OPS_H_
