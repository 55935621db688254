// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The run loop: arguments in, start, wait. Every caller that runs a program,
// on one core or on several at once, runs it here; results are read by
// Device::ReadTensor.
//
//   absl::Status loaded = device.Load(program);
//   absl::StatusOr<RunStats> stats =
//       RunLoaded(device, program, {{program.FindTensor("x"), bytes}});
#ifndef HOST_DRIVER_RUN_LOOP_H_
#define HOST_DRIVER_RUN_LOOP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/device.h"
#include "systole/program.h"

namespace systole {

// A tensor of the program and its dense values; a null tensor is an error, of
// the compiler that left it out.
struct Argument {
  const TensorInfo* tensor;
  absl::Span<const uint8_t> dense;
};

// Of a program that the device has loaded.
absl::StatusOr<RunStats> RunLoaded(Device& device, const Program& program,
                                   const std::vector<Argument>& arguments = {});

// Programs that run at the same time, each on its core: all are started, then
// each is waited for. The first error, which names the core where there are
// several.
struct Launch {
  Device* device;
  const Program* program;
};
absl::StatusOr<std::vector<RunStats>> RunTogether(
    absl::Span<const Launch> launches);

}  // namespace systole

#endif  // HOST_DRIVER_RUN_LOOP_H_
