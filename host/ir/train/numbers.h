// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Numbers of a training step on the host: fp32 as the vector unit computes it,
// and sums over positions (docs/training.md, "Sums").
#ifndef SYSTOLE_HOST_IR_TRAIN_NUMBERS_H_
#define SYSTOLE_HOST_IR_TRAIN_NUMBERS_H_

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "host/ir/module.h"

namespace systole::ir::train {

using Floats = std::vector<float>;

// fp32 as the vector unit computes it: one NaN.
inline float Number(float a) {
  return std::isnan(a) ? std::numeric_limits<float>::quiet_NaN() : a;
}
inline float Plus(float a, float b) { return Number(a + b); }
inline float Times(float a, float b) { return Number(a * b); }
inline float Fused(float a, float b, float c) {
  return Number(std::fma(a, b, c));
}
// c - a * b with one rounding.
inline float Less(float a, float b, float c) { return Fused(-a, b, c); }
inline float Larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return Number(a + b);
  if (a == b) return std::signbit(a) ? b : a;  // -0 is below +0
  return a > b ? a : b;
}

inline Floats FloatsOf(const Literal& literal, const Type& type) {
  if (type.element == ElementType::kFloat32) return literal.values<float>();
  const std::vector<Bfloat16>& halves = literal.values<Bfloat16>();
  return Floats(halves.begin(), halves.end());
}

inline Floats Read(const Node& node, const Operands& operands, int i) {
  return FloatsOf(*operands[i], node.operands[i].type());
}

inline Literal Halves(const Floats& values) {
  std::vector<Bfloat16> halves;
  halves.reserve(values.size());
  for (const float v : values) halves.emplace_back(v);
  return Literal(std::move(halves));
}

// Positions by channels.
struct Rows {
  int64_t images, positions, channels;

  explicit Rows(const Type& type)
      : images(type.shape[0]),
        positions(type.rank() == 2 ? 1 : type.shape[1] * type.shape[2]),
        channels(type.shape.back()),
        dense_(type.rank() == 2) {}

  int64_t count() const { return images * positions; }
  // The number of partial sums: 8 P of "Positions in a row".
  int64_t Partials() const {
    constexpr int64_t kLanes = 128, kRows = 8;
    if (dense_) return kRows;
    int64_t beside = 8;
    while (beside > 1 &&
           (beside * channels > kLanes || positions % beside != 0))
      beside /= 2;
    return kRows * beside;
  }
  // Index of position p of image n.
  int64_t PartialOf(int64_t n, int64_t p) const {
    return (dense_ ? n : p) % Partials();
  }

 private:
  bool dense_;
};

// Sums over the positions of one channel. add(row, sum) returns the sum after
// the row.
template <typename Next>
float SumOf(const Rows& rows, Next add) {
  Floats partial(rows.Partials(), 0.0f);
  for (int64_t n = 0; n < rows.images; ++n) {
    for (int64_t p = 0; p < rows.positions; ++p) {
      float& sum = partial[rows.PartialOf(n, p)];
      sum = add(n * rows.positions + p, sum);
    }
  }
  for (size_t half = partial.size() / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i)
      partial[i] = Plus(partial[i], partial[i + half]);
  }
  return partial[0];
}

}  // namespace systole::ir::train

#endif  // SYSTOLE_HOST_IR_TRAIN_NUMBERS_H_
