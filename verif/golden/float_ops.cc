// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/float_ops.h"

#include <cmath>
#include <cstring>

namespace systole::golden {
namespace {

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float Canonical(float value) {
  return std::isnan(value) ? FromBits(0x7FC00000) : value;
}

}  // namespace

Fp32Matrix FromBf16(const Bf16Matrix& bits) {
  return bits.unaryExpr([](uint16_t b) { return FromBits(uint32_t{b} << 16); });
}

Bf16Matrix ToBf16(const Fp32Matrix& values) {
  return values.unaryExpr([](float v) -> uint16_t {
    if (std::isnan(v)) return 0x7FC0;
    const uint32_t bits = ToBits(v);
    const uint32_t half = 0x7FFF + (bits >> 16 & 1);  // ties to even
    return static_cast<uint16_t>((bits + half) >> 16);
  });
}

Fp32Matrix FloatMatmul(const Fp32Matrix& a, const Fp32Matrix& b, int k_step) {
  Fp32Matrix c = Fp32Matrix::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    auto row = c.row(i).array();
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      const float x = a(i, k);
      row = b.row(k).array().binaryExpr(
          row, [x](float y, float sum) { return std::fma(x, y, sum); });
    }
    if (a.cols() % k_step != 0) row += 0.0f;  // -0 becomes +0
  }
  return c.unaryExpr(&Canonical);
}

}  // namespace systole::golden
