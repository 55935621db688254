// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The network that the training programs train, and where everything of it lies
// in HBM. What a step computes: docs/training.md.
#ifndef HOST_TRAINING_TRAIN_NETWORK_H_
#define HOST_TRAINING_TRAIN_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "systole/gen/presets.h"

namespace systole::training {

// What stands behind the ReLU of a convolution.
enum class PoolKind { kNone, kMax, kAverage };
// As TensorFlow's: windows inside the image only, or as many as strides fit.
enum class Padding { kValid, kSame };

struct PoolWindow {
  int64_t h = 2, w = 2;
  int64_t stride_y = 2, stride_x = 2;  // any: windows may overlap or skip
  Padding padding = Padding::kValid;
};

struct Pool {
  PoolKind kind = PoolKind::kNone;
  PoolWindow window;
  int64_t pad_top = 0, pad_left = 0;
  int64_t oh = 0, ow = 0;  // output

  int64_t positions() const { return oh * ow; }
};

// Of Layer::from: the layer before, the images of the batch. Of Layer::plus: no
// layer.
inline constexpr int kBelow = -1, kImages = -2, kNothing = -1;

// A layer in terms of one convolution: a dense layer has 1 x 1 positions and
// its inputs as channels.
struct Layer {
  std::string name;
  bool dense = false;
  int64_t h = 1, w = 1, ci = 1;        // input
  int64_t kh = 1, kw = 1, stride = 1;  // kernel
  int64_t oh = 1, ow = 1, co = 1;      // output
  int64_t pad_top = 0, pad_left = 0;
  bool normed = true;  // batch norm and ReLU; otherwise a bias
  Pool pool;           // of the convolution's output
  // The layer, counted from 0, whose output it reads; the one whose output is
  // added to its own, behind the pool.
  int from = kBelow;
  int plus = kNothing;

  bool pooled() const { return pool.kind != PoolKind::kNone; }
  // What the layer above reads.
  int64_t outputs() const {
    return (pooled() ? pool.positions() : positions()) * co;
  }
  int64_t contraction() const { return kh * kw * ci; }
  int64_t positions() const { return oh * ow; }
  int64_t macs() const { return positions() * contraction() * co; }
};

// How many positions of a layer's output lie in one row of batch norm's passes:
// P of docs/training.md, the same at all presets.
int64_t PositionsInRow(const Layer& layer);

// "same" padding as TensorFlow's.
Layer ConvLayer(const std::string& name, int64_t h, int64_t w, int64_t ci,
                int64_t kernel, int64_t stride, int64_t co);
// `layer`, a convolution, with a pool.
Layer Pooled(Layer layer, PoolKind kind, const PoolWindow& window);
// `layer` reading another one's output; with another one's added to its own.
Layer From(Layer layer, int from);
Layer Plus(Layer layer, int plus);
// The layer that layer i reads, -1: the images.
int InputOf(const std::vector<Layer>& layers, int i);
Layer DenseLayer(const std::string& name, int64_t ci, int64_t co, bool normed);

// The network of docs/network.md.
std::vector<Layer> DigitsLayers();

// Matrices of weights lie as slabs of L columns: [column tile][K, rounded up to
// Rows][L], so that Rows rows of a slab are a weight tile.
struct Slab {
  int64_t rows = 0;  // K
  int64_t cols = 0;
  int64_t padded_rows = 0;
  int64_t tiles = 0;  // column tiles
  int64_t lanes = 0;

  Slab() = default;
  Slab(int64_t k, int64_t n, const Preset& preset);
  int64_t elements() const { return tiles * padded_rows * lanes; }
  // Index of row k, column n.
  int64_t at(int64_t k, int64_t n) const {
    return (n / lanes * padded_rows + k) * lanes + n % lanes;
  }
};

}  // namespace systole::training

#endif  // HOST_TRAINING_TRAIN_NETWORK_H_
