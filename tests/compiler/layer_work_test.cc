// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs joined to one position, and additions between the blocks of the layer
// before: same results, and that they are used where they should be.
#include "host/compiler/layer_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "host/tools/checker.h"
#include "host/tools/workload.h"
#include "systole/compiler.h"
#include "verif/golden/ops.h"

namespace systole::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

model::Network Conv(int width, int channels, int filters, int kernel,
                    int stride) {
  tools::ConvSpec spec;
  spec.name = "conv";
  spec.width = width;
  spec.height = 6;
  spec.channels = channels;
  spec.filters = filters;
  spec.kernel_w = spec.kernel_h = kernel;
  spec.stride = stride;
  return tools::ConvNetwork(spec, 5);
}

// The joined layer is a convolution that gives the same bytes.
TEST(Joined, GivesTheSameSums) {
  std::mt19937_64 random(3);
  for (const int stride : {1, 2}) {
    for (const int columns : {2, 3, 4}) {
      const model::Network network = Conv(12 * stride, 3, 5, 3, stride);
      const model::Layer& layer = network.layers[0];
      const Geometry g = GeometryOf(network, layer, 1);
      const Geometry wide = JoinedGeometry(g, columns);
      const model::Layer joined = JoinedLayer(layer, g, columns);
      EXPECT_EQ(wide.ow * columns, g.ow);
      EXPECT_EQ(wide.oc, g.oc * columns);
      EXPECT_EQ(joined.bias.size(), static_cast<size_t>(wide.oc));
      const model::Tensor& in = network.input();
      const golden::TensorI8 input(1, in.height, in.width, in.channels,
                                   tools::RandomInt8(in.size(), random));
      const auto sums = [&](const Geometry& of, const model::Layer& from) {
        const model::Window& w = layer.window;
        // A wider window needs no other padding at the end: it ends where the
        // last output's did.
        const golden::Geometry window = {static_cast<int>(of.sh),
                                         static_cast<int>(of.sw),
                                         1,
                                         1,
                                         w.pad_top,
                                         w.pad_left,
                                         w.pad_bottom,
                                         w.pad_right};
        return *golden::Conv2D(
            input,
            golden::TensorI8(static_cast<int>(of.oc), static_cast<int>(of.kh),
                             static_cast<int>(of.kw), in.channels,
                             from.weights),
            window, in.zero_point);
      };
      EXPECT_EQ(sums(g, layer).data(), sums(wide, joined).data())
          << stride << " " << columns;
    }
  }
}

// 3 taps of 2 channels, `outputs` positions of a line.
std::pair<model::Layer, Geometry> Depthwise(int64_t outputs) {
  model::Layer layer;
  layer.op = model::Op::kDepthwise;
  layer.weights = {1, 2, 3, 4, 5, 6};
  layer.bias = {7, 8};
  layer.requant.resize(2);
  Geometry g;
  g.w = outputs + 2;
  g.c = g.oc = 2;
  g.kw = 3;
  g.ow = outputs;
  g.multiplier = 1;
  return {layer, g};
}

TEST(Joined, DepthwiseOutputsReadTheirChannel) {
  const auto [layer, g] = Depthwise(2);
  const Geometry wide = JoinedGeometry(g, 2);
  const model::Layer joined = JoinedLayer(layer, g, 2);
  EXPECT_EQ(wide.multiplier, 0);
  EXPECT_EQ(wide.kw, 4);
  EXPECT_THAT(joined.bias, testing::ElementsAre(7, 8, 7, 8));
  EXPECT_THAT(joined.weights, testing::ElementsAre(1, 0, 2, 0, 3, 0, 0, 0,  //
                                                   0, 4, 0, 5, 0, 6, 0, 0,  //
                                                   0, 0, 1, 0, 2, 0, 3, 0,  //
                                                   0, 0, 0, 4, 0, 5, 0, 6));
}

// Two outputs and a channel of two a column tile.
TEST(Joined, GroupsOfChannelsShareATile) {
  const auto [layer, g] = Depthwise(4);
  const Geometry wide = JoinedGeometry(g, 2, 1);
  const model::Layer grouped = JoinedLayer(layer, g, 2, 1);
  EXPECT_EQ(wide.multiplier, 1);
  EXPECT_EQ(TileChannels(wide, 2), 1);
  EXPECT_EQ(FirstChannel(wide, 2, 1), 1);
  EXPECT_THAT(grouped.bias, testing::ElementsAre(7, 7, 8, 8));
  EXPECT_THAT(grouped.weights, testing::ElementsAre(1, 2, 3, 0, 0, 1, 2, 3,  //
                                                    4, 5, 6, 0, 0, 4, 5, 6));
}

