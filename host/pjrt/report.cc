// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/report.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_replace.h"

namespace systole::pjrt {

void Report(const PJRT_Executable& executable, const Undivided& undivided) {
  const runtime::ModulePlacement& placement =
      executable.executable->placement();
  const char* wanted = std::getenv("SYSTOLE_REPORT");
  if (wanted != nullptr && *wanted != '\0' && *wanted != '0') {
    std::fprintf(stderr, "systole: %s\n",
                 runtime::PlacementText(executable.name, placement).c_str());
    if (!undivided.whole.empty()) {
      std::fprintf(stderr, "  every device computes the whole of: %s\n",
                   undivided.whole.c_str());
    }
    if (!undivided.uneven.empty()) {
      std::fprintf(stderr,
                   "  whole or in fewer tiles, as sizes are no multiples of "
                   "the tiles: %s\n",
                   undivided.uneven.c_str());
    }
    if (const std::string slow = runtime::SlowKernelsText(placement);
        !slow.empty()) {
      std::fprintf(stderr, "  %s\n",
                   absl::StrReplaceAll(slow, {{"\n", "\n  "}}).c_str());
    }
    return;
  }
  static std::atomic<bool> said{false}, said_exchange{false};
  if (placement.collectives.operations > 0 && !said_exchange.exchange(true)) {
    std::fprintf(stderr,
                 "systole: the devices exchange values through the host's "
                 "memory; SYSTOLE_REPORT=1 tells how many\n");
  }
  if (placement.host.operations == 0 || said.exchange(true)) return;
  std::fprintf(stderr,
               "systole: a part of this program runs on the host, not on the "
               "core; SYSTOLE_REPORT=1 lists what does, "
               "SYSTOLE_FALLBACK=error refuses them\n");
}

}  // namespace systole::pjrt
