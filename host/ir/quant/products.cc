// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products and windows for layers that the device does not support.
#include <cmath>
#include <limits>
#include <utility>

#include "host/ir/quant/fixed_point.h"
#include "host/ir/quant/kernels.h"

namespace systole::ir {

double ProductFactor(const Node& node, int64_t channel) {
  double product = double{node.operands[0]->quantization().scale()} *
                   node.operands[1]->quantization().scale(channel);
  const auto* const conv = node.attributes.If<ConvAttributes>();
  if (conv != nullptr && conv->uint8) product = static_cast<float>(product);
  return product / node.quantization().scale();
}

namespace {

// Calls function(tap, row, column) for each tap of a window that lies in the
// image.
template <typename Function>
void ForEachTap(const Ints& image, const Ints& kernel, const Ints& stride,
                const Ints& dilation, const Ints& padding, int64_t y, int64_t x,
                Function function) {
  for (int64_t ky = 0; ky < kernel[0]; ++ky) {
    const int64_t row = y * stride[0] - padding[0] + ky * dilation[0];
    if (row < 0 || row >= image[1]) continue;
    for (int64_t kx = 0; kx < kernel[1]; ++kx) {
      const int64_t column = x * stride[1] - padding[1] + kx * dilation[1];
      if (column < 0 || column >= image[2]) continue;
      function(ky * kernel[1] + kx, row, column);
    }
  }
}

int32_t BiasOf(const Operands& operands, int64_t channel) {
  return operands.size() < 3 ? 0 : operands[2]->values<int32_t>()[channel];
}

}  // namespace

absl::StatusOr<Literal> EvaluateConvolution(const Node& node,
                                            const Operands& operands) {
  const auto& a = node.attr<ConvAttributes>();
  const Ints& image = node.operands[0]->type.shape;
  const Ints& shape = node.operands[1]->type.shape;
  const bool depthwise = node.op == Op::kDepthwiseConv2D;
  const int64_t channels = node.type.shape[3], depth = image[3];
  const Ints kernel = {shape[1], shape[2]};
  const int64_t taps = kernel[0] * kernel[1];
  const int8_t* const input = operands[0]->values<int8_t>().data();
  const int8_t* const weights = operands[1]->values<int8_t>().data();
  // A folded bias includes the zero point's part for every tap, inside the
  // image or not.
  const int32_t zero = a.zero_point_folded ? 0 : ZeroOf(*node.operands[0]);
  const int32_t outside = a.zero_point_folded ? ZeroOf(*node.operands[0]) : 0;
  const int32_t none = ZeroOf(*node.operands[1]);  // stands for a weight of 0
  std::vector<Factor> factors;
  for (int64_t c = 0; c < channels; ++c) {
    const absl::StatusOr<Factor> factor = FactorOf(ProductFactor(node, c));
    if (!factor.ok()) return factor.status();
    factors.push_back(*factor);
  }
  const auto weight = [&](int64_t c, int64_t tap, int64_t i) -> int32_t {
    return (depthwise ? weights[tap * channels + c]
                      : weights[(c * taps + tap) * depth + i]) -
           none;
  };
  std::vector<int8_t> values(node.type.elements());
  std::vector<uint32_t> sums(channels);
  Ints at(3, 0);  // image, row, column
  const Ints positions = {node.type.shape[0], node.type.shape[1],
                          node.type.shape[2]};
  for (int64_t done = 0; done < node.type.elements(); done += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      sums[c] = static_cast<uint32_t>(BiasOf(operands, c));
      if (outside == 0) continue;
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t i = 0; i < (depthwise ? 1 : depth); ++i) {
          sums[c] += static_cast<uint32_t>(outside * weight(c, tap, i));
        }
      }
    }
    ForEachTap(image, kernel, a.stride, a.dilation, a.padding, at[1], at[2],
               [&](int64_t tap, int64_t row, int64_t column) {
                 const int8_t* const pixel =
                     input +
                     ((at[0] * image[1] + row) * image[2] + column) * depth;
                 for (int64_t c = 0; c < channels; ++c) {
                   int32_t sum = 0;
                   if (depthwise) {
                     sum = (pixel[c / (channels / depth)] - zero - outside) *
                           weight(c, tap, 0);
                   } else {
                     for (int64_t i = 0; i < depth; ++i) {
                       sum += (pixel[i] - zero - outside) * weight(c, tap, i);
                     }
                   }
                   sums[c] += static_cast<uint32_t>(sum);
                 }
               });
    for (int64_t c = 0; c < channels; ++c) {
      values[done + c] =
          ToOutput(Scale(static_cast<int32_t>(sums[c]), factors[c]),
                   ZeroOf(node), a.clamp);
    }
    Advance(positions, at);
  }
  return Literal(std::move(values));
}

