// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "host/files/data_file.h"
#include "host/files/shell_word.h"

namespace systole::tools {
namespace {

// Letters to insert, delete or replace (Levenshtein).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// "did you mean NAME?" of the most alike, or all names.
std::string Suggestion(const std::string& word,
                       const std::vector<std::string>& names) {
  constexpr size_t kLettersAnError = 3;
  std::string best;
  size_t least = word.size() / kLettersAnError + 1;
  for (const std::string& name : names) {
    const size_t distance = Distance(absl::AsciiStrToLower(word), name);
    if (distance >= least + (best.empty() ? 1 : 0)) continue;
    least = distance;
    best = name;
  }
  return best.empty() ? absl::StrCat("known are ", absl::StrJoin(names, ", "))
                      : absl::StrCat("did you mean ", best, "?");
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

std::string LikeOption(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return absl::StrCat(name, ": unknown option; ",
                      Suggestion(name, OptionsOf(app)));
}

// A folder that files can go to, or that can be made; a failure, perhaps after
// hours, would find no other place.
CLI::Validator FolderToBe() {
  return CLI::Validator(
      [](std::string& text) {
        std::error_code error;
        std::filesystem::path place = std::filesystem::absolute(text, error);
        while (!std::filesystem::exists(place, error) &&
               place.has_relative_path())
          place = place.parent_path();
        if (text.empty() || (std::filesystem::is_directory(place, error) &&
                             access(place.c_str(), W_OK | X_OK) == 0))
          return std::string();
        return absl::StrCat(text, ": a folder cannot be made there");
      },
      "");
}

}  // namespace

CLI::Validator WholeNumber(int64_t low, int64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        int64_t value;
        if (absl::SimpleAtoi(text, &value) && value >= low && value <= high)
          return "";
        return absl::StrFormat("%s is not a whole number from %d to %d", text,
                               low, high);
      },
      "");
}

CLI::Validator Number(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double value;
        if (absl::SimpleAtod(text, &value) && value >= low && value <= high)
          return "";
        return absl::StrCat(text, " is not a number from ", low, " to ", high);
      },
      "");
}

CLI::Validator Seed() {
  return WholeNumber(0, std::numeric_limits<int64_t>::max());
}

CLI::Validator FileName() {
  return CLI::Validator(
      [](std::string& text) {
        return std::string(text.empty() ? "a file name is needed" : "");
      },
      "");
}

void CheckOnlyOnRtl(const CLI::App& sub, const std::string& backend,
                    std::initializer_list<const char*> options) {
  if (backend == "rtl") return;
  for (const char* option : options) {
    if (sub.count(option) > 0)
      throw CLI::ValidationError(
          option, absl::StrCat("has no effect on the backend ", backend,
                               ", only on rtl"));
  }
}

CLI::Option* AddHostOperatorsOption(CLI::App& sub, std::string& choice) {
  return sub
      .add_option("--host-operators", choice,
                  "Operators that the device cannot run: allow runs them on "
                  "the host, error refuses the model, alone runs a model even "
                  "if that is all of it")
      ->check(CLI::IsMember({"allow", "error", "alone"}))
      ->capture_default_str();
}

void AddFirmwareOption(CLI::App& sub, std::string& file) {
  sub.add_option("--firmware", file,
                 "Run this firmware (ELF file) on the scalar unit instead of "
                 "the built-in one, on presets with a scalar unit "
                 "(docs/firmware.md) (rtl)")
      ->check(FileName());
}

void AddProcessesOption(CLI::App& sub, int& processes) {
  CLI::Option* const option =
      sub.add_option("--processes", processes,
                     "Processes that simulate the chips of several devices, "
                     "over Open MPI, up to one a chip; 0: this one does (rtl)")
          ->check(WholeNumber(0, kMostDevices))
          ->capture_default_str();
  if (CLI::Option* const waves = sub.get_option_no_throw("--waves"))
    option->excludes(waves);
}

namespace {
bool verbose = false;
}  // namespace

void AddVerboseOption(CLI::App& sub) {
  sub.add_flag("--verbose", verbose,
               "Of a model that is refused, list everything that stands in "
               "the way");
}

bool Verbose() { return verbose; }

CLI::Option* AddSignatureOption(CLI::App& sub, std::string& signature) {
  return sub
      .add_option("--signature", signature,
                  "The signature of a TensorFlow Lite model to use; without "
                  "it, the first graph of the file")
      ->check(FileName());
}

