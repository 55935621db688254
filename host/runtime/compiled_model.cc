// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/compiled_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/runtime/model_section.h"

namespace systole::runtime {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// That a tensor of the device holds values of a type of the host.
absl::Status CheckTensor(const TensorInfo& tensor, const ir::Type& type) {
  const bool same = tensor.type == ElementType::kInt8 &&
                    type.element == ir::ElementType::kInt8 &&
                    type.elements() == tensor.elements() / tensor.n &&
                    type.quantization && !type.quantization->per_channel() &&
                    type.quantization->zero_point == tensor.zero_point;
  if (same) return absl::OkStatus();
  return Bad("tensor '", tensor.name, "' of the program is no ",
             ir::TypeText(type));
}

const ir::Output* FindOutput(const ir::Module& module,
                             const std::string& name) {
  for (const ir::Output& output : module.outputs) {
    if (output.name == name) return &output;
  }
  return nullptr;
}

absl::Status CheckComputable(const ir::Module& module) {
  for (const auto& node : module.nodes()) {
    if (node->op != ir::Op::kParameter && !ir::HostComputes(node->op)) {
      return Bad("node '", node->name, "': the host does not compute ",
                 ir::OpName(node->op));
    }
  }
  return absl::OkStatus();
}

// That every value finds its place.
absl::Status CheckParts(const CompiledModel& model) {
  for (const ir::Module* part : {model.head.get(), model.tail.get()}) {
    const absl::Status status = CheckComputable(*part);
    if (!status.ok()) return status;
  }
  int64_t batch = 0;
  for (const TensorInfo& tensor : model.program.tensors) {
    if (!tensor.is_input && !tensor.is_output) continue;
    if (batch == 0) batch = tensor.n;
    if (tensor.n != batch) {
      return Bad("tensor '", tensor.name, "' has ", tensor.n,
                 " images, others ", batch);
    }
    if (!tensor.is_input) continue;
    const ir::Output* value = FindOutput(*model.head, tensor.name);
    if (value == nullptr) {
      return Bad("nothing gives the program's input '", tensor.name, "'");
    }
    const absl::Status status = CheckTensor(tensor, value->node->type);
    if (!status.ok()) return status;
  }
  for (const ir::Node* parameter : model.tail->inputs()) {
    const std::string& name = parameter->attr<ir::ParameterAttributes>().name;
    const TensorInfo* tensor = model.program.FindTensor(name);
    const ir::Output* value = FindOutput(*model.head, name);
    if (tensor != nullptr && tensor->is_output) {
      const absl::Status status = CheckTensor(*tensor, parameter->type);
      if (!status.ok()) return status;
    } else if (value == nullptr || value->node->type != parameter->type) {
      return Bad("nothing gives '", name, "', an input of the host's part");
    }
  }
  if (batch == 0) return Bad("the program has neither input nor output");
  return absl::OkStatus();
}

}  // namespace

int64_t CompiledModel::batch() const {
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.is_input || tensor.is_output) return tensor.n;
  }
  return 1;
}

Program ToProgram(const CompiledModel& model) {
  Program program = model.program;
  program.sections.push_back(ToSection(model));
  return program;
}

absl::StatusOr<CompiledModel> FromProgram(Program program,
                                          const std::string& name) {
  CompiledModel model;
  const Section* section = program.FindSection(kModelSection);
  if (section == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": a program without a model"));
  }
  absl::Status status = ParseSection(*section, model);
  program.sections.erase(program.sections.begin() +
                         (section - program.sections.data()));
  model.program = std::move(program);
  if (status.ok()) status = CheckParts(model);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(name, ": ", status.message()));
  }
  return model;
}

absl::Status WriteModel(const CompiledModel& model, const std::string& path) {
  return WriteProgram(ToProgram(model), path);
}

absl::StatusOr<CompiledModel> ReadModel(const std::string& path) {
  absl::StatusOr<Program> program = ReadProgram(path);
  if (!program.ok()) return program.status();
  return FromProgram(*std::move(program), path);
}

}  // namespace systole::runtime
