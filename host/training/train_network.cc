// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/training/train_network.h"

#include <algorithm>

#include "host/compiler/geometry.h"

namespace systole::training {
namespace {

using compiler::CeilDiv;

// Outputs and padding before the first, along one axis; no outputs where no
// window fits.
void Plan(int64_t size, int64_t kernel, int64_t stride, Padding padding,
          int64_t& outputs, int64_t& pad) {
  outputs = pad = 0;
  if (kernel < 1 || stride < 1) return;
  if (padding == Padding::kValid) {
    outputs = size < kernel ? 0 : (size - kernel) / stride + 1;
    return;
  }
  outputs = CeilDiv(size, stride);
  pad = std::max<int64_t>(0, (outputs - 1) * stride + kernel - size) / 2;
}

}  // namespace

int64_t PositionsInRow(const Layer& layer) {
  constexpr int64_t kMost = 8, kElements = 128;
  int64_t count = layer.dense ? 1 : kMost;
  while (count > 1 &&
         (count * layer.co > kElements || layer.positions() % count != 0))
    count /= 2;
  return count;
}

Layer ConvLayer(const std::string& name, int64_t h, int64_t w, int64_t ci,
                int64_t kernel, int64_t stride, int64_t co) {
  Layer l;
  l.name = name;
  l.h = h;
  l.w = w;
  l.ci = ci;
  l.kh = l.kw = kernel;
  l.stride = stride;
  l.co = co;
  Plan(h, kernel, stride, Padding::kSame, l.oh, l.pad_top);
  Plan(w, kernel, stride, Padding::kSame, l.ow, l.pad_left);
  return l;
}

Layer Pooled(Layer layer, PoolKind kind, const PoolWindow& window) {
  layer.pool.kind = kind;
  layer.pool.window = window;
  Plan(layer.oh, window.h, window.stride_y, window.padding, layer.pool.oh,
       layer.pool.pad_top);
  Plan(layer.ow, window.w, window.stride_x, window.padding, layer.pool.ow,
       layer.pool.pad_left);
  return layer;
}

Layer From(Layer layer, int from) {
  layer.from = from;
  return layer;
}

Layer Plus(Layer layer, int plus) {
  layer.plus = plus;
  return layer;
}

int InputOf(const std::vector<Layer>& layers, int i) {
  const int from = layers[i].from;
  return from == kBelow ? i - 1 : std::max(from, -1);
}

Layer DenseLayer(const std::string& name, int64_t ci, int64_t co, bool normed) {
  Layer l;
  l.name = name;
  l.dense = true;
  l.ci = ci;
  l.co = co;
  l.normed = normed;
  return l;
}

std::vector<Layer> DigitsLayers() {
  return {ConvLayer("conv1", 28, 28, 1, 3, 1, 12),
          ConvLayer("conv2", 28, 28, 12, 6, 2, 24),
          ConvLayer("conv3", 14, 14, 24, 6, 2, 64),
          DenseLayer("dense1", 7 * 7 * 64, 200, true),
          DenseLayer("dense2", 200, 10, false)};
}

Slab::Slab(int64_t k, int64_t n, const Preset& preset)
    : rows(k),
      cols(n),
      padded_rows(CeilDiv(k, preset.rows) * preset.rows),
      tiles(CeilDiv(n, preset.cols)),
      lanes(preset.cols) {}

}  // namespace systole::training
