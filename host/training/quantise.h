// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From a trained network to one of int8, as the int8 cores run it.
//
//   absl::StatusOr<model::Network> network = ReadNetworkOrCheckpoint(path);
#ifndef HOST_TRAINING_QUANTISE_H_
#define HOST_TRAINING_QUANTISE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/training/state.h"
#include "systole/model.h"

namespace systole::training {

// The batch norms, by their running statistics, are folded into weights with a
// scale a channel and biases. No data are needed: behind a batch norm a channel
// has mean beta and deviation 1, which tells the range of its ReLU (6
// deviations), and by it that of the last layer's results (12 deviations, of
// inputs taken as independent). Inputs are bytes that stand for 0 to 1. Errors:
// InvalidArgument names a tensor that holds a NaN or an infinity; Unimplemented
// names a layer with a pool.
absl::StatusOr<model::Network> Quantised(const std::vector<Layer>& layers,
                                         TrainState state);

// The network of a model file, or that of a checkpoint of DigitsLayers().
// Errors: those of model::ReadNetwork, ReadCheckpoint and Quantised.
absl::StatusOr<model::Network> ReadNetworkOrCheckpoint(const std::string& path);

}  // namespace systole::training

#endif  // HOST_TRAINING_QUANTISE_H_
