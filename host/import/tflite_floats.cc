// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators without an integer kernel. The converter leaves them in floats,
// between DEQUANTIZE and QUANTIZE.
#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

void RefuseActivation(Importer& in, tflite::Activation activation) {
  if (activation != tflite::Activation_NONE)
    in.Fail(Unsupported("a fused activation of floats"));
}

}  // namespace

void ImportConvolution3D(Importer& in) {
  const auto* options = in.op().options_as_Conv3DOptions();
  if (in.Read(options) == nullptr) return;
  RefuseActivation(in, options->activation());
  const std::vector<ir::Value> operands = WeightedOperands(in);
  if (!in.ok()) return;
  const ir::Type& input = operands[0]->type;
  const ir::Type& weights = operands[1]->type;
  ir::Conv3DAttributes a;
  a.stride = {options->stride_d(), options->stride_h(), options->stride_w()};
  a.dilation = {options->dilation_d(), options->dilation_h(),
                options->dilation_w()};
  for (const Ints& values : {a.stride, a.dilation}) {
    for (int64_t value : values) {
      if (value < 1 || value > kMaxWindow) {
        in.Fail(Invalid("stride ", ir::ShapeText(a.stride), ", dilation ",
                        ir::ShapeText(a.dilation)));
      }
    }
  }
  if (input.rank() != 5 || weights.rank() != 5 ||
      *std::max_element(weights.shape.begin(), weights.shape.end()) >
          kMaxWindow) {
    in.Fail(Invalid("input ", ir::TypeText(input), ", weights ",
                    ir::TypeText(weights)));
  }
  if (!in.ok()) return;
  for (int i = 0; i < 3 && options->padding() == tflite::Padding_SAME; ++i) {
    const int64_t total = SamePadding(input.shape[1 + i], weights.shape[i],
                                      a.stride[i], a.dilation[i]);
    a.padding[i] = total / 2;
    a.padding[i + 3] = total - total / 2;
  }
  in.Emit(Op::kConv3D, operands, a);
}

Ints Conv3DShape(Importer& in) {
  const auto* o = in.op().options_as_Conv3DOptions();
  const ir::Node* const input = in.Value(0);
  const ir::Node* const weights = in.Value(1);
  if (!in.ok()) return {};
  Ints shape = input->type.shape;
  const Ints& w = weights->type.shape;
  if (o == nullptr || w.size() != 5 || shape.size() != 5) return shape;
  const bool same = o->padding() == tflite::Padding_SAME;
  const int64_t stride[] = {o->stride_d(), o->stride_h(), o->stride_w()};
  const int64_t dilation[] = {o->dilation_d(), o->dilation_h(),
                              o->dilation_w()};
  for (int i = 0; i < 3; ++i) {
    shape[1 + i] = Positions(shape[1 + i], w[i], stride[i], dilation[i], same);
  }
  shape[4] = w[4];
  return shape;
}

void ImportDivision(Importer& in) {
  const auto* options = in.op().options_as_DivOptions();
  if (options != nullptr) RefuseActivation(in, options->activation());
  ir::Node* a = in.Value(0);
  in.Emit(Op::kDiv, {a, in.Value(1)}, ir::NoAttributes{});
}

}  // namespace systole::import
