// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The text of `systole.network` (docs/network.md), without the stored arrays.
#ifndef SYSTOLE_HOST_MODEL_NETWORK_JSON_H_
#define SYSTOLE_HOST_MODEL_NETWORK_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "systole/model.h"

namespace systole::model {

// Checks the form, not the rules between fields (see Validate). Weights, biases
// and per-channel multipliers are left empty.
absl::StatusOr<Network> ParseNetworkJson(const std::string& text);

std::string NetworkJson(const Network& network);

}  // namespace systole::model

#endif  // SYSTOLE_HOST_MODEL_NETWORK_JSON_H_
