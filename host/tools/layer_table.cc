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

// Of the array, or of the vector unit for a layer without products; "": none.
std::string LargestCause(const LayerInfo& info, const LayerCycles& layer,
                         uint64_t* cycles) {
  const Unit unit = info.macs > 0 ? Unit::kMxu : Unit::kVector;
  const profile::CauseCounts& counts = layer.units[static_cast<int>(unit)];
  int largest = -1;
  for (int c = 0; c < profile::kNumCauses; ++c) {
    if (c == static_cast<int>(Cause::kWork) || counts[c] == 0) continue;
    if (largest < 0 || counts[c] > counts[largest]) largest = c;
  }
  *cycles = largest < 0 ? 0 : counts[largest];
  // Cycles in which the array worked count as many as stayed empty.
  const auto empty = static_cast<uint64_t>(
      (1 - layer.filled) *
      static_cast<double>(layer.of(Unit::kMxu, Cause::kWork)));
  if (info.macs > 0 && empty > *cycles) {
    *cycles = empty;
    return "empty rows and columns";
  }
  return largest < 0 ? "" : profile::CauseName(static_cast<Cause>(largest));
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

const char kAbovePeak[] =
    "work of the layer overlaps cycles that count for another layer, or kernel "
    "rows that lie wholly in the padding are not computed";

std::string LayerTable(const profile::ProgramProfile& p, const Preset& preset) {
  const uint64_t least = LeastShown(p.analysis.layers);
  size_t shown = 0;
  int64_t left = 0, left_cycles = 0;
  bool above = false;
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
    const std::string cause = LargestCause(info, layer, &cycles);
    above = above || (utilisation && *utilisation > 1);
    table.Add({info.name, info.op,
               Thousands(static_cast<int64_t>(layer.cycles)),
               utilisation ? Percent(*utilisation) : "-",
               Percent(static_cast<double>(layer.cycles) /
                       static_cast<double>(p.recording->cycles)),
               cause.empty()
                   ? "-"
                   : absl::StrCat(cause, " ",
                                  Thousands(static_cast<int64_t>(cycles)))});
  }
  std::string text = table.ToString();
  if (left > 0) {
    absl::StrAppend(&text, "... and ", Thousands(left), " others, ",
                    Thousands(left_cycles), " cycles together\n");
  }
  absl::StrAppend(&text,
                  "of peak: the layer's multiplications, padding included, by "
                  "those that the array could do in its cycles\n");
  if (above) {
    absl::StrAppend(&text, "above 100 %: ", kAbovePeak, "\n");
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
    const std::string cause = LargestCause(info, layer, &cycles);
    layers.push_back(
        {{"name", info.name},
         {"operation", info.op},
         {"cycles", layer.cycles},
         {"utilisation", utilisation ? Json(*utilisation) : Json()},
         {"cause", cause.empty() ? Json() : Json(cause)},
         {"cause_cycles", cycles}});
  }
  return layers;
}

void DescribeLayers(const std::vector<const Program*>& programs,
                    profile::Recorder& recorder, const Preset& preset,
                    bool first, std::string& text,
                    nlohmann::ordered_json& json) {
  json = nlohmann::ordered_json::array();
  const bool several = programs.size() > 1;
  for (size_t i = 0; i < programs.size(); ++i) {
    const profile::Recording& recording = recorder.recordings()[i];
    const profile::ProgramProfile p{programs[i], &recording,
                                    profile::Analyse(*programs[i], recording)};
    if (first || several) {
      absl::StrAppend(
          &text, "layers of the ", first ? "first " : "", "run",
          several ? absl::StrCat(", program ", i + 1, " of ", programs.size())
                  : "",
          "\n\n");
    }
    absl::StrAppend(&text, LayerTable(p, preset), "\n");
    for (auto& layer : LayerTableJson(p, preset))
      json.push_back(std::move(layer));
  }
}

}  // namespace systole::tools
