// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/model/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/read_file.h"

namespace systole::model {
namespace {

constexpr double kEpsilon = 0.001;  // of the batch norms
constexpr double kDeviations = 6, kLogitDeviations = 12;
constexpr int kLowest = -128, kHighest = 127;

// A layer in terms of one convolution: a dense layer has 1 x 1 positions and
// its inputs as channels.
struct FloatLayer {
  const char* name;
  bool dense;
  int size;  // of the input, height and width
  int channels, kernel, stride, outputs;
  bool normed;  // batch norm and ReLU; otherwise a bias

  int contraction() const { return kernel * kernel * channels; }
  int out_size() const { return (size + stride - 1) / stride; }
};

// The network of examples/jax_export_training.py.
constexpr FloatLayer kLayers[] = {
    {"conv1", false, 28, 1, 3, 1, 12, true},
    {"conv2", false, 28, 12, 6, 2, 24, true},
    {"conv3", false, 14, 24, 6, 2, 64, true},
    {"dense1", true, 1, 7 * 7 * 64, 1, 1, 200, true},
    {"dense2", true, 1, 200, 1, 1, 10, false}};

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

Requant RequantOf(double real) {
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  constexpr double kOne = 2147483648.0;
  Requant r;
  r.multiplier = static_cast<int32_t>(
      std::min(std::llround(fraction * kOne), 2147483647LL));
  r.shift = static_cast<int8_t>(std::clamp(exponent, -31, 30));
  return r;
}

// TensorFlow's "same".
Window WindowOf(const FloatLayer& l) {
  Window w;
  if (l.dense) return w;
  const int pads =
      std::max(0, (l.out_size() - 1) * l.stride + l.kernel - l.size);
  w.kernel_h = w.kernel_w = l.kernel;
  w.stride_h = w.stride_w = l.stride;
  w.pad_top = w.pad_left = pads / 2;
  w.pad_bottom = w.pad_right = pads - pads / 2;
  return w;
}

absl::StatusOr<std::vector<double>> Values(const Container& checkpoint,
                                           const std::string& name,
                                           int64_t count) {
  const auto found = checkpoint.tensors.find(name);
  if (found == checkpoint.tensors.end() || found->second.dtype != "F32" ||
      found->second.data.size() != count * sizeof(float)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "it has no tensor '%s' of %d floats: a checkpoint becomes an int8 "
        "network only if it is of the digits network of "
        "models/digits_training",
        name, count));
  }
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, found->second.data.data() + i * sizeof(float),
                sizeof(float));
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor '", name, "' holds ", value, ": the training has diverged"));
    }
    values.push_back(value);
  }
  return values;
}

// y[c] = sum over k of x[k] * weights[k * outputs + c], plus offset[c].
struct Affine {
  std::vector<double> weights, offset, deviation;
};

absl::StatusOr<Affine> Folded(const FloatLayer& l,
                              const Container& checkpoint) {
  const auto read = [&](const char* part, const char* what, int64_t count) {
    return Values(checkpoint, absl::StrCat(part, ".", l.name, ".", what),
                  count);
  };
  auto weights =
      read("parameters", "weights", int64_t{l.contraction()} * l.outputs);
  if (!weights.ok()) return weights.status();
  auto offset = read("parameters", "offset", l.outputs);
  if (!offset.ok()) return offset.status();
  Affine a{*std::move(weights), *std::move(offset), {}};
  if (!l.normed) return a;
  const auto means = read("statistics", "mean", l.outputs);
  if (!means.ok()) return means.status();
  const auto variances = read("statistics", "variance", l.outputs);
  if (!variances.ok()) return variances.status();
  for (int c = 0; c < l.outputs; ++c) {
    const double inv = 1 / std::sqrt((*variances)[c] + kEpsilon);
    for (int k = 0; k < l.contraction(); ++k)
      a.weights[k * l.outputs + c] *= inv;
    a.offset[c] -= (*means)[c] * inv;
    a.deviation.push_back(std::max(std::sqrt((*variances)[c]) * inv, 1e-3));
  }
  return a;
}

// Largest magnitude of the results of a layer without batch norm.
double Reach(const FloatLayer& l, const Affine& a, const Moments& in) {
  double reach = 0;
  const size_t channels = in.mean.size();
  for (int c = 0; c < l.outputs; ++c) {
    double mean = a.offset[c], variance = 0;
    for (int k = 0; k < l.contraction(); ++k) {
      const double w = a.weights[k * l.outputs + c];
      mean += w * in.mean[k % channels];
      variance += w * w * in.variance[k % channels];
    }
    reach = std::max(reach,
                     std::abs(mean) + kLogitDeviations * std::sqrt(variance));
  }
  return std::max(reach, 1e-6);
}

