// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which operation is emitted by what, by operation and type of its first
// result; the geometry of operations.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/registry.h"
#include "host/training/step_builder.h"
#include "host/training/step_module.h"

namespace systole::training {

using ir::ElementType;
using ir::Op;

StepBuilder::Emitter StepBuilder::FindEmitter(Op op, ElementType type) {
  static constexpr ElementType kBf16 = ElementType::kBfloat16;
  static constexpr ElementType kF32 = ElementType::kFloat32;
  static constexpr compiler::Registered<Op, ElementType, Emitter> kEmitters[] =
      {
          {Op::kHloReshape, kBf16, &StepBuilder::EmitView},
          {Op::kTrainProduct, kBf16, &StepBuilder::EmitProduct},
          {Op::kTrainClassify, kBf16, &StepBuilder::EmitClassify},
          {Op::kTrainNorm, kBf16, &StepBuilder::EmitNorm},
          {Op::kTrainNormInference, kBf16, &StepBuilder::EmitNormInference},
          {Op::kTrainMaxPool, kBf16, &StepBuilder::EmitPool},
          {Op::kTrainAveragePool, kBf16, &StepBuilder::EmitPool},
          {Op::kTrainAdd, kBf16, &StepBuilder::EmitAdd},
          {Op::kTrainNormGradient, kBf16, &StepBuilder::EmitNormGradient},
          {Op::kTrainMaxPoolGradient, kBf16, &StepBuilder::EmitPoolGradient},
          {Op::kTrainAveragePoolGradient, kBf16,
           &StepBuilder::EmitPoolGradient},
          {Op::kTrainBiasGradient, kF32, &StepBuilder::EmitBiasGradient},
          {Op::kTrainWeightGradient, kF32, &StepBuilder::EmitWeightGradient},
          {Op::kTrainInputGradient, kBf16, &StepBuilder::EmitInputGradient},
          {Op::kTrainSumCores, kF32, &StepBuilder::EmitSumCores},
          {Op::kTrainAdamPowers, kF32, &StepBuilder::EmitPowers},
          {Op::kTrainAdam, kF32, &StepBuilder::EmitUpdate},
          {Op::kTrainSgd, kF32, &StepBuilder::EmitUpdate},
      };
  return compiler::FindIn(kEmitters, op, type);
}

void StepBuilder::Emit(const ir::Node& node) {
  if (node.op == Op::kParameter) return;
  const Emitter emitter = FindEmitter(node.op, node.type.element);
  if (emitter == nullptr) {
    return Fail(absl::UnimplementedError(
        absl::StrFormat("node '%s': a step has no %s of %s", node.name,
                        ir::OpName(node.op), ir::TypeText(node.type))));
  }
  (this->*emitter)(node);
}

Layer StepBuilder::ProductOf(const ir::Node& node, const ir::Type& x,
                             const ir::Type& y) const {
  Layer l;
  l.name = LayerNameOf(node);
  l.dense = x.rank() == 2;
  l.ci = x.shape.back();
  l.co = y.shape.back();
  if (l.dense) return l;
  const auto& a = node.attr<ir::TrainProductAttributes>();
  l.h = x.shape[1];
  l.w = x.shape[2];
  l.oh = y.shape[1];
  l.ow = y.shape[2];
  l.kh = a.kernel[0];
  l.kw = a.kernel[1];
  l.stride = a.stride[0];
  l.pad_top = a.padding[0];
  l.pad_left = a.padding[1];
  return l;
}

Layer StepBuilder::ChannelsOf(const ir::Node& node, const ir::Type& z) const {
  Layer l;
  l.name = LayerNameOf(node);
  l.dense = z.rank() == 2;
  l.co = z.shape.back();
  if (l.dense) return l;
  l.oh = z.shape[1];
  l.ow = z.shape[2];
  return l;
}

Layer StepBuilder::PoolOf(const ir::Node& node, const ir::Type& a) const {
  Layer l = ChannelsOf(node, a);
  const auto& w = node.attr<ir::TrainWindowAttributes>();
  const bool max =
      node.op == Op::kTrainMaxPool || node.op == Op::kTrainMaxPoolGradient;
  l.pool.kind = max ? PoolKind::kMax : PoolKind::kAverage;
  l.pool.window.h = w.kernel[0];
  l.pool.window.w = w.kernel[1];
  l.pool.window.stride_y = w.stride[0];
  l.pool.window.stride_x = w.stride[1];
  l.pool.pad_top = w.padding[0];
  l.pool.pad_left = w.padding[1];
  const auto windows = [](int64_t size, int64_t kernel, int64_t stride,
                          int64_t pads) {
    return (size + pads - kernel) / stride + 1;
  };
  l.pool.oh =
      windows(l.oh, w.kernel[0], w.stride[0], w.padding[0] + w.padding[2]);
  l.pool.ow =
      windows(l.ow, w.kernel[1], w.stride[1], w.padding[1] + w.padding[3]);
  return l;
}

}  // namespace systole::training
