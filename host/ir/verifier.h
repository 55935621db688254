// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checks that a module makes sense: structure, shapes, types, and the rules of
// the TensorFlow Lite int8 quantisation specification.
#ifndef SYSTOLE_HOST_IR_VERIFIER_H_
#define SYSTOLE_HOST_IR_VERIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "host/ir/module.h"

namespace systole::ir {

// Errors: InvalidArgument, which names the node and its operation.
absl::Status Verify(const Module& module);

// One node whose operands are sound; `Verify` does this for each.
absl::Status VerifyNode(const Node& node);

// Positions of a window along one axis, 0 if it does not fit:
// floor((size + pads - dilation * (kernel - 1) - 1) / stride) + 1.
int64_t WindowPositions(int64_t size, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t pad_before,
                        int64_t pad_after);

// The shape of an elementwise operation, where sizes of 1 stretch; empty
// optional if they do not fit.
std::optional<std::vector<int64_t>> BroadcastShape(
    const std::vector<int64_t>& a, const std::vector<int64_t>& b);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_VERIFIER_H_
