// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checkpoints: a training state and a description of the run, in one
// safetensors file.
#ifndef HOST_TRAINING_CHECKPOINT_H_
#define HOST_TRAINING_CHECKPOINT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/training/state.h"

namespace systole::training {

struct Checkpoint {
  std::string description;  // of the run, as its user wrote it
  TrainState state;
};

// Whether a file's bytes are a checkpoint, whole or damaged.
bool IsCheckpoint(std::string_view bytes);

// Creates the folder; writes beside the file and renames, so that the file is
// always whole. Errors name the file.
absl::Status WriteCheckpoint(const std::string& path,
                             const std::vector<Layer>& layers,
                             Checkpoint checkpoint);

// kNotFound; kDataLoss: truncated or damaged; kInvalidArgument: not a
// checkpoint of these layers. Messages name the file and the tensor.
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path,
                                          const std::vector<Layer>& layers);

}  // namespace systole::training

#endif  // HOST_TRAINING_CHECKPOINT_H_
