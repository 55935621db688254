// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies between tensors; each tensor has one stride per dimension.
//
//   // The transpose of a 2 x 3 matrix:
//   CopyStrided(4, {3, 2}, {from, {1, 3}}, {to, {2, 1}});
#ifndef SYSTOLE_HOST_IR_HLO_STRIDED_H_
#define SYSTOLE_HOST_IR_HLO_STRIDED_H_

#include <cstdint>
#include <vector>

namespace systole::ir {

template <typename Byte>
struct Walk {
  Byte* data;                    // of the first element
  std::vector<int64_t> strides;  // in elements; may be 0 or negative
};

// `bytes` per element: 1, 2, 4 or 8.
void CopyStrided(int bytes, const std::vector<int64_t>& shape,
                 const Walk<const uint8_t>& from, const Walk<uint8_t>& to);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_STRIDED_H_
