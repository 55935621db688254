// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// run: a model on a backend, or the digits network.
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/file_kind.h"
#include "host/files/write_file.h"
#include "host/runtime/build.h"
#include "host/runtime/model_section.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "host/tools/run.h"

namespace systole::tools {
namespace {

void AddProgramOptions(CLI::App& sub, CLI::Option* program, RunArgs& args) {
  const char* const group = "A program without a model (systole asm)";
  sub.add_option("--memory", args.memory,
                 "ADDRESS=FILE: write the bytes of the file to HBM before the "
                 "program starts")
      ->group(group)
      ->check(FileName())
      ->needs(program);
  sub.add_option(
         "--second", args.second,
         "Program for the chip's other core, which runs at the same time. For "
         "--memory and --dump, the other core's memory follows the first one's")
      ->group(group)
      ->check(FileName())
      ->needs(program);
  sub.add_option("--dump", args.dumps,
                 "ADDRESS+BYTES=FILE: write bytes of HBM to the file when the "
                 "program has ended")
      ->group(group)
      ->check(FileName())
      ->needs(program);
}

// A model, or a program without one.
absl::Status RunFile(const RunArgs& args) {
  const auto kind = KindOfFile(args.model);
  if (!kind.ok()) return kind.status();
  if (*kind == FileKind::kProgram) {
    const auto program = ReadProgram(args.model);
    if (!program.ok()) return OneLine(program.status());
    if (program->FindSection(runtime::kModelSection) == nullptr)
      return RunProgram(args, *program);
  }
  if (!args.memory.empty() || !args.dumps.empty() || !args.second.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model,
        ": has a model; --memory, --dump and --second are for programs without "
        "one"));
  }
  const auto module = ModuleKindOf(args.model, args.module.signature);
  if (!module.ok()) return module.status();
  if (*module != ModuleKind::kNone) return RunModuleFile(args, *module);
  if (absl::Status s =
          CheckModuleArgs(args.model, ModuleKind::kNone, args.module);
      !s.ok())
    return s;
  return RunModel(args);
}

CLI::Option* AddModelOptions(CLI::App& sub, RunArgs& args) {
  const char* const group = "A model";
  CLI::Option* const program =
      sub.add_option(
             "program", args.model,
             "Program file (.tpu), or model (.tflite, .safetensors, "
             "ONNX, StableHLO) that is compiled first; - is standard input. "
             "Without it, the digits network runs")
          ->check(FileName());
  CLI::Option* const input =
      sub.add_option("-i,--input", args.inputs,
                     "Input of the model: FILE.npy, or NAME=FILE.npy for each "
                     "of several inputs. Elements are of the input's type; for "
                     "int8 they may also be uint8, or float32, which is "
                     "quantised with the input's scale. A stack of inputs "
                     "along the first axis makes as many runs")
          ->group(group)
          ->check(FileName())
          ->needs(program);
  sub.add_option(
         "--random", args.random,
         "Run this many random inputs, drawn from --seed, instead of files")
      ->group(group)
      ->check(WholeNumber(1, int64_t{1} << 20))
      ->needs(program)
      ->excludes(input);
  sub.add_option("--devices", args.devices,
                 "Cores that a StableHLO program for several devices runs on, "
                 "as many as it is made for")
      ->group(group)
      ->check(WholeNumber(1, kMostDevices))
      ->needs(program)
      ->capture_default_str();
  sub.add_option("-o,--output", args.outputs,
                 "Where to write the outputs: FILE.npy, or NAME=FILE.npy for "
                 "some of several outputs")
      ->group(group)
      ->check(FileName())
      ->needs(program);
  sub.add_flag("--float", args.dequantise,
               "Write int8 outputs as float32: scale * (q - zero point)")
      ->group(group)
      ->needs(program);
  sub.add_flag("--reset-variables", args.reset_variables,
               "Reset the values that a model keeps from run to run before "
               "each image")
      ->group(group)
      ->needs(program);
  AddHostOperatorsOption(sub, args.host_operators)->needs(program);
  AddModuleOptions(sub, args.module);
  sub.add_option(
         "--check", args.check,
         "Model (.tflite, .safetensors, ONNX, StableHLO) that the program "
         "was compiled from. Compares every output, and every tensor "
         "of an int8 model that reaches HBM, with the golden model")
      ->group(group)
      ->check(FileName())
      ->needs(program);
  sub.add_option(
         "--tensors", args.tensors,
         "Folder for every tensor that reaches HBM, as .npy files with their "
         "names in index.json. All layers reach HBM if the model is compiled "
         "first or the program was compiled with --keep-intermediates")
      ->group(group)
      ->check(FileName())
      ->needs(program);
  return program;
}

