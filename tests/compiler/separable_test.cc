// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// golden == device over random depthwise layers with a 1x1 convolution behind
// them, mostly of a width and of channels that can be cut in groups, and over
// random pools; the tensors between are not kept, so that they may lie in any
// order.
//   --backend=iss|rtl --preset=P --cases=N --seed=S
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "host/compiler/plan.h"
#include "host/tools/checker.h"
#include "systole/compiler.h"
#include "systole/device.h"
#include "tests/compiler/append_layer.h"
#include "tests/compiler/random_draws.h"
#include "tests/testing/options.h"

namespace systole {
namespace {

std::string g_backend = "iss";
std::string g_preset = "nano";

class SeparableMaker : RandomDraws {
 public:
  SeparableMaker(uint64_t seed, const Preset& preset)
      : RandomDraws(seed), preset_(preset) {}

  model::Network network;
  compiler::Options options;
  std::vector<int8_t> input;

  void Make() {
    network.name = "separable";
    options.batch = Pick(1, 2);
    options.allow_resident = !Chance(4);
    if (Chance(3)) options.ub_bytes = preset_.ub_bytes >> Pick(1, 3);
    model::Tensor in;
    in.name = "input";
    in.height = Pick(3, 12);
    in.width = Chance(4) ? Pick(3, 30) : 4 * Pick(1, 8);
    in.channels = Chance(4) ? Pick(1, 40)
                            : static_cast<int>(preset_.cols) / 2 * Pick(1, 4);
    if (Chance(3)) {  // many, of which slots hold a part
      in.channels = static_cast<int>(preset_.beat_bytes()) * Pick(2, 5);
      options.ub_bytes = preset_.ub_bytes >> Pick(1, 3);
      options.allow_resident = false;
    }
    in.zero_point = ZeroPoint();
    network.tensors.push_back(in);
    const int pooled = Chance(2) ? Windowed(0, model::Op::kMaxPool) : 0;
    const int depthwise = Windowed(pooled, model::Op::kDepthwise);
    Pointwise(depthwise);
    if (Chance(6)) network.outputs.insert(network.outputs.begin(), depthwise);
    input = Values(in.size() * options.batch);
  }

 private:
  int Append(model::Layer layer, model::Tensor out) {
    return AppendLayer(network, std::move(layer), std::move(out));
  }

  void Weights(model::Layer& layer, int64_t terms, int filters) {
    layer.weights = Values(terms * filters);
    for (int c = 0; c < filters; ++c) {
      layer.bias.push_back(Bias());
      layer.requant.push_back(Factor(terms));
    }
  }

  // Padded so that the size stays, stride aside.
  int Windowed(int from, model::Op op) {
    const model::Tensor in = network.tensors[from];
    model::Layer layer;
    layer.op = op;
    layer.inputs = {from};
    model::Window& w = layer.window;
    const auto axis = [&](int size, int& kernel, int& stride, int& before,
                          int& after) {
      kernel = std::min(Pick(1, 5), size);
      stride = Chance(3) ? 2 : 1;
      before = (kernel - 1) / 2;
      after = kernel - 1 - before;
      return model::OutputSize(size, kernel, stride, 1, before, after);
    };
    model::Tensor out = in;
    out.height =
        axis(in.height, w.kernel_h, w.stride_h, w.pad_top, w.pad_bottom);
    out.width = axis(in.width, w.kernel_w, w.stride_w, w.pad_left, w.pad_right);
    Clamp(layer);
    if (op == model::Op::kDepthwise) {
      Weights(layer, int64_t{1} * w.kernel_h * w.kernel_w, in.channels);
      out.zero_point = ZeroPoint();
    } else {
      layer.rounding = model::Rounding::kDouble;
    }
    return Append(std::move(layer), out);
  }

  void Pointwise(int from) {
    model::Tensor out = network.tensors[from];
    model::Layer layer;
    layer.op = model::Op::kConv2D;
    layer.inputs = {from};
    const int terms = out.channels, stride = Chance(4) ? 2 : 1;
    layer.window.stride_w = layer.window.stride_h = stride;
    out.height = model::OutputSize(out.height, 1, stride, 1, 0, 0);
    out.width = model::OutputSize(out.width, 1, stride, 1, 0, 0);
    out.channels = Pick(1, static_cast<int>(2 * preset_.cols));
    out.zero_point = ZeroPoint();
    Weights(layer, terms, out.channels);
    Clamp(layer);
    Append(std::move(layer), out);
  }

  const Preset& preset_;
};

TEST(Separable, GoldenEqualsDevice) {
  const Preset& preset = *FindPreset(g_preset);
  const int cases = testing_options::Cases(100);
  int refused = 0, grouped = 0, in_parts = 0;
  for (const uint64_t seed : testing_options::Seeds(cases)) {
    SeparableMaker made(seed, preset);
    made.Make();
    SCOPED_TRACE(absl::StrFormat("seed %d", seed));
    made.options.observer = [&](std::string_view pass, const auto& text) {
      if (pass == "channel-grouping")
        grouped += absl::StrContains(text(), "group=");
      if (pass != "memory-planning") return;
      const auto plan = compiler::ParsePlan(text());
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const compiler::PlanLayer& layer : plan->layers)
        in_parts += layer.g.multiplier > 0 && layer.in[0].channels > 0;
    };
    const auto program =
        compiler::CompileNetwork(made.network, preset, made.options);
    if (absl::IsResourceExhausted(program.status()) &&
        made.options.ub_bytes > 0) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(program.ok()) << program.status();
    const auto expected =
        tools::GoldenTensors(made.network, made.input, /*raw=*/false);
    ASSERT_TRUE(expected.ok()) << expected.status();
    DeviceOptions options;
    options.preset = g_preset;
    options.simulation.seed = seed;
    options.simulation.check_races = true;
    auto device = Device::Open(g_backend, options);
    ASSERT_TRUE(device.ok()) << device.status();
    const auto run = tools::RunChecked(**device, *program, made.network,
                                       made.input, *expected);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_THAT(run->mismatches(), testing::IsEmpty());
    ASSERT_TRUE(run->layers.back().bit_exact.value_or(false));
  }
  if (cases >= 50) {
    EXPECT_LE(refused, cases / 10);
    // Large tiles take longer to load than they save.
    if (preset.rows < 256) EXPECT_GE(grouped, cases / 10);
    EXPECT_GE(in_parts, cases / 20);
  }
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::g_backend}, {"preset", &systole::g_preset}});
}
