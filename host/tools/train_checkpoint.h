// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: the state of a training and a description of the run, in one
// safetensors file.
#ifndef HOST_TOOLS_TRAIN_CHECKPOINT_H_
#define HOST_TOOLS_TRAIN_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/tools/train_program.h"

namespace systole::tools {

struct Checkpoint {
  std::string description;  // of the run, as its user wrote it
  std::vector<ir::Literal> state;
};

// Creates the folder; writes beside the file and renames, so that the file is
// always whole. Errors name the file.
absl::Status WriteCheckpoint(const std::string& path,
                             const std::vector<StateTensor>& tensors,
                             const Checkpoint& checkpoint);

// kNotFound; kDataLoss: truncated or damaged; kInvalidArgument: not a
// checkpoint with these tensors. Messages name the file and the tensor.
absl::StatusOr<Checkpoint> ReadCheckpoint(
    const std::string& path, const std::vector<StateTensor>& tensors);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_CHECKPOINT_H_
