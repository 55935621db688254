// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/capi/program.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/import/float/float_importer.h"
#include "host/import/onnx/onnx_importer.h"
#include "host/import/onnx/onnx_options.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/import/tflite_importer.h"
#include "host/runtime/placement.h"
#include "systole/gen/presets.h"
#include "systole/target.h"

namespace systole::capi {
namespace {

constexpr char kWanted[] =
    "a program (.tpu), a model (.tflite, .onnx), a network (.safetensors) or "
    "StableHLO (MLIR bytecode)";
constexpr char kDefaultPreset[] = "edge";
constexpr int64_t kMostImages = int64_t{1} << 20;

// A preset that int8 models run on.
absl::StatusOr<const Preset*> Int8Preset(const char* name) {
  const std::string wanted = name == nullptr ? kDefaultPreset : name;
  const Preset* preset = FindPreset(wanted);
  if (preset != nullptr && Target(*preset).quantised_networks()) return preset;
  const std::vector<std::string> names =
      PresetsThat([](const Target& t) { return t.quantised_networks(); });
  return absl::InvalidArgumentError(
      absl::StrCat("preset '", wanted, "' ",
                   preset == nullptr ? "does not exist" : "has no int8 cell",
                   "; models are compiled for ", absl::StrJoin(names, ", ")));
}

// The preset that is asked for, or nullptr: then compiling refuses it.
const Preset* Wanted(const systole_compile_options& options) {
  return FindPreset(options.preset == nullptr ? kDefaultPreset
                                              : options.preset);
}

absl::Status Named(const absl::Status& status, const std::string& name) {
  if (status.ok() || absl::StartsWith(status.message(), name)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(name, ": ", status.message()));
}

// path: that of the file, beside which external data may be, or "".
absl::StatusOr<std::unique_ptr<ir::Module>> ImportOnnx(
    absl::string_view bytes, const std::string& path,
    const systole_compile_options& compile) {
  import::OnnxOptions options;
  if (!path.empty()) options.folder = import::FolderOf(path);
  if (compile.model_options != nullptr) {
    absl::Status s = import::AddOnnxOptions(compile.model_options, options);
    if (!s.ok()) return s;
  }
  auto imported = import::ImportOnnx(bytes, options);
  if (!imported.ok()) return imported.status();
  return std::move(imported->module);
}

absl::Status CheckNoModelOptions(const systole_compile_options& options) {
  if (options.model_options == nullptr || *options.model_options == '\0')
    return absl::OkStatus();
  return absl::InvalidArgumentError("model_options are for ONNX models");
}

bool IsFloatModel(const std::string& path, FileKind kind) {
  if (kind != FileKind::kTflite) return false;
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  return bytes.ok() && import::IsFloatTflite(*bytes);
}

absl::StatusOr<runtime::WholeProgram> ImportArtifact(absl::string_view bytes) {
  absl::StatusOr<import::StableHloProgram> imported =
      import::ImportStableHlo(bytes);
  if (!imported.ok()) return imported.status();
  return runtime::WholeProgram::Of(*std::move(imported));
}

absl::StatusOr<runtime::WholeProgram> Whole(
    absl::StatusOr<std::unique_ptr<ir::Module>> module) {
  if (!module.ok()) return module.status();
  return runtime::WholeProgram::Of(*std::move(module));
}

std::vector<Tensor> TensorsOf(const std::vector<ir::Node*>& inputs) {
  std::vector<Tensor> tensors;
  for (const ir::Node* input : inputs) {
    const std::string& name = input->attr<ir::ParameterAttributes>().name;
    tensors.push_back({name.empty() ? input->name : name, input->type});
  }
  return tensors;
}

std::vector<Tensor> TensorsOf(const std::vector<ir::Output>& outputs) {
  std::vector<Tensor> tensors;
  for (const ir::Output& output : outputs)
    tensors.push_back({output.name, output.node.type()});
  return tensors;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Program>> Program::Load(
    const std::string& path, const systole_compile_options& options) {
  const absl::StatusOr<FileKind> kind = KindOfFile(path);
  if (!kind.ok()) return kind.status();
  auto program = std::make_shared<Program>();
  program->source_ = path;
  absl::Status status = *kind == FileKind::kOnnx ? absl::OkStatus()
                                                 : CheckNoModelOptions(options);
  if (!status.ok()) return Named(status, path);
  if (*kind == FileKind::kProgram ||
      (*kind == FileKind::kUnknown && absl::EndsWith(path, ".tpu"))) {
    status = program->Take(runtime::ReadModel(path), options);
  } else if (*kind == FileKind::kStableHlo || IsFloatModel(path, *kind)) {
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    return Parse(*bytes, path, options);
  } else if (*kind == FileKind::kOnnx) {
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    status = program->TakeModule(Whole(ImportOnnx(*bytes, path, options)),
                                 "ONNX", options);
  } else if (*kind == FileKind::kTflite || *kind == FileKind::kSafetensors ||
             absl::EndsWith(path, ".tflite") ||
             absl::EndsWith(path, ".safetensors")) {
    status = program->Compile(
        runtime::ReadSource(path, nullptr, Wanted(options)), options);
  } else {
    status = WrongKind(path, *kind, kWanted);
  }
  if (!status.ok()) return Named(status, path);
  return program;
}

absl::StatusOr<std::shared_ptr<Program>> Program::Parse(
    absl::string_view bytes, const std::string& name,
    const systole_compile_options& options) {
  const FileKind kind = KindOfBytes({bytes.data(), bytes.size()}, name);
  auto program = std::make_shared<Program>();
  program->source_ = name;
  absl::Status status =
      kind == FileKind::kOnnx ? absl::OkStatus() : CheckNoModelOptions(options);
  if (!status.ok()) return Named(status, name);
  if (kind == FileKind::kProgram) {
    absl::StatusOr<systole::Program> parsed =
        ParseProgram({bytes.begin(), bytes.end()}, name);
    status = !parsed.ok()
                 ? parsed.status()
                 : program->Take(runtime::FromProgram(*std::move(parsed), name),
                                 options);
  } else if (kind == FileKind::kTflite && import::IsFloatTflite(bytes)) {
    status = program->TakeModule(Whole(import::ImportFloatTflite(bytes, name)),
                                 "a float model", options);
  } else if (kind == FileKind::kTflite) {
    auto module = import::ImportTflite(bytes, name);
    status = !module.ok()
                 ? module.status()
                 : program->Compile(runtime::SourceOf(*std::move(module),
                                                      nullptr, Wanted(options)),
                                    options);
  } else if (kind == FileKind::kStableHlo) {
    status = program->TakeModule(ImportArtifact(bytes), "StableHLO", options);
  } else if (kind == FileKind::kOnnx) {
    status = program->TakeModule(Whole(ImportOnnx(bytes, "", options)), "ONNX",
                                 options);
  } else {
    status =
        WrongKind(name, kind,
                  "a program (.tpu), a model (.tflite, .onnx) or StableHLO "
                  "(MLIR bytecode)");
  }
  if (!status.ok()) return Named(status, name);
  return program;
}

absl::Status Program::Take(absl::StatusOr<runtime::CompiledModel> model,
                           const systole_compile_options& options) {
  if (!model.ok()) return model.status();
  if (options.preset != nullptr && model->preset() != options.preset) {
    return absl::InvalidArgumentError(
        absl::StrCat("made for preset '", model->preset(), "', not for '",
                     options.preset, "'"));
  }
  if (options.batch != 0 && model->batch() != options.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        "made for ", model->batch(), " images a run, not for ", options.batch));
  }
  if (options.refuse_host != 0) {
    if (absl::Status s = runtime::RefuseHostOperators(model->placements);
        !s.ok())
      return s;
  }
  model_ = *std::move(model);
  name_ = model_->name;
  inputs_ = TensorsOf(model_->inputs());
  outputs_ = TensorsOf(model_->outputs());
  for (const lower::Placement& p : model_->placements) {
    absl::StrAppend(&placement_, p.node, " (", p.op, "): ", p.unit,
                    p.reason.empty() ? "" : ", ", p.reason, "\n");
  }
  return absl::OkStatus();
}

absl::Status Program::Compile(absl::StatusOr<runtime::Source> source,
                              const systole_compile_options& options) {
  if (!source.ok()) return source.status();
  const absl::StatusOr<const Preset*> preset = Int8Preset(options.preset);
  if (!preset.ok()) return preset.status();
  if (options.batch < 0 || options.batch > kMostImages) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a batch of ", options.batch, " images is not 1 to ", kMostImages));
  }
  if (options.refuse_host != 0) {
    if (absl::Status s =
            runtime::RefuseHostOperators(source->lowered.placements);
        !s.ok())
      return s;
  }
  compiler::Options compile;
  compile.batch = options.batch == 0 ? 1 : options.batch;
  systole_compile_options taken = options;
  taken.preset = nullptr;
  taken.batch = 0;
  return Take(runtime::Build(*source, **preset, compile), taken);
}

