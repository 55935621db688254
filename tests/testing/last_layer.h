// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The smallest layer of the digits network, for what simulates slowly.
#ifndef SYSTOLE_TESTS_TESTING_LAST_LAYER_H_
#define SYSTOLE_TESTS_TESTING_LAST_LAYER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/tools/checker.h"
#include "host/tools/digits.h"
#include "systole/model.h"

namespace systole::testing_options {

// The last layer as a network of its own, and its input for the first digit.
// The source folder is the working folder.
inline absl::StatusOr<std::pair<model::Network, std::vector<int8_t>>>
LastLayer() {
  auto network = model::ReadNetwork("models/mnist_cnn.safetensors");
  if (!network.ok()) return network.status();
  const auto digits = tools::ReadDigits("tests/data/mnist");
  if (!digits.ok()) return digits.status();
  const auto tensors = tools::GoldenTensors(*network, digits->Quantised(0, 1),
                                            /*raw=*/false);
  if (!tensors.ok()) return tensors.status();
  const std::vector<uint8_t>& bytes = tensors->at(tensors->size() - 2).bytes;
  model::Network last = *network;
  last.layers = {network->layers.back()};
  last.tensors = {network->in(network->layers.back()), network->output()};
  last.layers[0].inputs = {0};
  last.layers[0].output = 1;
  last.inputs = {0};
  last.outputs = {1};
  return std::make_pair(last, std::vector<int8_t>(bytes.begin(), bytes.end()));
}

}  // namespace systole::testing_options

#endif  // SYSTOLE_TESTS_TESTING_LAST_LAYER_H_
