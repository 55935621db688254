// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/sized_networks.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/tools/workload.h"
#include "tests/compiler/append_layer.h"
#include "tests/compiler/random_draws.h"

namespace systole {
namespace {

using model::Layer;
using model::Op;
using model::Tensor;

class Maker {
 public:
  Maker(int height, int width) : rng_(height * 7919 + width) {
    Tensor in;
    in.name = "input";
    in.height = height;
    in.width = width;
    in.channels = 3;
    in.zero_point = -5;
    network.tensors.push_back(in);
  }

  model::Network network;

  int Conv(int from, int filters, int kernel, int stride) {
    return Window(from, Op::kConv2D, filters, kernel, stride);
  }
  int Depthwise(int from, int stride) {
    return Window(from, Op::kDepthwise, network.tensors[from].channels, 3,
                  stride);
  }
  int Pool(int from) {
    return Window(from, Op::kMaxPool, network.tensors[from].channels, 3, 2);
  }

  int Add(int a, int b) {
    Layer layer;
    layer.op = Op::kAdd;
    layer.inputs = {a, b};
    layer.add = {{{1 << 30, 0}, {1518500250, 0}, {1 << 30, -18}}};
    Tensor out = network.tensors[a];
    out.zero_point = 7;
    return Append(std::move(layer), out);
  }

 private:
  int Window(int from, Op op, int filters, int kernel, int stride) {
    const Tensor in = network.tensors[from];
    Layer layer;
    layer.op = op;
    layer.inputs = {from};
    model::Window& w = layer.window;
    w.kernel_h = w.kernel_w = kernel;
    w.stride_h = w.stride_w = stride;
    w.pad_top = w.pad_left = w.pad_bottom = w.pad_right = kernel / 2;
    Tensor out = in;
    const auto size = [&](int of) {
      return model::OutputSize(of, kernel, stride, 1, kernel / 2, kernel / 2);
    };
    out.height = size(in.height);
    out.width = size(in.width);
    out.channels = filters;
    if (model::HasWeights(op)) {
      const int64_t terms =
          int64_t{1} * kernel * kernel * (op == Op::kConv2D ? in.channels : 1);
      layer.weights = tools::RandomInt8(terms * filters, rng_);
      for (int c = 0; c < filters; ++c) {
        layer.bias.push_back(static_cast<int32_t>(rng_() % 2001) - 1000);
        layer.requant.push_back(tools::SpreadingRequant(terms, rng_));
      }
      out.zero_point = static_cast<int>(rng_() % 21) - 10;
    }
    return Append(std::move(layer), out);
  }

  int Append(Layer layer, Tensor out) {
    return AppendLayer(network, std::move(layer), std::move(out));
  }

  std::mt19937_64 rng_;
};

class TallMaker : RandomDraws {
 public:
  TallMaker(uint64_t seed, const Preset& preset, TallNetwork* made)
      : RandomDraws(seed), preset_(preset), made_(*made) {}

  void Make() {
    made_.network.name = "tall";
    made_.options.batch = Chance(4) ? 2 : 1;
    made_.options.allow_resident = !Chance(3);
    made_.options.fuse_vector = !Chance(3);
    if (Chance(2)) made_.options.ub_bytes = preset_.ub_bytes >> Pick(1, 3);
    const int bank = static_cast<int>(preset_.acc_bank_rows());
    Tensor in;
    in.name = "input";
    in.width = Chance(6) ? Pick(bank, 2 * bank) : Pick(4, bank / 4);
    // Of eight to thirty blocks.
    in.height = std::max(3, bank * Pick(8, 30) / in.width);
    in.channels = Chance(2) ? Pick(1, 8) : static_cast<int>(preset_.cols);
    in.zero_point = ZeroPoint();
    made_.network.tensors.push_back(in);
    int last = 0;
    for (int left = Pick(1, 4); left > 0; --left) last = Next(last);
    made_.input = Values(in.size() * made_.options.batch);
  }

 private:
  int Next(int from) {
    switch (Pick(0, 6)) {
      case 0:
        return Window(from, Op::kDepthwise, false);
      case 1:
        return Window(from, Chance(2) ? Op::kMaxPool : Op::kAveragePool, false);
      case 2:
        return Sum(from, Window(from, Op::kDepthwise, true));
      default:
        return Window(from, Op::kConv2D, false);
    }
  }

