// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/driver/run_loop.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace systole {

absl::StatusOr<RunStats> RunLoaded(Device& device, const Program& program,
                                   const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    if (argument.tensor == nullptr)
      return absl::InternalError("the program has no such input tensor");
    if (absl::Status s = device.WriteTensor(*argument.tensor, argument.dense);
        !s.ok())
      return s;
  }
  absl::StatusOr<std::vector<RunStats>> stats =
      RunTogether({{&device, &program}});
  if (!stats.ok()) return stats.status();
  return std::move(stats->front());
}

absl::StatusOr<std::vector<RunStats>> RunTogether(
    absl::Span<const Launch> launches) {
  absl::Status status;
  const auto note = [&](size_t core, const absl::Status& s) {
    status.Update(s.ok() || launches.size() == 1
                      ? s
                      : absl::Status(s.code(), absl::StrCat("core ", core, ": ",
                                                            s.message())));
  };
  size_t started = 0;
  while (started < launches.size() && status.ok()) {
    const Launch& launch = launches[started];
    note(started, launch.device->Start(*launch.program));
    if (status.ok()) ++started;
  }
  std::vector<RunStats> stats(launches.size());
  for (size_t core = 0; core < started; ++core) {
    absl::StatusOr<RunStats> done = launches[core].device->Wait();
    note(core, done.status());
    if (done.ok()) stats[core] = *std::move(done);
  }
  if (!status.ok()) return status;
  return stats;
}

}  // namespace systole
