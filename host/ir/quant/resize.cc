// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Both kinds of resize are a weighted sum of up to four positions of the input.
// The weights of an axis are computed once.
#include <cmath>
#include <utility>

#include "host/ir/quant/kernels.h"

namespace systole::ir {
namespace {

constexpr int64_t kOne = 1024;

// Two positions and the weight of the second one, in units of 1 / kOne.
struct Mix {
  int64_t first = 0, second = 0, weight = 0;
};

Mix Nearest(int64_t output, int64_t from, int64_t to,
            const ResizeAttributes& a) {
  const bool corners = a.align_corners && to > 1;
  // Single precision, as specified.
  const float scale =
      corners ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
              : static_cast<float>(from) / static_cast<float>(to);
  const float place =
      (static_cast<float>(output) + (a.half_pixel_centers ? 0.5f : 0.0f)) *
      scale;
  const float whole = a.align_corners ? std::round(place) : std::floor(place);
  const auto position =
      std::clamp<int64_t>(static_cast<int64_t>(whole), 0, from - 1);
  return {position, position, 0};
}

Mix Linear(int64_t output, int64_t from, int64_t to,
           const ResizeAttributes& a) {
  const int64_t less = a.align_corners && to > 1 ? 1 : 0;
  const int64_t divisor = to - less;
  const int64_t step = (kOne * (from - less) + divisor / 2) / divisor;
  int64_t place = output * step;
  if (a.half_pixel_centers) place += step / 2 - kOne / 2;
  Mix mix;
  mix.first = std::max<int64_t>(place / kOne, 0);
  mix.second = std::min((place + kOne - 1) / kOne, from - 1);
  mix.weight = place - kOne * mix.first;
  return mix;
}

// Bilinear values of uint8, in single precision as specified.
struct Blend {
  int64_t first = 0, second = 0;
  float weight = 0;  // of the second position
};

std::vector<Blend> BlendsOf(int64_t from, int64_t to,
                            const ResizeAttributes& a) {
  const bool corners = a.align_corners && to > 1;
  const float scale =
      corners ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
              : static_cast<float>(from) / static_cast<float>(to);
  std::vector<Blend> blends;
  for (int64_t i = 0; i < to; ++i) {
    float place = static_cast<float>(i) * scale;
    if (a.half_pixel_centers)
      place = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    Blend blend;
    blend.first = std::max<int64_t>(static_cast<int64_t>(std::floor(place)), 0);
    blend.second =
        std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), from - 1);
    blend.weight = place - static_cast<float>(blend.first);
    blends.push_back(blend);
  }
  return blends;
}

Literal Blended(const Node& node, const std::vector<int8_t>& input) {
  const auto& a = node.attr<ResizeAttributes>();
  const Ints& from = node.operands[0]->type.shape;
  const Ints& to = node.type.shape;
  const std::vector<Blend> rows = BlendsOf(from[1], to[1], a);
  const std::vector<Blend> columns = BlendsOf(from[2], to[2], a);
  std::vector<int8_t> values;
  values.reserve(node.type.elements());
  for (int64_t n = 0; n < to[0]; ++n) {
    for (const Blend& row : rows) {
      for (const Blend& column : columns) {
        for (int64_t c = 0; c < to[3]; ++c) {
          const auto at = [&](int64_t y, int64_t x) {
            return static_cast<float>(
                input[((n * from[1] + y) * from[2] + x) * from[3] + c] + 128);
          };
          const float up = 1 - row.weight, left = 1 - column.weight;
          float sum = at(row.first, column.first) * up * left;
          sum += at(row.second, column.first) * row.weight * left;
          sum += at(row.first, column.second) * up * column.weight;
          sum += at(row.second, column.second) * row.weight * column.weight;
          values.push_back(
              static_cast<int8_t>(static_cast<int>(sum + 0.5f) - 128));
        }
      }
    }
  }
  return Literal(std::move(values));
}

std::vector<Mix> MixesOf(int64_t from, int64_t to, const Node& node) {
  const auto& a = node.attr<ResizeAttributes>();
  std::vector<Mix> mixes;
  for (int64_t i = 0; i < to; ++i) {
    mixes.push_back(node.op == Op::kResizeNearest ? Nearest(i, from, to, a)
                                                  : Linear(i, from, to, a));
  }
  return mixes;
}

}  // namespace

absl::StatusOr<Literal> EvaluateResize(const Node& node,
                                       const Operands& operands) {
  if (node.op == Op::kResizeBilinear && node.attr<ResizeAttributes>().uint8)
    return Blended(node, operands[0]->values<int8_t>());
  const Ints& from = node.operands[0]->type.shape;
  const Ints& to = node.type.shape;
  const std::vector<Mix> rows = MixesOf(from[1], to[1], node);
  const std::vector<Mix> columns = MixesOf(from[2], to[2], node);
  const std::vector<int8_t>& input = operands[0]->values<int8_t>();
  std::vector<int8_t> values;
  values.reserve(node.type.elements());
  for (int64_t n = 0; n < to[0]; ++n) {
    for (const Mix& row : rows) {
      for (const Mix& column : columns) {
        for (int64_t c = 0; c < to[3]; ++c) {
          const auto at = [&](int64_t y, int64_t x) {
            return int64_t{
                input[((n * from[1] + y) * from[2] + x) * from[3] + c]};
          };
          const auto mixed = [&](int64_t y) {
            return at(y, column.first) * (kOne - column.weight) +
                   at(y, column.second) * column.weight;
          };
          const int64_t sum = mixed(row.first) * (kOne - row.weight) +
                              mixed(row.second) * row.weight;
          const int64_t half = kOne * kOne / 2;
          values.push_back(static_cast<int8_t>(
              (sum + (sum > 0 ? half : -half)) / (kOne * kOne)));
        }
      }
    }
  }
  return Literal(std::move(values));
}

}  // namespace systole::ir
