// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/commands.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/files/printable.h"
#include "host/runtime/build.h"
#include "host/tools/report.h"
#include "systole/target.h"

namespace systole::tools {

absl::StatusOr<const Preset*> PresetByName(const std::string& name) {
  if (const Preset* preset = FindPreset(name)) return preset;
  std::string names;
  for (const Preset& preset : kPresets)
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return absl::InvalidArgumentError(
      absl::StrFormat("unknown preset '%s'; there are %s", name, names));
}

std::string QuantisedPresets() {
  return absl::StrJoin(
      PresetsThat([](const Target& t) { return t.quantised_networks(); }),
      ", ");
}

std::string FloatPresets(int64_t least_cols) {
  const auto can = [=](const Target& t) {
    return t.float_modules() && t.core().cols >= least_cols;
  };
  return absl::StrJoin(PresetsThat(can), ", ");
}

absl::Status OneLine(const absl::Status& status) {
  constexpr char kNext[] = "\n  ";
  return absl::Status(
      status.code(),
      absl::StrJoin(
          absl::StrSplit(status.message(), kNext), kNext,
          [](std::string* out, absl::string_view line) {
            absl::StrAppend(out, Printable({line.data(), line.size()}));
          }));
}

absl::Status DeviceError(const absl::Status& status) {
  return absl::IsInternal(status) ? status : OneLine(status);
}

absl::Status WithHint(const absl::Status& status, const std::string& hint) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; ", hint));
}

void Progress::Report(uint64_t count, const char* unit) {
  if (quiet_) return;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const double now = std::chrono::duration<double>(
                         std::chrono::steady_clock::now().time_since_epoch())
                         .count();
  if (now - last_ < (terminal ? 0.2 : 5.0)) return;
  last_ = now;
  const std::string text =
      absl::StrFormat("%s: %s %s", Printable(label_),
                      Thousands(static_cast<int64_t>(count)), unit);
  if (terminal) {
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
}

void Progress::Clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

absl::Status CheckHostOperators(
    const std::string& choice, const std::string& model,
    const std::vector<lower::Placement>& placements) {
  if (choice != "error") return absl::OkStatus();
  const absl::Status status = runtime::RefuseHostOperators(placements);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(model, ": ", status.message()));
}

}  // namespace systole::tools
