// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Turns single nodes into layers of a network.
#ifndef SYSTOLE_HOST_LOWER_LAYERS_H_
#define SYSTOLE_HOST_LOWER_LAYERS_H_

#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/lower/tables.h"
#include "systole/model.h"
#include "systole/target.h"

namespace systole::lower {

using TensorIndices = std::unordered_map<const ir::Node*, int>;

// Adds the tensor for a node's result: one int8 image of at most three
// dimensions. Errors: Unimplemented.
absl::StatusOr<int> AddTensor(model::Network& network, const ir::Node& node,
                              int64_t images);

// Adds the layer of a node and its tensor; a mean may take several layers.
// Errors: Unimplemented if the device has no such layer; the network is then
// unchanged. `target`: null if every core must support the layer. `images`: of
// every value (tensors.h).
absl::Status AppendLayer(const ir::Node& node, const Tables& tables,
                         const Target* target, int64_t images,
                         TensorIndices& tensors, model::Network& network);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LAYERS_H_
