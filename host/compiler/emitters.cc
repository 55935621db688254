// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/emitters.h"

#include "absl/strings/str_cat.h"

namespace systole::compiler {
namespace {

struct Registered {
  model::Op op;
  ElementType type;
  VectorEmitter emitter;
};

constexpr Registered kEmitters[] = {
    {model::Op::kMaxPool, ElementType::kInt8, EmitPool},
    {model::Op::kAveragePool, ElementType::kInt8, EmitPool},
    {model::Op::kMean, ElementType::kInt8, EmitPool},
    {model::Op::kAdd, ElementType::kInt8, EmitAdd},
    {model::Op::kMul, ElementType::kInt8, EmitMul},
    {model::Op::kTable, ElementType::kInt8, EmitTable},
    {model::Op::kConcat, ElementType::kInt8, EmitConcat},
    {model::Op::kSlice, ElementType::kInt8, EmitSlice},
};

}  // namespace

VectorEmitter FindEmitter(model::Op op, ElementType type) {
  for (const Registered& e : kEmitters) {
    if (e.op == op && e.type == type) return e.emitter;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<VectorLowering>> MakeVectorLowering(
    LoweringContext& context, int index) {
  const PlanLayer& layer = context.plan.layers[index];
  const ElementType type = context.tensors[layer.output].type;
  const VectorEmitter emitter = FindEmitter(layer.op, type);
  if (emitter != nullptr) return emitter(context, index);
  return absl::UnimplementedError(absl::StrCat(
      "layer ", layer.name, ": the vector unit has no ",
      model::OpName(layer.op), " of ", std::string(ElementTypeName(type))));
}

}  // namespace systole::compiler