  int Sum(int a, int b) {
    Layer layer;
    layer.op = Op::kAdd;
    layer.inputs = {b, a};
    layer.add = {{{1 << 30, 0}, {1500000000, -1}, {1 << 30, -18}}};
    Tensor out = made_.network.tensors[a];
    out.zero_point = ZeroPoint();
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  int Window(int from, Op op, bool same) {
    const Tensor in = made_.network.tensors[from];
    Layer layer;
    layer.op = op;
    layer.inputs = {from};
    model::Window& w = layer.window;
    const auto axis = [&](int size, int& kernel, int& stride, int& before,
                          int& after) {
      kernel = std::min(Pick(1, 4), size);
      stride = same || !Chance(3) ? 1 : 2;
      before = same ? (kernel - 1) / 2 : Pick(0, kernel - 1);
      after = same ? kernel - 1 - before : Pick(0, kernel - 1);
      return model::OutputSize(size, kernel, stride, 1, before, after);
    };
    Tensor out = in;
    out.height =
        axis(in.height, w.kernel_h, w.stride_h, w.pad_top, w.pad_bottom);
    out.width = axis(in.width, w.kernel_w, w.stride_w, w.pad_left, w.pad_right);
    Clamp(layer);
    layer.rounding = model::Rounding::kDouble;
    if (model::HasWeights(op)) {
      const bool deep = op == Op::kConv2D;
      if (deep) out.channels = Pick(1, static_cast<int>(preset_.cols) + 3);
      const int64_t terms =
          int64_t{1} * w.kernel_h * w.kernel_w * (deep ? in.channels : 1);
      layer.weights = Values(terms * out.channels);
      for (int c = 0; c < out.channels; ++c) {
        layer.bias.push_back(Bias());
        layer.requant.push_back(Factor(terms));
      }
      out.zero_point = ZeroPoint();
    }
    return Append(std::move(layer), out);
  }

  int Append(Layer layer, Tensor out) {
    model::Network& net = made_.network;
    layer.name = absl::StrCat(model::OpName(layer.op), net.layers.size());
    out.name = layer.name + ".out";
    layer.output = static_cast<int>(net.tensors.size());
    net.tensors.push_back(std::move(out));
    net.layers.push_back(std::move(layer));
    net.outputs = {net.layers.back().output};
    return net.outputs[0];
  }

  const Preset& preset_;
  TallNetwork& made_;
};

}  // namespace

TallNetwork::TallNetwork(uint64_t seed, const Preset& preset) {
  TallMaker(seed, preset, this).Make();
}

model::Network SizedNetwork(const std::string& kind, int height, int width) {
  Maker m(height, width);
  m.network.name = kind;
  int last = m.Conv(0, 16, 3, 2);
  if (kind == "convolutions") {
    last = m.Conv(last, 24, 3, 1);
    last = m.Conv(last, 32, 3, 2);
    m.Conv(last, 40, 3, 1);
  } else if (kind == "separable") {
    for (const auto& [filters, stride] :
         std::vector<std::pair<int, int>>{{32, 1}, {64, 2}, {64, 1}, {96, 2}})
      last = m.Conv(m.Depthwise(last, stride), filters, 1, 1);
  } else if (kind == "inverted") {
    last = m.Conv(last, 64, 1, 1);
    const auto inverted = [&m](int from, int filters) {
      const int wide = 6 * m.network.tensors[from].channels;
      return m.Conv(m.Depthwise(m.Conv(from, wide, 1, 1), 1), filters, 1, 1);
    };
    last = inverted(last, 96);
    last = m.Add(inverted(last, 96), last);
    m.Add(inverted(last, 96), last);
  } else {
    last = m.Pool(last);
    for (const auto& [filters, stride] :
         std::vector<std::pair<int, int>>{{64, 1}, {64, 1}, {96, 2}}) {
      const int inner =
          m.Conv(m.Conv(last, filters / 4, 1, 1), filters / 4, 3, stride);
      const int result = m.Conv(inner, filters, 1, 1);
      const int by = m.network.tensors[last].channels == filters
                         ? last
                         : m.Conv(last, filters, 1, stride);
      last = m.Add(result, by);
    }
  }
  return std::move(m.network);
}

}  // namespace systole