// Weights, biases and factors of a layer between tensors of those scales.
void Quantise(const FloatLayer& l, const Affine& a, double in, double out,
              Layer& to) {
  const int contraction = l.contraction();
  to.weights.resize(int64_t{l.outputs} * contraction);
  for (int c = 0; c < l.outputs; ++c) {
    double largest = 0;
    for (int k = 0; k < contraction; ++k)
      largest = std::max(largest, std::abs(a.weights[k * l.outputs + c]));
    // Of a channel that is next to nothing the bias, too, must fit its type.
    constexpr double kMostBias = 1 << 30;
    const double scale = std::max(
        {largest / kHighest, std::abs(a.offset[c]) / (in * kMostBias), 1e-12});
    for (int k = 0; k < contraction; ++k) {
      to.weights[int64_t{c} * contraction + k] = static_cast<int8_t>(
          std::lround(a.weights[k * l.outputs + c] / scale));
    }
    to.bias.push_back(
        static_cast<int32_t>(std::llround(a.offset[c] / (in * scale))));
    to.requant.push_back(RequantOf(in * scale / out));
  }
}

absl::StatusOr<Network> Quantised(const Container& checkpoint) {
  Network network;
  network.name = "digits";
  Tensor tensor;
  tensor.name = "input";
  tensor.height = tensor.width = kLayers[0].size;
  tensor.channels = kLayers[0].channels;
  tensor.scale = 1.0f / 255;
  tensor.zero_point = kLowest;
  network.tensors.push_back(tensor);
  Moments in{{0.5}, {0.25}};
  for (const FloatLayer& l : kLayers) {
    const auto affine = Folded(l, checkpoint);
    if (!affine.ok()) return affine.status();
    tensor.name = absl::StrCat(l.name, ".out");
    tensor.height = tensor.width = l.out_size();
    tensor.channels = l.outputs;
    if (l.normed) {
      const auto offsets =
          Values(checkpoint, absl::StrCat("parameters.", l.name, ".offset"),
                 l.outputs);
      double highest = 0.1;
      Moments out;
      for (int c = 0; c < l.outputs; ++c) {
        highest = std::max(highest,
                           (*offsets)[c] + kDeviations * affine->deviation[c]);
        AppendRelu((*offsets)[c], affine->deviation[c], out);
      }
      tensor.scale = static_cast<float>(highest / (kHighest - kLowest));
      tensor.zero_point = kLowest;  // and the lowest value is the ReLU's 0
      in = std::move(out);
    } else {
      tensor.scale = static_cast<float>(Reach(l, *affine, in) / kHighest);
      tensor.zero_point = 0;
    }
    Layer layer;
    layer.name = l.name;
    layer.op = l.dense ? Op::kDense : Op::kConv2D;
    layer.inputs = {static_cast<int>(network.tensors.size()) - 1};
    layer.output = static_cast<int>(network.tensors.size());
    layer.window = WindowOf(l);
    Quantise(l, *affine, network.tensors.back().scale, tensor.scale, layer);
    network.tensors.push_back(tensor);
    network.layers.push_back(std::move(layer));
  }
  network.outputs = {static_cast<int>(network.tensors.size()) - 1};
  if (absl::Status s = Validate(network); !s.ok()) return s;
  return network;
}

}  // namespace

bool IsCheckpoint(std::string_view bytes) {
  const auto container = ParseContainer(bytes);
  return container.ok() && container->metadata.count(kRunDescription) > 0;
}

absl::StatusOr<Container> ParseCheckpoint(std::string_view bytes) {
  auto container = ParseContainer(bytes);
  if (!container.ok()) return container;
  const auto description = container->metadata.find(kRunDescription);
  const auto checksum = container->metadata.find(kChecksumKey);
  if (description == container->metadata.end() ||
      checksum == container->metadata.end()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "no checkpoint of a training: its metadata has no '%s'",
        description == container->metadata.end() ? kRunDescription
                                                 : kChecksumKey));
  }
  const std::string found = Checksum(description->second, container->data);
  if (found == checksum->second) return container;
  return absl::DataLossError(absl::StrFormat(
      "damaged: the CRC-32 is %s, the file says %s", found, checksum->second));
}

std::string SerializeCheckpoint(
    const std::string& description,
    const std::map<std::string, StoredTensor>& tensors) {
  Container container;
  container.tensors = tensors;
  container.metadata[kChecksumKey] =
      Checksum(description, DataSection(container.tensors));
  container.metadata[kRunDescription] = description;
  return SerializeContainer(container);
}

absl::StatusOr<Network> ReadNetworkOrCheckpoint(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (!IsCheckpoint(*bytes)) {
    std::string().swap(*bytes);  // it is read again, and may be large
    return ReadNetwork(path);
  }
  const auto checkpoint = ParseCheckpoint(*bytes);
  auto network = checkpoint.ok() ? Quantised(*checkpoint)
                                 : absl::StatusOr<Network>(checkpoint.status());
  if (network.ok()) return network;
  return absl::Status(network.status().code(),
                      absl::StrCat(path, ": ", network.status().message()));
}

}  // namespace systole::model
