// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// UNIDIRECTIONAL_SEQUENCE_LSTM: one product of the input for all steps, then a
// loop of one product of the last output for each. With the gates i, f, g, o
// side by side:
//
//   sums = W x[t] + b + R h
//   c = sigmoid(f) * c + sigmoid(i) * tanh(g), within +-cell_clip if that is
//   above 0
//   h = sigmoid(o) * tanh(c)
//
// The states begin at 0 in every run.
#include "host/import/float/float_operator.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

// Operand numbers: the first of the weights of the four gates, and so on.
constexpr int kInputWeights = 1, kRecurrentWeights = 5, kPeepholes = 9,
              kBiases = 12, kProjection = 16, kNormalisation = 20;

// Weights of four gates [4 n, k], and the scale of each row if there are any.
struct Gates {
  Value weights;
  std::vector<float> scales;
};

Gates GatesOf(FloatOperator& in, int first) {
  std::vector<Value> parts;
  Gates gates;
  bool scaled = false;
  for (int i = first; i < first + 4; ++i) {
    const Factor factor = in.FactorOf(i, 0);
    if (!in.ok() || !in.Require(factor.value.type().rank() == 2, "weights ",
                                ir::TypeText(factor.value.type())))
      return gates;
    parts.push_back(factor.value);
    for (int64_t row = 0; row < factor.value.type().shape[0]; ++row) {
      const size_t count = factor.scales.size();
      gates.scales.push_back(count == 0   ? 1.0f
                             : count == 1 ? factor.scales[0]
                                          : factor.scales[row]);
    }
    scaled = scaled || !factor.scales.empty();
  }
  if (!scaled) gates.scales.clear();
  gates.weights = in.nodes().Concatenate(parts, 0);
  return gates;
}

// x W^T, times the scales of the rows of W, over the last dimension of x.
Value Product(HloBuilder& n, Value x, Value weights, Value scales,
              ir::Precision precision) {
  if (!n.ok()) return x;
  const int64_t last = x.type().rank() - 1;
  ir::HloDotAttributes a;
  a.lhs_contracting = {last};
  a.rhs_contracting = {1};
  a.precision = precision;
  const Value sums =
      n.AddOne(Op::kHloDotGeneral, {x, weights}, a, ir::Type{kF32, {}, {}});
  if (!n.ok() || scales.node == nullptr) return sums;
  return n.Binary(Op::kHloMultiply, sums, scales);
}

// The states after a step: hidden state, cell, outputs of all steps.
Values Step(HloBuilder& n, const Value& step, const Values& now,
            const Value& inputs, const Gates& recurrent, float clip,
            ir::Precision precision) {
  const Value hidden = now[0], cell = now[1];
  if (!n.ok()) return now;
  const int64_t batch = hidden.type().shape[0], cells = hidden.type().shape[1];
  const Value zero = n.Scalar(kI32, 0);
  const Value x =
      n.Reshape(n.AddOne(Op::kHloDynamicSlice, {inputs, step, zero, zero},
                         ir::HloSizesAttributes{{1, batch, 4 * cells}}),
                {batch, 4 * cells});
  const Value scales =
      recurrent.scales.empty() ? Value() : n.Floats(recurrent.scales);
  const Value sums = n.Binary(
      Op::kHloAdd, x,
      Product(n, hidden, n.Here(recurrent.weights), scales, precision));
  const auto gate = [&](int64_t i, Op function) {
    return n.Unary(function, n.SliceIn(sums, 1, i * cells, (i + 1) * cells));
  };
  Value next = n.Binary(
      Op::kHloAdd, n.Binary(Op::kHloMultiply, gate(1, Op::kHloLogistic), cell),
      n.Binary(Op::kHloMultiply, gate(0, Op::kHloLogistic),
               gate(2, Op::kHloTanh)));
  if (clip > 0) next = n.Clamp(-clip, next, clip);
  const Value output = n.Binary(Op::kHloMultiply, gate(3, Op::kHloLogistic),
                                n.Unary(Op::kHloTanh, next));
  return {output, next,
          n.AddOne(Op::kHloDynamicUpdateSlice,
                   {now[2], n.Reshape(output, {1, batch, cells}), step, zero,
                    zero})};
}

bool CheckPlain(FloatOperator& in,
                const tflite::UnidirectionalSequenceLstmOptions& o) {
  const auto refuse = [&](const char* what) {
    in.Fail(Unsupported(what, " of an LSTM"));
  };
  if (!in.Has(kInputWeights) || !in.Has(kRecurrentWeights) || !in.Has(kBiases))
    refuse("joint gates");
  for (int i = 0; i < 3; ++i)
    if (in.Has(kPeepholes + i)) refuse("peepholes");
  if (in.Has(kProjection) || in.Has(kProjection + 1)) refuse("a projection");
  for (int i = 0; i < 4; ++i)
    if (in.Has(kNormalisation + i)) refuse("layer normalisation");
  if (in.AffineOf(0)) refuse("integers");
  if (o.activation() != tflite::Activation_TANH)
    refuse("an activation other than TANH");
  return in.ok();
}

void ImportLstm(FloatOperator& in) {
  HloBuilder& n = in.nodes();
  const auto* o =
      in.Read(in.op().options_as_UnidirectionalSequenceLstmOptions());
  Value x = in.Real(0);
  if (!in.ok() || !CheckPlain(in, *o) ||
      !in.Require(x.type().rank() == 3 && x.type().elements() > 0, "input ",
                  ir::TypeText(x.type())))
    return;
  if (!o->time_major()) x = n.Transpose(x, {1, 0, 2});
  const Gates inputs = GatesOf(in, kInputWeights),
              recurrent = GatesOf(in, kRecurrentWeights);
  std::vector<Value> biases;
  for (int i = 0; i < 4; ++i) biases.push_back(in.Real(kBiases + i));
  const Value bias = n.Concatenate(biases, 0);
  if (!in.ok()) return;
  const int64_t steps = x.type().shape[0], batch = x.type().shape[1],
                cells = recurrent.weights.type().shape[1];
  if (!in.Require(recurrent.weights.type().shape[0] == 4 * cells &&
                      inputs.weights.type().shape ==
                          Ints{4 * cells, x.type().shape[2]} &&
                      bias.type().shape == Ints{4 * cells},
                  "weights ", ir::TypeText(inputs.weights.type()), ", ",
                  ir::TypeText(recurrent.weights.type()), ", bias ",
                  ir::TypeText(bias.type())))
    return;
  const Value scales =
      inputs.scales.empty() ? Value() : n.Floats(inputs.scales);
  Value sums = Product(n, x, inputs.weights, scales, in.precision());
  if (!in.ok()) return;
  sums = n.Binary(Op::kHloAdd, sums, bias);
  const ir::Type state{kF32, {batch, cells}, {}};
  const Values results =
      n.Repeat(steps,
               {n.Filled(state, 0), n.Filled(state, 0),
                n.Filled({kF32, {steps, batch, cells}, {}}, 0)},
               [&](HloBuilder& t, const Value& step, const Values& now) {
                 return Step(t, step, now, t.Here(sums), recurrent,
                             o->cell_clip(), in.precision());
               });
  if (!in.ok()) return;
  const Value outputs = results[2];
  in.Set(o->time_major() ? outputs : n.Transpose(outputs, {1, 0, 2}));
}

}  // namespace

FloatRules RecurrentRules() {
  return {{B::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM, ImportLstm}};
}

}  // namespace systole::import
