// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a compilation is told beside the program: the fields of XLA's message
// CompileOptionsProto that mean something here.
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
  // Ids of devices, [replica][partition]; empty: the first ones.
  std::vector<std::vector<int64_t>> devices;
};

// Of the message in protobuf's binary form. Errors: InvalidArgument (not such a
// message, a device for fewer or more than replicas x partitions).
absl::StatusOr<CompileOptions> ParseCompileOptions(std::string_view bytes);

// A DeviceAssignmentProto.
std::string SerializeDevices(const CompileOptions& options);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_COMPILE_OPTIONS_H_
