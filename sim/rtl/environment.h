// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Waveforms of programs that open devices without saying so, tests above all,
// from the environment:
//
//   SYSTOLE_TRACE=FILE[,run=N][,layer=L][,window=FROM:TO]
//       records the program that is the process' N-th to start, from 0
//   SYSTOLE_WAVES=FOLDER
//       keeps each last start, so that a test that fails leaves a waveform of
//       the program that ran last (tests/testing/waves.cc)
//
// What DeviceOptions say goes first.

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
};

// kInvalidArgument: SYSTOLE_TRACE says something else.
absl::StatusOr<Environment> ReadEnvironment();

// Programs that this process has started on devices of the RTL.
int ProgramsStarted();
// A device starts one; a device goes.
void SetLastStarted(Device* device);
void ForgetDevice(const Device* device);

// Replays the end of the program that started last, into SYSTOLE_WAVES.
// kNotFound: no device of this thread keeps one.
absl::StatusOr<Waveform> ReplayLastProgram(const std::string& name);

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_ENVIRONMENT_H_
