// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/build.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/import/float/float_importer.h"
#include "host/import/tflite_importer.h"
#include "host/model/checkpoint.h"
#include "systole/model.h"
#include "systole/target.h"

namespace systole::runtime {
namespace {

// A module that passes its parameters on: tensors of the network.
std::unique_ptr<ir::Module> Passing(const model::Network& network,
                                    const std::vector<int>& tensors,
                                    const char* part) {
  auto module =
      std::make_unique<ir::Module>(absl::StrCat(network.name, ".", part));
  for (const int t : tensors) {
    const model::Tensor& tensor = network.tensors[t];
    ir::Type type;
    type.shape = {1, tensor.height, tensor.width, tensor.channels};
    type.quantization.emplace();
    type.quantization->scales = {tensor.scale};
    type.quantization->zero_point = tensor.zero_point;
    ir::Node* node = module->Add({tensor.name,
                                  ir::Op::kParameter,
                                  type,
                                  {},
                                  ir::ParameterAttributes{tensor.name}});
    module->outputs.push_back({tensor.name, node});
  }
  return module;
}

absl::StatusOr<Source> ReadNetworkSource(const std::string& path) {
  absl::StatusOr<model::Network> network = model::ReadNetworkOrCheckpoint(path);
  if (!network.ok()) return network.status();
  Source source;
  lower::Lowered& lowered = source.lowered;
  lowered.parts.push_back(Passing(*network, network->inputs, "head"));
  lowered.parts.push_back(Passing(*network, network->outputs, "tail"));
  for (const model::Layer& layer : network->layers) {
    const model::Tensor& result = network->tensors[layer.output];
    lowered.placements.push_back(
        {layer.name, model::OpName(layer.op),
         model::HasWeights(layer.op) ? "array" : "vector unit", "", 1,
         model::HasWeights(layer.op) ? model::Macs(*network, layer) : 0,
         int64_t{result.height} * result.width * result.channels});
  }
  lowered.networks.push_back(*std::move(network));
  return source;
}

}  // namespace

absl::StatusOr<Source> SourceOf(std::unique_ptr<ir::Module> module,
                                ir::PassManager::Observer observer,
                                const Preset* preset, bool alone) {
  Source source;
  source.module = module->Clone();
  ir::PassManager passes = ir::StandardPasses();
  passes.set_observer(std::move(observer));
  const absl::Status passed = passes.Run(*module);
  if (!passed.ok()) return passed;
  std::optional<Target> target;
  if (preset != nullptr) target.emplace(*preset);
  absl::StatusOr<lower::Lowered> lowered =
      lower::LowerModule(*module, target ? &*target : nullptr, alone);
  if (!lowered.ok()) return lowered.status();
  source.lowered = *std::move(lowered);
  return source;
}

absl::StatusOr<Source> ReadSource(const std::string& path,
                                  ir::PassManager::Observer observer,
                                  const Preset* preset,
                                  const std::string& signature, bool alone) {
  absl::StatusOr<FileKind> kind = KindOfFile(path);
  if (!kind.ok()) return kind.status();
  // For a damaged file, the reader that fits the file name reports the error.
  if (*kind == FileKind::kUnknown) {
    if (absl::EndsWith(path, ".tflite")) kind = FileKind::kTflite;
    if (absl::EndsWith(path, ".safetensors")) kind = FileKind::kSafetensors;
  }
  if (*kind == FileKind::kSafetensors) return ReadNetworkSource(path);
  if (*kind != FileKind::kTflite)
    return WrongKind(path, *kind, "a model (.tflite, .safetensors)");
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (import::IsFloatTflite(*bytes, signature)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is a float model, which is compiled when it runs: `systole run`, "
        "`systole profile`"));
  }
  auto module = import::ReadTflite(path, signature);
  if (!module.ok()) return module.status();
  absl::StatusOr<Source> source =
      SourceOf(*std::move(module), std::move(observer), preset, alone);
  if (!source.ok()) {
    return absl::Status(source.status().code(),
                        absl::StrCat(path, ": ", source.status().message()));
  }
  return source;
}

CompiledModel WithoutPrograms(const Source& source) {
  const lower::Lowered& lowered = source.lowered;
  CompiledModel model;
  model.name = lowered.networks.front().name;
  for (const auto& part : lowered.parts) model.parts.push_back(part->Clone());
  model.placements = lowered.placements;
  return model;
}

absl::StatusOr<CompiledModel> Build(const Source& source, const Preset& preset,
                                    const compiler::Options& options) {
  CompiledModel model = WithoutPrograms(source);
  if (const auto variables = model.variables();
      !variables.empty() && options.batch != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a batch of ", options.batch, " images: the model keeps '",
        variables[0].parameter->attr<ir::ParameterAttributes>().name,
        "' from image to image, so a run takes one"));
  }
  compiler::Options of_images = options;
  of_images.batch *= static_cast<int>(source.lowered.images);
  for (const model::Network& network : source.lowered.networks) {
    absl::StatusOr<Program> program =
        network.layers.empty()
            ? compiler::IdleProgram(preset)
            : compiler::CompileNetwork(network, preset, of_images);
    if (!program.ok()) return program.status();
    model.programs.push_back(*std::move(program));
  }
  return model;
}

absl::Status RefuseHostOperators(
    const std::vector<lower::Placement>& placements) {
  std::vector<std::string> found;
  for (const lower::Placement& p : placements) {
    if (p.unit != "host") continue;
    found.push_back(absl::StrCat("'", p.node, "' (", p.op, "): ", p.reason));
  }
  if (found.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the host would run:\n  ", absl::StrJoin(found, "\n  ")));
}

}  // namespace systole::runtime
