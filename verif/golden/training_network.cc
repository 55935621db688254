// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/training_network.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/training/initial_state.h"

namespace systole::golden {
namespace {

// TensorFlow's "same": the smaller half of the padding comes first.
int PadBefore(int in, int out, int kernel, int stride) {
  return std::max((out - 1) * stride + kernel - in, 0) / 2;
}

Parameter StartingAt(Fp32Matrix value) {
  const Fp32Matrix zero = Fp32Matrix::Zero(value.rows(), value.cols());
  return {std::move(value), zero, zero};
}

struct OutputShape {
  int height, width, channels;
  bool dense = false;

  bool operator==(const OutputShape& other) const {
    return height == other.height && width == other.width &&
           channels == other.channels;
  }
};

// Shape of the input of layer i; `shapes` are those of the outputs before it.
OutputShape InputShape(const TrainingNetwork& network,
                       const std::vector<OutputShape>& shapes, int i) {
  const int from = network.InputOf(i);
  if (from >= 0) return shapes[from];
  return {network.height, network.width, network.channels};
}

OutputShape Convolved(const TrainingLayer& layer, const OutputShape& in) {
  if (layer.kernel == 0) return {1, 1, layer.filters, true};
  return {(in.height + layer.stride - 1) / layer.stride,
          (in.width + layer.stride - 1) / layer.stride, layer.filters};
}

OutputShape Pooled(const TrainingLayer& layer, const OutputShape& in) {
  if (layer.pool.kind == TrainingPool::Kind::kNone) return in;
  const PoolGeometry p = PoolOf(layer.pool, in.height, in.width);
  return {p.out_height, p.out_width, in.channels};
}

}  // namespace

TrainingNetwork DigitsNetwork() {
  return {
      28, 28, 1, {{3, 1, 12}, {6, 2, 24}, {6, 2, 64}, {0, 1, 200}, {0, 1, 10}}};
}

absl::Status Validate(const TrainingNetwork& network) {
  if (network.height < 1 || network.width < 1 || network.channels < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("training network: images of %dx%dx%d", network.height,
                        network.width, network.channels));
  }
  if (network.layers.empty() || network.layers.back().kernel != 0) {
    return absl::InvalidArgumentError(
        "training network: the last layer is not dense");
  }
  std::vector<OutputShape> shapes;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const TrainingLayer& layer = network.layers[i];
    const int at = static_cast<int>(i);
    const bool last = i + 1 == network.layers.size();
    if (layer.kernel < 0 || layer.stride < 1 || layer.filters < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: kernel %d, stride %d, %d filters", i + 1,
          layer.kernel, layer.stride, layer.filters));
    }
    if (network.InputOf(at) >= at || layer.plus >= at || layer.plus < -1 ||
        (last && layer.plus >= 0)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("training network, layer %d: reads layers %d and %d",
                          i + 1, layer.from, layer.plus));
    }
    const OutputShape in = InputShape(network, shapes, at);
    if (in.dense && layer.kernel != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: convolution behind a dense layer",
          i + 1));
    }
    const OutputShape convolved = Convolved(layer, in);
    const TrainingPool& pool = layer.pool;
    if (pool.kind != TrainingPool::Kind::kNone) {
      if (convolved.dense || pool.height < 1 || pool.width < 1 ||
          pool.stride_y < 1 || pool.stride_x < 1) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "training network, layer %d: pool of %d x %d, strides %d and %d%s",
            i + 1, pool.height, pool.width, pool.stride_y, pool.stride_x,
            convolved.dense ? ", behind a dense layer" : ""));
      }
      const PoolGeometry p = PoolOf(pool, convolved.height, convolved.width);
      if (p.out_height < 1 || p.out_width < 1) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "training network, layer %d: a pool of %d x %d is larger than %d x "
            "%d",
            i + 1, pool.height, pool.width, convolved.height, convolved.width));
      }
    }
    shapes.push_back(Pooled(layer, convolved));
    if (layer.plus >= 0 && !(shapes[layer.plus] == shapes[i])) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: the output of layer %d, which is added "
          "to its own, has another shape",
          i + 1, layer.plus + 1));
    }
  }
  return absl::OkStatus();
}

PoolGeometry PoolOf(const TrainingPool& pool, int height, int width) {
  if (pool.same) {
    const int rows = (height + pool.stride_y - 1) / pool.stride_y;
    const int columns = (width + pool.stride_x - 1) / pool.stride_x;
    return {rows, columns, PadBefore(height, rows, pool.height, pool.stride_y),
            PadBefore(width, columns, pool.width, pool.stride_x)};
  }
  if (pool.height > height || pool.width > width) return {};
  return {(height - pool.height) / pool.stride_y + 1,
          (width - pool.width) / pool.stride_x + 1, 0, 0};
}

std::vector<LayerGeometry> Geometries(const TrainingNetwork& network,
                                      int batch) {
  std::vector<LayerGeometry> geometries;
  std::vector<OutputShape> shapes;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const TrainingLayer& layer = network.layers[i];
    const OutputShape in = InputShape(network, shapes, static_cast<int>(i));
    const OutputShape out = Convolved(layer, in);
    LayerGeometry g;
    if (layer.kernel == 0) {
      g = {1,
           1,
           batch,
           in.height * in.width * in.channels,
           1,
           batch,
           layer.filters,
           1,
           1,
           0,
           0,
           true};
    } else {
      g = {batch,
           in.height,
           in.width,
           in.channels,
           out.height,
           out.width,
           layer.filters,
           layer.kernel,
           layer.stride,
           PadBefore(in.height, out.height, layer.kernel, layer.stride),
           PadBefore(in.width, out.width, layer.kernel, layer.stride)};
    }
    geometries.push_back(g);
    shapes.push_back(Pooled(layer, out));
  }
  return geometries;
}

TrainingState InitialState(const TrainingNetwork& network, uint32_t seed) {
  TrainingState state;
  uint32_t first = 0;
  for (const LayerGeometry& g : Geometries(network, 1)) {
    const int64_t count = g.contraction() * g.out_channels;
    const std::vector<float> weights =
        training::InitialWeights(seed, first, g.contraction(), count);
    first += static_cast<uint32_t>(count);
    LayerState layer;
    layer.weights = StartingAt(Eigen::Map<const Fp32Matrix>(
        weights.data(), g.contraction(), g.out_channels));
    layer.offset = StartingAt(Fp32Matrix::Zero(1, g.out_channels));
    if (state.layers.size() + 1 < network.layers.size()) {
      layer.running_mean = Fp32Row::Zero(g.out_channels);
      layer.running_var = Fp32Row::Ones(g.out_channels);
    }
    state.layers.push_back(std::move(layer));
  }
  return state;
}

}  // namespace systole::golden
