// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The run loop: writes the arguments, starts, waits. Every caller runs its
// programs here, on one core or on several. Device::ReadTensor reads the
// results.
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

// A tensor of the program and its dense values. A null tensor reports an error
// of the compiler: the program lacks the tensor.
struct Argument {
  const TensorInfo* tensor;
  absl::Span<const uint8_t> dense;
};

// Runs a program that the device has loaded.
absl::StatusOr<RunStats> RunLoaded(Device& device, const Program& program,
                                   const std::vector<Argument>& arguments = {});

// Runs one program per core, at the same time: starts all, then waits for each.
// Returns the first error, which names the core if there are several.
struct Launch {
  Device* device;
  const Program* program;
};
absl::StatusOr<std::vector<RunStats>> RunTogether(
    absl::Span<const Launch> launches);

}  // namespace systole

#endif  // HOST_DRIVER_RUN_LOOP_H_