void AddModuleOptions(CLI::App& sub, ModuleArgs& args) {
  AddVerboseOption(sub);
  AddSignatureOption(sub, args.signature);
  const char* const group = "A float TensorFlow Lite or ONNX model";
  const char* const tflite = "A float TensorFlow Lite model";
  const char* const onnx = "An ONNX model";
  sub.add_option("--precision", args.precision,
                 "Passes of bf16 that a product of floats takes: default (1), "
                 "high (3) or highest (6)")
      ->group(group)
      ->check(CLI::IsMember({"default", "high", "highest"}));
  sub.add_option(
         "--input-shape", args.shapes,
         "NAME=SIZES, such as x=1,16000: the shape of an input in place "
         "of the file's; without NAME= for the only input")
      ->group(tflite)
      ->check(FileName());
  sub.add_option("--dim", args.dims,
                 "NAME=SIZE, such as batch=4: the size of a dimension that the "
                 "file leaves open; INPUT[AXIS]=SIZE of one without a name")
      ->group(onnx)
      ->check(FileName());
  sub.add_option("--fix", args.fixed,
                 "NAME=FILE.npy or NAME=NUMBERS, such as rate=16000: an input "
                 "that has this value in every run, and shapes may depend on")
      ->group(onnx)
      ->check(FileName());
}

std::string ModuleOptionsText(const ModuleArgs& args) {
  std::string text;
  if (!args.signature.empty())
    absl::StrAppend(&text, " --signature ", ShellWord(args.signature));
  if (!args.precision.empty())
    absl::StrAppend(&text, " --precision ", args.precision);
  for (const std::string& shape : args.shapes)
    absl::StrAppend(&text, " --input-shape ", ShellWord(shape));
  for (const std::string& dim : args.dims)
    absl::StrAppend(&text, " --dim ", ShellWord(dim));
  for (const std::string& input : args.fixed)
    absl::StrAppend(&text, " --fix ", ShellWord(input));
  return text;
}

void AddWaveOptions(CLI::App& sub, WaveArgs& args) {
  args.folder = ResultPlace("build/waves", "waves");
  const char* const group = "Waveforms (rtl)";
  CLI::Option* const trace =
      sub.add_option("--trace", args.trace.file,
                     "Record a waveform (FST) of one program in this file, and "
                     "write views of it beside the file (docs/waves.md)");
  trace->group(group)->check(FileName());
  CLI::Option* const layer =
      sub.add_option("--trace-layer", args.trace.layer,
                     "Record only while this layer runs: its name, or its "
                     "number from 0")
          ->group(group)
          ->needs(trace);
  sub.add_option("--trace-window", args.window,
                 "Record only these cycles of the program: FROM:TO, without TO")
      ->group(group)
      ->needs(trace)
      ->excludes(layer);
  sub.add_option("--trace-run", args.trace.run,
                 "Record this program of those that run one after the other, "
                 "counted from 0")
      ->group(group)
      ->needs(trace)
      ->check(WholeNumber(0, std::numeric_limits<int32_t>::max()))
      ->capture_default_str();
  sub.add_option(
         "--trace-core", args.trace.core,
         "Record a program of this core, of several that run, with its chip; "
         "the views show its units")
      ->group(group)
      ->needs(trace)
      ->check(WholeNumber(0, kMostDevices - 1))
      ->capture_default_str();
  sub.add_option("--waves", args.folder,
                 "Folder for the waveform that a fault, a failed assertion or "
                 "a wrong value leaves: build/waves in the project's folder, "
                 "else waves. '' writes none")
      ->group(group)
      ->check(FolderToBe())
      ->capture_default_str();
}

std::string AnswerTo(const CLI::App& app, const CLI::ParseError& error,
                     int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string command = app.get_name(), answer;
  for (int i = 1; i < argc; ++i) {
    const std::vector<std::string> names = CommandsOf(*at);
    if (names.empty()) break;
    const std::string word = argv[i];
    if (std::find(names.begin(), names.end(), word) != names.end()) {
      at = at->get_subcommand(word);
      absl::StrAppend(&command, " ", word);
      continue;
    }
    answer = !word.empty() && word[0] == '-'
                 ? LikeOption(*at, word)
                 : absl::StrCat("'", word, "': unknown command; ",
                                Suggestion(word, names));
    break;
  }
  if (answer.empty() &&
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::vector<std::string> left = app.remaining(true);
    const auto option =
        std::find_if(left.begin(), left.end(),
                     [](const auto& word) { return word[0] == '-'; });
    if (option != left.end()) {
      answer = LikeOption(*at, *option);
    } else if (!left.empty()) {
      answer = absl::StrCat("'", left.front(), "': unexpected argument");
    }
  }
  // "Could not convert: --rate = fast"
  if (const std::string what = error.what();
      answer.empty() && absl::StartsWith(what, "Could not convert: ")) {
    const std::vector<std::string> sides = absl::StrSplit(
        what.substr(what.find(": ") + 2), absl::MaxSplits(" = ", 1));
    if (sides.size() == 2)
      answer = absl::StrCat(sides[0], ": ", sides[1], " is not a valid number");
  }
  if (answer.empty()) answer = error.what();
  return absl::StrCat("systole: ", answer, "\n", command,
                      " --help lists what there is\n");
}

}  // namespace systole::tools
