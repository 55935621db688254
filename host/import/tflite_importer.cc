// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_importer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/import/tflite_graph.h"
#include "host/import/tflite_variables.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

absl::Status ImportInputs(TfliteGraph& graph,
                          const tflite::SubGraph& subgraph) {
  if (subgraph.inputs() == nullptr) return absl::OkStatus();
  for (int32_t index : *subgraph.inputs()) {
    absl::StatusOr<ir::Type> type = graph.TypeOf(index);
    if (!type.ok()) return type.status();
    const flatbuffers::String* name = subgraph.tensors()->Get(index)->name();
    absl::StatusOr<ir::Node*> node =
        graph.Add({graph.TakeName(index),
                   ir::Op::kParameter,
                   *std::move(type),
                   {},
                   ir::ParameterAttributes{name ? name->str() : ""}});
    if (!node.ok()) return node.status();
    const absl::Status status = graph.Define(index, *node);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Replaces the results of an unsupported operator by parameters, so that the
// import can continue.
void StandIn(TfliteGraph& graph, const tflite::Operator& op) {
  const size_t outputs = op.outputs() ? op.outputs()->size() : 0;
  for (size_t i = 0; i < outputs; ++i) {
    const int32_t index = op.outputs()->Get(i);
    absl::StatusOr<ir::Type> type = graph.TypeOf(index);
    if (!type.ok()) continue;
    const std::string name = graph.TakeName(index);
    const absl::StatusOr<ir::Node*> node =
        graph.Add({name,
                   ir::Op::kParameter,
                   *std::move(type),
                   {},
                   ir::ParameterAttributes{name}});
    if (node.ok()) graph.Define(index, *node).IgnoreError();
  }
}

// The error lists every unsupported operator. An invalid operator ends the
// import if no unsupported one came before it.
absl::Status ImportOperators(TfliteGraph& graph, Variables& variables,
                             const tflite::Model& model,
                             const tflite::SubGraph& subgraph) {
  const size_t count = subgraph.operators() ? subgraph.operators()->size() : 0;
  std::vector<std::string> refused;
  for (size_t i = 0; i < count; ++i) {
    const tflite::Operator* op = subgraph.operators()->Get(i);
    if (op == nullptr) return Invalid("operator ", i, " is missing");
    const absl::StatusOr<const tflite::OperatorCode*> code = CodeOf(model, *op);
    if (!code.ok()) {
      return Prefixed(absl::StrCat("operator ", i), code.status());
    }
    const tflite::BuiltinOperator builtin = BuiltinOf(**code);
    absl::Status status = Variables::Has(builtin)
                              ? variables.Import(graph, *op, builtin)
                              : ImportOperator(graph, *op, builtin);
    if (status.ok()) continue;
    status = Prefixed(
        absl::StrCat("operator ", i, " ",
                     graph.tensors().Signature(OperatorName(**code), *op)),
        status);
    if (absl::IsUnimplemented(status)) {
      refused.emplace_back(status.message());
      StandIn(graph, *op);
    } else if (refused.empty()) {
      return status;
    }  // otherwise a replacement may be the cause
  }
  if (refused.empty()) return absl::OkStatus();
  if (refused.size() == 1) return absl::UnimplementedError(refused[0]);
  return absl::UnimplementedError(absl::StrCat(
      refused.size(), " operators stand in the way:", PrintableList(refused)));
}

absl::Status ImportOutputs(TfliteGraph& graph,
                           const tflite::SubGraph& subgraph) {
  if (subgraph.outputs() == nullptr) return Invalid("no outputs");
  for (int32_t index : *subgraph.outputs()) {
    const absl::StatusOr<ir::Node*> node = graph.Value(index);
    if (!node.ok()) return Prefixed("output", node.status());
    const flatbuffers::String* name = subgraph.tensors()->Get(index)->name();
    graph.module().outputs.push_back({name ? name->str() : "", *node});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ir::Module>> Import(
    absl::Span<const uint8_t> file) {
  const absl::StatusOr<const tflite::Model*> opened = OpenModel(file);
  if (!opened.ok()) return opened.status();
  const tflite::Model& model = **opened;
  const tflite::SubGraph& subgraph = *model.subgraphs()->Get(0);
  TfliteGraph graph(file, model, subgraph);
  absl::Status status = ImportInputs(graph, subgraph);
  if (!status.ok()) return Prefixed("input", status);
  Variables variables(file, model, subgraph);
  status = ImportOperators(graph, variables, model, subgraph);
  if (!status.ok()) return status;
  status = ImportOutputs(graph, subgraph);
  if (status.ok()) status = variables.Finish(graph);
  if (!status.ok()) return status;
  graph.module().RemoveUnused();  // results that no output needs
  status = ir::Verify(graph.module());
  if (!status.ok()) return status;
  return graph.TakeModule();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ir::Module>> ImportTflite(
    absl::string_view bytes, const std::string& name) {
  // The copy has the alignment that the flatbuffer needs.
  const std::vector<uint8_t> file(bytes.begin(), bytes.end());
  absl::StatusOr<std::unique_ptr<ir::Module>> module = Import(file);
  if (!module.ok()) return Prefixed(name, module.status());
  (*module)->name = name;
  return module;
}

absl::StatusOr<std::unique_ptr<ir::Module>> ReadTflite(
    const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::unique_ptr<ir::Module>> module =
      ImportTflite(*bytes, path);
  if (!module.ok()) return module;
  // The module is named after the file, without folder and suffix.
  std::string& name = (*module)->name;
  name = name.substr(name.rfind('/') + 1);
  name = name.substr(0, name.rfind('.'));
  return module;
}

}  // namespace systole::import
