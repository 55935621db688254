// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Prints the bandwidth of systole_hbm alone, a line a traffic:
//
//   build/bin/hbm_bandwidth
//
// With a folder it leaves there a trace of each traffic's commands in the
// formats of the open DRAM simulators (verif/hbm_model/trace.h).

#include "tests/hbm/bandwidth.h"

#include <cstdio>
#include <memory>

#include "Vhbm2.h"

int main(int argc, char** argv) {
  namespace hbm = systole::hbm;
  int failures = 0;
  std::printf("%-42s %8s %10s %9s %9s\n", "traffic", "of peak", "of limit",
              "row hits", "blocked");
  const std::vector<hbm::BandwidthCase> cases = hbm::BandwidthCases();
  for (const hbm::BandwidthCase& c : cases) {
    hbm::Bench<Vhbm2> bench(2, 31);
    bench.Idle(600);  // past the first refresh
    std::unique_ptr<hbm::TraceWriter> trace;
    if (argc > 1) {
      const long number = &c - cases.data();
      auto created = hbm::TraceWriter::Create(
          absl::StrFormat("%s/%d", argv[1], number), 2);
      if (!created.ok()) {
        std::fprintf(stderr, "%s\n", created.status().ToString().c_str());
        return 1;
      }
      trace = std::move(*created);
      bench.device().set_trace(trace.get());
    }
    const hbm::Result result = bench.Run(c.reads, c.writes, 0, 400000);
    const double share = result.Efficiency();
    std::printf("%-42s %7.1f%% %9.1f%% %8.1f%% %8.1f%%%s\n", c.name,
                100 * share, 100 * share / c.limit,
                100.0 - 100.0 * bench.activates() / bench.columns(),
                100 * bench.refresh_share(),
                share < c.limit * c.at_least ? "  below its goal" : "");
    bench.device().set_trace(nullptr);
    if (trace != nullptr) {
      const absl::Status closed = trace->Close();
      if (!closed.ok()) {
        std::fprintf(stderr, "%s\n", closed.ToString().c_str());
        return 1;
      }
    }
    if (!bench.Clean()) {
      std::fputs(bench.Report().c_str(), stderr);
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
