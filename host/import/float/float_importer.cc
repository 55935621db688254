// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/float/float_importer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/import/float/float_graph.h"
#include "host/import/tflite_tensors.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

// Operators that int8 models may have between DEQUANTIZE and QUANTIZE, and
// operators that only move or convert values.
bool StaysInInt8Models(B code) {
  switch (code) {
    case B::BuiltinOperator_QUANTIZE:
    case B::BuiltinOperator_DEQUANTIZE:
    case B::BuiltinOperator_CAST:
    case B::BuiltinOperator_CONV_3D:
    case B::BuiltinOperator_DIV:
    case B::BuiltinOperator_ABS:
    case B::BuiltinOperator_NEG:
    case B::BuiltinOperator_EXP:
    case B::BuiltinOperator_LOG:
    case B::BuiltinOperator_SQRT:
    case B::BuiltinOperator_RSQRT:
    case B::BuiltinOperator_ELU:
    case B::BuiltinOperator_GELU:
    case B::BuiltinOperator_LEAKY_RELU:
    case B::BuiltinOperator_SIN:
    case B::BuiltinOperator_COS:
    case B::BuiltinOperator_FLOOR:
    case B::BuiltinOperator_CEIL:
    case B::BuiltinOperator_ROUND:
    case B::BuiltinOperator_POW:
    case B::BuiltinOperator_FLOOR_DIV:
    case B::BuiltinOperator_FLOOR_MOD:
    case B::BuiltinOperator_RESHAPE:
    case B::BuiltinOperator_SQUEEZE:
    case B::BuiltinOperator_EXPAND_DIMS:
    case B::BuiltinOperator_TRANSPOSE:
    case B::BuiltinOperator_SHAPE:
    case B::BuiltinOperator_VAR_HANDLE:
    case B::BuiltinOperator_READ_VARIABLE:
    case B::BuiltinOperator_ASSIGN_VARIABLE:
    case B::BuiltinOperator_CALL_ONCE:
      return true;
    default:
      return false;
  }
}

bool IsFloatTensor(const tflite::SubGraph& graph, int index) {
  const auto* const tensors = graph.tensors();
  if (tensors == nullptr || index < 0 ||
      index >= static_cast<int64_t>(tensors->size()))
    return false;
  const tflite::Tensor* const tensor = tensors->Get(index);
  return tensor != nullptr && (tensor->type() == tflite::TensorType_FLOAT32 ||
                               tensor->type() == tflite::TensorType_FLOAT16 ||
                               tensor->type() == tflite::TensorType_BFLOAT16);
}

bool AnyFloat(const tflite::SubGraph& graph,
              const flatbuffers::Vector<int32_t>* indices) {
  return indices != nullptr &&
         std::any_of(indices->begin(), indices->end(),
                     [&](int index) { return IsFloatTensor(graph, index); });
}

bool IsQuantised(const tflite::Tensor* tensor) {
  return tensor != nullptr && tensor->quantization() != nullptr &&
         tensor->quantization()->scale() != nullptr &&
         tensor->quantization()->scale()->size() > 0 &&
         (tensor->type() == tflite::TensorType_INT8 ||
          tensor->type() == tflite::TensorType_UINT8 ||
          tensor->type() == tflite::TensorType_INT16);
}

absl::StatusOr<const tflite::SubGraph*> GraphOf(const tflite::Model& model,
                                                const std::string& signature) {
  const auto chosen = SignatureOf(model, signature);
  if (!chosen.ok()) return chosen.status();
  return model.subgraphs()->Get(*chosen ? (*chosen)->subgraph_index() : 0);
}

bool IsFloat(const tflite::Model& model, const tflite::SubGraph& graph) {
  if (graph.operators() == nullptr || graph.tensors() == nullptr) return false;
  const bool quantised = std::any_of(graph.tensors()->begin(),
                                     graph.tensors()->end(), IsQuantised);
  for (const tflite::Operator* op : *graph.operators()) {
    if (op == nullptr) continue;
    const auto code = CodeOf(model, *op);
    if (!code.ok() ||
        (!AnyFloat(graph, op->inputs()) && !AnyFloat(graph, op->outputs())))
      continue;
    const B builtin = BuiltinOf(**code);
    if (!quantised && builtin != B::BuiltinOperator_CUSTOM) return true;
    if (builtin != B::BuiltinOperator_CUSTOM && !StaysInInt8Models(builtin))
      return true;
  }
  return false;
}

bool HasOpenInputs(const FloatGraph& graph) {
  const auto* const inputs = graph.tensors().subgraph().inputs();
  return inputs != nullptr &&
         std::any_of(inputs->begin(), inputs->end(),
                     [&](int index) { return graph.IsOpen(index); });
}

absl::StatusOr<std::unique_ptr<ir::Module>> Import(
    absl::Span<const uint8_t> file, const FloatOptions& options) {
  const auto model = OpenModel(file);
  if (!model.ok()) return model.status();
  auto module = std::make_unique<ir::Module>();
  FloatContext context{file, **model, options};
  const auto main = GraphOf(**model, options.signature);
  if (!main.ok()) return main.status();
  FloatGraph graph(context, **main, *module);
  absl::Status status = graph.Import();
  if (!context.refused.empty())
    return absl::UnimplementedError(RefusalText(context.refused, "operator"));
  if (absl::IsInvalidArgument(status) && options.shapes.empty() &&
      HasOpenInputs(graph)) {
    return Invalid(status.message(),
                   "; the file leaves sizes of its inputs open: give shapes "
                   "(--input-shape)");
  }
  if (!status.ok()) return status;
  status = ir::Verify(*module);
  if (!status.ok()) return status;
  return module;
}

}  // namespace

bool IsFloatTflite(absl::string_view bytes, const std::string& signature) {
  // The copy has the alignment that the flatbuffer needs.
  const std::vector<uint8_t> file(bytes.begin(), bytes.end());
  const auto model = OpenModel(file);
  if (!model.ok()) return false;
  const auto graph = GraphOf(**model, signature);
  return graph.ok() && IsFloat(**model, **graph);
}

absl::StatusOr<std::unique_ptr<ir::Module>> ImportFloatTflite(
    absl::string_view bytes, const std::string& name,
    const FloatOptions& options) {
  const std::vector<uint8_t> file(bytes.begin(), bytes.end());
  auto module = Import(file, options);
  if (!module.ok()) return Prefixed(name, module.status());
  std::string& own = (*module)->name;
  own = name.substr(name.rfind('/') + 1);
  own = own.substr(0, own.rfind('.'));
  return module;
}

}  // namespace systole::import
