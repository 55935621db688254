// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Networks of layers, drawn by a seed.
//   const std::vector<training::Layer> layers = RandomGraph(seed).Draw();
#ifndef SYSTOLE_TESTS_TRAINING_RANDOM_GRAPH_H_
#define SYSTOLE_TESTS_TRAINING_RANDOM_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "host/training/train_network.h"

namespace systole {

// Chains, blocks with a shortcut and blocks whose shortcut has a layer of its
// own, drawn until the images are small; dense layers behind them, some with a
// shortcut.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : rng_(seed) {}

  std::vector<training::Layer> Draw() {
    h_ = Between(5, 11);
    w_ = Between(5, 11);
    const int blocks = static_cast<int>(Between(1, 3));
    for (int b = 0; b < blocks; ++b) {
      switch (Between(0, 2)) {
        case 0:
          Chain();
          break;
        case 1:
          Shortcut();
          break;
        default:
          Projection();
      }
    }
    int64_t inputs = h_ * w_ * c_;
    if (Between(0, 1) == 1) {
      const int64_t width = Between(3, 20);
      Add(training::DenseLayer(Name(), inputs, width, true), at_);
      if (Between(0, 1) == 1) {
        const int shortcut = at_;
        Add(training::DenseLayer(Name(), width, 9, true), at_);
        Add(training::Plus(training::DenseLayer(Name(), 9, width, true),
                           shortcut),
            at_);
      }
      inputs = width;
    }
    Add(training::DenseLayer(Name(), inputs, Between(2, 7), false), at_);
    return layers_;
  }

 private:
  int64_t Between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       rng_() % static_cast<uint64_t>(most - least + 1));
  }
  std::string Name() const {
    return absl::StrFormat("layer%d", layers_.size());
  }
  // Reading layer `from`, -1: the images.
  void Add(training::Layer layer, int from) {
    layers_.push_back(
        training::From(std::move(layer), from < 0 ? training::kImages : from));
    at_ = static_cast<int>(layers_.size()) - 1;
  }
  training::Layer Conv(int64_t channels) {
    const int64_t kernel = Between(1, 4);
    return training::ConvLayer(Name(), h_, w_, c_, kernel,
                               Between(1, std::min<int64_t>(kernel, 2)),
                               channels);
  }
  training::Layer MaybePooled(training::Layer layer) {
    if (Between(0, 2) != 0 || layer.oh < 3 || layer.ow < 3) return layer;
    return training::Pooled(
        std::move(layer),
        Between(0, 1) == 0 ? training::PoolKind::kMax
                           : training::PoolKind::kAverage,
        {Between(1, 3), Between(1, 3), Between(1, 2), Between(1, 2),
         Between(0, 1) == 0 ? training::Padding::kValid
                            : training::Padding::kSame});
  }
  void Take(const training::Layer& layer) {
    h_ = layer.pooled() ? layer.pool.oh : layer.oh;
    w_ = layer.pooled() ? layer.pool.ow : layer.ow;
    c_ = layer.co;
  }

  void Chain() {
    const training::Layer layer = MaybePooled(Conv(Between(1, 40)));
    Add(layer, at_);
    Take(layer);
  }
  // The block's input has to be a layer's.
  void Shortcut() {
    if (at_ < 0) Chain();
    const int shortcut = at_;
    const int64_t kernel = Between(1, 3);
    const training::Layer first =
        training::ConvLayer(Name(), h_, w_, c_, kernel, 1, Between(1, 9));
    Add(first, at_);
    Add(training::Plus(training::ConvLayer(Name(), h_, w_, first.co, 3, 1, c_),
                       shortcut),
        at_);
  }
  // Two layers that read the same, one's output added to the other's.
  void Projection() {
    const int from = at_;
    const training::Layer first = MaybePooled(Conv(Between(1, 12)));
    training::Layer second = first;
    Add(first, from);
    second.name = Name();
    Add(training::Plus(second, at_), from);
    Take(first);
  }

  std::mt19937_64 rng_;
  std::vector<training::Layer> layers_;
  int64_t h_ = 0, w_ = 0, c_ = 1;
  int at_ = -1;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_TRAINING_RANDOM_GRAPH_H_
