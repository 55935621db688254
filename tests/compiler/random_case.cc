// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/random_case.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/tools/workload.h"
#include "tests/compiler/random_draws.h"
#include "tests/testing/choices.h"

namespace systole {
namespace {

using model::Layer;
using model::Op;
using model::Tensor;

class Maker : RandomDraws {
 public:
  Maker(uint64_t seed, const Preset& preset, int64_t work)
      : RandomDraws(seed), preset_(preset), work_(work) {}

  RandomCase Make(const std::string& name) {
    int kind = Pick(0, 14);
    for (const auto& [of, first] : kKinds) {
      if (name == of) kind = first;
    }
    if (kind < 3) return Matmul();
    c_.network.name = "random";
    c_.options.batch = Chance(3) ? Pick(2, 5) : 1;
    if (kind < 7) {
      Start(1, 14, 40);
      Conv(0);
    } else if (kind == 7) {
      Start(1, 5, 24);
      Dense(0);
    } else if (kind == 8) {
      Start(1, 14, 30, Chance(3) ? Pick(2, 4) : 0);
      Chance(3) ? Mean(0) : Pool(0);
    } else if (kind == 9) {
      Start(1, 10, 30);
      const int a = Pool(0, /*same=*/true);
      if (Chance(3)) {
        Concat(a, 0);
      } else {
        Add(a, Chance(2) ? Mean(a) : 0);
      }
    } else if (kind == 10) {
      Start(1, 10, 30);
      const int a = Chance(2) ? Table(0) : Pool(0, /*same=*/true);
      Mul(a, Chance(2) ? Mean(a) : 0);
    } else if (kind < 13) {  // squeeze and excite, and a swish
      Start(2, 10, 24);
      const int a = Table(Conv(0, /*same=*/true));
      const int channels = c_.network.tensors[a].channels;
      const int b = Table(Conv(Mean(a), /*same=*/true, channels));
      Conv(Mul(a, b), /*same=*/true);
    } else {
      Start(2, 10, 16);
      const int a = Conv(0, /*same=*/true);
      int last = a;
      if (Chance(2))
        last = Add(Conv(a, /*same=*/true, c_.network.tensors[a].channels), a);
      if (Chance(3)) last = Mul(last, a);
      if (Chance(3)) last = Table(last);
      if (Chance(3)) last = Concat(last, a);
      if (Chance(2)) last = Pool(last);
      if (Chance(2)) Dense(last);
    }
    Finish();
    return std::move(c_);
  }

 private:
  static constexpr std::pair<const char*, int> kKinds[] = {
      {"matmul", 0}, {"conv", 3},  {"dense", 7},   {"pool", 8},    {"add", 9},
      {"mul", 10},   {"mean", 11}, {"excite", 12}, {"network", 13}};

  using RandomDraws::Factor;

  RandomCase Matmul() {
    compiler::MatmulSpec& m = c_.matmul;
    m.raw = Chance(3);
    m.m = Chance(4) ? Pick(1, 4) : Pick(1, 300);
    m.k = Chance(4) ? Pick(1, 8) : Pick(1, 200);
    m.n = Chance(4) ? Pick(1, 8) : Pick(1, 70);
    while (m.m * m.k * m.n > work_) {
      (m.m > m.k ? m.m : m.k > m.n ? m.k : m.n) /= 2;
    }
    m.weights = Values(m.k * m.n);
    if (!m.raw) {
      m.a_zero_point = ZeroPoint();
      m.c_zero_point = ZeroPoint();
      for (int64_t c = 0; c < m.n; ++c) {
        m.bias.push_back(Bias());
        m.requant.push_back(Factor(m.k));
      }
      Layer clamp;
      Clamp(clamp);
      m.clamp_min = clamp.clamp_min;
      m.clamp_max = clamp.clamp_max;
      m.rounding = clamp.rounding;
    }
    c_.raw = m.raw;
    c_.network = compiler::MatmulNetwork(m);
    Finish();
    c_.description = absl::StrFormat("matmul %dx%dx%d%s", m.m, m.k, m.n,
                                     m.raw ? " raw" : "") +
                     c_.description;
    return std::move(c_);
  }

  void Start(int smallest, int side, int channels, int beats = 0) {
    Tensor t;
    t.name = "input";
    t.height = Pick(smallest, side);
    t.width = Chance(8) ? Pick(smallest, 3 * side) : Pick(smallest, side);
    t.channels = Pick(1, Chance(3) ? 4 : channels);
    if (beats > 0) t.channels = beats * static_cast<int>(preset_.beat_bytes());
    t.zero_point = ZeroPoint();
    c_.network.tensors.push_back(t);
  }

  int Append(Layer layer, Tensor out) {
    model::Network& net = c_.network;
    layer.name =
        absl::StrFormat("%s%d", model::OpName(layer.op), net.layers.size());
    out.name = layer.name + ".out";
    layer.output = static_cast<int>(net.tensors.size());
    net.tensors.push_back(out);
    net.layers.push_back(std::move(layer));
    net.outputs = {net.layers.back().output};
    return net.outputs[0];
  }