absl::Status Program::TakeModule(absl::StatusOr<runtime::WholeProgram> module,
                                 const char* what,
                                 const systole_compile_options& options) {
  if (!module.ok()) return module.status();
  if (options.batch != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " has the sizes that it was made with: no batch can be chosen"));
  }
  module_ = *std::move(module);
  name_ = module_->module->name;
  // Any bf16 preset runs it; what runs where is told of one.
  const std::string wanted = options.preset == nullptr ? "v2" : options.preset;
  const Preset* preset = FindPreset(wanted);
  if (preset == nullptr || !Target(*preset).float_modules()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "preset '", wanted, "' ",
        preset == nullptr ? "does not exist" : "has no bf16 cell", "; ", what,
        " runs on ",
        absl::StrJoin(
            PresetsThat([](const Target& t) { return t.float_modules(); }),
            ", ")));
  }
  runtime::ClientOptions own;
  own.preset = wanted;
  own.devices = module_->devices;
  own.host_operators = options.refuse_host == 0;
  const auto client = runtime::Client::Create(own);
  if (!client.ok()) return client.status();
  const auto executable =
      (*client)->Compile(module_->DeviceModule(), module_->grid());
  if (!executable.ok()) return executable.status();
  inputs_ = TensorsOf(module_->module->inputs());
  outputs_ = TensorsOf(module_->module->outputs);
  placement_ = absl::StrCat(
      runtime::PlacementText(name_, (*executable)->placement()), "\n");
  return absl::OkStatus();
}

systole_tensor Program::Describe(const Tensor& tensor) const {
  const ir::Type& type = tensor.type;
  systole_tensor out = {};
  out.name = tensor.name.c_str();
  out.type = static_cast<systole_type>(type.element);
  out.rank = type.rank();
  out.shape = type.shape.data();
  out.stacked = model_ ? 1 : 0;
  if (type.quantization && !type.quantization->per_channel()) {
    out.quantised = 1;
    out.scale = type.quantization->scales[0];
    out.zero_point = type.quantization->zero_point;
  }
  return out;
}

Handles<Program, systole_program>& Programs() {
  static auto& programs = *new Handles<Program, systole_program>("program");
  return programs;
}

}  // namespace systole::capi
