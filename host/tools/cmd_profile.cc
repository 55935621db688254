// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// profile: where the cycles of a model go, as a page, traces and a summary.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/driver/run_loop.h"
#include "host/files/data_file.h"
#include "host/files/file_kind.h"
#include "host/files/printable.h"
#include "host/files/shell_word.h"
#include "host/files/write_file.h"
#include "host/profile/profile.h"
#include "host/runtime/model_section.h"
#include "host/runtime/runner.h"
#include "host/tools/commands.h"
#include "host/tools/cores_table.h"
#include "host/tools/interrupt.h"
#include "host/tools/layer_table.h"
#include "host/tools/options.h"
#include "host/tools/profile_module.h"
#include "host/tools/report.h"
#include "host/tools/run.h"
#include "host/tools/tensor_io.h"

namespace systole::tools {
namespace {

constexpr int64_t kDemoBatch = 32;
// What is printed of what to do; the page has more.
constexpr size_t kShownFindings = 8;
constexpr double kLeastShare = 0.01;  // of the cycles, but for the largest

struct ProfileArgs {
  RunArgs run;
  std::string page = ResultPlace("build/reports/profile.html", "profile.html"),
              perfetto, xspace, json;
};

// Of such a command.
std::string FirmwareOption(const ProfileArgs& args) {
  return args.run.firmware.empty()
             ? ""
             : absl::StrCat(" --firmware ", ShellWord(args.run.firmware));
}

// A command that runs the same programs on the same inputs.
std::string RunCommand(const ProfileArgs& args,
                       const runtime::CompiledModel& model) {
  return absl::StrCat(ToolWord(), " run ", ShellWord(args.run.model),
                      " --random ", model.batch(), " --seed ", args.run.seed,
                      ModuleOptionsText(args.run.module), " --preset ",
                      model.preset(), " --batch ", model.batch(),
                      FirmwareOption(args));
}

// Files that cannot be written are found before minutes of simulation, and
// those of which one would take another's place.
absl::Status TryFiles(const ProfileArgs& args) {
  const std::pair<const char*, std::string> files[] = {
      {"--output", args.page},
      {"--perfetto", args.perfetto},
      {"--xspace", args.xspace},
      {"--json", args.json}};
  std::vector<std::string> read = {args.run.model, args.run.firmware};
  for (const std::string& input : args.run.inputs)
    read.push_back(input.substr(input.find('=') + 1));
  if (absl::Status s = CheckDistinct(
          {args.page, args.perfetto, args.xspace, args.json}, read);
      !s.ok())
    return s;
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    absl::Status status = MakeFolderOf(path);
    if (status.ok()) status = CheckWritable(path);
    if (!status.ok())
      return WithHint(status, absl::StrCat(option, " names another file"));
  }
  return absl::OkStatus();
}

// `cycles`: of all findings.
void PrintFindings(const Program& program, const profile::Analysis& analysis,
                   double cycles) {
  // Each piece of advice once, behind what it is for.
  std::vector<std::pair<std::string, std::string>> findings;  // by advice
  size_t shown = 0;
  for (const profile::Finding& f : analysis.findings) {
    const std::string advice = profile::AdviceFor(f);
    if (advice.empty()) continue;
    const double share = static_cast<double>(f.cycles) / cycles;
    if (shown > 0 && share < kLeastShare) break;
    auto same =
        std::find_if(findings.begin(), findings.end(),
                     [&](const auto& other) { return other.first == advice; });
    if (same == findings.end())
      same = findings.insert(same, {advice, std::string()});
    absl::StrAppendFormat(
        &same->second, "  %6s  %s\n", Percent(share),
        Printable(profile::FindingText(f, program, analysis)));
    if (++shown == kShownFindings) break;
  }
  std::printf("what to do:\n");
  for (const auto& [advice, text] : findings)
    std::printf("%s          %s\n", text.c_str(), advice.c_str());
  std::printf("\n");
}

void Print(const profile::Profile& profile) {
  if (profile.cores != nullptr) {
    const profile::JoinedCores& joined = *profile.cores;
    const profile::MergedCores merged = profile::Merge(joined);
    std::printf("%s on %s, %s\n", Printable(profile.model).c_str(),
                std::string(profile.preset->name).c_str(),
                CoresTables(joined, merged, *profile.preset).c_str());
    PrintFindings(merged.program, merged.analysis,
                  static_cast<double>(joined.cycles * joined.cores.size()));
    return;
  }
  for (const profile::ProgramProfile& p : profile.programs) {
    std::printf("%s on %s: %s cycles\n\n", Printable(profile.model).c_str(),
                std::string(std::string(profile.preset->name)).c_str(),
                Thousands(static_cast<int64_t>(p.recording->cycles)).c_str());
    if (!p.program->layers.empty())
      std::printf("%s\n", LayerTable(p, *profile.preset).c_str());
    PrintFindings(*p.program, p.analysis,
                  static_cast<double>(p.recording->cycles));
  }
}

absl::Status WriteAll(const ProfileArgs& args,
                      const profile::Profile& profile) {
  const std::pair<const std::string*,
                  std::function<std::string(const profile::Profile&)>>
      files[] = {{&args.page, profile::PageOf},
                 {&args.perfetto, profile::PerfettoTraceOf},
                 {&args.xspace, profile::XSpaceOf},
                 {&args.json, profile::JsonOf}};
  FileSet written;
  for (const auto& [path, form] : files) {
    if (path->empty()) continue;
    if (absl::Status s = written.Add(form(profile), *path); !s.ok()) return s;
  }
  if (absl::Status s = written.Commit(); !s.ok()) return s;
  for (const auto& [path, form] : files) {
    if (!path->empty()) std::printf("wrote %s\n", Printable(*path).c_str());
  }
  return absl::OkStatus();
}

absl::Status PrintAndWrite(const ProfileArgs& args,
                           const profile::Profile& profile,
                           const RunStats& sum) {
  Print(profile);
  std::printf(
      "%s simulated cycles per host CPU second (%.2f s)\n",
      Thousands(static_cast<int64_t>(static_cast<double>(sum.cycles) /
                                     std::max(sum.host_cpu_seconds, 1e-9)))
          .c_str(),
      sum.host_cpu_seconds);
  return WriteAll(args, profile);
}

// Checks the recordings, prints the summary, writes the files.
absl::Status Finish(const ProfileArgs& args, const std::string& model,
                    const std::string& command, const Preset& preset,
                    const std::vector<const Program*>& programs,
                    profile::Recorder& recorder,
                    const std::vector<RunStats>& runs) {
  profile::Profile profile;
  profile.model = model;
  profile.preset = &preset;
  profile.command = command;
  RunStats sum;
  for (size_t i = 0; i < programs.size(); ++i) {
    const profile::Recording& recording = recorder.recordings()[i];
    if (absl::Status s = profile::CheckRecording(recording, preset, runs[i]);
        !s.ok())
      return s;
    profile.programs.push_back({programs[i],
                                &recording,
                                profile::Analyse(*programs[i], recording),
                                {}});
    sum.Add(runs[i]);
  }
  return PrintAndWrite(args, profile, sum);
}

absl::Status ProfileModel(const ProfileArgs& args) {
  const auto model = ReadOrBuild(args.run);
  if (!model.ok()) return model.status();
  if (absl::Status s = TryFiles(args); !s.ok()) return s;

  std::vector<const Program*> programs;
  for (const Program& program : model->programs) programs.push_back(&program);
  profile::Recorder recorder(programs);
  Progress progress(args.run.quiet);
  progress.set_label(model->name);
  const auto device =
      OpenDevice(args.run, model->preset(), progress, &recorder);
  if (!device.ok()) return device.status();
  std::vector<ir::Literal> inputs;
  for (const ir::Node* input : model->inputs())
    inputs.push_back(RandomValues(input->type, model->batch(),
                                  args.run.seed + inputs.size()));
  const auto run = runtime::Runner(**device, *model).Run(inputs);
  if (Interrupted())
    return InterruptedError(
        absl::StrCat("in the model ", args.run.model, "; nothing is written"));
  if (!run.ok()) return run.status();
  progress.Clear();

  return Finish(args, model->name, RunCommand(args, *model),
                (*device)->preset(), programs, recorder, run->runs);
}

// A program without a model, on memory as a device of the seed has it.
absl::Status ProfileProgram(const ProfileArgs& args, const Program& file) {
  const absl::StatusOr<Program> program = ForChip(file);
  if (!program.ok()) {
    return absl::Status(
        program.status().code(),
        absl::StrCat(args.run.model, ": ", program.status().message()));
  }
  if (args.run.preset_given && program->preset != args.run.preset) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: was compiled for preset '%s', but --preset is '%s'",
        args.run.model, program->preset, args.run.preset));
  }
  if (args.run.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.run.model, ": a program without a model has no batch"));
  }
  if (absl::Status s = TryFiles(args); !s.ok()) return s;
  const std::vector<const Program*> programs = {&*program};
  profile::Recorder recorder(programs);
  Progress progress(args.run.quiet);
  progress.set_label(args.run.model);
  const auto device =
      OpenDevice(args.run, program->preset, progress, &recorder);
  if (!device.ok()) return device.status();
  if (absl::Status s = (*device)->Load(*program); !s.ok()) return s;
  const auto run = RunTogether({{device->get(), &*program}});
  if (Interrupted())
    return InterruptedError(absl::StrCat("in the program ", args.run.model,
                                         "; nothing is written"));
  if (!run.ok()) return run.status();
  progress.Clear();
  return Finish(args, std::filesystem::path(args.run.model).filename().string(),
                absl::StrCat(ToolWord(), " run ", ShellWord(args.run.model),
                             " --seed ", args.run.seed, FirmwareOption(args)),
                (*device)->preset(), programs, recorder, *run);
}

