// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/workload.h"

#include <algorithm>
#include <cmath>

namespace systole::tools {
namespace {

int SamePadding(int size, int kernel, int stride) {
  return std::max(0,
                  ((size + stride - 1) / stride - 1) * stride + kernel - size);
}

}  // namespace

std::vector<int8_t> RandomInt8(int64_t count, std::mt19937_64& rng) {
  std::vector<int8_t> values(count);
  for (int8_t& v : values) v = static_cast<int8_t>(rng() & 0xFF);
  return values;
}

model::Requant SpreadingRequant(int64_t terms, std::mt19937_64& rng) {
  const double deviation =
      74.0 * 74.0 *
      std::sqrt(static_cast<double>(terms));  // 74: of a uniform int8
  const double real =
      50.0 / deviation * std::uniform_real_distribution<>(0.7, 1.3)(rng);
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  model::Requant r;
  r.multiplier = static_cast<int32_t>(
      std::min(std::llround(fraction * 2147483648.0), 2147483647LL));
  r.shift = static_cast<int8_t>(std::clamp(exponent, -31, 30));
  return r;
}

model::Network ConvNetwork(const ConvSpec& spec, uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto zero_point = [&] { return static_cast<int>(rng() % 41) - 20; };
  model::Network network;
  network.name = spec.name;
  model::Tensor in, out;
  in.name = "input";
  in.height = spec.height;
  in.width = spec.width;
  in.channels = spec.channels;
  in.zero_point = zero_point();
  model::Layer layer;
  layer.name = spec.name;
  layer.op = model::Op::kConv2D;
  layer.inputs = {0};
  layer.output = 1;
  model::Window& w = layer.window;
  w.kernel_h = spec.kernel_h;
  w.kernel_w = spec.kernel_w;
  w.stride_h = w.stride_w = spec.stride;
  if (spec.same) {
    const int vertical = SamePadding(spec.height, spec.kernel_h, spec.stride);
    const int horizontal = SamePadding(spec.width, spec.kernel_w, spec.stride);
    w.pad_top = vertical / 2;
    w.pad_bottom = vertical - w.pad_top;
    w.pad_left = horizontal / 2;
    w.pad_right = horizontal - w.pad_left;
  }
  out.name = "output";
  out.height = model::OutputSize(in.height, w.kernel_h, w.stride_h, 1,
                                 w.pad_top, w.pad_bottom);
  out.width = model::OutputSize(in.width, w.kernel_w, w.stride_w, 1, w.pad_left,
                                w.pad_right);
  out.channels = spec.filters;
  out.zero_point = zero_point();
  network.tensors = {in, out};
  network.outputs = {1};
  const int64_t terms =
      int64_t{1} * spec.kernel_h * spec.kernel_w * spec.channels;
  layer.weights = RandomInt8(terms * spec.filters, rng);
  for (int c = 0; c < spec.filters; ++c) {
    layer.bias.push_back(static_cast<int32_t>(rng() % 20001) - 10000);
    layer.requant.push_back(SpreadingRequant(terms, rng));
  }
  network.layers.push_back(std::move(layer));
  return network;
}

compiler::MatmulSpec RandomMatmul(int64_t m, int64_t k, int64_t n, bool raw,
                                  uint64_t seed) {
  std::mt19937_64 rng(seed);
  compiler::MatmulSpec spec;
  spec.m = m;
  spec.k = k;
  spec.n = n;
  spec.raw = raw;
  spec.weights = RandomInt8(n * k, rng);
  if (raw) return spec;
  spec.a_zero_point = static_cast<int>(rng() % 41) - 20;
  spec.c_zero_point = static_cast<int>(rng() % 41) - 20;
  for (int64_t c = 0; c < n; ++c) {
    spec.bias.push_back(static_cast<int32_t>(rng() % 20001) - 10000);
    spec.requant.push_back(SpreadingRequant(k, rng));
  }
  return spec;
}

}  // namespace systole::tools
