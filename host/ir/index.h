// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Positions in row-major tensors.
#ifndef SYSTOLE_HOST_IR_INDEX_H_
#define SYSTOLE_HOST_IR_INDEX_H_

#include <cstdint>
#include <vector>

namespace systole::ir {

// Distance in memory between neighbours along each dimension.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& shape);

// The next index of a shape, the last dimension fastest.
void Advance(const std::vector<int64_t>& shape, std::vector<int64_t>& index);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_INDEX_H_