// Options that only modules have.
absl::Status CheckNoModule(const ProfileArgs& args) {
  if (args.run.devices != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(args.run.model,
                     ": --devices is for StableHLO; programs and "
                     "models of int8 layers run on one device"));
  }
  if (!args.run.inputs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(args.run.model,
                     ": --input is for StableHLO, float and ONNX models; "
                     "programs and models of int8 layers are profiled on "
                     "random values"));
  }
  return absl::OkStatus();
}

// " --random 1", or the files.
std::string InputOptions(const RunArgs& args) {
  std::string text = args.inputs.empty() ? " --random 1" : "";
  for (const std::string& input : args.inputs)
    absl::StrAppend(&text, " --input ", ShellWord(input));
  return text;
}

absl::Status RunProfile(const ProfileArgs& args) {
  const auto kind = KindOfFile(args.run.model);
  if (!kind.ok()) return kind.status();
  if (*kind == FileKind::kProgram) {
    const auto program = ReadProgram(args.run.model);
    if (!program.ok()) return program.status();
    if (program->FindSection(runtime::kModelSection) == nullptr) {
      if (absl::Status s = CheckNoModule(args); !s.ok()) return s;
      return ProfileProgram(args, *program);
    }
  }
  const auto module = ModuleKindOf(args.run.model, args.run.module.signature);
  if (!module.ok()) return module.status();
  if (*module != ModuleKind::kNone) {
    return ProfileModuleFile(
        args.run, *module, [&] { return TryFiles(args); },
        [&](profile::Profile& profile, const RunStats& sum) {
          profile.command = absl::StrCat(
              ToolWord(), " run ", ShellWord(args.run.model),
              InputOptions(args.run), ModuleOptionsText(args.run.module),
              " --seed ", args.run.seed,
              profile.cores == nullptr
                  ? ""
                  : absl::StrCat(" --devices ", profile.programs.size()),
              " --preset ", std::string(profile.preset->name),
              FirmwareOption(args));
          return PrintAndWrite(args, profile, sum);
        });
  }
  if (absl::Status s =
          CheckModuleArgs(args.run.model, ModuleKind::kNone, args.run.module);
      !s.ok())
    return s;
  if (absl::Status s = CheckNoModule(args); !s.ok()) return s;
  return ProfileModel(args);
}

}  // namespace

void AddProfileCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<ProfileArgs>();
  CLI::App* sub =
      app.add_subcommand("profile",
                         "Run a model on the RTL and show where its cycles go: "
                         "a page for the browser, traces, a summary");
  args->run.model = args->run.network;
  sub->add_option(
         "model", args->run.model,
         "Program file (.tpu), or model (.tflite, .safetensors, "
         "ONNX, StableHLO) that is compiled first; - is standard input. "
         "Without it, the digits network runs")
      ->check(FileName());
  CLI::Option* preset =
      sub->add_option(
             "--preset", args->run.preset,
             absl::StrCat(
                 "Configuration: ", QuantisedPresets(),
                 "; for StableHLO, float and ONNX models: ", FloatPresets(),
                 " (default: lite). A program file has its own"))
          ->capture_default_str();
  sub->add_option("--batch", args->run.batch,
                  "Images per run. Default: 32 for the digits, 1 for a model. "
                  "A program file has its own")
      ->check(WholeNumber(1, kMostImages));
  sub->add_option("--devices", args->run.devices,
                  "Cores that a StableHLO program for several devices runs on, "
                  "as many as it is made for; their chips have links")
      ->check(WholeNumber(1, kMostDevices))
      ->capture_default_str();
  AddProcessesOption(*sub, args->run.processes);
  AddModuleOptions(*sub, args->run.module);
  AddFirmwareOption(*sub, args->run.firmware);
  sub->add_option("-i,--input", args->run.inputs,
                  "Input of a StableHLO, float or ONNX model: FILE.npy, or "
                  "NAME=FILE.npy for each of several inputs. Without it, "
                  "inputs are random")
      ->check(FileName());
  sub->add_option("--seed", args->run.seed, "Seed of the random inputs")
      ->check(Seed())
      ->capture_default_str();
  sub->add_option("-o,--output", args->page,
                  "The page to write (HTML): build/reports/profile.html in the "
                  "project's folder, else profile.html")
      ->check(FileName())
      ->take_last()
      ->capture_default_str();
  sub->add_option("--perfetto", args->perfetto,
                  "Also write a trace for ui.perfetto.dev, in its own format")
      ->check(FileName());
  sub->add_option("--xspace", args->xspace,
                  "Also write a trace for XProf (.xplane.pb)")
      ->check(FileName());
  sub->add_option("--json", args->json, "Also write the data of the page")
      ->check(FileName());
  sub->add_flag("--quiet", args->run.quiet, "Do not show progress");
  sub->callback([args, preset, sub, &chosen] {
    args->run.preset_given = preset->count() > 0;
    if (!args->run.batch && sub->get_option("model")->count() == 0)
      args->run.batch = kDemoBatch;
    chosen = [args] { return DeviceError(RunProfile(*args)); };
  });
}

}  // namespace systole::tools
