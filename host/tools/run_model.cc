// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// run with a model: inputs from files, outputs to files, batch by batch.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/files/write_file.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/interrupt.h"
#include "host/tools/layer_table.h"
#include "host/tools/model_check.h"
#include "host/tools/report.h"
#include "host/tools/run.h"
#include "host/tools/tensor_io.h"

namespace systole::tools {
namespace {

using ir::Literal;
using Json = nlohmann::ordered_json;

struct ModelInputs {
  std::vector<Literal> values;  // images in a row
  int64_t images = 0;
  bool stacked = false, quantised = false;
  int64_t clipped = 0;  // of the values given as float32
};

struct Result {
  int64_t images = 0, cycles = 0;
  double host_cpu_seconds = 0;
  bool stacked = false, saturated = false;  // a sum went beyond int32
  EccCounts ecc;
  std::vector<Literal> outputs;
  std::map<std::string, std::vector<int8_t>> tensors;  // for args.tensors
  Json runs = Json::array();
  absl::Status wrong;  // with the waveform of the first wrong value
  // Of the first batch, on the RTL: a table a program, and the same as JSON.
  std::string layers;
  Json layers_json;
};

std::vector<std::string> NamesOf(const runtime::CompiledModel& model,
                                 bool outputs) {
  std::vector<std::string> names;
  if (outputs) {
    for (const ir::Output& output : model.outputs())
      names.push_back(output.name);
    return names;
  }
  for (const ir::Node* input : model.inputs()) {
    const std::string& name = input->attr<ir::ParameterAttributes>().name;
    names.push_back(name.empty() ? input->name : name);
  }
  return names;
}

absl::StatusOr<ModelInputs> ReadInputs(const RunArgs& args,
                                       const runtime::CompiledModel& model) {
  ModelInputs inputs;
  const std::vector<std::string> names = NamesOf(model, false);
  if ((args.random > 0) == !args.inputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model, ": give either --input or --random; inputs: ",
        names.size() == 1 ? names[0] : absl::StrCat(names.size())));
  }
  if (args.random > 0) {
    inputs.images = args.random;
    for (size_t i = 0; i < names.size(); ++i)
      inputs.values.push_back(RandomValues(model.inputs()[i]->type, args.random,
                                           args.seed + i,
                                           StoredOf(*model.inputs()[i])));
    return inputs;
  }
  const auto files = FilesFor(names, args.inputs, "--input");
  if (!files.ok()) return files.status();
  for (size_t i = 0; i < names.size(); ++i) {
    if ((*files)[i].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no file for the input '", names[i], "'"));
    }
    const auto array = npy::Read((*files)[i]);
    if (!array.ok()) return array.status();
    auto images =
        ToImages(*array, model.inputs()[i]->type, StoredOf(*model.inputs()[i]));
    if (!images.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat((*files)[i], ": input '", names[i],
                       "': ", images.status().message()));
    }
    if (images->count == 0 || (i > 0 && images->count != inputs.images)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: %d images, %s", (*files)[i], images->count,
          images->count == 0 ? "at least 1 is needed"
                             : "another number than of the first input"));
    }
    if (images->clipped > 0) {
      std::fprintf(
          stderr,
          "systole: warning: %s: %s of %s values lie outside %s and are "
          "clipped\n",
          Printable((*files)[i]).c_str(), Thousands(images->clipped).c_str(),
          Thousands(array->elements()).c_str(),
          RangeText(model.inputs()[i]->type).c_str());
    }
    inputs.clipped += images->clipped;
    inputs.images = images->count;
    inputs.stacked |= images->stacked;
    inputs.quantised = inputs.quantised || images->quantised;
    inputs.values.push_back(std::move(images->values));
  }
  return inputs;
}