// For floats. Adds products one by one: tap by tap, and channel by channel
// within a tap.
absl::StatusOr<Literal> EvaluateConv3D(const Node& node,
                                       const Operands& operands) {
  const auto& a = node.attr<Conv3DAttributes>();
  const Ints& image = node.operands[0]->type.shape;
  const Ints& window = node.operands[1]->type.shape;
  const int64_t depth = window[3], channels = window[4];
  const float* const input = operands[0]->values<float>().data();
  const float* const weights = operands[1]->values<float>().data();
  std::vector<float> values(node.type.elements());
  Ints positions(node.type.shape.begin(), node.type.shape.end() - 1);
  Ints at(4, 0), taps(window.begin(), window.begin() + 3);
  const int64_t count = taps[0] * taps[1] * taps[2];
  for (int64_t done = 0; done < node.type.elements(); done += channels) {
    float* const sums = &values[done];
    Ints tap(3, 0);
    for (int64_t t = 0; t < count; ++t, Advance(taps, tap)) {
      int64_t pixel = at[0];
      bool inside = true;
      for (int i = 0; i < 3; ++i) {
        const int64_t place =
            at[1 + i] * a.stride[i] - a.padding[i] + tap[i] * a.dilation[i];
        inside = inside && 0 <= place && place < image[1 + i];
        pixel = pixel * image[1 + i] + place;
      }
      if (!inside) continue;
      for (int64_t k = 0; k < depth; ++k) {
        const float value = input[pixel * depth + k];
        const float* const row = weights + (t * depth + k) * channels;
        for (int64_t c = 0; c < channels; ++c) sums[c] += value * row[c];
      }
    }
    constexpr float kMost = std::numeric_limits<float>::max();
    for (int64_t c = 0; c < channels; ++c) {
      if (operands.size() == 3) sums[c] += operands[2]->values<float>()[c];
      sums[c] = std::clamp(sums[c], -kMost, kMost);
    }
    Advance(positions, at);
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> EvaluateFullyConnected(const Node& node,
                                               const Operands& operands) {
  const auto& a = node.attr<DenseAttributes>();
  const Ints& shape = node.operands[1]->type.shape;
  const std::vector<int8_t>& input = operands[0]->values<int8_t>();
  const std::vector<int8_t>& weights = operands[1]->values<int8_t>();
  const int32_t zero = a.zero_point_folded ? 0 : ZeroOf(*node.operands[0]);
  const int32_t none = ZeroOf(*node.operands[1]);
  std::vector<int8_t> values;
  for (size_t row = 0; row < input.size(); row += shape[1]) {
    for (int64_t c = 0; c < shape[0]; ++c) {
      auto sum = static_cast<uint32_t>(BiasOf(operands, c));
      for (int64_t i = 0; i < shape[1]; ++i) {
        sum += static_cast<uint32_t>((input[row + i] - zero) *
                                     (weights[c * shape[1] + i] - none));
      }
      const double steps =
          std::round(static_cast<int32_t>(sum) * ProductFactor(node, c));
      values.push_back(
          ToOutput(static_cast<int64_t>(std::clamp(steps, -1e9, 1e9)),
                   ZeroOf(node), a.clamp));
    }
  }
  return Literal(std::move(values));
}

int64_t Average(int64_t sum, int64_t count, bool uint8) {
  // Counted from uint8's lowest value, all sums are positive.
  if (uint8) return (sum + 128 * count + count / 2) / count - 128;
  return (sum + (sum > 0 ? count / 2 : -(count / 2))) / count;
}

absl::StatusOr<Literal> EvaluatePool(const Node& node,
                                     const Operands& operands) {
  const auto& a = node.attr<PoolAttributes>();
  const Ints& image = node.operands[0]->type.shape;
  const std::vector<int8_t>& input = operands[0]->values<int8_t>();
  std::vector<int8_t> values;
  Ints at(4, 0);
  for (int64_t i = 0; i < node.type.elements(); ++i) {
    int64_t sum = 0, count = 0;
    int highest = -128;
    ForEachTap(
        image, a.kernel, a.stride, {1, 1}, a.padding, at[1], at[2],
        [&](int64_t, int64_t row, int64_t column) {
          const int8_t value =
              input[((at[0] * image[1] + row) * image[2] + column) * image[3] +
                    at[3]];
          highest = std::max<int>(highest, value);
          sum += value;
          ++count;
        });
    const int64_t value =
        node.op == Op::kAveragePool ? Average(sum, count, a.uint8) : highest;
    values.push_back(ToOutput(value, 0, a.clamp));
    Advance(node.type.shape, at);
  }
  return Literal(std::move(values));
}

absl::StatusOr<Literal> EvaluateBatchMatmul(const Node& node,
                                            const Operands& operands) {
  const auto& a = node.attr<MatmulAttributes>();
  // Single precision, as specified.
  const float scales = ScaleOf(*node.operands[0]) * ScaleOf(*node.operands[1]);
  const absl::StatusOr<Factor> factor =
      FactorOf(double{scales} / ScaleOf(node));
  if (!factor.ok()) return factor.status();
  const Ints& shape = node.type.shape;
  const size_t rank = shape.size();
  Ints strides[2];   // per operand, in terms of the result's index
  int64_t steps[2];  // from one product to the next
  const bool transposed[] = {a.transpose_left, a.transpose_right};
  for (int i : {0, 1}) {
    const Ints& from = node.operands[i]->type.shape;
    const Ints plain = StridesOf(from);
    strides[i].assign(rank, 0);
    for (size_t k = 0; k + 2 < from.size(); ++k) {
      if (from[k] > 1) strides[i][k + rank - from.size()] = plain[k];
    }
    const int64_t across = transposed[i] ? 1 : from.back();
    const int64_t along = transposed[i] ? from.back() : 1;
    strides[i][i == 0 ? rank - 2 : rank - 1] = i == 0 ? across : along;
    steps[i] = i == 0 ? along : across;
  }
  const Ints& left_shape = node.operands[0]->type.shape;
  const int64_t depth =
      a.transpose_left ? left_shape[left_shape.size() - 2] : left_shape.back();
  const int8_t* const left = operands[0]->values<int8_t>().data();
  const int8_t* const right = operands[1]->values<int8_t>().data();
  std::vector<int8_t> values;
  Ints index(rank, 0);
  for (int64_t done = 0; done < node.type.elements(); ++done) {
    int64_t l = 0, r = 0;
    for (size_t i = 0; i < rank; ++i) {
      l += strides[0][i] * index[i];
      r += strides[1][i] * index[i];
    }
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += (left[l + k * steps[0]] - ZeroOf(*node.operands[0])) *
             (right[r + k * steps[1]] - ZeroOf(*node.operands[1]));
    }
    values.push_back(ToOutput(Scale(sum, *factor), ZeroOf(node), {-128, 127}));
    Advance(shape, index);
  }
  return Literal(std::move(values));
}

}  // namespace systole::ir
