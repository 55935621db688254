// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What environment variables request for programs that open devices without
// asking for it themselves:
//
//   SYSTOLE_TRACE=FILE[,run=N][,layer=L][,window=FROM:TO]
//       records the N-th program that the process starts, counted from 0
//   SYSTOLE_WAVES=FOLDER
//       keeps a snapshot of the latest program start, so that a failing test
//       leaves a waveform of the last program (tests/testing/waves.cc)
//   SYSTOLE_PROCESSES=N
//       the chips of a torus run in N processes, over MPI
//
// DeviceOptions take precedence over the environment.

#ifndef SYSTOLE_SIM_RTL_ENVIRONMENT_H_
#define SYSTOLE_SIM_RTL_ENVIRONMENT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "systole/device.h"

namespace systole {

struct Environment {
  std::optional<TraceOptions> trace;
  std::string waves;
  int processes = 0;
};

// kInvalidArgument: SYSTOLE_TRACE or SYSTOLE_PROCESSES has a syntax error.
absl::StatusOr<Environment> ReadEnvironment();

// The options with what the environment adds to them. kInvalidArgument: some of
// them exclude each other.
absl::StatusOr<DeviceOptions> CompleteOptions(DeviceOptions options,
                                              const Environment& environment);

// Number of programs that this process has started on RTL devices.
int ProgramsStarted();
// SetLastStarted: `simulator` starts a program. ForgetSimulator: it ends.
void SetLastStarted(Simulator* simulator);
void ForgetSimulator(const Simulator* simulator);

// Replays the end of the program that started last and writes the waveform into
// the folder SYSTOLE_WAVES. kNotFound: no device of this thread has a snapshot.
absl::StatusOr<Waveform> ReplayLastProgram(const std::string& name);

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_ENVIRONMENT_H_
