// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/model_check.h"

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

absl::Status ModelCheck::CompareLayers(const runtime::CompiledModel& model,
                                       const std::vector<Literal>& inputs,
                                       const runtime::BatchRun& run) {
  const model::Network& network = source_.lowered.network;
  // The network's inputs, of all images.
  std::map<std::string, std::vector<int8_t>> values;
  for (int64_t image = 0; image < run.images; ++image) {
    const ir::Module& head = *source_.lowered.head;
    const auto one =
        golden::RunModule(head, ImageOf(head.inputs(), inputs, image));
    if (!one.ok()) return one.status();
    for (size_t i = 0; i < one->size(); ++i) {
      if ((*one)[i].element() != ir::ElementType::kInt8) continue;
      const auto& from = (*one)[i].values<int8_t>();
      auto& to = values[head.outputs[i].name];
      to.insert(to.end(), from.begin(), from.end());
    }
  }
  Inputs network_inputs;
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    network_inputs.push_back(values[network.input(static_cast<int>(i)).name]);
  }
  const auto expected = GoldenTensors(network, network_inputs, false);
  if (!expected.ok()) return expected.status();
  const Preset& preset = *FindPreset(model.program.preset);
  for (const LayerInfo& layer : model.program.layers) {
    const auto got = run.tensors.find(layer.output);
    if (got == run.tensors.end()) continue;  // stayed in the unified buffer
    const ExpectedTensor* want = nullptr;
    for (const ExpectedTensor& e : *expected) {
      if (e.name == layer.output) want = &e;
    }
    if (want == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the model to check against has no '", layer.output, "'"));
    }
    TensorInfo tensor = *model.program.FindTensor(layer.output);
    tensor.n = run.images;
    Record(layer.output,
           DescribeMismatch(model.program, preset, layer, tensor,
                            BytesOf(got->second), want->bytes, run.stats));
  }
  return absl::OkStatus();
}

absl::Status ModelCheck::CompareOutputs(const runtime::CompiledModel& model,
                                        const std::vector<Literal>& inputs,
                                        const runtime::BatchRun& run) {
  if (source_.module == nullptr) return absl::OkStatus();  // as its tensors
  const ir::Module& module = *source_.module;
  for (int64_t image = 0; image < run.images; ++image) {
    const auto want =
        golden::RunModule(module, ImageOf(module.inputs(), inputs, image));
    if (!want.ok()) return want.status();
    for (size_t i = 0; i < want->size(); ++i) {
      const ir::Output& output = model.outputs()[i];
      const int64_t elements = output.node->type.elements();
      const Literal got = run.outputs[i].Slice(image * elements, elements);
      std::string mismatch;
      if (!(got == (*want)[i])) {
        const std::vector<uint8_t> a = got.Bytes(), b = (*want)[i].Bytes();
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
  const ir::Module& head = *source_.lowered.head;
  const ir::Module& tail = *source_.lowered.tail;
  bool same = head.inputs().size() == model.inputs().size() &&
              tail.outputs.size() == model.outputs().size();
  for (size_t i = 0; same && i < head.inputs().size(); ++i) {
    same = head.inputs()[i]->type == model.inputs()[i]->type;
  }
  for (size_t i = 0; same && i < tail.outputs.size(); ++i) {
    same = tail.outputs[i].node->type == model.outputs()[i].node->type;
  }
  if (!same) {
    return absl::InvalidArgumentError(
        "the model to check against has other inputs or outputs");
  }
  const absl::Status status = CompareLayers(model, inputs, run);
  return status.ok() ? CompareOutputs(model, inputs, run) : status;
}

}  // namespace systole::tools
