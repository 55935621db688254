// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Single nodes as layers of a network.
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

// Adds the tensor of a node's result: one image, int8, at most three
// dimensions. Errors: Unimplemented.
absl::StatusOr<int> AddTensor(model::Network& network, const ir::Node& node);

// Adds the layer of a node and its tensor, of a mean perhaps several. Errors:
// Unimplemented when the device has no such layer; the network is then as it
// was. `target`: null if every core is to have it.
absl::Status AppendLayer(const ir::Node& node, const Tables& tables,
                         const Target* target, TensorIndices& tensors,
                         model::Network& network);

}  // namespace systole::lower

#endif  // SYSTOLE_HOST_LOWER_LAYERS_H_
