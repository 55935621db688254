// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_variables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

size_t CountOf(const flatbuffers::Vector<int32_t>* values) {
  return values ? values->size() : 0;
}

// Checks the numbers of operands and results.
absl::Status CheckCounts(const tflite::Operator& op, size_t inputs,
                         size_t outputs) {
  if (CountOf(op.inputs()) == inputs && CountOf(op.outputs()) == outputs)
    return absl::OkStatus();
  return Invalid(CountOf(op.inputs()), " operands and ", CountOf(op.outputs()),
                 " results");
}

// "" for a variable without a name; all unnamed ones are the same variable.
std::string NameOf(const tflite::Operator& op) {
  const auto* options = op.options_as_VarHandleOptions();
  return options && options->shared_name() ? options->shared_name()->str() : "";
}

}  // namespace

bool Variables::Has(B code) {
  return code == B::BuiltinOperator_VAR_HANDLE ||
         code == B::BuiltinOperator_READ_VARIABLE ||
         code == B::BuiltinOperator_ASSIGN_VARIABLE ||
         code == B::BuiltinOperator_CALL_ONCE;
}

Variables::Variables(absl::Span<const uint8_t> file, const tflite::Model& model,
                     const tflite::SubGraph& main)
    : file_(file), model_(model) {
  if (main.operators() == nullptr) return;
  for (const tflite::Operator* op : *main.operators()) {
    if (op == nullptr) continue;
    const auto code = CodeOf(model, *op);
    if (!code.ok()) continue;  // its import reports it
    if (BuiltinOf(**code) == B::BuiltinOperator_VAR_HANDLE &&
        CountOf(op->outputs()) == 1)
      handles_[op->outputs()->Get(0)] = NameOf(*op);
    if (BuiltinOf(**code) == B::BuiltinOperator_ASSIGN_VARIABLE &&
        CountOf(op->inputs()) == 2) {
      const auto handle = handles_.find(op->inputs()->Get(0));
      if (handle != handles_.end()) assigned_.insert(handle->second);
    }
  }
}

absl::Status Variables::Import(TfliteGraph& graph, const tflite::Operator& op,
                               B code) {
  switch (code) {
    case B::BuiltinOperator_VAR_HANDLE:
      return CheckCounts(op, 0, 1);
    case B::BuiltinOperator_READ_VARIABLE:
      return Read(graph, op);
    case B::BuiltinOperator_ASSIGN_VARIABLE:
      return Assign(graph, op);
    default:
      return Initialise(op);
  }
}

// Reads a subgraph that assigns constants to variables.
absl::Status Variables::Initialise(const tflite::Operator& op) {
  const auto* const options = op.options_as_CallOnceOptions();
  if (options == nullptr) return Invalid("no options, or of another operator");
  const int index = options->init_subgraph();
  const auto* const graphs = model_.subgraphs();
  if (index < 1 || index >= static_cast<int>(graphs->size()) ||
      graphs->Get(index) == nullptr) {
    return Invalid("subgraph ", index, " of ", graphs->size());
  }
  const tflite::SubGraph& subgraph = *graphs->Get(index);
  if (!initialisers_.insert(index).second) return absl::OkStatus();
  TfliteGraph graph(file_, model_, subgraph);
  Handles handles;
  if (subgraph.operators() == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < subgraph.operators()->size(); ++i) {
    const tflite::Operator* inner = subgraph.operators()->Get(i);
    if (inner == nullptr) return Invalid("operator ", i, " is missing");
    const auto code = CodeOf(model_, *inner);
    if (!code.ok()) return code.status();
    const B builtin = BuiltinOf(**code);
    absl::Status status;
    if (builtin == B::BuiltinOperator_VAR_HANDLE) {
      status = CheckCounts(*inner, 0, 1);
      if (status.ok()) handles[inner->outputs()->Get(0)] = NameOf(*inner);
    } else if (builtin == B::BuiltinOperator_ASSIGN_VARIABLE) {
      status = CheckCounts(*inner, 2, 0);
      if (status.ok()) {
        const auto handle = handles.find(inner->inputs()->Get(0));
        if (handle == handles.end())
          return Invalid("operator ", i, " of subgraph ", index,
                         " assigns to no variable");
        const auto value = graph.Value(inner->inputs()->Get(1));
        if (!value.ok()) return value.status();
        Variable& variable = variables_[handle->second];
        variable.first = **value;
        variable.known = true;
      }
    } else {
      status = absl::UnimplementedError(absl::StrCat(
          "operator ", i, " ", tflite::EnumNameBuiltinOperator(builtin),
          " of the initialising subgraph ", index, " is not supported"));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Variables::Read(TfliteGraph& graph, const tflite::Operator& op) {
  if (absl::Status s = CheckCounts(op, 1, 1); !s.ok()) return s;
  const auto handle = handles_.find(op.inputs()->Get(0));
  if (handle == handles_.end()) return Invalid("no variable's handle");
  const std::string& name = handle->second;
  const int result = op.outputs()->Get(0);
  absl::StatusOr<ir::Type> type = graph.TypeOf(result);
  if (!type.ok()) return type.status();
  Variable& variable = variables_[name];
  if (variable.value == nullptr && !variable.known) {
    return absl::UnimplementedError(
        absl::StrCat("variable '", name, "' has no first value"));
  }
  if (variable.value == nullptr && variable.first.type != *type) {
    return Invalid("variable '", name, "' is first ",
                   ir::TypeText(variable.first.type), ", then ",
                   ir::TypeText(*type));
  }
  if (variable.value == nullptr && assigned_.count(name) > 0) {
    const std::string input_name = graph.TakeName(result);
    ir::Node constant = variable.first;
    constant.name = absl::StrCat(input_name, ".first");
    const absl::StatusOr<ir::Node*> first = graph.Add(std::move(constant));
    if (!first.ok()) return first.status();
    const absl::StatusOr<ir::Node*> input =
        graph.Add({input_name,
                   ir::Op::kParameter,
                   *type,
                   {*first},
                   ir::ParameterAttributes{name}});
    if (!input.ok()) return input.status();
    variable.value = *input;
    order_.push_back(name);
  } else if (variable.value == nullptr) {
    ir::Node first = variable.first;
    first.name = graph.TakeName(result);
    const absl::StatusOr<ir::Node*> constant = graph.Add(std::move(first));
    if (!constant.ok()) return constant.status();
    variable.value = *constant;
  }
  if (variable.value->type != *type) {
    return Invalid("variable '", name, "' is ",
                   ir::TypeText(variable.value->type), ", not ",
                   ir::TypeText(*type));
  }
  return graph.Define(result, variable.value);
}

absl::Status Variables::Assign(TfliteGraph& graph, const tflite::Operator& op) {
  if (absl::Status s = CheckCounts(op, 2, 0); !s.ok()) return s;
  const auto handle = handles_.find(op.inputs()->Get(0));
  if (handle == handles_.end()) return Invalid("no variable's handle");
  const absl::StatusOr<ir::Node*> value = graph.Value(op.inputs()->Get(1));
  if (!value.ok()) return value.status();
  Variable& variable = variables_[handle->second];
  if (variable.value != nullptr && variable.value->type != (*value)->type) {
    return Invalid("variable '", handle->second, "' is ",
                   ir::TypeText(variable.value->type), ", not ",
                   ir::TypeText((*value)->type));
  }
  variable.value = *value;
  return absl::OkStatus();
}

void Variables::Finish(TfliteGraph& graph) const {
  for (const std::string& name : order_)
    graph.module().outputs.push_back({name, variables_.at(name).value});
}

}  // namespace systole::import
