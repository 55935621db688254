// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/cores_table.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/profile/analysis.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

using profile::Cause;
using profile::ExchangeCycles;
using profile::Finding;

constexpr size_t kMostLayers = 100;  // layers

std::string Grouped(uint64_t cycles) {
  return Thousands(static_cast<int64_t>(cycles));
}
std::string PercentOf(uint64_t part, uint64_t all) {
  return Percent(static_cast<double>(part) /
                 static_cast<double>(std::max<uint64_t>(all, 1)));
}

// The share of cycles in collectives in which kernels run.
std::string HiddenText(const ExchangeCycles& exchanges) {
  return exchanges.all == 0
             ? "-"
             : PercentOf(exchanges.all - exchanges.alone, exchanges.all);
}

std::string CoreTable(const profile::JoinedCores& joined,
                      const Preset& preset) {
  Table table({"core", "chip", "programs", "in kernels", "in collectives alone",
               "no program", "waits for other cores", "of peak",
               "in collectives", "along with kernels"});
  for (size_t c = 0; c < joined.cores.size(); ++c) {
    const profile::Joined& core = joined.cores[c];
    uint64_t waits = 0, idle = 0;
    for (const Finding& f : core.analysis.findings) {
      if (f.root_cause == Cause::kFlagCore) waits += f.cycles;
      if (f.root_cause == Cause::kIdle) idle += f.cycles;
    }
    const ExchangeCycles exchanges = profile::ExchangesOf(joined, c);
    int64_t macs = 0;
    for (const LayerInfo& layer : core.program.layers) macs += layer.macs;
    table.Add(
        {absl::StrCat(c), absl::StrCat(c / preset.chip.cores),
         Grouped(core.starts.size()),
         Grouped(joined.cycles - idle - exchanges.alone),
         Grouped(exchanges.alone), Grouped(idle), Grouped(waits),
         Percent(static_cast<double>(macs) /
                 (static_cast<double>(std::max<uint64_t>(joined.cycles, 1)) *
                  static_cast<double>(preset.macs_per_cycle()))),
         Grouped(exchanges.all), HiddenText(exchanges)});
  }
  return table.ToString();
}

std::string LinkTable(const profile::JoinedCores& joined,
                      const Preset& preset) {
  uint64_t cycles = 0;
  for (const profile::Round& round : joined.rounds)
    if (round.exchanges) cycles += round.cycles;
  Table table(
      {"link", "bytes sent", "bytes a cycle, while programs exchange",
       "of its "
       "rate",
       absl::StrCat("busiest ", Grouped(profile::kBusyCycles), " cycles"),
       "sent again"});
  const auto rate = static_cast<double>(preset.chip.link_bytes);
  for (const profile::LinkTraffic& link : joined.links) {
    const uint64_t bytes =
        std::accumulate(link.bytes.begin(), link.bytes.end(), uint64_t{0});
    const double mean = static_cast<double>(bytes) /
                        static_cast<double>(std::max<uint64_t>(cycles, 1));
    table.Add({absl::StrCat("chip ", link.chip, " ", kLinkNames[link.link]),
               Grouped(bytes), absl::StrFormat("%.2f", mean),
               Percent(mean / rate),
               Percent(static_cast<double>(profile::BusiestOf(link)) /
                       (rate * static_cast<double>(profile::kBusyCycles))),
               Grouped(link.counts.replays)});
  }
  return table.ToString();
}

// "vector unit: flag of another core 1,234": what most cycles were spent on
// besides work, for the mean of the cores.
std::string LargestCause(const profile::MergedCores& merged, int layer,
                         size_t cores) {
  for (const Finding& f : merged.analysis.findings) {  // the largest first
    if (f.layer != layer || f.root_cause == Cause::kWork) continue;
    return absl::StrCat(profile::UnitName(f.root_unit), ": ",
                        profile::CauseName(f.root_cause), " ",
                        Grouped(f.cycles / cores));
  }
  return "-";
}

