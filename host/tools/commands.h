// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The sub-commands of `systole`: each adds its options to the parser and says
// what to run.
#ifndef HOST_TOOLS_COMMANDS_H_
#define HOST_TOOLS_COMMANDS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/lower/lowering.h"
#include "systole/device.h"

namespace CLI {
class App;
}

namespace systole::tools {

// A command's action. A status that is not OK is printed and ends the program
// with 1.
using Action = std::function<absl::Status()>;

// The action of the sub-command that was given is put into `chosen`.
void AddRunCommand(CLI::App& app, Action& chosen);
void AddProfileCommand(CLI::App& app, Action& chosen);
void AddBenchCommand(CLI::App& app, Action& chosen);
void AddTrainCommand(CLI::App& app, Action& chosen);
void AddCompileCommand(CLI::App& app, Action& chosen);
void AddAsmCommands(CLI::App& app, Action& chosen);  // asm, disasm
void AddInfoCommand(CLI::App& app, Action& chosen);
void AddBoardCommand(CLI::App& app, Action& chosen);  // board info, test, run
void AddLinksCommand(CLI::App& app, Action& chosen);

// kInvalidArgument names the presets that exist.
absl::StatusOr<const Preset*> PresetByName(const std::string& name);

// kFailedPrecondition, if the choice (allow, error) is "error" and the model,
// which messages name, has operators on the host.
absl::Status CheckHostOperators(
    const std::string& choice, const std::string& model,
    const std::vector<lower::Placement>& placements);

// "nano, edge": the presets that run quantised networks, or modules of floats;
// of these with as many columns.
std::string QuantisedPresets();
std::string FloatPresets(int64_t least_cols = 0);

// An error that a name stands in has it as any file may: of one line, each
// character shown; but the lines of a list ("\n  ") stay. For errors of files
// that are read.
absl::Status OneLine(const absl::Status& status);
// The same for errors of a device. One that is kInternal may have the trace log
// of the firmware, a line for each entry, and stays as it is.
absl::Status DeviceError(const absl::Status& status);

// An error of a place that cannot be written, with what names another:
// "--reports names another folder".
absl::Status WithHint(const absl::Status& status, const std::string& hint);
// Of the digits network, each a column of the array.
constexpr int64_t kClasses = 10;
constexpr char kOtherReports[] =
    "--reports names another folder, and --reports '' asks for no report";
constexpr char kOtherOutput[] = "--output names another file";

// Reports a simulation's progress on stderr: in place on a terminal, now and
// then otherwise.
class Progress {
 public:
  // `unit`: what is counted ("cycles").
  explicit Progress(bool quiet) : quiet_(quiet) {}
  ~Progress() { Clear(); }
  void set_label(std::string label) { label_ = std::move(label); }
  void Report(uint64_t count, const char* unit);
  void Clear();

 private:
  bool quiet_;
  std::string label_;
  double last_ = 0;
  bool shown_ = false;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_COMMANDS_H_
