// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// run: a model on a backend, or the digits network.
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "host/files/file_kind.h"
#include "host/runtime/build.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/run.h"

namespace systole::tools {
namespace {

void AddModelOptions(CLI::App& sub, RunArgs& args) {
  const char* const group = "A model";
  sub.add_option("program", args.model,
                 "program file (.tpu), or a model that is compiled first "
                 "(.tflite, .safetensors); without it the digits run");
  sub.add_option("-i,--input", args.inputs,
                 "input: FILE.npy, or NAME=FILE.npy for each of several. int8 "
                 "as it is; float32 is quantised by the input's scale. A "
                 "stack of inputs along the first axis is as many runs")
      ->group(group);
  sub.add_option("--random", args.random,
                 "so many random inputs, of --seed, instead of files")
      ->group(group)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  sub.add_option("-o,--output", args.outputs,
                 "where outputs go: FILE.npy, or NAME=FILE.npy for some of "
                 "several")
      ->group(group);
  sub.add_flag("--float", args.dequantise,
               "write int8 outputs as float32: scale * (q - zero point)")
      ->group(group);
  AddHostOperatorsOption(sub, args.host_operators);
  sub.add_option("--check", args.check,
                 "model (.tflite, .safetensors) that the program was made of: "
                 "compare every output, and every tensor that reaches HBM, "
                 "with the golden model")
      ->group(group);
  sub.add_option(
         "--tensors", args.tensors,
         "folder for every tensor that reaches HBM, as .npy, with "
         "their names in index.json; a model that is compiled first, or "
         "a program with --keep-intermediates, leaves all layers' there")
      ->group(group);
}

void AddDigitsOptions(CLI::App& sub, RunArgs& args) {
  const char* const group = "The digits";
  sub.add_option("--model", args.network, "network (.safetensors)")
      ->group(group)
      ->capture_default_str();
  sub.add_option("--digits", args.digits,
                 "folder of the test digits (IDX files)")
      ->group(group)
      ->capture_default_str();
  sub.add_option("--images", args.images, "images to run")
      ->group(group)
      ->capture_default_str();
  sub.add_option("--reports", args.reports, "folder of run.json; empty: none")
      ->group(group)
      ->capture_default_str();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const RunArgs& args,
                                                   const std::string& preset,
                                                   Progress& progress,
                                                   ProbeSink* probe) {
  DeviceOptions options;
  options.probe = probe;
  options.preset = preset;
  options.seed = args.seed;
  options.stall_rate = args.stall;
  options.checked = args.checked;
  options.check_races = args.checked;
  options.trace_file = args.trace;
  options.trace_first_tag = options.trace_last_tag = args.trace_layer;
  const bool iss = args.backend == "iss";
  options.progress = [iss, &progress](uint64_t count) {
    progress.Report(count, iss ? "descriptors" : "cycles");
  };
  options.transfer = [&progress](uint64_t done, uint64_t all) {
    progress.Report(done, absl::StrFormat("of %d bytes", all).c_str());
  };
  options.stop = Interrupted;
  CatchInterrupts();
  return Device::Open(args.backend, options);
}

absl::StatusOr<runtime::CompiledModel> ReadOrBuild(const RunArgs& args) {
  const auto kind = KindOfFile(args.model);
  if (!kind.ok()) return kind.status();
  const bool broken_program =
      *kind == FileKind::kUnknown && absl::EndsWith(args.model, ".tpu");
  if (*kind == FileKind::kProgram || broken_program) {
    auto model = runtime::ReadModel(args.model);
    if (!model.ok()) return model;
    if (absl::Status s = CheckHostOperators(args.host_operators, args.model,
                                            model->placements);
        !s.ok())
      return s;
    return model;
  }
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  const auto source = runtime::ReadSource(args.model);
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

absl::Status Stopped(int64_t done, int64_t images) {
  return InterruptedError(absl::StrFormat(
      "after %d of %d images; no results are written", done, images));
}

void AddRunCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* sub = app.add_subcommand(
      "run",
      "run a model, or the digits network with each layer compared with the "
      "golden model");
  sub->add_option(
         "--backend", args->backend,
         "rtl (the Verilated core), iss (the instruction-set simulator) or "
         "serial:PORT (a board)")
      ->capture_default_str();
  sub->add_option("--preset", args->preset,
                  "configuration: nano, edge, v1; a program file has its own")
      ->capture_default_str();
  sub->add_option("--batch", args->batch,
                  "images of one program; the digits: 32, a model: 1; a "
                  "program file has its own");
  sub->add_option("--stall", args->stall,
                  "random stalls on every stream, in 1/256 a cycle (rtl)")
      ->capture_default_str();
  sub->add_option("--seed", args->seed, "seed of all that is random")
      ->capture_default_str();
  sub->add_option("--trace", args->trace,
                  "write a waveform (FST) to this file (rtl)");
  sub->add_option("--trace-layer", args->trace_layer,
                  "record only this layer, counted from 0 (rtl)");
  sub->add_flag(
      "--checked", args->checked,
      "randomise unknown values (rtl), prove the synchronisation (iss)");
  sub->add_flag("--json", args->json, "print JSON instead of the table");
  sub->add_flag("--quiet", args->quiet, "show no progress");
  AddModelOptions(*sub, *args);
  AddDigitsOptions(*sub, *args);
  sub->callback([args, &chosen] {
    chosen = [args] {
      return args->model.empty() ? RunDigits(*args) : RunModel(*args);
    };
  });
}

}  // namespace systole::tools
