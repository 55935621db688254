// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/model_check.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/tools/checker.h"
#include "host/tools/tensor_io.h"
#include "verif/golden/interpreter.h"

namespace systole::tools {
namespace {

using ir::Literal;

absl::Span<const uint8_t> BytesOf(const std::vector<int8_t>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size()};
}

std::vector<Literal> ImageOf(const std::vector<ir::Node*>& parameters,
                             const std::vector<Literal>& inputs,
                             int64_t image) {
  std::vector<Literal> one;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t elements = parameters[i]->type.elements();
    one.push_back(inputs[i].Slice(image * elements, elements));
  }
  return one;
}

}  // namespace

void ModelCheck::Record(const std::string& tensor,
                        const std::string& mismatch) {
  const auto entry = tensors_.emplace(tensor, true).first;
  if (mismatch.empty()) return;
  entry->second = false;
  mismatches_.push_back(mismatch);
}

absl::Status ModelCheck::RunPart(const ir::Module& part, bool first,
                                 const std::vector<Literal>& inputs,
                                 int64_t images, Values& values) const {
  const std::vector<ir::Node*> parameters = part.inputs();
  std::vector<Literal> given = inputs;
  if (!first) {
    given.clear();
    for (const ir::Node* p : parameters) {
      given.push_back(values.at(p->attr<ir::ParameterAttributes>().name));
    }
  }
  std::vector<Literal> results;
  for (int64_t image = 0; image < images; ++image) {
    auto one = golden::RunModule(part, ImageOf(parameters, given, image));
    if (!one.ok()) return one.status();
    if (image == 0) {
      results = *std::move(one);
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) results[i].Append((*one)[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    values[part.outputs[i].name] = std::move(results[i]);
  }
  return absl::OkStatus();
}

absl::Status ModelCheck::CompareProgram(
    size_t number, const model::Network& network, const Program& program,
    const RunStats& stats, const runtime::BatchRun& run, Values& values) {
  if (network.layers.empty()) return absl::OkStatus();
  Inputs inputs;
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    inputs.push_back(
        values.at(network.input(static_cast<int>(i)).name).values<int8_t>());
  }
  const auto expected = GoldenTensors(network, inputs, false);
  if (!expected.ok()) return expected.status();
  std::map<std::string, const ExpectedTensor*> wanted;
  for (const ExpectedTensor& e : *expected) wanted[e.name] = &e;
  for (const int output : network.outputs) {
    const std::string& name = network.tensors[output].name;
    const absl::Span<const uint8_t> bytes = wanted.at(name)->bytes;
    values[name] = Literal(std::vector<int8_t>(bytes.begin(), bytes.end()));
  }
  const Preset& preset = *FindPreset(program.preset);
  for (const LayerInfo& layer : program.layers) {
    const auto got = run.tensors.find(layer.output);
    if (got == run.tensors.end()) continue;  // stayed in the unified buffer
    const auto want = wanted.find(layer.output);
    if (want == wanted.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the model to check against has no '", layer.output, "'"));
    }
    TensorInfo tensor = *program.FindTensor(layer.output);
    tensor.n = run.images * source_.lowered.images;
    std::optional<uint64_t> cycle;
    Record(layer.output, DescribeMismatch(program, preset, layer, tensor,
                                          BytesOf(got->second),
                                          want->second->bytes, stats, &cycle));
    if (cycle && !first_) first_ = Place{number, *cycle};
  }
  return absl::OkStatus();
}

absl::Status ModelCheck::CompareLayers(const runtime::CompiledModel& model,
                                       const std::vector<Literal>& inputs,
                                       const runtime::BatchRun& run) {
  const lower::Lowered& lowered = source_.lowered;
  if (model.programs.size() != lowered.networks.size()) {
    return absl::InvalidArgumentError(
        "the model to check against is divided in another way");
  }
  Values values;
  for (size_t i = 0; i < lowered.networks.size(); ++i) {
    absl::Status status =
        RunPart(*lowered.parts[i], i == 0, inputs, run.images, values);
    if (status.ok()) {
      status = CompareProgram(i, lowered.networks[i], model.programs[i],
                              run.runs[i], run, values);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<Literal> ModelCheck::WithVariables(
    const std::vector<ir::Node*>& parameters,
    const std::vector<Literal>& inputs) const {
  std::vector<Literal> all;
  auto next = inputs.begin();
  for (const ir::Node* p : parameters) {
    const auto kept = kept_.find(p->attr<ir::ParameterAttributes>().name);
    if (p->operands.empty()) {
      all.push_back(*next++);
    } else {
      all.push_back(kept == kept_.end() ? p->operands[0]->literal()
                                        : kept->second);
    }
  }
  return all;
}

absl::Status ModelCheck::CompareOutputs(const runtime::CompiledModel& model,
                                        const std::vector<Literal>& inputs,
                                        const runtime::BatchRun& run) {
  if (source_.module == nullptr) return absl::OkStatus();  // as its tensors
  const ir::Module& module = *source_.module;
  const std::vector<ir::Output> outputs = model.outputs();
  std::set<std::string> variables;
  for (const auto& v : model.variables())
    variables.insert(v.parameter->attr<ir::ParameterAttributes>().name);
  for (int64_t image = 0; image < run.images; ++image) {
    auto all = golden::RunModule(
        module, ImageOf(module.inputs(), WithVariables(module.inputs(), inputs),
                        image));
    if (!all.ok()) return all.status();
    std::vector<Literal> want;
    for (size_t i = 0; i < all->size(); ++i) {
      const std::string& name = module.outputs[i].name;
      if (variables.count(name) > 0) {
        kept_.insert_or_assign(name, std::move((*all)[i]));
      } else {
        want.push_back(std::move((*all)[i]));
      }
    }
    for (size_t i = 0; i < want.size(); ++i) {
      const ir::Output& output = outputs[i];
      const int64_t elements = output.node->type.elements();
      const Literal got = run.outputs[i].Slice(image * elements, elements);
      std::string mismatch;
      if (!(got == want[i])) {
        const std::vector<uint8_t> a = got.Bytes(), b = want[i].Bytes();
        size_t at = 0;
        while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
        mismatch =
            absl::StrCat("output '", output.name, "' of image ", image,
                         ": element ", at / ir::ElementBytes(got.element()),
                         " is not what the golden interpreter gives");
      }
      Record(absl::StrCat("output ", output.name), mismatch);
    }
  }
  return absl::OkStatus();
}

absl::Status ModelCheck::Compare(const runtime::CompiledModel& model,
                                 const std::vector<Literal>& inputs,
                                 const runtime::BatchRun& run) {
  const ir::Module& head = source_.lowered.head();
  const ir::Module& tail = source_.lowered.tail();
  const ir::Module &first = *model.parts.front(), &last = *model.parts.back();
  bool same = head.inputs().size() == first.inputs().size() &&
              tail.outputs.size() == last.outputs.size();
  for (size_t i = 0; same && i < head.inputs().size(); ++i) {
    same = head.inputs()[i]->type == first.inputs()[i]->type;
  }
  for (size_t i = 0; same && i < tail.outputs.size(); ++i) {
    same = tail.outputs[i].node->type == last.outputs[i].node->type;
  }
  if (!same) {
    return absl::InvalidArgumentError(
        "the model to check against has other inputs or outputs");
  }
  const absl::Status status =
      CompareLayers(model, WithVariables(head.inputs(), inputs), run);
  return status.ok() ? CompareOutputs(model, inputs, run) : status;
}

}  // namespace systole::tools
