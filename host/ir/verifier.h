// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Checks that a module is valid: structure, shapes, types, and the rules of the
// TensorFlow Lite int8 quantisation specification.
#ifndef SYSTOLE_HOST_IR_VERIFIER_H_
#define SYSTOLE_HOST_IR_VERIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "host/ir/module.h"

namespace systole::ir {

// Errors: InvalidArgument, which names the node and its operation.
absl::Status Verify(const Module& module);

// Checks one node whose operands are valid; `Verify` does this for each node.
absl::Status VerifyNode(const Node& node);

// Number of window positions along one axis, 0 if it does not fit: floor((size
// + pads - dilation * (kernel - 1) - 1) / stride) + 1.
int64_t WindowPositions(int64_t size, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t pad_before,
                        int64_t pad_after);

// The broadcast shape of an elementwise operation, where sizes of 1 stretch;
// nullopt if the shapes do not fit.
std::optional<std::vector<int64_t>> BroadcastShape(
    const std::vector<int64_t>& a, const std::vector<int64_t>& b);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_VERIFIER_H_
