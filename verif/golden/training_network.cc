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
  bool dense = false;
  int height = network.height, width = network.width;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const TrainingLayer& layer = network.layers[i];
    if (layer.kernel < 0 || layer.stride < 1 || layer.filters < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: kernel %d, stride %d, %d filters", i + 1,
          layer.kernel, layer.stride, layer.filters));
    }
    if (dense && layer.kernel != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: convolution behind a dense layer",
          i + 1));
    }
    dense = layer.kernel == 0;
    height = (height + layer.stride - 1) / layer.stride;
    width = (width + layer.stride - 1) / layer.stride;
    const TrainingPool& pool = layer.pool;
    if (pool.kind == TrainingPool::Kind::kNone) continue;
    if (dense || pool.height < 1 || pool.width < 1 || pool.stride_y < 1 ||
        pool.stride_x < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: pool of %d x %d, strides %d and %d%s",
          i + 1, pool.height, pool.width, pool.stride_y, pool.stride_x,
          dense ? ", behind a dense layer" : ""));
    }
    const PoolGeometry p = PoolOf(pool, height, width);
    if (p.out_height < 1 || p.out_width < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "training network, layer %d: a pool of %d x %d is larger than %d x "
          "%d",
          i + 1, pool.height, pool.width, height, width));
    }
    height = p.out_height;
    width = p.out_width;
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
  int height = network.height, width = network.width,
      channels = network.channels;
  for (const TrainingLayer& layer : network.layers) {
    LayerGeometry g;
    if (layer.kernel == 0) {
      g = {
          1, 1, batch, height * width * channels, 1, batch, layer.filters, 1, 1,
          0, 0, true};
      height = width = 1;
    } else {
      const int out_height = (height + layer.stride - 1) / layer.stride;
      const int out_width = (width + layer.stride - 1) / layer.stride;
      g = {batch,
           height,
           width,
           channels,
           out_height,
           out_width,
           layer.filters,
           layer.kernel,
           layer.stride,
           PadBefore(height, out_height, layer.kernel, layer.stride),
           PadBefore(width, out_width, layer.kernel, layer.stride)};
      height = out_height;
      width = out_width;
      if (layer.pool.kind != TrainingPool::Kind::kNone) {
        const PoolGeometry p = PoolOf(layer.pool, height, width);
        height = p.out_height;
        width = p.out_width;
      }
    }
    channels = layer.filters;
    geometries.push_back(g);
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
