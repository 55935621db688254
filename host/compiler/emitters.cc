// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/emitters.h"

#include "absl/strings/str_cat.h"

namespace systole::compiler {
namespace {

template <class Emitter>
struct OfLayer {
  model::Op op;
  ElementType type;
  Emitter emitter;
};

constexpr OfLayer<ArrayEmitter> kArrayEmitters[] = {
    {model::Op::kConv2D, ElementType::kInt8, EmitConv},
    {model::Op::kConv2D, ElementType::kInt32, EmitConv},
    {model::Op::kDepthwise, ElementType::kInt8, EmitConv},
    {model::Op::kDense, ElementType::kInt8, EmitConv},
    {model::Op::kSums, ElementType::kInt8, EmitConv},
};

constexpr OfLayer<VectorEmitter> kVectorEmitters[] = {
    {model::Op::kMaxPool, ElementType::kInt8, EmitPool},
    {model::Op::kAveragePool, ElementType::kInt8, EmitPool},
    {model::Op::kMean, ElementType::kInt8, EmitPool},
    {model::Op::kAdd, ElementType::kInt8, EmitAdd},
    {model::Op::kMul, ElementType::kInt8, EmitMul},
    {model::Op::kTable, ElementType::kInt8, EmitTable},
    {model::Op::kConcat, ElementType::kInt8, EmitConcat},
    {model::Op::kSlice, ElementType::kInt8, EmitSlice},
};

// The layer's emitter. `unit` is the unit's name for the error message if there
// is none.
template <class Emitter, size_t N>
absl::StatusOr<Emitter> EmitterOf(const OfLayer<Emitter> (&list)[N],
                                  const LoweringContext& context, int index,
                                  const char* unit) {
  const PlanLayer& layer = context.plan.layers[index];
  const ElementType type = context.tensors[layer.output].type;
  for (const OfLayer<Emitter>& e : list) {
    if (e.op == layer.op && e.type == type) return e.emitter;
  }
  return absl::UnimplementedError(absl::StrCat(
      "layer ", layer.name, ": the ", unit, " has no ", model::OpName(layer.op),
      " of ", std::string(ElementTypeName(type))));
}

}  // namespace

absl::Status LowerOnArray(LoweringContext& context, int index,
                          const AfterBlock& after) {
  const auto emitter = EmitterOf(kArrayEmitters, context, index, "array");
  return emitter.ok() ? (*emitter)(context, index, after) : emitter.status();
}

absl::StatusOr<std::unique_ptr<VectorLowering>> MakeVectorLowering(
    LoweringContext& context, int index) {
  const auto emitter =
      EmitterOf(kVectorEmitters, context, index, "vector unit");
  if (!emitter.ok()) return emitter.status();
  return (*emitter)(context, index);
}

}  // namespace systole::compiler