absl::StatusOr<Result> RunAll(const RunArgs& args,
                              const runtime::CompiledModel& model,
                              const ModelInputs& inputs, ModelCheck* check) {
  Progress progress(args.quiet);
  std::vector<const Program*> programs;
  for (const Program& program : model.programs) programs.push_back(&program);
  profile::Recorder recorder(programs);
  const bool recorded = args.backend == "rtl" && !args.checked;
  auto device = OpenDevice(args, model.preset(), progress,
                           recorded ? &recorder : nullptr, programs.size());
  if (!device.ok()) return device.status();
  runtime::Runner runner(**device, model);
  Result result;
  result.stacked = inputs.stacked;
  for (int64_t first = 0; first < inputs.images; first += model.batch()) {
    const int64_t images = std::min(model.batch(), inputs.images - first);
    progress.set_label(absl::StrFormat("%s: image %d of %d", model.name, first,
                                       inputs.images));
    std::vector<Literal> batch;
    for (size_t i = 0; i < inputs.values.size(); ++i) {
      const int64_t n = model.inputs()[i]->type.elements();
      batch.push_back(inputs.values[i].Slice(first * n, images * n));
    }
    if (args.reset_variables) {
      runner.ResetVariables();
      if (check != nullptr) check->ResetVariables();
    }
    auto run = runner.Run(batch);
    if (Interrupted()) return Stopped(first, inputs.images);
    if (!run.ok()) return WithWaveform(**device, run.status());
    if (check != nullptr) {
      if (absl::Status s = check->Compare(model, batch, *run); !s.ok())
        return s;
      if (const auto& wrong = check->first()) {
        const size_t later = programs.size() - 1 - wrong->program;
        RecordWrong(**device, static_cast<int>(later), wrong->cycle);
        result.wrong = WithWaveform(**device, absl::DataLossError(""));
      }
    }
    if (!args.tensors.empty()) {
      for (const auto& [name, values] : run->tensors) {
        std::vector<int8_t>& all = result.tensors[name];
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    result.images += images;
    result.cycles += static_cast<int64_t>(run->stats.cycles);
    result.host_cpu_seconds += run->stats.host_cpu_seconds;
    result.saturated |= run->stats.acc_saturated;
    result.ecc.Add(run->stats.ecc);
    result.runs.push_back(
        {{"images", images},
         {"cycles", args.backend != "iss" ? Json(run->stats.cycles) : Json()}});
    for (size_t i = 0; i < result.outputs.size(); ++i)
      result.outputs[i].Append(run->outputs[i]);
    if (first > 0) continue;
    if (recorded) {
      DescribeLayers(programs, recorder, (*device)->preset(),
                     inputs.images > model.batch(), result.layers,
                     result.layers_json);
    }
    result.outputs = std::move(run->outputs);
  }
  return result;
}

struct OutputFile {
  std::string name, file, description;
  Literal values;
  int64_t elements = 0;  // of an image
};

absl::StatusOr<std::vector<OutputFile>> AddOutputs(
    const RunArgs& args, const runtime::CompiledModel& model,
    const std::vector<std::string>& files, const Result& result,
    FileSet& written) {
  const std::vector<std::string> names = NamesOf(model, true);
  std::vector<OutputFile> outputs;
  for (size_t i = 0; i < names.size(); ++i) {
    const ir::Output from = model.outputs()[i];
    const ir::Type& type = from.node->type;
    const bool convert =
        args.dequantise && type.quantization && from.stored != "i1";
    OutputFile output{names[i], files[i], "", result.outputs[i],
                      type.elements()};
    if (convert) output.values = Dequantised(output.values, type);
    const npy::Array array = FromImages(output.values, type, result.images,
                                        from.stored, result.stacked);
    output.description = npy::Describe(array);
    if (!output.file.empty()) {
      if (absl::Status s = written.Add(npy::Serialize(array), output.file);
          !s.ok())
        return s;
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// A file a tensor, named after it.
absl::Status AddTensors(const std::string& folder,
                        const runtime::CompiledModel& model,
                        const Result& result, FileSet& written) {
  Json index = Json::array();
  std::set<std::string> files;
  for (const Program& program : model.programs) {
    for (const TensorInfo& tensor : program.tensors) {
      const auto values = result.tensors.find(tensor.name);
      if (values == result.tensors.end()) continue;
      std::string file = tensor.name;
      for (char& c : file) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' &&
            c != '-')
          c = '_';
      }
      while (!files.insert(file).second) file += '_';
      npy::Array array;
      array.type = tensor.type == ElementType::kInt32 ? npy::Type::kInt32
                                                      : npy::Type::kInt8;
      array.shape = {result.images * model.images(), tensor.h, tensor.w,
                     tensor.channels};
      array.bytes.assign(values->second.begin(), values->second.end());
      const std::string path = absl::StrCat(folder, "/", file, ".npy");
      if (absl::Status s = written.Add(npy::Serialize(array), path); !s.ok())
        return s;
      index.push_back({{"name", tensor.name},
                       {"file", file + ".npy"},
                       {"scale", tensor.scale},
                       {"zero_point", tensor.zero_point}});
    }
  }
  return AddJson(folder + "/index.json", index, written);
}

Literal ImageOf(const OutputFile& output, int64_t image) {
  return output.values.Slice(image * output.elements, output.elements);
}

// Index and value of the largest element of an image.
std::string Largest(const OutputFile& output, int64_t image) {
  return ImageOf(output, image).VisitQuant([](const auto& v) {
    const auto at = std::max_element(v.begin(), v.end());
    return absl::StrCat("[", at - v.begin(), "] = ", *at);
  });
}

void PrintTable(const RunArgs& args, const runtime::CompiledModel& model,
                const ModelInputs& inputs, const Result& result,
                const std::vector<OutputFile>& outputs) {
  std::printf("%s on %s, %s, %s, %d a run%s\n\n", Printable(args.model).c_str(),
              args.backend.c_str(), model.preset().c_str(),
              Counted(result.images, "image").c_str(),
              static_cast<int>(model.batch()),
              inputs.quantised ? "; float32 inputs quantised" : "");
  constexpr int64_t kShown = 8;
  std::vector<std::string> head = {"output", "values"};
  const int64_t shown = std::min(kShown, result.images);
  for (int64_t i = 0; i < shown; ++i)
    head.push_back(absl::StrCat("image ", i, ": largest"));
  Table table(head);
  for (const OutputFile& output : outputs) {
    std::vector<std::string> row = {output.name, output.description};
    for (int64_t i = 0; i < shown; ++i) row.push_back(Largest(output, i));
    table.Add(row);
  }
  std::printf("%s\n%s", table.ToString().c_str(), result.layers.c_str());
  if (result.cycles > 0) {
    std::printf(
        "cycles: %s, %s a run (%.2f s)\n", Thousands(result.cycles).c_str(),
        Thousands(result.cycles / static_cast<int64_t>(result.runs.size()))
            .c_str(),
        result.host_cpu_seconds);
  }
  if (result.saturated)
    std::printf("sums:   some went beyond int32 and were saturated\n");
  PrintEcc(result.ecc);
}

Json ToJson(const RunArgs& args, const runtime::CompiledModel& model,
            const ModelInputs& inputs, const Result& result,
            const std::vector<OutputFile>& outputs, const ModelCheck* check) {
  Json json;
  json["model"] = model.name;
  json["program"] = args.model;
  json["backend"] = args.backend;
  json["preset"] = model.preset();
  json["images"] = result.images;
  json["images_a_run"] = model.batch();
  json["inputs_quantised"] = inputs.quantised;
  json["inputs_clipped"] = inputs.clipped;
  json["cycles"] = args.backend != "iss" ? Json(result.cycles) : Json();
  json["host_cpu_seconds"] = result.host_cpu_seconds;
  json["sums_saturated"] = result.saturated;
  if (result.ecc.corrected != 0) json["ecc_corrected"] = result.ecc.corrected;
  json["runs"] = result.runs;
  json["layers"] = result.layers_json;
  json["outputs"] = Json::array();
  for (const OutputFile& output : outputs) {
    Json largest = Json::array();
    for (int64_t i = 0; i < result.images; ++i) {
      largest.push_back(ImageOf(output, i).VisitQuant([](const auto& v) {
        return std::max_element(v.begin(), v.end()) - v.begin();
      }));
    }
    json["outputs"].push_back(
        {{"name", output.name},
         {"values", output.description},
         {"file", output.file.empty() ? Json() : Json(output.file)},
         {"index_of_largest", largest}});
  }
  json["check"] = nullptr;
  if (check != nullptr) {
    json["check"] = {{"bit_exact", check->mismatches().empty()},
                     {"tensors", Json::object()},
                     {"mismatches", check->mismatches()}};
    for (const auto& [tensor, equal] : check->tensors())
      json["check"]["tensors"][tensor] = equal;
  }
  return json;
}

}  // namespace

absl::Status RunModel(const RunArgs& args) {
  const auto model = ReadOrBuild(args);
  if (!model.ok()) return OneLine(model.status());
  const auto inputs = ReadInputs(args, *model);
  if (!inputs.ok()) return OneLine(inputs.status());
  const auto files = FilesFor(NamesOf(*model, true), args.outputs, "--output");
  if (!files.ok()) return OneLine(files.status());
  absl::Status s = CheckPlaces(args, *files, *model, inputs->images);
  if (!s.ok()) return s;
  absl::StatusOr<runtime::Source> source;
  std::optional<ModelCheck> check;
  if (!args.check.empty()) {
    source =
        runtime::ReadSource(args.check, nullptr, FindPreset(model->preset()),
                            args.module.signature, true);
    if (!source.ok()) return OneLine(source.status());
    check.emplace(*source);
  }
  ModelCheck* const checker = check ? &*check : nullptr;
  const auto result = RunAll(args, *model, *inputs, checker);
  if (!result.ok()) return result.status();
  FileSet written;
  const auto outputs = AddOutputs(args, *model, *files, *result, written);
  if (!outputs.ok()) return outputs.status();
  if (!args.tensors.empty())
    s = AddTensors(args.tensors, *model, *result, written);
  if (!s.ok()) return s;
  const Json json = ToJson(args, *model, *inputs, *result, *outputs, checker);
  if (args.reports_given && !args.reports.empty())
    s = AddJson(args.reports + "/run.json", json, written);
  if (s.ok()) s = written.Commit();
  if (!s.ok()) return s;
  if (args.json) {
    PrintJson(json);
  } else {
    PrintTable(args, *model, *inputs, *result, *outputs);
    if (checker != nullptr) {
      std::printf("checked: %s, %s\n",
                  Counted(checker->tensors().size(), "tensor").c_str(),
                  Counted(checker->mismatches().size(), "mismatch").c_str());
    }
  }
  if (checker == nullptr || checker->mismatches().empty())
    return absl::OkStatus();
  std::string text = Counted(checker->mismatches().size(), "mismatch") + ":";
  for (const std::string& mismatch : checker->mismatches())
    text += "\n  " + Printable(mismatch);
  return absl::DataLossError(absl::StrCat(text, result->wrong.message()));
}

}  // namespace systole::tools
