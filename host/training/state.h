// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// All that a training step carries on to the next: master weights, what the
// optimiser remembers, running statistics.
//
//   TrainState state = InitialState(layers, /*seed=*/1);
//   trainer->WriteState(state);
//   std::string difference = Difference(layers, *trainer->ReadState(), wanted);
#ifndef HOST_TRAINING_STATE_H_
#define HOST_TRAINING_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/training/train_network.h"

namespace systole::training {

struct LayerState {
  // [K][Co]. first, second: Adam's m and v; SGD: velocity and nothing.
  std::vector<float> weights, weights_first, weights_second;
  // [Co]. Beta, of the last layer the bias.
  std::vector<float> offset, offset_first, offset_second;
  std::vector<float> running_mean, running_var;  // [Co]; last layer: empty
};

struct TrainState {
  std::vector<LayerState> layers;
  std::vector<float> powers = {1.0f, 1.0f};  // Adam's p1, p2
};

TrainState InitialState(const std::vector<Layer>& layers, uint32_t seed);
// The right sizes, all 0.
TrainState EmptyState(const std::vector<Layer>& layers);

// Every tensor of a state by its name in checkpoints ("conv2.weights").
struct StateTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float>* values;
};
std::vector<StateTensor> Tensors(const std::vector<Layer>& layers,
                                 TrainState& state);

// Empty when all bits are equal; else the first value that differs (tensor,
// index, both values) and how many do. Both must have the sizes of `layers`.
std::string Difference(const std::vector<Layer>& layers, TrainState got,
                       TrainState want);

}  // namespace systole::training

#endif  // HOST_TRAINING_STATE_H_