void AddDigitsOptions(CLI::App& sub, CLI::Option* program, RunArgs& args) {
  const char* const group = "The digits";
  sub.add_option("--model", args.network, "Network to run (.safetensors)")
      ->group(group)
      ->check(FileName())
      ->excludes(program)
      ->capture_default_str();
  sub.add_option("--digits", args.digits,
                 "Folder of the test digits (IDX files)")
      ->group(group)
      ->check(FileName())
      ->excludes(program)
      ->capture_default_str();
  sub.add_option("--images", args.images, "Number of images to run")
      ->group(group)
      ->check(WholeNumber(1, kMostImages))
      ->excludes(program)
      ->capture_default_str();
}

// A program file has its own.
absl::Status CheckProgram(const RunArgs& args,
                          const runtime::CompiledModel& model) {
  if (args.preset_given && model.preset() != args.preset) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: was compiled for preset '%s', but --preset is '%s'", args.model,
        model.preset(), args.preset));
  }
  if (args.batch && model.batch() != *args.batch) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: was compiled for %d image(s) a run, but --batch is %d", args.model,
        model.batch(), *args.batch));
  }
  if (!args.module.signature.empty() && args.check.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(args.model, ": is compiled; --signature has no effect"));
  }
  return CheckHostOperators(args.host_operators, args.model, model.placements);
}

}  // namespace

namespace {

// "ADDRESS:BIT"
absl::StatusOr<BitFlip> ParseFlip(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string address = text.substr(0, colon);
  BitFlip flip;
  if (colon != std::string::npos &&
      (absl::StartsWith(address, "0x")
           ? absl::SimpleHexAtoi(address, &flip.address)
           : absl::SimpleAtoi(address, &flip.address)) &&
      absl::SimpleAtoi(text.substr(colon + 1), &flip.bit) && flip.bit >= 0 &&
      flip.bit <= 71)
    return flip;
  return absl::InvalidArgumentError(absl::StrCat(
      "--flip ", text,
      ": ADDRESS:BIT is needed, an HBM address, decimal or 0x, and a bit from "
      "0 to 71 of the 8 bytes there"));
}

}  // namespace

