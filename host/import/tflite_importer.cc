// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_importer.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/import/tflite_graph.h"
#include "host/import/tflite_host.h"
#include "host/import/tflite_variables.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

// Names of inputs or outputs: those of the signature or, without one, of the
// tensors. The second of two equal names gets another one.
class Names {
 public:
  using Maps = flatbuffers::Vector<flatbuffers::Offset<tflite::TensorMap>>;

  Names(const tflite::SubGraph& subgraph, const Maps* maps)
      : subgraph_(subgraph) {
    if (maps == nullptr) return;
    for (const tflite::TensorMap* map : *maps) {
      if (map != nullptr && map->name() != nullptr)
        given_[map->tensor_index()] = map->name()->str();
    }
  }

  // `index` must be a tensor of the subgraph.
  std::string Next(int index) {
    const auto given = given_.find(index);
    const flatbuffers::String* stored = subgraph_.tensors()->Get(index)->name();
    std::string name = given != given_.end() ? given->second
                       : stored              ? stored->str()
                                             : "";
    if (const int used = used_[name]++; used > 0)
      absl::StrAppend(&name, ".", used);
    return name;
  }

 private:
  const tflite::SubGraph& subgraph_;
  std::map<uint32_t, std::string> given_;
  std::map<std::string, int> used_;
};

