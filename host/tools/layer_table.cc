// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/layer_table.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

using profile::Cause;
using profile::LayerCycles;
using profile::Unit;

std::optional<double> Utilisation(const LayerInfo& info,
                                  const LayerCycles& layer,
                                  const Preset& preset) {
  if (info.macs == 0 || layer.cycles == 0) return std::nullopt;
  return static_cast<double>(info.macs) /
         (static_cast<double>(layer.cycles) *
          static_cast<double>(preset.macs_per_cycle()));
}

// Of the array, or of the vector unit for a layer without products; -1: none.
int LargestCause(const LayerInfo& info, const LayerCycles& layer,
                 uint64_t* cycles) {
  const Unit unit = info.macs > 0 ? Unit::kMxu : Unit::kVector;
  const profile::CauseCounts& counts = layer.units[static_cast<int>(unit)];
  int largest = -1;
  for (int c = 0; c < profile::kNumCauses; ++c) {
    if (c == static_cast<int>(Cause::kWork) || counts[c] == 0) continue;
    if (largest < 0 || counts[c] > counts[largest]) largest = c;
  }
  *cycles = largest < 0 ? 0 : counts[largest];
  return largest;
}

constexpr size_t kMostShown = 100;

// The fewest cycles of a layer that is shown.
uint64_t LeastShown(const std::vector<LayerCycles>& layers) {
  if (layers.size() <= kMostShown) return 0;
  std::vector<uint64_t> cycles;
  for (const LayerCycles& layer : layers) cycles.push_back(layer.cycles);
  std::nth_element(cycles.begin(), cycles.begin() + kMostShown - 1,
                   cycles.end(), std::greater<>());
  return cycles[kMostShown - 1];
}

}  // namespace

std::string LayerTable(const profile::ProgramProfile& p, const Preset& preset) {
  const uint64_t least = LeastShown(p.analysis.layers);
  size_t shown = 0;
  int64_t left = 0, left_cycles = 0;
  Table table({"layer", "operation", "cycles", "of peak", "of the program",
               "largest other cause"});
  for (size_t l = 0; l < p.analysis.layers.size(); ++l) {
    const LayerInfo& info = p.program->layers[l];
    const LayerCycles& layer = p.analysis.layers[l];
    if (layer.cycles == 0 && info.macs == 0) continue;  // no such operation
    if (layer.cycles < least || shown == kMostShown) {
      ++left;
      left_cycles += static_cast<int64_t>(layer.cycles);
      continue;
    }
    ++shown;
    const auto utilisation = Utilisation(info, layer, preset);
    uint64_t cycles = 0;
    const int cause = LargestCause(info, layer, &cycles);
    table.Add(
        {info.name, info.op, Thousands(static_cast<int64_t>(layer.cycles)),
         utilisation ? Percent(*utilisation) : "-",
         Percent(static_cast<double>(layer.cycles) /
                 static_cast<double>(p.recording->cycles)),
         cause < 0
             ? "-"
             : absl::StrCat(profile::CauseName(static_cast<Cause>(cause)), " ",
                            Thousands(static_cast<int64_t>(cycles)))});
  }
  std::string text = table.ToString();
  if (left > 0) {
    absl::StrAppend(&text, "... and ", Thousands(left), " others, ",
                    Thousands(left_cycles), " cycles together\n");
  }
  return text;
}

nlohmann::ordered_json LayerTableJson(const profile::ProgramProfile& p,
                                      const Preset& preset) {
  using Json = nlohmann::ordered_json;
  Json layers = Json::array();
  for (size_t l = 0; l < p.analysis.layers.size(); ++l) {
    const LayerInfo& info = p.program->layers[l];
    const LayerCycles& layer = p.analysis.layers[l];
    const auto utilisation = Utilisation(info, layer, preset);
    uint64_t cycles = 0;
    const int cause = LargestCause(info, layer, &cycles);
    layers.push_back(
        {{"name", info.name},
         {"operation", info.op},
         {"cycles", layer.cycles},
         {"utilisation", utilisation ? Json(*utilisation) : Json()},
         {"cause", cause < 0
                       ? Json()
                       : Json(profile::CauseName(static_cast<Cause>(cause)))},
         {"cause_cycles", cycles}});
  }
  return layers;
}

}  // namespace systole::tools
