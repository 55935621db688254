// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// info: what a program file holds, or a model's operators.
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/files/file_kind.h"
#include "host/files/printable.h"
#include "host/files/shell_word.h"
#include "host/runtime/build.h"
#include "host/runtime/client.h"
#include "host/runtime/placement.h"
#include "host/tools/commands.h"
#include "host/tools/describe.h"
#include "host/tools/module_program.h"
#include "host/tools/options.h"
#include "host/tools/report.h"
#include "systole/compiler.h"

namespace systole::tools {
namespace {

// A model that is not compiled yet.
absl::Status ModelInfo(const std::string& input, const std::string& signature,
                       bool as_json) {
  const auto source = runtime::ReadSource(input, nullptr, nullptr, signature);
  if (!source.ok()) return source.status();
  const runtime::CompiledModel model = runtime::WithoutPrograms(*source);
  if (as_json) {
    PrintJson(PlacementJson(model));
    return absl::OkStatus();
  }
  std::printf(
      "model %s\n\n%s\n%s\nLayers, tiling, memory and cycles are those of a "
      "program: systole compile %s --preset NAME -o FILE.tpu\n",
      Printable(model.name).c_str(), SignatureText(model).c_str(),
      PlacementText(model.placements).c_str(),
      Printable(ShellWord(input)).c_str());
  return absl::OkStatus();
}

struct InfoArgs {
  std::string input, preset;
  bool json = false;
  ModuleArgs module;
};

// StableHLO, a float or an ONNX model, on the preset that it runs on unless
// another is asked for.
absl::Status ModuleInfo(const InfoArgs& args, ModuleKind kind) {
  const auto preset = ModulePreset(kind, args.preset, !args.preset.empty());
  if (!preset.ok()) return preset.status();
  auto program = ReadModuleProgram(args.input, kind, args.module, 0);
  if (!program.ok()) return program.status();
  const ir::Module& whole = *program->module;
  using Json = nlohmann::ordered_json;
  Json inputs = Json::array(), outputs = Json::array();
  Table table({"input, output", "values"});
  for (const ir::Node* node : whole.inputs()) {
    const std::string values =
        ValuesText(node->type, node->attr<ir::ParameterAttributes>().stored);
    inputs.push_back({{"name", node->name}, {"values", values}});
    table.Add({node->name, values});
  }
  for (const ir::Output& output : whole.outputs) {
    const std::string values = ValuesText(output.node.type(), output.stored);
    outputs.push_back({{"name", output.name}, {"values", values}});
    table.Add({absl::StrCat("-> ", output.name), values});
  }
  const std::string name = whole.name;
  runtime::ClientOptions options;
  options.preset = std::string((*preset)->name);
  options.devices = program->devices;
  const auto client = runtime::Client::Create(options);
  if (!client.ok()) return client.status();
  const auto executable =
      (*client)->Compile(program->DeviceModule(), program->grid());
  if (!executable.ok()) return executable.status();
  const runtime::ModulePlacement& placement = (*executable)->placement();
  if (args.json) {
    const auto share = [](const runtime::PlacementShare& s) {
      return Json{{"operations", s.operations},
                  {"macs", s.macs},
                  {"result_bytes", s.bytes}};
    };
    Json kernels = Json::array();
    for (const runtime::PlacedKernel& kernel : placement.all_kernels) {
      kernels.push_back({{"name", kernel.name},
                         {"cycles", kernel.cycles},
                         {"bound", kernel.bound},
                         {"limit", kernel.limit},
                         {"busy", kernel.busy}});
    }
    PrintJson({{"model", name},
               {"devices", program->devices},
               {"inputs", inputs},
               {"outputs", outputs},
               {"array", share(placement.array)},
               {"vector", share(placement.vector)},
               {"host", share(placement.host)},
               {"linked", share(placement.linked)},
               {"exchanged_by_host", share(placement.collectives)},
               {"kernels", placement.kernels},
               {"expected", kernels},
               {"host_operations", placement.host_operations}});
    return absl::OkStatus();
  }
  const bool alone = program->devices == 1;
  const std::string where =
      absl::StrCat(std::string((*preset)->name), alone ? "" : ", each device");
  std::printf(
      "%s %s%s\n\n%s\n%s\n",
      kind == ModuleKind::kStableHlo ? "StableHLO program"
      : kind == ModuleKind::kOnnx    ? "ONNX model"
                                     : "float model",
      Printable(name).c_str(),
      alone ? "" : absl::StrCat(" for ", program->devices, " devices").c_str(),
      table.ToString().c_str(),
      Printable(runtime::PlacementText(where, placement)).c_str());
  if (const std::string slow = runtime::SlowKernelsText(placement);
      !slow.empty())
    std::printf("%s\n", PrintableLines(slow).c_str());
  return absl::OkStatus();
}

absl::Status Info(const InfoArgs& args) {
  const std::string& input = args.input;
  const bool as_json = args.json;
  const auto kind = KindOfFile(input);
  if (!kind.ok()) return kind.status();
  const auto module = ModuleKindOf(input, args.module.signature);
  if (!module.ok()) return module.status();
  if (*module != ModuleKind::kNone) return ModuleInfo(args, *module);
  if (absl::Status s = CheckModuleArgs(input, ModuleKind::kNone, args.module);
      !s.ok())
    return s;
  if (!args.preset.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        input,
        ": --preset is for StableHLO, float and ONNX models: a program file "
        "has its own, and a model is divided alike for all"));
  }
  if (*kind != FileKind::kProgram && !absl::EndsWith(input, ".tpu")) {
    if (*kind == FileKind::kTflite || *kind == FileKind::kSafetensors)
      return ModelInfo(input, args.module.signature, as_json);
    return WrongKind(
        input, *kind,
        "a program (.tpu) or model (.tflite, .safetensors, ONNX, StableHLO)");
  }
  const auto program = ReadProgram(input);
  if (!program.ok()) return program.status();
  const auto preset = PresetByName(program->preset);
  if (!preset.ok()) return preset.status();
  // A file without a model is one of descriptors alone.
  auto model = runtime::FromProgram(*program, input);
  if (!model.ok() &&
      model.status().code() != absl::StatusCode::kFailedPrecondition)
    return model.status();
  const std::vector<Program> bare = {*program};
  const std::vector<Program>& programs = model.ok() ? model->programs : bare;
  for (const Program& p : programs) {
    if (absl::Status s = CheckAccesses(p, **preset); !s.ok())
      return absl::Status(s.code(), absl::StrCat(input, ": ", s.message()));
  }
  if (as_json) {
    const nlohmann::ordered_json json =
        model.ok() ? InfoJson(*model, **preset) : InfoJson(*program, **preset);
    PrintJson(json);
    return absl::OkStatus();
  }
  if (model.ok()) {
    std::printf("model %s, %d image(s) a run\n\n%s\n%s\n",
                Printable(model->name).c_str(),
                static_cast<int>(model->batch()), SignatureText(*model).c_str(),
                PlacementText(model->placements).c_str());
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& p = programs[i];
    if (programs.size() > 1) {
      std::printf("step %d: program %d of %d\n", static_cast<int>(2 * i + 1),
                  static_cast<int>(i + 1), static_cast<int>(programs.size()));
    }
    std::printf(
        "preset %s, %d descriptors, %s bytes of HBM\n"
        "expected cycles: %s\n\n",
        p.preset.c_str(), static_cast<int>(p.descriptors.size()),
        Thousands(static_cast<int64_t>(p.hbm_bytes)).c_str(),
        Thousands(compiler::EstimateCycles(p, **preset)).c_str());
    std::printf("%s\n%s\n%s%s", LayerText(p, **preset).c_str(),
                TilingText(p).c_str(), MemoryText(p).c_str(),
                i + 1 < programs.size() ? "\n" : "");
  }
  return absl::OkStatus();
}

}  // namespace

void AddInfoCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<InfoArgs>();
  CLI::App* sub = app.add_subcommand(
      "info",
      "Describe a program file (inputs and outputs, what runs where, layers, "
      "tiling, memory, expected cycles) or a model (what runs where)");
  sub->add_option("program", args->input,
                  "Program file (.tpu), or model (.tflite, .safetensors, "
                  "ONNX, StableHLO); - is standard input")
      ->check(FileName())
      ->required();
  sub->add_option(
      "--preset", args->preset,
      "Configuration that StableHLO, a float or an ONNX model is looked at "
      "for: " +
          FloatPresets() + " (default: lite)");
  sub->add_flag("--json", args->json, "Print JSON instead of tables");
  AddModuleOptions(*sub, args->module);
  sub->callback(
      [args, &chosen] { chosen = [args] { return OneLine(Info(*args)); }; });
}

}  // namespace systole::tools
