// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/network.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "verif/golden/ops.h"
#include "verif/golden/quantized_ops.h"

namespace systole::golden {
namespace {

using model::Layer;
using model::Network;
using model::Op;

Geometry GeometryOf(const model::Window& w) {
  return {w.stride_h, w.stride_w, w.dilation_h, w.dilation_w,
          w.pad_top,  w.pad_left, w.pad_bottom, w.pad_right};
}

Rounding RoundingOf(const Layer& layer) {
  return layer.rounding == model::Rounding::kSingle ? Rounding::kSingle
                                                    : Rounding::kDouble;
}

Multiplier MultiplierOf(const model::Requant& requant) {
  return {requant.multiplier, requant.shift};
}

// Sums of a convolution, or of a dense layer with a flattened input.
absl::StatusOr<TensorI32> Sums(const Network& network, const Layer& layer,
                               const TensorI8& input) {
  const int outputs = network.out(layer).channels;
  const int zero_point = network.in(layer).zero_point;
  const int of_weights = layer.weight_zero_point;
  if (layer.op == Op::kDepthwise) {
    // From [out][kh][kw] to [1][kh][kw][out].
    const int taps = layer.window.kernel_h * layer.window.kernel_w;
    const Eigen::Map<const Matrix<int8_t>> stored(layer.weights.data(), outputs,
                                                  taps);
    const Matrix<int8_t> turned = stored.transpose();
    const TensorI8 weights(1, layer.window.kernel_h, layer.window.kernel_w,
                           outputs,
                           {turned.data(), turned.data() + turned.size()});
    return DepthwiseConv2D(input, weights, GeometryOf(layer.window), zero_point,
                           of_weights);
  }
  if (layer.op == Op::kConv2D) {
    const TensorI8 weights(outputs, layer.window.kernel_h,
                           layer.window.kernel_w, input.c(), layer.weights);
    return Conv2D(input, weights, GeometryOf(layer.window), zero_point,
                  of_weights);
  }
  const int64_t depth = network.in(layer).size();
  const Eigen::Map<const Matrix<int8_t>> weights(layer.weights.data(), outputs,
                                                 depth);
  const absl::StatusOr<Matrix<int32_t>> sums =
      Matmul(input.matrix(depth), weights, zero_point, of_weights);
  if (!sums.ok()) return sums.status();
  return TensorI32(input.n(), 1, 1, outputs,
                   {sums->data(), sums->data() + sums->size()});
}

// The bytes of the sums, lowest first; the zero point is ignored.
absl::StatusOr<TensorI8> SumBytes(const Network& network, const Layer& layer,
                                  const TensorI8& input) {
  const int64_t outputs = network.out(layer).channels / 4;
  const Eigen::Map<const Matrix<int8_t>> weights(layer.weights.data(), outputs,
                                                 input.c());
  const absl::StatusOr<Matrix<int32_t>> sums =
      Matmul(input.matrix(input.c()), weights, 0);
  if (!sums.ok()) return sums.status();
  TensorI8 bytes(input.n(), input.h(), input.w(), network.out(layer).channels);
  for (int64_t i = 0; i < sums->size(); ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      bytes.data()[4 * i + byte] =
          static_cast<int8_t>(sums->data()[i] >> (8 * byte));
    }
  }
  return bytes;
}

absl::StatusOr<TensorI8> RunLayer(const Network& network, const Layer& layer,
                                  const std::vector<TensorI8>& values) {
  const TensorI8& input = values[layer.inputs[0]];
  const model::Window& window = layer.window;
  const OutputRange range = {network.out(layer).zero_point, layer.clamp_min,
                             layer.clamp_max};
  switch (layer.op) {
    case Op::kConv2D:
    case Op::kDepthwise:
    case Op::kDense: {
      absl::StatusOr<TensorI32> acc = Sums(network, layer, input);
      if (!acc.ok()) return acc.status();
      bool saturated = false;
      const absl::Status status = AddBias(layer.bias, *acc, saturated);
      if (!status.ok()) return status;
      if (saturated) return absl::OutOfRangeError("a bias add saturates");
      std::vector<Multiplier> multipliers;
      for (const model::Requant& r : layer.requant) {
        multipliers.push_back(MultiplierOf(r));
      }
      return RequantizeChannels(*acc, multipliers, RoundingOf(layer), range);
    }
    case Op::kSums:
      return SumBytes(network, layer, input);
    case Op::kMaxPool:
      return MaxPool(input, window.kernel_h, window.kernel_w,
                     GeometryOf(window), range);
    case Op::kAveragePool:
      return AveragePool(input, window.kernel_h, window.kernel_w,
                         GeometryOf(window), range);
    case Op::kMean:
      return MeanPool(input, network.in(layer).zero_point, window.kernel_h,
                      window.kernel_w, GeometryOf(window),
                      MultiplierOf(layer.requant[0]), RoundingOf(layer), range);
    case Op::kMul:
      return MulChannels(
          input, network.in(layer, 0).zero_point, values[layer.inputs[1]],
          network.in(layer, 1).zero_point, MultiplierOf(layer.requant[0]),
          RoundingOf(layer), range);
    case Op::kConcat: {
      const model::Tensor& out = network.out(layer);
      const bool high = network.in(layer).height != out.height;
      const bool wide = network.in(layer).width != out.width;
      TensorI8 output(input.n(), out.height, out.width, out.channels);
      int first = 0;  // channel, position or line of the input
      for (const int from : layer.inputs) {
        const TensorI8& part = values[from];
        for (int n = 0; n < part.n(); ++n) {
          for (int y = 0; y < part.h(); ++y) {
            for (int x = 0; x < part.w(); ++x) {
              for (int c = 0; c < part.c(); ++c)
                output.at(n, high ? first + y : y, wide ? first + x : x,
                          high || wide ? c : first + c) = part.at(n, y, x, c);
            }
          }
        }
        first += high ? part.h() : wide ? part.w() : part.c();
      }
      return output;
    }
    case Op::kSlice: {
      const model::Tensor& out = network.out(layer);
      TensorI8 output(input.n(), out.height, out.width, out.channels);
      for (int n = 0; n < input.n(); ++n) {
        for (int y = 0; y < out.height; ++y) {
          for (int x = 0; x < out.width; ++x) {
            for (int c = 0; c < out.channels; ++c)
              output.at(n, y, x, c) = input.at(
                  n, layer.begin[0] + y * window.stride_h,
                  layer.begin[1] + x * window.stride_w, layer.begin[2] + c);
          }
        }
      }
      return output;
    }
    case Op::kTable: {
      TensorI8 output = input;
      for (int8_t& value : output.data()) value = layer.table[value + 128];
      return output;
    }
    case Op::kAdd:
      return Add(input, values[layer.inputs[1]],
                 {network.in(layer, 0).zero_point,
                  network.in(layer, 1).zero_point, MultiplierOf(layer.add[0]),
                  MultiplierOf(layer.add[1]), MultiplierOf(layer.add[2])},
                 RoundingOf(layer), range);
  }
  return absl::InvalidArgumentError("unknown operation");
}

}  // namespace

