// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/compiled_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/program/write.h"
#include "host/runtime/model_section.h"

namespace systole::runtime {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

const std::string& NameOf(const ir::Node& parameter) {
  return parameter.attr<ir::ParameterAttributes>().name;
}

// The initial value of a variable; null for other inputs.
const ir::Literal* FirstOf(const ir::Node* parameter) {
  return parameter->operands.empty() ? nullptr
                                     : &parameter->operands[0]->literal();
}

// Checks that each variable has a next value.
absl::Status CheckVariables(const CompiledModel& model, int64_t batch) {
  const std::vector<CompiledModel::Variable> variables = model.variables();
  for (const ir::Node* input : model.parts.front()->inputs()) {
    if (FirstOf(input) == nullptr) continue;
    const auto found =
        std::find_if(variables.begin(), variables.end(),
                     [&](const auto& v) { return v.parameter == input; });
    if (found == variables.end() ||
        model.parts.back()->outputs[found->output].node.type() != input->type) {
      return Bad("nothing gives the variable '", NameOf(*input),
                 "' its next value");
    }
  }
  if (variables.empty() || batch == 1) return absl::OkStatus();
  return Bad("the model keeps '", NameOf(*variables[0].parameter),
             "' from image to image: a run takes one image, not ", batch);
}

// Checks that a tensor of the device has values of a host type, which is of so
// many images.
absl::Status CheckTensor(const TensorInfo& tensor, const ir::Type& type,
                         int64_t images) {
  const bool same = tensor.type == ElementType::kInt8 &&
                    type.element == ir::ElementType::kInt8 &&
                    type.elements() == tensor.elements() / tensor.n * images &&
                    type.quantization && !type.quantization->per_channel() &&
                    type.quantization->zero_point == tensor.zero_point;
  if (same) return absl::OkStatus();
  return Bad("tensor '", tensor.name, "' of the program is no ",
             ir::TypeText(type));
}

// Checks that every value that a part or a program reads is provided by an
// earlier one.
absl::Status CheckParts(const CompiledModel& model) {
  if (model.parts.size() != model.programs.size() + 1) {
    return Bad(model.parts.size(), " parts of the host for ",
               model.programs.size(), " programs");
  }
  struct Given {  // by a part or a program
    const ir::Output* value = nullptr;
    const TensorInfo* tensor = nullptr;
  };
  std::map<std::string, Given> given;
  int64_t batch = 0;
  const int64_t images = model.images();
  absl::Status status;
  for (size_t i = 0; i < model.parts.size(); ++i) {
    const ir::Module& part = *model.parts[i];
    for (const ir::Node* parameter :
         i == 0 ? std::vector<ir::Node*>() : part.inputs()) {
      const std::string& name = parameter->attr<ir::ParameterAttributes>().name;
      const auto found = given.find(name);
      if (found != given.end() && found->second.tensor != nullptr) {
        status = CheckTensor(*found->second.tensor, parameter->type, images);
        if (!status.ok()) return status;
      } else if (found == given.end() ||
                 found->second.value->node->type != parameter->type) {
        return Bad("nothing gives '", name, "', an input of the host's part");
      }
    }
    for (const ir::Output& output : part.outputs) {
      if (i + 1 < model.parts.size()) given[output.name] = {&output, nullptr};
    }
    if (i == model.programs.size()) break;
    const Program& program = model.programs[i];
    if (program.preset != model.preset()) {
      return Bad("programs for '", model.preset(), "' and '", program.preset,
                 "'");
    }
    for (const TensorInfo& tensor : program.tensors) {
      if (!tensor.is_input && !tensor.is_output) continue;
      if (batch == 0) batch = tensor.n;
      if (tensor.n != batch) {
        return Bad("tensor '", tensor.name, "' has ", tensor.n,
                   " images, others ", batch);
      }
      if (!tensor.is_input) continue;
      const auto found = given.find(tensor.name);
      if (found == given.end()) {
        return Bad("nothing gives the program's input '", tensor.name, "'");
      }
      const TensorInfo* const other = found->second.tensor;
      if (other == nullptr) {
        status = CheckTensor(tensor, found->second.value->node->type, images);
      } else if (other->type != tensor.type ||
                 other->elements() != tensor.elements() ||
                 other->zero_point != tensor.zero_point) {
        status = Bad("tensor '", tensor.name, "' is another in program ", i);
      }
      if (!status.ok()) return status;
    }
    for (const TensorInfo& tensor : program.tensors) {
      if (tensor.is_output) given[tensor.name] = {nullptr, &tensor};
    }
  }
  // A program without tensors only ends: the host computes all.
  if (batch == 0 && model.programs.front().tensors.empty()) batch = 1;
  if (batch == 0) return Bad("the program has neither input nor output");
  if (batch % images != 0)
    return Bad("programs of ", batch, " images for values of ", images);
  return CheckVariables(model, batch / images);
}

// Checks that the programs can be placed anywhere, with at most one part of the
// memory for arguments and one for temporaries, because these are shared.
absl::Status CheckMemory(const CompiledModel& model) {
  for (size_t i = 0; i < model.programs.size(); ++i) {
    const Program& program = model.programs[i];
    std::array<int, kNumMemoryUses> parts = {};
    for (const MemorySegment& part : program.memory)
      ++parts[static_cast<int>(part.use)];
    if (program.memory.empty())
      return Bad("program ", i, " of the model has fixed addresses");
    for (const MemoryUse use :
         {MemoryUse::kArguments, MemoryUse::kTemporaries}) {
      if (parts[static_cast<int>(use)] > 1)
        return Bad("program ", i, " has several parts of memory for ",
                   MemoryUseName(use));
    }
    for (const TensorInfo& tensor : program.tensors) {
      const bool argument = tensor.is_input || tensor.is_output;
      for (const MemorySegment& part : program.memory) {
        const bool inside = tensor.hbm_addr >= part.hbm_addr &&
                            tensor.hbm_addr < part.hbm_addr + part.bytes;
        if (inside && argument != (part.use == MemoryUse::kArguments))
          return Bad("tensor '", tensor.name, "' of program ", i,
                     " is in the memory for ", MemoryUseName(part.use));
      }
    }
  }
  return absl::OkStatus();
}

constexpr char kProgramSection[] = "program ";

// The sections of a model, besides its first program.
std::vector<Section> SectionsOf(const CompiledModel& model) {
  std::vector<Section> sections = {ToSection(model)};
  for (size_t i = 1; i < model.programs.size(); ++i) {
    sections.push_back({absl::StrCat(kProgramSection, i), 1,
                        SerializeProgram(model.programs[i])});
  }
  return sections;
}

}  // namespace

