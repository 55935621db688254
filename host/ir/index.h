// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Positions in row-major tensors, and their dimensions in another order.
#ifndef SYSTOLE_HOST_IR_INDEX_H_
#define SYSTOLE_HOST_IR_INDEX_H_

#include <cstdint>
#include <vector>

namespace systole::ir {

// Distance in memory between neighbours along each dimension.
std::vector<int64_t> StridesOf(const std::vector<int64_t>& shape);

// The next index of a shape, the last dimension fastest.
void Advance(const std::vector<int64_t>& shape, std::vector<int64_t>& index);

// values[order[0]], values[order[1]], ...: what belongs to the dimensions of a
// tensor, for its transpose by `order`.
std::vector<int64_t> Permuted(const std::vector<int64_t>& values,
                              const std::vector<int64_t>& order);
// The order that undoes another.
std::vector<int64_t> InverseOf(const std::vector<int64_t>& order);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_INDEX_H_
