// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/driver/run_loop.h"
#include "host/ir/evaluate.h"

namespace systole::runtime {
namespace {

using ir::Literal;

// Runs a host part image by image; its inputs are in the order of its
// parameters.
absl::StatusOr<std::vector<Literal>> Evaluate(
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

absl::Status Runner::RunPart(const ir::Module& part, Values& values,
                             BatchRun& run) const {
  const bool first = &part == model_.parts.front().get();
  const bool last = &part == model_.parts.back().get();
  const std::vector<ir::Node*> parameters = part.inputs();
  std::vector<const Literal*> inputs;
  for (size_t i = 0; i < parameters.size(); ++i) {
    // Parameters of the first part may have equal names.
    inputs.push_back(&values.at(
        first ? absl::StrCat(i)
              : parameters[i]->attr<ir::ParameterAttributes>().name));
  }
  absl::StatusOr<std::vector<Literal>> outputs =
      Evaluate(part, inputs, run.images);
  if (!outputs.ok()) return outputs.status();
  if (last) {
    run.outputs = *std::move(outputs);
    return absl::OkStatus();
  }
  if (first) values.clear();
  for (size_t i = 0; i < outputs->size(); ++i) {
    values[part.outputs[i].name] = std::move((*outputs)[i]);
  }
  return absl::OkStatus();
}

absl::Status Runner::RunProgram(const Program& program, Values& values,
                                BatchRun& run) const {
  systole::Device& device = loader_.device();
  std::vector<std::vector<uint8_t>> inputs(program.tensors.size());
  std::vector<Argument> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& tensor = program.tensors[i];
    if (!tensor.is_input) continue;
    inputs[i] = values.at(tensor.name).Bytes();
    inputs[i].resize(tensor.elements(), 0);
    arguments.push_back({&tensor, inputs[i]});
  }
  absl::StatusOr<RunStats> stats = RunLoaded(device, program, arguments);
  if (!stats.ok()) return stats.status();
  run.stats.Add(*stats);
  run.runs.push_back(*std::move(stats));
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.type != ElementType::kInt8) continue;
    const absl::StatusOr<std::vector<uint8_t>> bytes =
        device.ReadTensor(tensor);
    if (!bytes.ok()) return bytes.status();
    std::vector<int8_t> dense(bytes->begin(), bytes->end());
    dense.resize(dense.size() / tensor.n * run.images * model_.images());
    if (tensor.is_output) values[tensor.name] = Literal(dense);
    run.tensors[tensor.name] = std::move(dense);
  }
  return absl::OkStatus();
}

void Runner::ResetVariables() {
  variables_ = model_.variables();
  kept_.clear();
  for (const CompiledModel::Variable& v : variables_)
    kept_.push_back(v.parameter->operands[0]->literal());
}

absl::StatusOr<BatchRun> Runner::Run(const std::vector<Literal>& inputs) {
  const absl::StatusOr<int64_t> images = Images(inputs);
  if (!images.ok()) return images.status();
  // Loading once is enough: no program writes the constants.
  if (loaded_ == nullptr) {
    auto loaded = loader_.Load(model_);
    if (!loaded.ok()) return loaded.status();
    loaded_ = *std::move(loaded);
  }
  const std::vector<Program>& programs = loaded_->programs();
  BatchRun run;
  run.images = *images;
  Values values;
  std::vector<Literal> all = inputs;
  for (size_t v = 0; v < kept_.size(); ++v)
    all.insert(all.begin() + static_cast<ptrdiff_t>(variables_[v].input),
               kept_[v]);
  for (size_t i = 0; i < all.size(); ++i) values[absl::StrCat(i)] = all[i];
  for (size_t i = 0; i < model_.parts.size(); ++i) {
    absl::Status status = RunPart(*model_.parts[i], values, run);
    if (status.ok() && i < programs.size()) {
      status = RunProgram(programs[i], values, run);
    }
    if (!status.ok()) return status;
  }
  std::vector<size_t> outputs;
  for (size_t v = 0; v < kept_.size(); ++v) {
    outputs.push_back(variables_[v].output);
    kept_[v] = run.outputs[outputs.back()];
  }
  std::sort(outputs.rbegin(), outputs.rend());
  for (const size_t output : outputs)
    run.outputs.erase(run.outputs.begin() + static_cast<ptrdiff_t>(output));
  return run;
}

}  // namespace systole::runtime
