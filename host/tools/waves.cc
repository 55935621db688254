// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/waves.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/files/shell_word.h"

namespace systole::tools {
namespace {

constexpr size_t kKept = 16;  // starts: each is a process

std::vector<std::string>& CommandLine() {
  static auto& words = *new std::vector<std::string>;
  return words;
}

// The command of this process with what records that waveform instead of what
// it recorded.
std::string CommandFor(const Waveform& waveform) {
  std::vector<std::string> words;
  const std::vector<std::string>& all = CommandLine();
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string option = all[i].substr(0, all[i].find('='));
    if (option == "--trace" || option == "--trace-layer" ||
        option == "--trace-window" || option == "--trace-run" ||
        option == "--trace-core") {
      if (option == all[i]) ++i;
      continue;
    }
    words.push_back(ShellWord(all[i]));
  }
  absl::StrAppendFormat(
      &words.emplace_back(), "--trace %s --trace-run %d --trace-window %d:%d",
      ShellWord(waveform.file), waveform.run, waveform.from, waveform.to);
  return absl::StrJoin(words, " ");
}

}  // namespace

void SetCommandLine(int argc, char** argv) {
  CommandLine().assign(argv, argv + argc);
}

std::string ToolWord() {
  return CommandLine().empty() ? "systole" : ShellWord(CommandLine()[0]);
}

absl::Status SetWaves(const WaveArgs& args, const std::string& backend,
                      size_t programs, DeviceOptions& options, size_t cores) {
  if (static_cast<size_t>(args.trace.core) >= cores) {
    return absl::InvalidArgumentError(
        cores == 1 ? absl::StrCat("--trace-core ", args.trace.core,
                                  ": only one core runs")
                   : absl::StrCat("--trace-core ", args.trace.core, ": ", cores,
                                  " cores run, from 0 to ", cores - 1));
  }
  options.simulation.trace = args.trace;
  if (!args.window.empty()) {
    const std::vector<std::string> ends = absl::StrSplit(args.window, ':');
    if (ends.size() != 2 ||
        !absl::SimpleAtoi(ends[0], &options.simulation.trace.from) ||
        !absl::SimpleAtoi(ends[1], &options.simulation.trace.to) ||
        options.simulation.trace.from >= options.simulation.trace.to) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--trace-window %s: it must be FROM:TO, two cycles "
                          "with FROM below TO",
                          args.window));
    }
  }
  if (backend != "rtl") {
    if (args.trace.file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrFormat(
        "--trace: the backend %s has no waveforms, only rtl has", backend));
  }
  options.simulation.waves = args.folder;
  if (args.folder.empty()) {
    unsetenv("SYSTOLE_WAVES");  // the option goes before the variable
  } else {
    options.simulation.snapshots =
        static_cast<int>(std::clamp<size_t>(programs, 1, kKept));
  }
  return absl::OkStatus();
}

absl::Status CheckTraceRun(const WaveArgs& args, int64_t programs) {
  if (args.trace.file.empty() || args.trace.run < programs)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("--trace-run %d: the last program is number %d",
                      args.trace.run, programs - 1));
}

void RecordWrong(const Device& device, int later, uint64_t cycle) {
  Simulator* const simulator = device.simulator();
  if (simulator == nullptr || !absl::IsNotFound(simulator->waveform().status()))
    return;
  simulator->ReplayAround(simulator->runs() - 1 - later, cycle, "mismatch")
      .status()
      .IgnoreError();
}

absl::Status WithWaveform(const Device& device, const absl::Status& status) {
  if (status.ok() || absl::IsCancelled(status) || device.simulator() == nullptr)
    return status;
  const auto& waveform = device.simulator()->waveform();
  std::string text(status.message());
  if (waveform.ok()) {
    absl::StrAppendFormat(
        &text,
        "\n  waveform: %s, cycles %d to %d, replayed from the start of program "
        "%d\n  open it:  gtkwave %s\n  again:    %s",
        waveform->file, waveform->from, waveform->to, waveform->run,
        ShellWord(waveform->view), CommandFor(*waveform));
  } else if (!absl::IsNotFound(waveform.status())) {
    absl::StrAppend(&text, "\n  no waveform: ", waveform.status().message(),
                    "; --waves names another folder");
  }
  return absl::Status(status.code(), text);
}

}  // namespace systole::tools