std::vector<ir::Node*> CompiledModel::inputs() const {
  std::vector<ir::Node*> inputs = parts.front()->inputs();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), FirstOf),
               inputs.end());
  return inputs;
}

std::vector<ir::Output> CompiledModel::outputs() const {
  std::vector<ir::Output> outputs = parts.back()->outputs;
  const std::vector<Variable> kept = variables();
  for (auto v = kept.rbegin(); v != kept.rend(); ++v)
    outputs.erase(std::find_if(outputs.begin(), outputs.end(), [&](auto& o) {
      return o.name == NameOf(*v->parameter);
    }));
  return outputs;
}

std::vector<CompiledModel::Variable> CompiledModel::VariablesOf(
    const std::vector<std::unique_ptr<ir::Module>>& parts) {
  std::vector<Variable> variables;
  const std::vector<ir::Node*> inputs = parts.front()->inputs();
  const std::vector<ir::Output>& outputs = parts.back()->outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (FirstOf(inputs[i]) == nullptr) continue;
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (outputs[o].name == NameOf(*inputs[i]))
        variables.push_back({i, o, inputs[i]});
    }
  }
  return variables;
}

int64_t CompiledModel::batch() const {
  for (const TensorInfo& tensor : programs.front().tensors) {
    if (tensor.is_input || tensor.is_output) return tensor.n / images();
  }
  return 1;
}

int64_t CompiledModel::images() const {
  if (programs.empty()) return 1;
  for (const TensorInfo& tensor : programs.front().tensors) {
    if (!tensor.is_input) continue;
    const int64_t image = std::max<int64_t>(1, tensor.elements() / tensor.n);
    for (const ir::Output& output : parts.front()->outputs) {
      if (output.name == tensor.name)
        return std::max<int64_t>(1, output.node->type.elements() / image);
    }
  }
  return 1;
}

uint64_t CompiledModel::MostBytes(MemoryUse use) const {
  uint64_t most = 0;
  for (const Program& program : programs) {
    for (const MemorySegment& part : program.memory) {
      if (part.use == use) most = std::max(most, part.bytes);
    }
  }
  return most;
}

uint64_t CompiledModel::hbm_bytes() const {
  uint64_t bytes =
      MostBytes(MemoryUse::kArguments) + MostBytes(MemoryUse::kTemporaries);
  for (const Program& program : programs) {
    for (const MemorySegment& part : program.memory) {
      if (part.use == MemoryUse::kConstants || part.use == MemoryUse::kCode)
        bytes += part.bytes;
    }
  }
  return bytes;
}

Program ToProgram(const CompiledModel& model) {
  Program program = model.programs.front();
  for (Section& section : SectionsOf(model))
    program.sections.push_back(std::move(section));
  return program;
}

absl::StatusOr<CompiledModel> FromProgram(Program program,
                                          const std::string& name,
                                          bool as_written) {
  CompiledModel model;
  const Section* section = program.FindSection(kModelSection);
  if (section == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": a program without a model"));
  }
  absl::Status status = ParseSection(*section, model);
  std::vector<Section> others;
  std::vector<Program> programs;
  for (Section& s : program.sections) {
    if (s.name == absl::StrCat(kProgramSection, programs.size() + 1)) {
      auto parsed = ParseProgram(s.bytes, absl::StrCat(name, ": ", s.name));
      if (!parsed.ok()) return parsed.status();
      programs.push_back(*std::move(parsed));
    } else if (s.name != kModelSection) {
      others.push_back(std::move(s));
    }
  }
  program.sections = std::move(others);
  model.programs.push_back(std::move(program));
  for (Program& p : programs) model.programs.push_back(std::move(p));
  for (Program& p : model.programs) {
    if (as_written || !status.ok()) break;
    absl::StatusOr<Program> runs = ForChip(std::move(p));
    status = runs.status();
    if (runs.ok()) p = *std::move(runs);
  }
  if (status.ok()) status = CheckParts(model);
  if (status.ok()) status = CheckMemory(model);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(name, ": ", status.message()));
  }
  return model;
}

absl::Status WriteModel(const CompiledModel& model, const std::string& path) {
  return WriteProgram(model.programs.front(), path, SectionsOf(model));
}

absl::StatusOr<CompiledModel> ReadModel(const std::string& path) {
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  return FromProgram(*std::move(program), path);
}

}  // namespace systole::runtime
