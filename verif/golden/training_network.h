// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The network of the golden training model: layers, sizes and parameters.
#ifndef SYSTOLE_VERIF_GOLDEN_TRAINING_NETWORK_H_
#define SYSTOLE_VERIF_GOLDEN_TRAINING_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "verif/golden/float_ops.h"

namespace systole::golden {

using Fp32Row = Eigen::Array<float, 1, Eigen::Dynamic>;

// Pool after the ReLU of a convolution. `same`: TensorFlow's padding; otherwise
// there is none.
struct TrainingPool {
  enum class Kind { kNone, kMax, kAverage };
  Kind kind = Kind::kNone;
  int height = 0, width = 0, stride_y = 0, stride_x = 0;
  bool same = false;
};

// A convolution with `kernel` x `kernel` taps and TensorFlow's "same" padding,
// or a dense layer (kernel 0). All but the last have a batch norm and ReLU.
struct TrainingLayer {
  int kernel;
  int stride;
  int filters;
  TrainingPool pool = {};
  // The layer whose output is the input: -1 the previous one, -2 the images.
  // The layer whose output is added to this one's, after the pool: -1 none.
  int from = -1, plus = -1;
};

// The last layer is dense; its outputs are the classes.
struct TrainingNetwork {
  int height, width, channels;  // of an image
  std::vector<TrainingLayer> layers;

  int classes() const { return layers.back().filters; }
  // The source of layer i's input; -1: the images.
  int InputOf(int i) const {
    const int from = layers[i].from;
    return from == -1 ? i - 1 : from == -2 ? -1 : from;
  }
};

// The network of docs/network.md.
TrainingNetwork DigitsNetwork();

absl::Status Validate(const TrainingNetwork& network);

// A layer at a batch size. A dense layer counts as a 1 x 1 convolution of one
// image with one line; its positions are the samples. So its sums and blocks
// have the order of docs/training.md.
struct LayerGeometry {
  int images;
  int in_height, in_width, in_channels;
  int out_height, out_width, out_channels;
  int kernel, stride, pad_top, pad_left;
  bool dense = false;

  int64_t contraction() const { return int64_t{kernel} * kernel * in_channels; }
  int64_t in_positions() const { return int64_t{in_height} * in_width; }
  int64_t out_positions() const { return int64_t{out_height} * out_width; }
  int64_t positions() const { return images * out_positions(); }
};
// A pool of `g`'s output. out_height or out_width is 0 if no window fits.
struct PoolGeometry {
  int out_height = 0, out_width = 0, pad_top = 0, pad_left = 0;
};
PoolGeometry PoolOf(const TrainingPool& pool, int height, int width);

std::vector<LayerGeometry> Geometries(const TrainingNetwork& network,
                                      int batch);

// Master values, and the optimiser's state for each: Adam's m and v, or SGD's v
// in `first`.
struct Parameter {
  Fp32Matrix value, first, second;
};

struct LayerState {
  Parameter weights;                  // K x Co
  Parameter offset;                   // 1 x Co: beta, bias of the last layer
  Fp32Row running_mean, running_var;  // empty for the last layer
};

struct TrainingState {
  std::vector<LayerState> layers;
  float power1 = 1.0f, power2 = 1.0f;  // p1, p2 of Adam
};

TrainingState InitialState(const TrainingNetwork& network, uint32_t seed);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_TRAINING_NETWORK_H_
