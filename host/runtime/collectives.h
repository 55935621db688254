// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The values of collectives on the host, to the bit as docs/hlo.md ("Several
// devices") defines them.
#ifndef SYSTOLE_HOST_RUNTIME_COLLECTIVES_H_
#define SYSTOLE_HOST_RUNTIME_COLLECTIVES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/evaluate.h"
#include "host/ir/module.h"

namespace systole::runtime {

// The results of each member of a group, from the operands of each, both in the
// order of their positions. `sources`, for collective_permute alone: for each
// member the position that sends to it, or -1. Literals may be shared among
// members. Errors: those of the region's evaluation.
absl::StatusOr<std::vector<ir::Literals>> Collective(
    const ir::Node& node, const std::vector<ir::Literals>& operands,
    const std::vector<int>& sources);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COLLECTIVES_H_
