// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/training/quantise.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/files/read_file.h"
#include "host/model/safetensors.h"
#include "host/training/checkpoint.h"

namespace systole::training {
namespace {

constexpr double kEpsilon = 0.001;  // of the batch norm: docs/training.md
constexpr double kDeviations = 6, kLogitDeviations = 12;
constexpr int kLowest = -128, kHighest = 127;

// Of a layer's inputs, a channel at a time.
struct Moments {
  std::vector<double> mean, variance;
};

// Of max(y, 0) with y normal: mean mu, deviation sigma.
void AppendRelu(double mu, double sigma, Moments& moments) {
  const double t = mu / sigma;
  const double below = std::exp(-t * t / 2) / std::sqrt(2 * M_PI);
  const double share = std::erfc(-t / std::sqrt(2.0)) / 2;
  const double mean = mu * share + sigma * below;
  const double square = (mu * mu + sigma * sigma) * share + mu * sigma * below;
  moments.mean.push_back(mean);
  moments.variance.push_back(std::max(square - mean * mean, 0.0));
}

model::Requant RequantOf(double real) {
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  constexpr double kOne = 2147483648.0;
  model::Requant r;
  r.multiplier = static_cast<int32_t>(
      std::min(std::llround(fraction * kOne), 2147483647LL));
  r.shift = static_cast<int8_t>(std::clamp(exponent, -31, 30));
  return r;
}

model::Window WindowOf(const Layer& l) {
  const auto after = [](int64_t outputs, int64_t stride, int64_t kernel,
                        int64_t size, int64_t before) {
    return static_cast<int>(
        std::max<int64_t>(0, (outputs - 1) * stride + kernel - size - before));
  };
  model::Window w;
  if (l.dense) return w;
  w.kernel_h = static_cast<int>(l.kh);
  w.kernel_w = static_cast<int>(l.kw);
  w.stride_h = w.stride_w = static_cast<int>(l.stride);
  w.pad_top = static_cast<int>(l.pad_top);
  w.pad_left = static_cast<int>(l.pad_left);
  w.pad_bottom = after(l.oh, l.stride, l.kh, l.h, l.pad_top);
  w.pad_right = after(l.ow, l.stride, l.kw, l.w, l.pad_left);
  return w;
}

// y[c] = sum over k of x[k] * weights[k * co + c], plus offset[c].
struct Affine {
  std::vector<double> weights, offset, deviation;
};

Affine Folded(const Layer& l, const LayerState& state) {
  Affine a;
  a.weights.assign(state.weights.begin(), state.weights.end());
  a.offset.assign(state.offset.begin(), state.offset.end());
  if (!l.normed) return a;
  for (int64_t c = 0; c < l.co; ++c) {
    const double variance = state.running_var[c];
    const double inv = 1 / std::sqrt(variance + kEpsilon);
    for (int64_t k = 0; k < l.contraction(); ++k)
      a.weights[k * l.co + c] *= inv;
    a.offset[c] -= state.running_mean[c] * inv;
    a.deviation.push_back(std::max(std::sqrt(variance) * inv, 1e-3));
  }
  return a;
}

// Largest magnitude of the results of a layer without batch norm.
double Reach(const Layer& l, const Affine& a, const Moments& in) {
  double reach = 0;
  const size_t channels = in.mean.size();
  for (int64_t c = 0; c < l.co; ++c) {
    double mean = a.offset[c], variance = 0;
    for (int64_t k = 0; k < l.contraction(); ++k) {
      const double w = a.weights[k * l.co + c];
      mean += w * in.mean[k % channels];
      variance += w * w * in.variance[k % channels];
    }
    reach = std::max(reach,
                     std::abs(mean) + kLogitDeviations * std::sqrt(variance));
  }
  return std::max(reach, 1e-6);
}

// Weights, biases and factors of a layer between tensors of those scales.
void Quantise(const Layer& l, const Affine& a, double in, double out,
              model::Layer& to) {
  to.weights.resize(l.co * l.contraction());
  for (int64_t c = 0; c < l.co; ++c) {
    double largest = 0;
    for (int64_t k = 0; k < l.contraction(); ++k)
      largest = std::max(largest, std::abs(a.weights[k * l.co + c]));
    // Of a channel that is next to nothing the bias, too, must fit its type.
    constexpr double kMostBias = 1 << 30;
    const double scale = std::max(
        {largest / kHighest, std::abs(a.offset[c]) / (in * kMostBias), 1e-12});
    for (int64_t k = 0; k < l.contraction(); ++k) {
      to.weights[c * l.contraction() + k] =
          static_cast<int8_t>(std::lround(a.weights[k * l.co + c] / scale));
    }
    to.bias.push_back(
        static_cast<int32_t>(std::llround(a.offset[c] / (in * scale))));
    to.requant.push_back(RequantOf(in * scale / out));
  }
}

absl::Status CheckFinite(const std::vector<Layer>& layers, TrainState& state) {
  for (const StateTensor& t : Tensors(layers, state)) {
    for (const float value : *t.values) {
      if (!std::isfinite(value)) {
        return absl::InvalidArgumentError(
            absl::StrCat("tensor '", t.name, "' holds ", value,
                         ": the training has diverged"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<model::Network> Quantised(const std::vector<Layer>& layers,
                                         TrainState state) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& l = layers[i];
    const int before = static_cast<int>(i) - 1;
    if (l.plus != kNothing || InputOf(layers, before + 1) != before) {
      return absl::UnimplementedError(absl::StrCat(
          "layer '", l.name, "' has a shortcut: only chains are quantised"));
    }
  }
  if (absl::Status s = CheckFinite(layers, state); !s.ok()) return s;
  model::Network network;
  network.name = "digits";
  model::Tensor tensor;
  tensor.name = "input";
  tensor.height = static_cast<int>(layers[0].h);
  tensor.width = static_cast<int>(layers[0].w);
  tensor.channels = static_cast<int>(layers[0].ci);
  tensor.scale = 1.0f / 255;
  tensor.zero_point = kLowest;
  network.tensors.push_back(tensor);
  Moments in{{0.5}, {0.25}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& l = layers[i];
    if (l.pooled())
      return absl::UnimplementedError(
          absl::StrCat("layer '", l.name, "' has a pool"));
    const Affine affine = Folded(l, state.layers[i]);
    tensor.name = l.name + ".out";
    tensor.height = static_cast<int>(l.oh);
    tensor.width = static_cast<int>(l.ow);
    tensor.channels = static_cast<int>(l.co);
    if (l.normed) {
      double highest = 0.1;
      Moments out;
      for (int64_t c = 0; c < l.co; ++c) {
        const double beta = state.layers[i].offset[c];
        highest = std::max(highest, beta + kDeviations * affine.deviation[c]);
        AppendRelu(beta, affine.deviation[c], out);
      }
      tensor.scale = static_cast<float>(highest / (kHighest - kLowest));
      tensor.zero_point = kLowest;  // and the lowest value is the ReLU's 0
      in = std::move(out);
    } else {
      tensor.scale = static_cast<float>(Reach(l, affine, in) / kHighest);
      tensor.zero_point = 0;
    }
    model::Layer layer;
    layer.name = l.name;
    layer.op = l.dense ? model::Op::kDense : model::Op::kConv2D;
    layer.inputs = {static_cast<int>(i)};
    layer.output = static_cast<int>(i) + 1;
    layer.window = WindowOf(l);
    Quantise(l, affine, network.tensors.back().scale, tensor.scale, layer);
    network.tensors.push_back(tensor);
    network.layers.push_back(std::move(layer));
  }
  network.outputs = {static_cast<int>(layers.size())};
  if (absl::Status s = model::Validate(network); !s.ok()) return s;
  return network;
}

absl::StatusOr<model::Network> ReadNetworkOrCheckpoint(
    const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (!IsCheckpoint(*bytes)) {
    std::string().swap(*bytes);  // it is read again, and may be large
    return model::ReadNetwork(path);
  }
  const std::vector<Layer> layers = DigitsLayers();
  auto checkpoint = ReadCheckpoint(path, layers);
  if (!checkpoint.ok()) return checkpoint.status();
  auto network = Quantised(layers, std::move(checkpoint->state));
  if (network.ok()) return network;
  return absl::Status(network.status().code(),
                      absl::StrCat(path, ": ", network.status().message()));
}

}  // namespace systole::training
