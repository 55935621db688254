// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How fast four chips on links are simulated in one thread, in several, and in
// processes (docs/link.md): clocked without a program, in turns.
//
//   ninja -C build processes_speed && build/bin/processes_speed [PRESET [TURNS]]

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/rtl/machine.h"
#include "verif/tb/simulation.h"

namespace systole {
namespace {

double Seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Way {
  int threads, processes;
  std::shared_ptr<tb::Simulation> device;
  std::vector<double> wall, cpu;  // cycles a second
};

double Quantile(std::vector<double> rates, double share) {
  std::sort(rates.begin(), rates.end());
  return rates[static_cast<size_t>(share *
                                   static_cast<double>(rates.size() - 1))];
}

// Cycles of a turn, about a quarter of a second.
absl::Status Turn(Way& way, uint64_t cycles) {
  const auto cpu = [&way] {
    return Seconds(CLOCK_PROCESS_CPUTIME_ID) + way.device->other_cpu_seconds();
  };
  // The processes wake up, and tell their time.
  absl::Status s = way.device->WaitInterrupt(8);
  if (!s.ok() && !absl::IsDeadlineExceeded(s)) return s;
  const uint64_t first = way.device->core().cycles();
  const double wall_before = Seconds(CLOCK_MONOTONIC), cpu_before = cpu();
  s = way.device->WaitInterrupt(cycles);
  if (!s.ok() && !absl::IsDeadlineExceeded(s)) return s;
  const auto ran = static_cast<double>(way.device->core().cycles() - first);
  way.wall.push_back(ran / (Seconds(CLOCK_MONOTONIC) - wall_before));
  way.cpu.push_back(ran / (cpu() - cpu_before));
  return absl::OkStatus();
}

absl::Status Measure(const std::string& preset, int turns) {
  std::vector<Way> ways;
  for (const auto& [threads, processes] :
       {std::pair{1, 0}, {2, 0}, {4, 0}, {1, 1}, {1, 2}, {1, 4}}) {
    tb::ChipsOptions options;
    options.preset = preset;
    options.columns = options.rows = 2;
    options.threads = threads;
    options.processes = processes;
    auto device = tb::Simulation::Create(options);
    if (!device.ok()) return device.status();
    Machine machine(*std::move(device), {2, 2}, {});
    if (absl::Status s = machine.Start(); !s.ok()) return s;
    ways.push_back({threads, processes, machine.simulation(), {}, {}});
  }
  const double before = Seconds(CLOCK_MONOTONIC);
  constexpr uint64_t kProbe = 1000;
  if (absl::Status s = Turn(ways[0], kProbe); !s.ok()) return s;
  const auto cycles =
      static_cast<uint64_t>(kProbe / 4.0 / (Seconds(CLOCK_MONOTONIC) - before));
  for (int turn = 0; turn < turns; ++turn) {
    for (Way& way : ways)
      if (absl::Status s = Turn(way, cycles); !s.ok()) return s;
  }
  std::printf(
      "%s, %d turns of %d cycles, cycles a second (upper "
      "quartile and best turn by the clock, upper quartile of CPU)\n",
      preset.c_str(), turns, static_cast<int>(cycles));
  for (const Way& way : ways) {
    std::printf("threads %d, processes %d: %.0f, %.0f; CPU %.0f\n", way.threads,
                way.processes, Quantile(way.wall, 0.75), Quantile(way.wall, 1),
                Quantile(way.cpu, 0.75));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  const absl::Status status = systole::Measure(
      argc > 1 ? argv[1] : "minichip", argc > 2 ? std::atoi(argv[2]) : 60);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
