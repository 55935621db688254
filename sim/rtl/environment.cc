// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "sim/rtl/environment.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace systole {
namespace {

std::atomic<int> g_started{0};
thread_local Simulator* g_last = nullptr;

std::string Variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

absl::StatusOr<TraceOptions> ParseTrace(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  TraceOptions trace;
  trace.file = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> item =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    const std::pair<std::string, std::string> ends =
        absl::StrSplit(item.second, absl::MaxSplits(':', 1));
    bool good = false;
    if (item.first == "run") {
      good = absl::SimpleAtoi(item.second, &trace.run) && trace.run >= 0;
    } else if (item.first == "layer") {
      trace.layer = item.second;
      good = !trace.layer.empty();
    } else if (item.first == "window") {
      good = absl::SimpleAtoi(ends.first, &trace.from) &&
             absl::SimpleAtoi(ends.second, &trace.to) && trace.from < trace.to;
    }
    if (!good || trace.file.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "SYSTOLE_TRACE=", text, ": '", parts[i],
          "' is not understood; FILE[,run=N][,layer=L][,window=FROM:TO]"));
    }
  }
  return trace;
}

// Warns at exit if the process ended before the run that SYSTOLE_TRACE names.
void WatchTrace(const TraceOptions& trace) {
  static const TraceOptions* const watched = [&trace] {
    std::atexit([] {
      if (g_started > watched->run) return;
      std::fprintf(stderr,
                   "SYSTOLE_TRACE: %s is not written: it is of run %d, and the "
                   "process had %d, counted from 0\n",
                   watched->file.c_str(), watched->run, g_started.load());
    });
    return new TraceOptions(trace);
  }();
  static_cast<void>(watched);
}

}  // namespace

absl::StatusOr<Environment> ReadEnvironment() {
  Environment environment;
  environment.waves = Variable("SYSTOLE_WAVES");
  const std::string processes = Variable("SYSTOLE_PROCESSES");
  if (!processes.empty() &&
      (!absl::SimpleAtoi(processes, &environment.processes) ||
       environment.processes < 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SYSTOLE_PROCESSES=", processes, " is not a number of processes"));
  }
  if (const std::string text = Variable("SYSTOLE_TRACE"); !text.empty()) {
    const auto trace = ParseTrace(text);
    if (!trace.ok()) return trace.status();
    environment.trace = *trace;
    WatchTrace(*trace);
  }
  return environment;
}

absl::StatusOr<DeviceOptions> CompleteOptions(DeviceOptions options,
                                              const Environment& environment) {
  SimulationOptions& simulation = options.simulation;
  if (simulation.snapshots < 0 ||
      (!simulation.waves.empty() && simulation.snapshots == 0)) {
    return absl::InvalidArgumentError(
        "waveforms of failures want a snapshot at least");
  }
  if (simulation.waves.empty() && !environment.waves.empty() &&
      simulation.snapshots == 0) {
    simulation.snapshots = 1;
  }
  if (simulation.processes == 0 && options.torus.chips() > 1)
    simulation.processes = environment.processes;
  if (simulation.processes == 0) return options;
  simulation.snapshots = 0;  // a copy of this process would not have the chips
  simulation.waves.clear();
  return options;
}

int ProgramsStarted() { return g_started; }

void SetLastStarted(Simulator* simulator) {
  g_last = simulator;
  ++g_started;
}

void ForgetSimulator(const Simulator* simulator) {
  if (g_last == simulator) g_last = nullptr;
}

absl::StatusOr<Waveform> ReplayLastProgram(const std::string& name) {
  if (g_last == nullptr || Variable("SYSTOLE_WAVES").empty())
    return absl::NotFoundError("no program was kept");
  return g_last->ReplayAround(g_last->runs() - 1,
                              std::numeric_limits<uint64_t>::max(), name);
}

}  // namespace systole
