// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checkpoints of trainings (docs/training.md) as files, and the int8 network
// that one of models/digits_training becomes.
//
//   absl::StatusOr<model::Network> network = ReadNetworkOrCheckpoint(path);
#ifndef SYSTOLE_HOST_MODEL_CHECKPOINT_H_
#define SYSTOLE_HOST_MODEL_CHECKPOINT_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "host/model/safetensors.h"
#include "systole/model.h"

namespace systole::model {

inline constexpr char kRunDescription[] = "systole.training";  // in metadata

// Whether a file's bytes are a checkpoint, whole or damaged.
bool IsCheckpoint(std::string_view bytes);

// Views of the bytes, which must outlive it. Errors: those of ParseContainer;
// InvalidArgument: no checkpoint; DataLoss: the checksum is another.
absl::StatusOr<Container> ParseCheckpoint(std::string_view bytes);

// The bytes of the file.
std::string SerializeCheckpoint(
    const std::string& description,
    const std::map<std::string, StoredTensor>& tensors);

// The network of a model file, or that of a checkpoint. The batch norms of a
// checkpoint, by their running statistics, are folded into weights with a scale
// a channel and biases. No data are needed: behind a batch norm a channel has
// mean `offset` and deviation 1, which tells the range of its ReLU (6
// deviations), and by it that of the last layer's results (12 deviations, of
// inputs taken as independent). Inputs are bytes that stand for 0 to 1. Errors:
// those of ReadNetwork and ParseCheckpoint; InvalidArgument names a tensor that
// is missing, as in checkpoints of other trainings, or holds a NaN or an
// infinity.
absl::StatusOr<Network> ReadNetworkOrCheckpoint(const std::string& path);

}  // namespace systole::model

#endif  // SYSTOLE_HOST_MODEL_CHECKPOINT_H_
