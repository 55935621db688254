// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads the options of custom operators: a flexbuffer (of the FlatBuffers
// project) that is a map. The bytes are not trusted.
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_FLEXBUFFER_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_FLEXBUFFER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace systole::import {

struct FlexValue {
  // kOther: strings, vectors, maps. Of unsigned integers, those beyond int64_t
  // are kOther, too.
  enum class Kind { kNull, kBool, kInteger, kReal, kOther };
  Kind kind = Kind::kNull;
  int64_t integer = 0;  // of a truth value: 0 or 1
  double real = 0;      // also of an integer
};

// Errors: InvalidArgument if the bytes are no flexbuffer, or it is no map.
absl::StatusOr<std::map<std::string, FlexValue>> ReadFlexMap(
    absl::Span<const uint8_t> bytes);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_FLEXBUFFER_H_
