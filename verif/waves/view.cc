// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/waves/view.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "verif/waves/rows.h"

namespace systole::waves {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxMarkers = 26;                       // A to Z
constexpr uint64_t kBeforeMark = 500, kAfterMark = 120;  // times shown

absl::Status WriteText(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (out) return absl::OkStatus();
  std::error_code ignored;
  fs::remove(file, ignored);
  return absl::UnavailableError(absl::StrCat(
      file, ": cannot write the view: is the folder's disk full?"));
}

// Adds a marker where each layer begins in the array or the vector unit. The
// layer of interest gets one marker for each of its units, and one for its end.
void AddMarkers(const std::map<int, LayerSpans>& layers, const Program& program,
                int layer, View& view) {
  constexpr std::array<const char*, isa::kNumQueues> kPhases = {
      "loads", "weights", "array", "vector", "stores", "sends"};
  const uint64_t near = (view.to - view.from) / 20;
  const auto add = [&](uint64_t at, const std::string& name) {
    for (const auto& [time, other] : view.markers) {  // too close
      if (std::max(at, time) - std::min(at, time) < near) return;
    }
    if (at != ~uint64_t{0}) view.markers.emplace_back(at, name);
  };
  if (const auto found = layers.find(layer); found != layers.end()) {
    add(found->second.all.to, LayerName(program, layer) + " end");
    for (const size_t q : {2, 3, 4, 1, 0})  // the array's queue first
      add(found->second.queues[q].from, kPhases[q]);
  }
  for (const auto& [number, spans] : layers) {
    if (number == layer) continue;
    add(std::min(spans.queues[static_cast<int>(isa::Queue::kMxu)].from,
                 spans.queues[static_cast<int>(isa::Queue::kVector)].from),
        LayerName(program, number));
  }
  if (view.markers.size() > kMaxMarkers) view.markers.resize(kMaxMarkers);
  std::stable_sort(
      view.markers.begin(), view.markers.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
}

}  // namespace

absl::StatusOr<std::string> WriteViews(const std::string& waveform,
                                       const Program& program, int layer,
                                       std::optional<uint64_t> mark, int core) {
  auto fst = FstFile::Open(waveform, core);
  if (!fst.ok()) return fst.status();
  View view;
  view.waveform = fs::absolute(waveform).string();
  view.folder = fs::path(view.waveform).replace_extension("view").string();
  view.names = {DescriptorNames(program), LayerNames(program),
                FlagNames(program), OpcodeNames()};
  auto groups = ReadRows(**fst, program, view.names);
  if (!groups.ok()) return groups.status();
  view.groups = *std::move(groups);

  const auto layers = ReadTimeline(**fst, program);
  view.from = (*fst)->begin();
  view.to = (*fst)->end();
  if (const auto found = layers.find(layer); found != layers.end()) {
    const Span& all = found->second.all;
    const uint64_t margin = (all.to - all.from) / 40 + 4;
    view.from = std::max(view.from, all.from - std::min(all.from, margin));
    view.to = std::min(view.to, all.to + margin);
  }
  if (mark) {
    view.mark = {*mark};
    view.from = std::max(view.from, *mark - std::min(*mark, kBeforeMark));
    view.to = std::min(view.to, *mark + kAfterMark);
  }
  AddMarkers(layers, program, layer, view);

  const std::string mappings = view.folder + "/.surfer/mappings";
  std::error_code error;
  fs::create_directories(mappings, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(mappings, ": cannot be made: ", error.message()));
  }
  const std::string save =
      fs::path(waveform).replace_extension("gtkw").string();
  absl::Status status = WriteText(save, GtkwaveText(view));
  status.Update(WriteText(view.folder + "/view.sucl", SurferText(view)));
  for (const Names& names : view.names) {
    status.Update(WriteText(absl::StrCat(view.folder, "/", names.name, ".txt"),
                            GtkwaveNames(names)));
    status.Update(
        WriteText(absl::StrCat(mappings, "/systole_", names.name, ".mapping"),
                  SurferNames(names)));
  }
  if (!status.ok()) return status;
  return save;
}

}  // namespace systole::waves
