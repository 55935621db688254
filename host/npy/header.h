// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The header of a .npy file: a Python dictionary with exactly three keys.
#ifndef SYSTOLE_HOST_NPY_HEADER_H_
#define SYSTOLE_HOST_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::npy {

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Errors: InvalidArgument, without the file's name.
absl::StatusOr<Header> ParseHeader(std::string_view text);

}  // namespace systole::npy

#endif  // SYSTOLE_HOST_NPY_HEADER_H_
