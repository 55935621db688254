// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The rules of docs/network.md that hold for a network however it was made.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/model.h"

namespace systole::model {
namespace {

constexpr int64_t kMaxTensorSize = int64_t{1} << 31;

bool FitsInt8(int value) { return value >= -128 && value <= 127; }

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckTensor(const Tensor& tensor) {
  const std::string what = absl::StrCat("tensor '", tensor.name, "': ");
  for (int dimension : {tensor.height, tensor.width, tensor.channels}) {
    if (dimension < 1 || dimension > kMaxDimension) {
      return Bad(what, "dimension ", dimension, " is outside 1..",
                 kMaxDimension);
    }
  }
  // Two dimensions fit in 40 bits, so neither product overflows.
  const int64_t plane = int64_t{tensor.height} * tensor.width;
  if (plane > kMaxTensorSize || plane * tensor.channels > kMaxTensorSize) {
    return Bad(what, "more than ", kMaxTensorSize, " elements");
  }
  if (!std::isfinite(tensor.scale) || tensor.scale <= 0) {
    return Bad(what, "scale ", tensor.scale, " is not positive");
  }
  if (!FitsInt8(tensor.zero_point)) {
    return Bad(what, "zero point ", tensor.zero_point, " is outside -128..127");
  }
  return absl::OkStatus();
}

// any_multiplier: of a mean, and of the depthwise convolution that a large one
// ends with, whose multiplier is divided by the count.
absl::Status CheckRequant(const std::string& what, const Requant& requant,
                          bool any_multiplier = false) {
  const int32_t m = requant.multiplier;
  if (any_multiplier ? m < 0 : m != 0 && m < (1 << 30)) {
    return Bad(what, "multiplier ", m, " is neither 0 nor in 2^30..2^31-1");
  }
  if (requant.shift < -31 || requant.shift > 30) {
    return Bad(what, "shift ", requant.shift, " is outside -31..30");
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const std::string& what, const Layer& layer,
                         const Tensor& in, const Tensor& out) {
  const Window& w = layer.window;
  for (int value : {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w,
                    w.dilation_h, w.dilation_w}) {
    if (value < 1 || value > kMaxDimension) {
      return Bad(what, "kernel, stride or dilation ", value, " is outside 1..",
                 kMaxDimension);
    }
  }
  for (int value : {w.pad_top, w.pad_left, w.pad_bottom, w.pad_right}) {
    if (value < 0 || value > kMaxDimension) {
      return Bad(what, "padding ", value, " is outside 0..", kMaxDimension);
    }
  }
  if (!HasWeights(layer.op)) {
    if (w.dilation_h != 1 || w.dilation_w != 1) {
      return Bad(what, "a pool has no dilation");
    }
    // Else a window could lie in the padding alone.
    if (w.pad_top >= w.kernel_h || w.pad_bottom >= w.kernel_h ||
        w.pad_left >= w.kernel_w || w.pad_right >= w.kernel_w) {
      return Bad(what, "a pool's padding must be smaller than its kernel");
    }
  }
  const int height = OutputSize(in.height, w.kernel_h, w.stride_h, w.dilation_h,
                                w.pad_top, w.pad_bottom);
  const int width = OutputSize(in.width, w.kernel_w, w.stride_w, w.dilation_w,
                               w.pad_left, w.pad_right);
  if (height != out.height || width != out.width) {
    return Bad(what,
               absl::StrFormat("output is %dx%d, but the geometry gives %dx%d",
                               out.height, out.width, height, width));
  }
  return absl::OkStatus();
}

absl::Status CheckWeighted(const std::string& what, const Layer& layer,
                           const Tensor& in, const Tensor& out) {
  const size_t channels =
      layer.op == Op::kSums ? out.channels / 4 : out.channels;
  const int64_t depth =
      layer.op == Op::kDense
          ? in.size()
          : int64_t{layer.window.kernel_h} * layer.window.kernel_w *
                (layer.op == Op::kDepthwise ? 1 : in.channels);
  if (depth > kMaxTensorSize / out.channels ||
      layer.weights.size() != channels * depth) {
    return Bad(what, layer.weights.size(), " weights instead of ", channels,
               " x ", depth);
  }
  const int zero = layer.weight_zero_point;
  if (zero < -128 || zero > 127 || (zero != 0 && layer.op == Op::kSums))
    return Bad(what, "weights with zero point ", zero);
  const size_t factors = HasRequant(layer.op) ? channels : 0;
  if (layer.bias.size() != factors || layer.requant.size() != factors) {
    return Bad(what, layer.bias.size(), " biases and ", layer.requant.size(),
               " multipliers instead of ", factors);
  }
  for (size_t c = 0; c < factors; ++c) {
    absl::Status status =
        CheckRequant(absl::StrCat(what, "channel ", c, ": "), layer.requant[c],
                     layer.op == Op::kDepthwise);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const std::string& what, const Tensor& in,
                        const Tensor& out) {
  if (in.height == out.height && in.width == out.width &&
      in.channels == out.channels) {
    return absl::OkStatus();
  }
  return Bad(what, "shapes of '", in.name, "' and '", out.name, "' differ");
}

// Both have the result's shape, or the second one position.
absl::Status CheckOperands(const std::string& what, const Network& network,
                           const Layer& layer) {
  const Tensor& out = network.out(layer);
  const Tensor& other = network.in(layer, 1);
  const bool repeated =
      other.height == 1 && other.width == 1 && other.channels == out.channels;
  const absl::Status status = CheckShape(what, network.in(layer), out);
  return status.ok() && !repeated ? CheckShape(what, other, out) : status;
}

// Side by side in channels or in width.
absl::Status CheckConcat(const std::string& what, const Network& network,
                         const Layer& layer) {
  const Tensor& out = network.out(layer);
  int64_t channels = 0, width = 0, height = 0;
  bool same_width = true, same_channels = true, same_height = true;
  for (const int input : layer.inputs) {
    const Tensor& in = network.tensors[input];
    if (in.zero_point != out.zero_point) {
      return Bad(what, "a concatenation keeps the zero point, '", in.name,
                 "' has another");
    }
    channels += in.channels;
    width += in.width;
    height += in.height;
    same_height = same_height && in.height == out.height;
    same_width = same_width && in.width == out.width;
    same_channels = same_channels && in.channels == out.channels;
  }
  if ((same_height && same_width && channels == out.channels) ||
      (same_height && same_channels && width == out.width) ||
      (same_width && same_channels && height == out.height))
    return absl::OkStatus();
  return Bad(what, "its inputs are not '", out.name,
             "' side by side, in channels, width or height");
}

absl::Status CheckSlice(const std::string& what, const Layer& layer,
                        const Tensor& in, const Tensor& out) {
  const int from[] = {in.height, in.width, in.channels};
  const int to[] = {out.height, out.width, out.channels};
  const int stride[] = {layer.window.stride_h, layer.window.stride_w, 1};
  for (int i = 0; i < 3; ++i) {
    const int64_t last =
        layer.begin[i] + int64_t{stride[i]} * (int64_t{to[i]} - 1);
    if (stride[i] < 1 || stride[i] > kMaxDimension || layer.begin[i] < 0 ||
        last >= from[i]) {
      return Bad(what, "a slice from ", layer.begin[i], " to ", last, " of ",
                 from[i], " by ", stride[i]);
    }
  }
  if (in.zero_point != out.zero_point)
    return Bad(what, "a slice keeps the zero point");
  return absl::OkStatus();
}

absl::Status CheckByOp(const std::string& what, const Network& network,
                       const Layer& layer) {
  const Tensor& in = network.in(layer);
  const Tensor& out = network.out(layer);
  const bool one_factor = layer.op == Op::kMul || layer.op == Op::kMean;
  if (!HasWeights(layer.op) &&
      !(layer.weights.empty() && layer.bias.empty() &&
        layer.requant.size() == (one_factor ? 1 : 0))) {
    return Bad(what,
               "weights on a layer that has none, or more or fewer "
               "factors than it has");
  }
  if (layer.table.size() != (layer.op == Op::kTable ? 256 : 0)) {
    return Bad(what, "a table of ", layer.table.size(), " values");
  }
  switch (layer.op) {
    case Op::kDepthwise:
      if (out.channels % in.channels != 0) {
        return Bad(what, out.channels, " channels from ", in.channels,
                   ", which do not divide them");
      }
      [[fallthrough]];
    case Op::kConv2D: {
      absl::Status status = CheckWindow(what, layer, in, out);
      return status.ok() ? CheckWeighted(what, layer, in, out) : status;
    }
    case Op::kDense:
      if (out.height != 1 || out.width != 1) {
        return Bad(what, "a dense output is 1x1xN");
      }
      return CheckWeighted(what, layer, in, out);
    case Op::kSums:
      if (in.height != out.height || in.width != out.width ||
          out.channels % 4 != 0) {
        return Bad(what, "sums are 4 bytes each, for every position");
      }
      if (!network.IsOutput(layer.output)) {
        return Bad(what, "sums that are no output of the network");
      }
      return CheckWeighted(what, layer, in, out);
    case Op::kMaxPool:
    case Op::kAveragePool:
      if (in.channels != out.channels || in.scale != out.scale ||
          in.zero_point != out.zero_point) {
        return Bad(what, "a pool keeps channels, scale and zero point");
      }
      return CheckWindow(what, layer, in, out);
    case Op::kMean: {
      if (in.channels != out.channels) {
        return Bad(what, "a mean keeps the channels");
      }
      absl::Status status = CheckRequant(what, layer.requant[0], true);
      return status.ok() ? CheckWindow(what, layer, in, out) : status;
    }
    case Op::kTable:
      return CheckShape(what, in, out);
    case Op::kConcat:
      return CheckConcat(what, network, layer);
    case Op::kSlice:
      return CheckSlice(what, layer, in, out);
    case Op::kMul: {
      const absl::Status status = CheckOperands(what, network, layer);
      return status.ok() ? CheckRequant(what, layer.requant[0]) : status;
    }
    case Op::kAdd: {
      if (absl::Status status = CheckOperands(what, network, layer);
          !status.ok())
        return status;
      for (size_t i = 0; i < layer.add.size(); ++i) {
        Requant requant = layer.add[i];
        // Of an input either sign, as a difference has.
        if (i < 2 && requant.multiplier > INT32_MIN)
          requant.multiplier = std::abs(requant.multiplier);
        absl::Status status = CheckRequant(what, requant);
        if (!status.ok()) return status;
        if (requant.shift > 0) return Bad(what, "an add shifts right only");
      }
      return absl::OkStatus();
    }
  }
  return Bad(what, "unknown operation");
}

bool IsSums(const Network& network, int tensor) {
  return std::any_of(network.layers.begin(), network.layers.end(),
                     [&](const Layer& layer) {
                       return layer.op == Op::kSums && layer.output == tensor;
                     });
}

absl::Status CheckLayer(const Network& network, const Layer& layer,
                        std::vector<bool>& ready) {
  const std::string what = absl::StrCat("layer '", layer.name, "': ");
  const auto known = [&](int t) {
    return t >= 0 && t < static_cast<int>(network.tensors.size());
  };
  if (!TakesInputs(layer.op, layer.inputs.size())) {
    return Bad(what, layer.inputs.size(), " inputs instead of ",
               TakesInputs(layer.op, 2) ? 2 : 1);
  }
  for (int input : layer.inputs) {
    if (!known(input)) return Bad(what, "unknown input tensor");
    if (IsSums(network, input)) {
      return Bad(what, "input '", network.tensors[input].name, "' is sums");
    }
    if (!ready[input]) {
      return Bad(what, "input '", network.tensors[input].name,
                 "' is not computed before");
    }
  }
  if (!known(layer.output)) return Bad(what, "unknown output tensor");
  if (ready[layer.output]) {
    return Bad(what, "output '", network.tensors[layer.output].name,
               "' exists already");
  }
  ready[layer.output] = true;
  if (!FitsInt8(layer.clamp_min) || !FitsInt8(layer.clamp_max) ||
      layer.clamp_min > layer.clamp_max) {
    return Bad(what, "clamp ", layer.clamp_min, "..", layer.clamp_max,
               " is not a range within -128..127");
  }
  return CheckByOp(what, network, layer);
}

}  // namespace

absl::Status Validate(const Network& network) {
  const int count = static_cast<int>(network.tensors.size());
  const auto all_known = [&](const std::vector<int>& tensors) {
    return !tensors.empty() &&
           std::all_of(tensors.begin(), tensors.end(),
                       [&](int t) { return t >= 0 && t < count; }) &&
           std::set<int>(tensors.begin(), tensors.end()).size() ==
               tensors.size();
  };
  if (!all_known(network.inputs) || !all_known(network.outputs)) {
    return Bad("network '", network.name,
               "': no input or output tensor, or one twice");
  }
  if (network.layers.empty()) {
    return Bad("network '", network.name, "': no layers");
  }
  std::set<std::string> names;
  for (const Tensor& tensor : network.tensors) {
    if (tensor.name.empty() || !names.insert(tensor.name).second) {
      return Bad("tensor '", tensor.name, "': name is empty or used twice");
    }
    absl::Status status = CheckTensor(tensor);
    if (!status.ok()) return status;
  }
  std::vector<bool> ready(count, false);
  for (int input : network.inputs) {
    if (network.IsOutput(input)) {
      return Bad("tensor '", network.tensors[input].name,
                 "' is input and output");
    }
    ready[input] = true;
  }
  names.clear();
  for (const Layer& layer : network.layers) {
    if (layer.name.empty() || !names.insert(layer.name).second) {
      return Bad("layer '", layer.name, "': name is empty or used twice");
    }
    absl::Status status = CheckLayer(network, layer, ready);
    if (!status.ok()) return status;
  }
  for (int t = 0; t < count; ++t) {
    if (!ready[t]) {
      return Bad("tensor '", network.tensors[t].name,
                 "': no layer computes it");
    }
  }
  return absl::OkStatus();
}

}  // namespace systole::model
