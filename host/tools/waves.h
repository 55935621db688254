// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Waveforms of `run` and `train`: what their options mean, and what is said of
// one that a failure left.
#ifndef HOST_TOOLS_WAVES_H_
#define HOST_TOOLS_WAVES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "systole/device.h"

namespace systole::tools {

struct WaveArgs {
  TraceOptions trace;
  std::string window;  // FROM:TO
  std::string folder;  // of waveforms of failures; empty: none
};

// Into the options of a device that keeps the last `programs` starts (some).
// kInvalidArgument: a window that is none, a core that does not run, or a
// backend without waveforms.
absl::Status SetWaves(const WaveArgs& args, const std::string& backend,
                      size_t programs, DeviceOptions& options,
                      size_t cores = 1);

// kInvalidArgument: --trace-run names none of so many programs.
absl::Status CheckTraceRun(const WaveArgs& args, int64_t programs);

// A value is wrong that was written in `cycle` of the program that is the
// last but `later`: records the waveform around it, if the device is simulated
// and it is the first.
void RecordWrong(const Device& device, int later, uint64_t cycle);

// A failure, with the waveform that shows it if the device recorded one, and
// the command that records it again.
absl::Status WithWaveform(const Device& device, const absl::Status& status);

// The words of this program's command, as a shell takes them.
void SetCommandLine(int argc, char** argv);
// The first of them.
std::string ToolWord();

}  // namespace systole::tools

#endif  // HOST_TOOLS_WAVES_H_
