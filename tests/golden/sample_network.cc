// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/golden/sample_network.h"

#include <random>

namespace systole::model {
namespace {

void FillWeights(const Network& network, Layer& layer, int64_t depth) {
  std::mt19937 rng(7);
  const int outputs = network.out(layer).channels;
  for (int64_t i = 0; i < outputs * depth; ++i) {
    layer.weights.push_back(static_cast<int8_t>(rng() % 255 - 127));
  }
  for (int c = 0; c < outputs; ++c) {
    layer.bias.push_back(static_cast<int32_t>(rng() % 2001) - 1000);
    layer.requant.push_back(
        {(1 << 30) + static_cast<int32_t>(rng() % (1 << 30)),
         static_cast<int8_t>(-8)});
  }
}

}  // namespace

Network SampleNetwork() {
  Network network;
  network.name = "sample";
  network.tensors = {{"in", 6, 5, 2, 0.5f, 3},     {"c", 6, 5, 3, 0.1f, -10},
                     {"m", 3, 3, 3, 0.1f, -10},    {"a", 3, 3, 3, 0.1f, -10},
                     {"s", 3, 3, 3, 0.1f, 1 << 4}, {"out", 1, 1, 4, 2.0f, 0}};
  network.inputs = {0};
  network.outputs = {5};

  Layer conv;
  conv.name = "conv";
  conv.op = Op::kConv2D;
  conv.inputs = {0};
  conv.output = 1;
  conv.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  conv.clamp_min = -10;
  FillWeights(network, conv, 3 * 3 * 2);

  Layer maxpool;
  maxpool.name = "maxpool";
  maxpool.op = Op::kMaxPool;
  maxpool.inputs = {1};
  maxpool.output = 2;
  maxpool.window = {2, 2, 2, 2, 1, 1, 0, 0, 0, 1};

  Layer avgpool = maxpool;
  avgpool.name = "avgpool";
  avgpool.op = Op::kAveragePool;
  avgpool.output = 3;

  Layer add;
  add.name = "add";
  add.op = Op::kAdd;
  add.inputs = {2, 3};
  add.output = 4;
  add.rounding = Rounding::kSingle;
  add.add = {{{1 << 30, 0}, {1 << 30, 0}, {1 << 30, -17}}};

  Layer dense;
  dense.name = "dense";
  dense.op = Op::kDense;
  dense.inputs = {4};
  dense.output = 5;
  FillWeights(network, dense, 3 * 3 * 3);

  network.layers = {conv, maxpool, avgpool, add, dense};
  return network;
}

}  // namespace systole::model
