// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of programs beside those of the weights, and the time that it takes
// to compile them, of blocks at the sizes that networks have: ConvNeXt's
// (depthwise 7x7, 1x1 to four times the channels and back, an addition),
// ResNet's (1x1, 3x3, 1x1, an addition) and products of channels.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "systole/compiler.h"
#include "systole/model.h"
#include "tests/compiler/append_layer.h"

namespace systole {
namespace {

class Maker {
 public:
  explicit Maker(model::Tensor input) : random_(1) {
    input.name = "input";
    network.tensors.push_back(std::move(input));
  }

  model::Network network;

  int Weighted(int from, model::Op op, int filters, int kernel) {
    model::Tensor out = network.tensors[from];
    model::Layer layer;
    layer.op = op;
    layer.inputs = {from};
    model::Window& w = layer.window;
    w.kernel_h = w.kernel_w = kernel;
    w.pad_top = w.pad_left = w.pad_bottom = w.pad_right = kernel / 2;
    const int depth = op == model::Op::kDepthwise ? 1 : out.channels;
    for (int64_t i = 0; i < int64_t{1} * filters * kernel * kernel * depth; ++i)
      layer.weights.push_back(static_cast<int8_t>(random_() % 255 - 127));
    layer.bias.assign(filters, 1000);
    layer.requant.assign(filters, {1 << 30, -10});
    out.channels = filters;
    return Append(std::move(layer), std::move(out));
  }

  int Add(int a, int b) {
    model::Layer layer;
    layer.op = model::Op::kAdd;
    layer.inputs = {a, b};
    layer.add = {{{1 << 30, 0}, {1518500250, 0}, {1 << 30, -18}}};
    return Append(std::move(layer), network.tensors[a]);
  }

  int Mul(int a, int b) {
    model::Layer layer;
    layer.op = model::Op::kMul;
    layer.inputs = {a, b};
    layer.requant = {{1 << 30, -5}};
    return Append(std::move(layer), network.tensors[a]);
  }

 private:
  int Append(model::Layer layer, model::Tensor out) {
    return AppendLayer(network, std::move(layer), std::move(out));
  }

  std::mt19937 random_;
};

model::Tensor Image(int side, int channels) {
  model::Tensor image;
  image.height = image.width = side;
  image.channels = channels;
  return image;
}

struct Size {
  int64_t descriptors = 0, bytes = 0, weights = 0;
  double ratio() const {
    return static_cast<double>(bytes) / static_cast<double>(weights);
  }
};

Size SizeOn(const char* preset, const model::Network& network) {
  const auto start = std::chrono::steady_clock::now();
  const auto program =
      compiler::CompileNetwork(network, *FindPreset(preset), {});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  EXPECT_TRUE(program.ok()) << program.status();
  Size size;
  size.descriptors = static_cast<int64_t>(program->descriptors.size());
  size.bytes = size.descriptors * isa::kDescriptorBits / 8;
  for (const DataSegment& data : program->segments)
    size.bytes += static_cast<int64_t>(data.data.size());
  for (const LayerInfo& layer : program->layers)
    size.weights += layer.parameter_bytes;
  const model::Tensor& image = network.tensors[0];
  std::printf("[ figure   ] %s %dx%dx%d: %d descriptors, %.2f, %.2f s\n",
              preset, image.height, image.width, image.channels,
              static_cast<int>(size.descriptors), size.ratio(), seconds);
  EXPECT_LT(seconds, 10);
  return size;
}

TEST(ProgramSize, BlocksOfConvNext) {
  struct Stage {
    int side, channels;
    double nano, edge;  // the most
  };
  for (const Stage& stage :
       {Stage{56, 96, 9.0, 3.5}, Stage{28, 192, 3.1, 2.15},
        Stage{14, 384, 1.6, 1.6}, Stage{7, 768, 1.2, 1.3}}) {
    Maker m(Image(stage.side, stage.channels));
    const int depthwise =
        m.Weighted(0, model::Op::kDepthwise, stage.channels, 7);
    const int wide =
        m.Weighted(depthwise, model::Op::kConv2D, 4 * stage.channels, 1);
    m.Add(m.Weighted(wide, model::Op::kConv2D, stage.channels, 1), 0);
    EXPECT_LT(SizeOn("nano", m.network).ratio(), stage.nano);
    EXPECT_LT(SizeOn("edge", m.network).ratio(), stage.edge);
  }
}

// Blocks at the image's edge use the tiles of the others.
TEST(ProgramSize, BlocksOfResNet) {
  for (const auto& [side, channels, most] :
       {std::tuple{28, 128, 3.3}, {14, 256, 1.45}, {7, 512, 1.2}}) {
    Maker m(Image(side, 4 * channels));
    const int a = m.Weighted(0, model::Op::kConv2D, channels, 1);
    const int b = m.Weighted(a, model::Op::kConv2D, channels, 3);
    m.Add(m.Weighted(b, model::Op::kConv2D, 4 * channels, 1), 0);
    EXPECT_LT(SizeOn("nano", m.network).ratio(), most);
    EXPECT_LT(SizeOn("edge", m.network).ratio(), 1.1);
  }
}

// One descriptor takes all channels of a block.
TEST(ProgramSize, ProductsWithAVectorOfChannels) {
  Maker m(Image(14, 672));
  model::Tensor vector = Image(1, 672);
  vector.name = "vector";
  m.network.tensors.push_back(vector);
  m.network.inputs = {0, 1};
  m.Mul(0, 1);
  EXPECT_LT(SizeOn("nano", m.network).descriptors, 100);
}

}  // namespace
}  // namespace systole