// The weights between channels of different groups are 0.
model::Layer InGroups(const model::Network& network, int64_t groups) {
  model::Layer layer = network.layers[0];
  const Geometry g = GeometryOf(network, layer, 1);
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    const int64_t c = i % g.c, o = i / (g.c * g.taps());
    const bool own = c / (g.c / groups) == o / (g.oc / groups);
    layer.weights[i] = static_cast<int8_t>(own ? 1 : 0);
  }
  return layer;
}

TEST(Groups, TilesReadTheirChannelsAlone) {
  const model::Network network = Conv(6, 16, 32, 3, 1);
  Geometry g = GeometryOf(network, network.layers[0], 1);
  EXPECT_EQ(GroupsOf(network.layers[0], g, 8, 8), 1);
  EXPECT_EQ(GroupsOf(InGroups(network, 4), g, 8, 8), 4);
  EXPECT_EQ(GroupsOf(InGroups(network, 4), g, 8, 32), 1);  // one tile
  g.groups = 4;
  EXPECT_EQ(TileChannels(g, 8), 4);
  EXPECT_EQ(FirstChannel(g, 8, 3), 12);
  EXPECT_EQ(TileChannels(g, 4), 4);  // two tiles a group
  EXPECT_EQ(FirstChannel(g, 4, 3), 4);
  EXPECT_EQ(TileChannels(g, 12), 12);  // a tile may begin within a group
  EXPECT_EQ(FirstChannel(g, 12, 1), 4);
}

// One that is not zero joins all channels.
TEST(Groups, OneWeightBetweenThemEndsThem) {
  const model::Network network = Conv(6, 16, 32, 3, 1);
  const Geometry g = GeometryOf(network, network.layers[0], 1);
  model::Layer layer = InGroups(network, 4);
  layer.weights.back() = 0;
  layer.weights[layer.weights.size() - 16] = 1;
  EXPECT_EQ(GroupsOf(layer, g, 8, 8), 1);
  layer = InGroups(network, 4);
  layer.weights[layer.weights.size() - 8] = 1;
  EXPECT_EQ(GroupsOf(layer, g, 8, 8), 2);
}

// conv, then the sum of its result and its input.
model::Network Residual() {
  model::Network network = Conv(16, 16, 16, 3, 1);
  model::Layer first = network.layers[0], add;
  first.name = "first";
  model::Tensor middle = network.tensors[1], sum = middle, end = middle;
  middle.name = "middle";
  sum.name = "sum";
  end.name = "end";
  network.tensors = {network.tensors[0], middle, network.tensors[1], sum, end};
  first.output = 1;
  network.layers[0].inputs = {1};
  network.layers[0].output = 2;
  add.name = "add";
  add.op = model::Op::kAdd;
  add.inputs = {1, 2};
  add.output = 3;
  add.add = {{{1 << 30, 0}, {1 << 30, -1}, {1 << 30, -18}}};
  model::Layer last = first;
  last.name = "last";
  last.inputs = {3};
  last.output = 4;
  network.layers = {first, network.layers[0], add, last};
  network.outputs = {4};
  return network;
}

TEST(Additions, JoinTheLayerBefore) {
  const Preset& edge = *FindPreset("edge");
  const model::Network network = Residual();
  ASSERT_EQ(model::Validate(network), absl::OkStatus());
  std::mt19937_64 random(3);
  const std::vector<int8_t> input =
      tools::RandomInt8(8 * network.input().size(), random);
  const auto expected = tools::GoldenTensors(network, input, false);
  ASSERT_TRUE(expected.ok()) << expected.status();
  DeviceOptions device_options;
  device_options.simulation.check_races = true;
  auto device = Device::Open("iss", device_options);
  ASSERT_TRUE(device.ok());
  std::vector<int64_t> cycles;
  for (const bool fuse : {true, false}) {
    for (const bool join : {true, false}) {
      Options options;
      options.batch = 8;
      options.fuse_vector = fuse;
      options.join_columns = join;
      const auto program = CompileNetwork(network, edge, options);
      ASSERT_TRUE(program.ok()) << program.status();
      cycles.push_back(EstimateCycles(*program, edge));
      const std::string& tiling = program->layers[2].tiling;
      if (fuse) {
        EXPECT_THAT(tiling,
                    HasSubstr("with the requantise of the layer before"));
      } else {
        EXPECT_THAT(tiling, Not(HasSubstr("with the requantise")));
      }
      const auto run =
          tools::RunChecked(**device, *program, network, input, *expected);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_THAT(run->mismatches(), testing::IsEmpty());
    }
  }
  EXPECT_LT(cycles[1], cycles[3]);  // of additions alone
  EXPECT_LT(cycles[2], 0.8 * static_cast<double>(cycles[3]));  // of joining
  EXPECT_LT(cycles[0], cycles[2]);
}

}  // namespace
}  // namespace systole::compiler
