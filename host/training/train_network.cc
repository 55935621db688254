// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/training/train_network.h"

#include <algorithm>

namespace systole::training {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

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
  l.oh = CeilDiv(h, stride);
  l.ow = CeilDiv(w, stride);
  l.pad_top = std::max<int64_t>(0, (l.oh - 1) * stride + kernel - h) / 2;
  l.pad_left = std::max<int64_t>(0, (l.ow - 1) * stride + kernel - w) / 2;
  return l;
}

Layer Pooled(Layer layer) {
  layer.pool = true;
  return layer;
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
