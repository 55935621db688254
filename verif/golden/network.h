// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_VERIF_GOLDEN_NETWORK_H_
#define SYSTOLE_VERIF_GOLDEN_NETWORK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "systole/model.h"
#include "verif/golden/tensor.h"

namespace systole::golden {

// Runs a batch (each input is [images][height][width][channels], with at least
// one image) through a network. Result i is the output of network.layers[i];
// the network's outputs are the results of the layers listed in
// network.outputs. A saturating accumulator or bias add is an error that names
// the layer.
//
//   std::vector<TensorI8> outputs = RunNetwork(network, images).value();
//   CompareWithDevice(network.layers[2].name, outputs[2]);
absl::StatusOr<std::vector<TensorI8>> RunNetwork(
    const model::Network& network, const std::vector<TensorI8>& inputs);
// Runs a single input.
inline absl::StatusOr<std::vector<TensorI8>> RunNetwork(
    const model::Network& network, const TensorI8& input) {
  return RunNetwork(network, std::vector<TensorI8>{input});
}

// Index of the largest value of each image; of equal ones, the first.
std::vector<int> ArgMax(const TensorI8& scores);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_NETWORK_H_