absl::StatusOr<std::vector<TensorI8>> RunNetwork(
    const Network& network, const std::vector<TensorI8>& inputs) {
  absl::Status status = model::Validate(network);
  if (!status.ok()) return status;
  if (inputs.size() != network.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("network '", network.name, "': ", inputs.size(),
                     " inputs instead of ", network.inputs.size()));
  }
  std::vector<TensorI8> values(network.tensors.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorI8& input = inputs[i];
    const model::Tensor& expected = network.input(static_cast<int>(i));
    if (input.n() < 1 || input.n() != inputs[0].n() ||
        input.h() != expected.height || input.w() != expected.width ||
        input.c() != expected.channels) {
      return absl::InvalidArgumentError(
          absl::StrCat("network '", network.name, "': an input of ",
                       input.shape(), " instead of Nx", expected.height, "x",
                       expected.width, "x", expected.channels));
    }
    values[network.inputs[i]] = input;
  }
  std::vector<TensorI8> outputs;
  for (const Layer& layer : network.layers) {
    absl::StatusOr<TensorI8> output = RunLayer(network, layer, values);
    if (!output.ok()) {
      return absl::Status(output.status().code(),
                          absl::StrCat("layer '", layer.name,
                                       "': ", output.status().message()));
    }
    values[layer.output] = *output;
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

std::vector<int> ArgMax(const TensorI8& scores) {
  std::vector<int> labels;
  const auto rows =
      scores.matrix(int64_t{1} * scores.h() * scores.w() * scores.c());
  for (int n = 0; n < scores.n(); ++n) {
    const auto row = rows.row(n);
    labels.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) -
                                      row.begin()));
  }
  return labels;
}

}  // namespace systole::golden
