// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of callers' arrays.
#ifndef SYSTOLE_HOST_CAPI_ARRAYS_H_
#define SYSTOLE_HOST_CAPI_ARRAYS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/capi/program.h"
#include "host/ir/literal.h"
#include "systole.h"

namespace systole::capi {

// "float32 (4, 28, 28, 1)".
std::string Describe(const systole_array& array);

// That the array is one: its type, rank and shape, and data of that size.
absl::Status CheckArray(const systole_array& array);

// Images of an int8 model's input in a row, and how many.
struct Stack {
  ir::Literal values;
  int64_t images = 0;
};
absl::StatusOr<Stack> ReadStack(const systole_array& array,
                                const Tensor& tensor);
// That `images` of an output fit the array.
absl::Status CheckStack(const systole_array& array, const Tensor& tensor,
                        int64_t images);

// That the array has exactly the tensor's type and shape.
absl::Status CheckExact(const systole_array& array, const Tensor& tensor);

}  // namespace systole::capi

#endif  // SYSTOLE_HOST_CAPI_ARRAYS_H_
