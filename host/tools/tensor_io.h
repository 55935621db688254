// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Values of a model's inputs and outputs from and to .npy files.
#ifndef HOST_TOOLS_TENSOR_IO_H_
#define HOST_TOOLS_TENSOR_IO_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/npy/npy.h"

namespace systole::tools {

// Values of one input: images in a row.
struct Images {
  ir::Literal values;
  int64_t count = 0;
  bool stacked = false;    // not in the shape of one
  bool quantised = false;  // they came as float32
  int64_t clipped = 0;     // values beyond what int8 holds
};

// The array must have the type's shape, or be a stack of such values: with one
// axis more in front, or with the first axis of the type, if that is 1, longer
// or left out. float32 for an int8 or int16 input is quantised by its scale and
// zero point, as QUANTIZE does. `stored`: the type that callers have
// (ir::ParameterAttributes). Errors: InvalidArgument, which names both; a NaN,
// with its place.
absl::StatusOr<Images> ToImages(const npy::Array& array, const ir::Type& type,
                                const std::string& stored = "");

// The type in which callers have an input (ir::ParameterAttributes).
inline const std::string& StoredOf(const ir::Node& input) {
  return input.attr<ir::ParameterAttributes>().stored;
}

// "-1 to 0.992": the numbers that a quantised int8 type holds.
std::string RangeText(const ir::Type& type);

// Stacked along the first axis if the type's is 1, otherwise along a new one,
// unless it is one image that is not `stacked`.
npy::Array FromImages(const ir::Literal& values, const ir::Type& type,
                      int64_t images, const std::string& stored = "",
                      bool stacked = true);

// scale * (q - zero point) of quantised values.
ir::Literal Dequantised(const ir::Literal& values, const ir::Type& type);

// Uniform integers, truth values, or float32 in -1..1.
ir::Literal RandomValues(const ir::Type& type, int64_t images, uint64_t seed,
                         const std::string& stored = "");

// "name=file" or "file", as often as there are tensors: the file of each. A
// single file needs no name. Errors: InvalidArgument lists the names.
absl::StatusOr<std::vector<std::string>> FilesFor(
    const std::vector<std::string>& names,
    const std::vector<std::string>& given, const char* what);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TENSOR_IO_H_