absl::Status ImportInputs(TfliteGraph& graph, const tflite::SubGraph& subgraph,
                          Names names) {
  if (subgraph.inputs() == nullptr) return absl::OkStatus();
  for (int32_t index : *subgraph.inputs()) {
    absl::StatusOr<ir::Type> type = graph.TypeOf(index);
    if (!type.ok()) return type.status();
    absl::StatusOr<ir::Node*> node = graph.Add(
        {graph.TakeName(index),
         ir::Op::kParameter,
         *std::move(type),
         {},
         ir::ParameterAttributes{names.Next(index), graph.StoredType(index)}});
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

// Whether the first operand or result is a tensor of 16 bits.
bool Computes16(const TfliteTensors& tensors, const tflite::Operator& op) {
  for (const auto* indices : {op.inputs(), op.outputs()}) {
    if (indices == nullptr || indices->size() == 0) continue;
    const auto tensor = tensors.At(indices->Get(0));
    if (tensor.ok() && (*tensor)->type() == tflite::TensorType_INT16)
      return true;
  }
  return false;
}

// Imports the operators of a graph. `variables`: null in a region. Unsupported
// operators are listed in the context. An invalid operator ends the import,
// unless an unsupported one came before it and may be the cause.
absl::Status ImportOperators(TfliteGraph& graph, HostOperators& host,
                             Variables* variables, TfliteContext& context,
                             const std::string& where) {
  const tflite::SubGraph& subgraph = graph.tensors().subgraph();
  const size_t count = subgraph.operators() ? subgraph.operators()->size() : 0;
  for (size_t i = 0; i < count; ++i) {
    const tflite::Operator* op = subgraph.operators()->Get(i);
    if (op == nullptr) return Invalid("operator ", i, " is missing");
    const auto code = CodeOf(context.model, *op);
    if (!code.ok()) {
      return Prefixed(absl::StrCat("operator ", i), code.status());
    }
    const tflite::BuiltinOperator builtin = BuiltinOf(**code);
    const size_t refused = context.refused.size();
    absl::Status status;
    if (Variables::Has(builtin)) {
      status = variables != nullptr
                   ? variables->Import(graph, *op, builtin)
                   : Unsupported("variables in the subgraphs of IF and WHILE");
    } else if (host.Takes(*op, builtin)) {
      status = host.Import(*op, builtin);
    } else {
      status = ImportOperator(graph, *op, builtin);
    }
    if (status.ok()) continue;
    if (Computes16(graph.tensors(), *op) && !host.Takes(*op, builtin)) {
      status = Unsupported(
          "activations of 16 bits; quantise the model with activations of 8");
    }
    const std::string name = OperatorName(**code);
    const std::string place = absl::StrCat(
        where, "operator ", i, " ", graph.tensors().Signature(name, *op));
    if (absl::IsUnimplemented(status)) {
      // For control flow, the operators of the subgraphs give the reason.
      if (context.refused.size() == refused)
        context.refused.push_back({name, place, std::string(status.message())});
      StandIn(graph, *op);
    } else if (context.refused.empty()) {
      return Prefixed(place, status);
    }  // otherwise a stand-in may be the cause
  }
  return absl::OkStatus();
}

absl::Status ImportOutputs(TfliteGraph& graph, const tflite::SubGraph& subgraph,
                           Names names) {
  if (subgraph.outputs() == nullptr) return Invalid("no outputs");
  for (int32_t index : *subgraph.outputs()) {
    const absl::StatusOr<ir::Node*> node = graph.Value(index);
    if (!node.ok()) return Prefixed("output", node.status());
    graph.module().outputs.push_back(
        {names.Next(index), *node, graph.StoredType(index)});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ir::Module>> Import(
    absl::Span<const uint8_t> file, const std::string& signature) {
  const absl::StatusOr<const tflite::Model*> opened = OpenModel(file);
  if (!opened.ok()) return opened.status();
  const tflite::Model& model = **opened;
  const auto chosen = SignatureOf(model, signature);
  if (!chosen.ok()) return chosen.status();
  const int main = *chosen ? static_cast<int>((*chosen)->subgraph_index()) : 0;
  const tflite::SubGraph& subgraph = *model.subgraphs()->Get(main);
  TfliteGraph graph(file, model, subgraph);
  absl::Status status =
      ImportInputs(graph, subgraph,
                   Names(subgraph, *chosen ? (*chosen)->inputs() : nullptr));
  if (!status.ok()) return Prefixed("input", status);
  Variables variables(file, model, subgraph);
  TfliteContext context(file, model);
  HostOperators host(graph, context);
  status = ImportOperators(graph, host, &variables, context, "");
  if (!context.refused.empty())
    return absl::UnimplementedError(RefusalText(context.refused, "operator"));
  if (!status.ok()) return status;
  status =
      ImportOutputs(graph, subgraph,
                    Names(subgraph, *chosen ? (*chosen)->outputs() : nullptr));
  if (!status.ok()) return status;
  variables.Finish(graph);
  graph.FinishStates();
  graph.module().RemoveUnused();  // results that no output needs
  status = ir::Verify(graph.module());
  if (!status.ok()) return status;
  return graph.TakeModule();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ir::Module>> ImportRegion(
    TfliteContext& context, int subgraph, const std::vector<ir::Type>& types,
    int depth) {
  const auto* const all = context.model.subgraphs();
  if (subgraph < 0 || subgraph >= static_cast<int64_t>(all->size()) ||
      all->Get(subgraph) == nullptr)
    return Invalid("there are ", all->size(), " subgraphs");
  const tflite::SubGraph& from = *all->Get(subgraph);
  const size_t inputs = from.inputs() ? from.inputs()->size() : 0;
  if (inputs != types.size())
    return Invalid(inputs, " inputs for ", types.size(), " values");
  if (from.outputs() == nullptr) return Invalid("no outputs");
  TfliteGraph graph(context.file, context.model, from);
  graph.MakeRegion();
  HostOperators host(graph, context, depth);
  for (size_t i = 0; i < inputs; ++i) {
    const int index = from.inputs()->Get(i);
    const auto node = graph.Add({graph.TakeName(index),
                                 ir::Op::kParameter,
                                 types[i],
                                 {},
                                 ir::ParameterAttributes{}});
    if (!node.ok()) return node.status();
    if (absl::Status s = host.DefinePlain(index, *node); !s.ok()) return s;
  }
  absl::Status status = ImportOperators(
      graph, host, nullptr, context, absl::StrCat("subgraph ", subgraph, ", "));
  if (!status.ok()) return status;
  for (const int32_t index : *from.outputs()) {
    const auto value = host.Plain(index);
    if (!value.ok()) return Prefixed("output", value.status());
    graph.module().outputs.push_back({"", *value});
  }
  graph.module().RemoveUnused();
  return std::shared_ptr<const ir::Module>(graph.TakeModule());
}

absl::StatusOr<std::unique_ptr<ir::Module>> ImportTflite(
    absl::string_view bytes, const std::string& name,
    const std::string& signature) {
  // The copy has the alignment that the flatbuffer needs.
  const std::vector<uint8_t> file(bytes.begin(), bytes.end());
  absl::StatusOr<std::unique_ptr<ir::Module>> module = Import(file, signature);
  if (!module.ok()) return Prefixed(name, module.status());
  (*module)->name = name;
  return module;
}

absl::StatusOr<std::unique_ptr<ir::Module>> ReadTflite(
    const std::string& path, const std::string& signature) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::unique_ptr<ir::Module>> module =
      ImportTflite(*bytes, path, signature);
  if (!module.ok()) return module;
  // The module is named after the file, without folder and suffix.
  std::string& name = (*module)->name;
  name = name.substr(name.rfind('/') + 1);
  name = name.substr(0, name.rfind('.'));
  return module;
}

}  // namespace systole::import
