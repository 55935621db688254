// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using Values = std::map<std::string, Literal>;  // by name, images in a row

// A part of the host, image by image. Its inputs by position.
absl::StatusOr<std::vector<Literal>> RunPart(
    const ir::Module& part, const std::vector<const Literal*>& inputs,
    int64_t images) {
  const std::vector<ir::Node*> parameters = part.inputs();
  std::vector<Literal> outputs;
  for (const ir::Output& output : part.outputs) {
    outputs.push_back(Literal::Zeros(output.node->type.element, 0));
  }
  for (int64_t image = 0; image < images; ++image) {
    std::vector<Literal> values;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const int64_t elements = parameters[i]->type.elements();
      values.push_back(inputs[i]->Slice(image * elements, elements));
    }
    const absl::StatusOr<std::vector<Literal>> results =
        ir::EvaluateModule(part, values);
    if (!results.ok()) return results.status();
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].Append((*results)[i]);
    }
  }
  return outputs;
}

}  // namespace

absl::StatusOr<int64_t> Runner::Images(
    const std::vector<Literal>& inputs) const {
  const std::vector<ir::Node*> parameters = model_.inputs();
  if (inputs.size() != parameters.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(model_.name, ": ", inputs.size(), " inputs instead of ",
                     parameters.size()));
  }
  int64_t images = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = parameters[i]->type;
    const int64_t count = inputs[i].size() / type.elements();
    if (i == 0) images = count;
    if (inputs[i].element() != type.element || count != images ||
        inputs[i].size() != images * type.elements() || images < 1 ||
        images > model_.batch()) {
      return absl::InvalidArgumentError(absl::StrCat(
          model_.name, ": input '", parameters[i]->name,
          "': ", inputs[i].size(), " values of ",
          ir::ElementTypeName(inputs[i].element()), " are not 1 to ",
          model_.batch(), " times ", ir::TypeText(type)));
    }
  }
  return images;
}

absl::StatusOr<BatchRun> Runner::Run(const std::vector<Literal>& inputs) {
  const absl::StatusOr<int64_t> images = Images(inputs);
  if (!images.ok()) return images.status();
  std::vector<const Literal*> pointers;
  for (const Literal& input : inputs) pointers.push_back(&input);
  absl::StatusOr<std::vector<Literal>> head =
      RunPart(*model_.head, pointers, *images);
  if (!head.ok()) return head.status();
  Values values;
  for (size_t i = 0; i < head->size(); ++i) {
    values[model_.head->outputs[i].name] = std::move((*head)[i]);
  }

  // What a program reads but its inputs, no program writes.
  absl::Status status =
      loaded_ ? absl::OkStatus() : device_.Load(model_.program);
  loaded_ = status.ok();
  for (const TensorInfo& tensor : model_.program.tensors) {
    if (!status.ok()) return status;
    if (!tensor.is_input) continue;
    std::vector<uint8_t> bytes = values.at(tensor.name).Bytes();
    bytes.resize(tensor.elements(), 0);
    status = device_.WriteTensor(tensor, bytes);
  }
  if (status.ok()) status = device_.Start(model_.program);
  if (!status.ok()) return status;
  absl::StatusOr<RunStats> stats = device_.Wait();
  if (!stats.ok()) return stats.status();

  BatchRun run;
  run.images = *images;
  run.stats = *std::move(stats);
  for (const TensorInfo& tensor : model_.program.tensors) {
    if (tensor.type != ElementType::kInt8) continue;
    const absl::StatusOr<std::vector<uint8_t>> bytes =
        device_.ReadTensor(tensor);
    if (!bytes.ok()) return bytes.status();
    std::vector<int8_t> dense(bytes->begin(), bytes->end());
    dense.resize(dense.size() / tensor.n * *images);
    if (tensor.is_output) values[tensor.name] = Literal(dense);
    run.tensors[tensor.name] = std::move(dense);
  }
  pointers.clear();
  for (const ir::Node* parameter : model_.tail->inputs()) {
    pointers.push_back(
        &values.at(parameter->attr<ir::ParameterAttributes>().name));
  }
  absl::StatusOr<std::vector<Literal>> outputs =
      RunPart(*model_.tail, pointers, *images);
  if (!outputs.ok()) return outputs.status();
  run.outputs = *std::move(outputs);
  return run;
}

}  // namespace systole::runtime