absl::StatusOr<DeviceOptions> DeviceOptionsOf(const RunArgs& args,
                                              const std::string& preset,
                                              Progress& progress,
                                              size_t programs, size_t cores) {
  if (!args.waves.trace.file.empty()) {
    if (absl::Status s = CheckWritable(args.waves.trace.file); !s.ok())
      return WithHint(s, "--trace names another file");
  }
  DeviceOptions options;
  options.preset = preset;
  options.simulation.seed = args.seed;
  options.simulation.stall_rate = args.stall;
  options.simulation.threads = args.threads;
  options.simulation.processes = args.processes;
  options.firmware = args.firmware;
  options.simulation.checked = args.checked;
  options.simulation.check_races = args.checked;
  for (const std::string& text : args.flips) {
    const auto flip = ParseFlip(text);
    if (!flip.ok()) return flip.status();
    options.simulation.flips.push_back(*flip);
  }
  if (absl::Status s =
          SetWaves(args.waves, args.backend, programs, options, cores);
      !s.ok())
    return s;
  const bool iss = args.backend == "iss";
  options.progress = [iss, &progress](uint64_t count) {
    progress.Report(count, iss ? "descriptors" : "cycles");
  };
  options.transfer = [&progress](uint64_t done, uint64_t all) {
    progress.Report(done, absl::StrFormat("of %d bytes", all).c_str());
  };
  options.stop = Interrupted;
  CatchInterrupts();
  return options;
}

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const RunArgs& args,
                                                   const std::string& preset,
                                                   Progress& progress,
                                                   ProbeSink* probe,
                                                   size_t programs) {
  auto options = DeviceOptionsOf(args, preset, progress, programs);
  if (!options.ok()) return options.status();
  if (probe != nullptr) options->simulation.probes = {probe};
  auto device = Device::Open(args.backend, *options);
  if (!device.ok()) return DeviceError(device.status());
  return device;
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> OpenDevices(
    const RunArgs& args, const std::string& preset, size_t cores,
    Progress& progress) {
  auto options = DeviceOptionsOf(args, preset, progress, 1, cores);
  if (!options.ok()) return options.status();
  if (cores > 1) {
    auto devices = Device::OpenCores(args.backend, *options);
    if (!devices.ok()) return DeviceError(devices.status());
    return devices;
  }
  auto device = Device::Open(args.backend, *options);
  if (!device.ok()) return DeviceError(device.status());
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(*std::move(device));
  return devices;
}

absl::StatusOr<runtime::CompiledModel> ReadOrBuild(const RunArgs& args) {
  const auto kind = KindOfFile(args.model);
  if (!kind.ok()) return kind.status();
  const bool broken_program =
      *kind == FileKind::kUnknown && absl::EndsWith(args.model, ".tpu");
  if (*kind == FileKind::kProgram || broken_program) {
    auto model = runtime::ReadModel(args.model);
    if (!model.ok()) return model;
    if (absl::Status s = CheckProgram(args, *model); !s.ok()) return s;
    return model;
  }
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  const auto source =
      runtime::ReadSource(args.model, nullptr, *preset, args.module.signature,
                          args.host_operators == "alone");
  if (!source.ok()) return source.status();
  if (absl::Status s = CheckHostOperators(args.host_operators, args.model,
                                          source->lowered.placements);
      !s.ok())
    return s;
  compiler::Options options;
  options.batch = args.batch.value_or(1);
  options.keep_intermediates = !args.check.empty() || !args.tensors.empty();
  return runtime::Build(*source, **preset, options);
}

absl::Status CheckPlaces(const RunArgs& args,
                         const std::vector<std::string>& files,
                         const runtime::CompiledModel& model, int64_t images) {
  std::vector<std::string> read = {args.model, args.check, args.firmware},
                           written = files;
  for (const std::string& input : args.inputs)
    read.push_back(input.substr(input.find('=') + 1));
  written.push_back(args.waves.trace.file);
  absl::Status status = CheckDistinct(written, read);
  const int64_t batches = (images + model.batch() - 1) / model.batch();
  status.Update(CheckTraceRun(
      args.waves, batches * static_cast<int64_t>(model.programs.size())));
  for (const std::string& file : files) {
    if (status.ok() && !file.empty())
      status = WithHint(CheckWritable(file), kOtherOutput);
  }
  if (status.ok() && !args.tensors.empty())
    status =
        WithHint(MakeFolder(args.tensors), "--tensors names another folder");
  if (status.ok() && args.reports_given && !args.reports.empty())
    status = WithHint(MakeFolder(args.reports), kOtherReports);
  return status;
}

absl::Status Stopped(int64_t done, int64_t images) {
  return InterruptedError(absl::StrFormat(
      "after %d of %d images; no results are written", done, images));
}

void AddRunCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* sub =
      app.add_subcommand("run",
                         "Run a model, or the digits network with each layer "
                         "compared with the golden model");
  sub->add_option("--backend", args->backend,
                  "Where to run: rtl (the Verilated core), iss (the "
                  "instruction-set simulator) or serial:PORT (a board)")
      ->capture_default_str();
  CLI::Option* const preset =
      sub->add_option(
             "--preset", args->preset,
             absl::StrCat(
                 "Configuration: ", QuantisedPresets(),
                 "; for StableHLO, float and ONNX models: ", FloatPresets(),
                 " (default: lite). A program file has its own"))
          ->capture_default_str();
  sub->add_option("--batch", args->batch,
                  "Images per run. Default: 32 for the digits, 1 for a model. "
                  "A program file has its own")
      ->check(WholeNumber(1, kMostImages));
  sub->add_option("--stall", args->stall,
                  "Stall every stream at random, in N of 256 cycles (rtl)")
      ->check(WholeNumber(0, 255))
      ->capture_default_str();
  sub->add_option("--threads", args->threads,
                  "Threads that simulate: up to one a core or, of several "
                  "chips, one a chip. For idle processors (rtl)")
      ->check(WholeNumber(1, kMostDevices))
      ->capture_default_str();
  sub->add_option(
         "--flip", args->flips,
         "ADDRESS:BIT: flip a bit in HBM when the first program starts. The "
         "bit is one of the 8 bytes at the address (0 to 63) or, with ECC, one "
         "of their check bits (64 to 71) (rtl, iss)")
      ->check(FileName());
  AddFirmwareOption(*sub, args->firmware);
  sub->add_option("--seed", args->seed, "Seed of everything that is random")
      ->check(Seed())
      ->capture_default_str();
  sub->add_flag("--checked", args->checked,
                "Randomise unknown values (rtl); prove that the "
                "synchronisation is complete (iss)");
  sub->add_flag("--json", args->json, "Print JSON instead of the table");
  sub->add_flag("--quiet", args->quiet, "Do not show progress");
  CLI::Option* const reports =
      sub->add_option("--reports", args->reports,
                      "Folder for run.json: build/reports in the project's "
                      "folder, else none. '' writes no report; a model writes "
                      "one only if this option is given")
          ->take_last()
          ->capture_default_str();
  CLI::Option* const program = AddModelOptions(*sub, *args);
  AddProgramOptions(*sub, program, *args);
  AddDigitsOptions(*sub, program, *args);
  AddWaveOptions(*sub, args->waves);
  AddProcessesOption(*sub, args->processes);
  sub->callback([args, preset, reports, sub, &chosen] {
    CheckOnlyOnRtl(
        *sub, args->backend,
        {"--stall", "--threads", "--processes", "--firmware", "--trace"});
    args->preset_given = preset->count() > 0;
    args->reports_given = reports->count() > 0;
    for (const CLI::Option* option : sub->get_options()) {
      if (option->count() > 0) args->given.push_back(option->get_name());
    }
    chosen = [args] {
      return args->model.empty() ? RunDigits(*args) : RunFile(*args);
    };
  });
}

}  // namespace systole::tools