  // A window along one axis: the kernel and its dilation, a stride and paddings
  // below the extent.
  void Axis(int size, bool same, int& kernel, int& stride, int& dilation,
            int& before, int& after) {
    kernel = Pick(1, 7);
    dilation = Chance(4) ? Pick(2, 3) : 1;
    if (same) {
      stride = 1;
      const int extent = (kernel - 1) * dilation;
      before = extent / 2;
      after = extent - before;
      return;
    }
    stride = Chance(2) ? 1 : Pick(1, 3);
    before = Pick(0, (kernel - 1) * dilation);
    after = Pick(0, (kernel - 1) * dilation);
    while ((kernel - 1) * dilation + 1 > size + before + after) {
      if (dilation > 1) {
        --dilation;
      } else {
        --kernel;
      }
      before = std::min(before, (kernel - 1) * dilation);
      after = std::min(after, (kernel - 1) * dilation);
    }
  }

  void Weights(Layer& layer, int64_t terms, int filters) {
    layer.weights = Values(terms * filters);
    for (int c = 0; c < filters; ++c) {
      layer.bias.push_back(Bias());
      layer.requant.push_back(Factor(terms));
    }
  }

  int Conv(int input, bool same = false, int filters = 0) {
    const Tensor in = c_.network.tensors[input];
    Layer layer;
    layer.op = Op::kConv2D;
    layer.inputs = {input};
    model::Window& w = layer.window;
    Axis(in.height, same, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top,
         w.pad_bottom);
    Axis(in.width, same, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left,
         w.pad_right);
    Tensor out = in;
    out.height = model::OutputSize(in.height, w.kernel_h, w.stride_h,
                                   w.dilation_h, w.pad_top, w.pad_bottom);
    out.width = model::OutputSize(in.width, w.kernel_w, w.stride_w,
                                  w.dilation_w, w.pad_left, w.pad_right);
    int64_t terms = int64_t{1} * w.kernel_h * w.kernel_w;
    if (filters == 0 && Chance(3)) {
      layer.op = Op::kDepthwise;
      filters = in.channels * (Chance(2) ? 1 : Pick(1, 5));
    } else {
      terms *= in.channels;
    }
    if (filters == 0) {
      const int64_t most =
          work_ / std::max<int64_t>(
                      1, terms * out.height * out.width * c_.options.batch);
      filters = Pick(1, static_cast<int>(std::clamp<int64_t>(
                            most, 1, 5 * preset_.cols + 3)));
    }
    out.channels = filters;
    out.zero_point = ZeroPoint();
    Weights(layer, terms, filters);
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  int Dense(int input) {
    const Tensor in = c_.network.tensors[input];
    Layer layer;
    layer.op = Op::kDense;
    layer.inputs = {input};
    Tensor out;
    out.channels = Pick(1, static_cast<int>(4 * preset_.cols + 3));
    out.zero_point = ZeroPoint();
    Weights(layer, in.size(), out.channels);
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  int Pool(int input, bool same = false) {
    const Tensor in = c_.network.tensors[input];
    Layer layer;
    layer.op = Chance(2) ? Op::kMaxPool : Op::kAveragePool;
    layer.inputs = {input};
    model::Window& w = layer.window;
    const auto axis = [&](int size, int& kernel, int& stride, int& before,
                          int& after) {
      kernel = std::min(Pick(1, 5), same ? 2 * size - 1 : size);
      stride = same ? 1 : Pick(1, 3);
      before = same ? (kernel - 1) / 2 : Pick(0, kernel - 1);
      after = same ? kernel - 1 - before : Pick(0, kernel - 1);
    };
    axis(in.height, w.kernel_h, w.stride_h, w.pad_top, w.pad_bottom);
    axis(in.width, w.kernel_w, w.stride_w, w.pad_left, w.pad_right);
    Tensor out = in;
    out.height = model::OutputSize(in.height, w.kernel_h, w.stride_h, 1,
                                   w.pad_top, w.pad_bottom);
    out.width = model::OutputSize(in.width, w.kernel_w, w.stride_w, 1,
                                  w.pad_left, w.pad_right);
    Clamp(layer);
    layer.rounding = model::Rounding::kDouble;
    return Append(std::move(layer), out);
  }

  model::Requant Factor(int low, int high) {
    return {static_cast<int32_t>((1 << 30) + rng_() % (1 << 30)),
            static_cast<int8_t>(-Pick(low, high))};
  }

  // b: of the same shape, or of one position.
  int Add(int a, int b) {
    Layer layer;
    layer.op = Op::kAdd;
    layer.inputs = {a, b};
    Tensor out = c_.network.tensors[a];
    out.zero_point = ZeroPoint();
    layer.add = {Factor(0, 4), Factor(0, 4), Factor(16, 21)};
    if (Chance(6)) layer.add[0].multiplier = 0;
    // As scales give it: one of them is a half.
    if (Chance(2)) layer.add[Pick(0, 1)] = {1 << 30, 0};
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  // b: of the same shape, or of one position.
  int Mul(int a, int b) {
    Layer layer;
    layer.op = Op::kMul;
    layer.inputs = {a, b};
    layer.requant = {Factor(4, 9)};
    Tensor out = c_.network.tensors[a];
    out.zero_point = ZeroPoint();
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  // Any of the two of the same shape, in channels or in width.
  int Concat(int a, int b) {
    Layer layer;
    layer.op = Op::kConcat;
    layer.inputs = {a, b};
    if (Chance(3)) layer.inputs.push_back(a);
    const int inputs = static_cast<int>(layer.inputs.size());
    Tensor out = c_.network.tensors[a];
    c_.network.tensors[b].zero_point = out.zero_point;
    (Chance(3) ? out.width : out.channels) *= inputs;
    return Append(std::move(layer), out);
  }

  int Table(int a) {
    Layer layer;
    layer.op = Op::kTable;
    layer.inputs = {a};
    for (int i = 0; i < 256; ++i)
      layer.table.push_back(static_cast<int8_t>(rng_()));
    Tensor out = c_.network.tensors[a];
    out.zero_point = ZeroPoint();
    return Append(std::move(layer), out);
  }

  // Of all positions.
  int Mean(int a) {
    const Tensor in = c_.network.tensors[a];
    Layer layer;
    layer.op = Op::kMean;
    layer.inputs = {a};
    layer.window.kernel_h = in.height;
    layer.window.kernel_w = in.width;
    layer.requant = {
        {static_cast<int32_t>((1u << 31) / (in.height * in.width + 1)), 0}};
    Tensor out = in;
    out.height = out.width = 1;
    out.zero_point = ZeroPoint();
    Clamp(layer);
    return Append(std::move(layer), out);
  }

  void Finish() {
    const model::Network& net = c_.network;
    c_.options.keep_intermediates = !Chance(4);
    c_.options.allow_resident = !Chance(4);
    c_.options.reorder = !Chance(8);
    if (Chance(2)) c_.options.ub_bytes = preset_.ub_bytes >> Pick(1, 4);
    c_.input = Values(net.input().size() * c_.options.batch);
    std::string text;
    for (const Layer& layer : net.layers) {
      const Tensor &in = net.in(layer), &out = net.out(layer);
      const model::Window& w = layer.window;
      absl::StrAppendFormat(
          &text, " %s %dx%dx%d->%dx%dx%d k%dx%d s%dx%d d%dx%d p%d,%d,%d,%d;",
          model::OpName(layer.op), in.height, in.width, in.channels, out.height,
          out.width, out.channels, w.kernel_h, w.kernel_w, w.stride_h,
          w.stride_w, w.dilation_h, w.dilation_w, w.pad_top, w.pad_left,
          w.pad_bottom, w.pad_right);
    }
    absl::StrAppendFormat(&text, " batch %d ub %d%s%s%s", c_.options.batch,
                          c_.options.ub_bytes,
                          c_.options.keep_intermediates ? " keep" : "",
                          c_.options.allow_resident ? "" : " spill",
                          c_.options.reorder ? "" : " as-lowered");
    c_.description = text;
  }

  const Preset& preset_;
  const int64_t work_;
  RandomCase c_;
};

}  // namespace

RandomCase MakeRandomCase(uint64_t seed, const Preset& preset, int64_t work,
                          const std::string& kind) {
  RandomCase c = Maker(seed, preset, work).Make(kind);
  double size = static_cast<double>(c.input.size());
  for (const Layer& layer : c.network.layers) {
    size += 1000 + static_cast<double>(layer.weights.size()) +
            static_cast<double>(c.network.out(layer).size());
  }
  testing_options::Describe(size, c.description);
  return c;
}

void ShuffleFlags(uint64_t seed, Program* program) {
  std::array<int, isa::kNumFlags> number;
  std::iota(number.begin(), number.end(), 0);
  std::mt19937_64 rng(seed);
  for (int i = isa::kNumFlags - 1; i > 0; --i)
    std::swap(number[i], number[rng() % (i + 1)]);
  for (isa::Descriptor& d : program->descriptors) {
    for (const int lsb : {32, 64}) {  // waits, posts
      const uint64_t old = isa::GetBits(d, lsb, isa::kNumFlags);
      uint64_t mask = 0;
      for (int f = 0; f < isa::kNumFlags; ++f)
        mask |= (old >> f & 1) << number[f];
      isa::PutBits(d, lsb, isa::kNumFlags, mask);
    }
  }
}

absl::StatusOr<Program> CompileCase(const RandomCase& c, const Preset& preset) {
  if (c.raw) return compiler::CompileMatmul(c.matmul, preset, c.options);
  return compiler::CompileNetwork(c.network, preset, c.options);
}

}  // namespace systole
