// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Options of a compilation: the fields of XLA's message CompileOptionsProto
// that have a meaning here.
#ifndef SYSTOLE_HOST_PJRT_COMPILE_OPTIONS_H_
#define SYSTOLE_HOST_PJRT_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace systole::pjrt {

struct CompileOptions {
  int64_t replicas = 1;
  int64_t partitions = 1;
  // Device ids, [replica][partition]; empty: the first devices.
  std::vector<std::vector<int64_t>> devices;
};

// Parses the protobuf binary format. Errors: InvalidArgument (not such a
// message, or the number of devices is not replicas x partitions).
absl::StatusOr<CompileOptions> ParseCompileOptions(std::string_view bytes);

// A DeviceAssignmentProto in binary format.
std::string SerializeDevices(const CompileOptions& options);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_COMPILE_OPTIONS_H_