std::string LayersTable(const profile::JoinedCores& joined,
                        const profile::MergedCores& merged,
                        const Preset& preset) {
  const std::vector<profile::LayerCycles>& layers = merged.analysis.layers;
  std::vector<size_t> shown(layers.size());
  std::iota(shown.begin(), shown.end(), 0);
  uint64_t left = 0;
  if (layers.size() > kMostLayers) {  // the largest, in the program's order
    std::sort(shown.begin(), shown.end(), [&](size_t a, size_t b) {
      return layers[a].cycles > layers[b].cycles;
    });
    for (size_t i = kMostLayers; i < shown.size(); ++i)
      left += layers[shown[i]].cycles;
    shown.resize(kMostLayers);
    std::sort(shown.begin(), shown.end());
  }
  const size_t cores = joined.cores.size();
  Table table({"layer", "operation", "cores", "cycles, longest", "shortest",
               "of peak", "of all cycles", "largest other cause"});
  for (const size_t l : shown) {
    const LayerInfo& info = merged.program.layers[l];
    if (layers[l].cycles == 0 && info.macs == 0) continue;  // counts elsewhere
    uint64_t longest = 0, shortest = 0;
    size_t running = 0;
    for (const uint64_t cycles : merged.cycles[l]) {
      if (cycles == 0) continue;
      shortest = running++ == 0 ? cycles : std::min(shortest, cycles);
      longest = std::max(longest, cycles);
    }
    table.Add({info.name, info.op, absl::StrCat(running), Grouped(longest),
               Grouped(shortest),
               info.macs == 0
                   ? "-"
                   : Percent(static_cast<double>(info.macs) /
                             (static_cast<double>(
                                  std::max<uint64_t>(layers[l].cycles, 1)) *
                              static_cast<double>(preset.macs_per_cycle()))),
               PercentOf(layers[l].cycles, joined.cycles * cores),
               LargestCause(merged, static_cast<int>(l), cores)});
  }
  std::string text = table.ToString();
  if (left > 0) {
    absl::StrAppend(&text, "... and ", Grouped(layers.size() - kMostLayers),
                    " others, ", Grouped(left / cores), " cycles of a core\n");
  }
  return text;
}

}  // namespace

std::string CoresTables(const profile::JoinedCores& joined,
                        const profile::MergedCores& merged,
                        const Preset& preset) {
  const size_t chips =
      (joined.cores.size() + preset.chip.cores - 1) / preset.chip.cores;
  const auto cores = static_cast<int64_t>(joined.cores.size());
  int64_t collectives = 0;  // of the core with most
  for (const std::vector<bool>& of : joined.collectives)
    collectives =
        std::max<int64_t>(collectives, std::count(of.begin(), of.end(), true));
  std::string text = absl::StrFormat(
      "%d cores of %d chip%s: %s cycles from begin to end", cores, chips,
      chips == 1 ? "" : "s", Grouped(joined.cycles));
  if (collectives > 0) {
    const ExchangeCycles exchanges = profile::ExchangesOf(joined);
    absl::StrAppendFormat(
        &text,
        "\n%s of them (%s), the mean of the cores, in %d collective%s: %s of "
        "these along with kernels",
        Grouped(exchanges.all / cores),
        PercentOf(exchanges.all, joined.cycles * cores), collectives,
        collectives == 1 ? "" : "s", HiddenText(exchanges));
  }
  absl::StrAppend(&text, "\n\n");
  absl::StrAppend(&text, CoreTable(joined, preset));
  const bool sent =
      std::any_of(joined.links.begin(), joined.links.end(),
                  [](const auto& link) { return link.counts.bytes_sent > 0; });
  if (sent) absl::StrAppend(&text, "\n", LinkTable(joined, preset));
  absl::StrAppend(&text, "\n", LayersTable(joined, merged, preset));
  return text;
}

}  // namespace systole::tools
