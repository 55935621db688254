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

// Operands: first of the four gates' weights, and others.
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
  gates.weights = in.nodes().Join(parts, 0);
  return gates;
}

// x W^T, with the scales of the rows of W; over the last dimension of x.
Value Product(HloNodes& n, Value x, Value weights, Value scales,
              ir::Precision precision) {
  if (!n.ok()) return x;
  const int64_t last = x.type().rank() - 1;
  ir::HloDotAttributes a;
  a.lhs_contracting = {last};
  a.rhs_contracting = {1};
  a.precision = precision;
  const ir::Type type{kF32, {}, {}};
  const Value sums = n.Make(Op::kHloDotGeneral, {x, weights}, a, &type);
  if (!n.ok() || scales.node == nullptr) return sums;
  return n.Make(Op::kHloMultiply,
                {sums, n.BroadcastIn(scales, sums.type().shape, {last})});
}

// A region with these parameters.
struct LoopRegion {
  std::shared_ptr<ir::Module> module = std::make_shared<ir::Module>();
  HloNodes nodes{*module};
  std::vector<Value> parameters;

  explicit LoopRegion(const std::vector<Value>& operands) {
    for (const Value& operand : operands) {
      nodes.Begin("p", "");
      ir::Node node;
      node.op = Op::kParameter;
      node.type = operand.type();
      node.attributes = ir::ParameterAttributes{""};
      parameters.push_back(nodes.Add(std::move(node)));
    }
    nodes.Begin("lstm", "");
  }
  void Return(const std::vector<Value>& values) {
    for (const Value& value : values) module->outputs.push_back({"", value});
    module->RemoveUnused();
  }
};

// The places of the loop's operands.
enum Carried { kStep, kHidden, kCell, kOutputs, kInputs, kWeights, kScales };

std::shared_ptr<const ir::Module> Body(const std::vector<Value>& operands,
                                       float clip, ir::Precision precision,
                                       absl::Status& status) {
  LoopRegion region(operands);
  HloNodes& n = region.nodes;
  const std::vector<Value>& p = region.parameters;
  const Ints& state = p[kHidden].type().shape;  // [batch, cells]
  const Value zero = n.Number(kI32, 0);
  const Value x =
      n.Reshape(n.Make(Op::kHloDynamicSlice, {p[kInputs], p[kStep], zero, zero},
                       ir::HloSizesAttributes{{1, state[0], 4 * state[1]}}),
                {state[0], 4 * state[1]});
  const Value sums =
      n.Binary(Op::kHloAdd, x,
               Product(n, p[kHidden], p[kWeights],
                       p.size() > kScales ? p[kScales] : Value(), precision));
  const auto gate = [&](int64_t i, Op function) {
    return n.Unary(function, n.Part(sums, 1, i * state[1], (i + 1) * state[1]));
  };
  Value cell =
      n.Binary(Op::kHloAdd,
               n.Binary(Op::kHloMultiply, gate(1, Op::kHloLogistic), p[kCell]),
               n.Binary(Op::kHloMultiply, gate(0, Op::kHloLogistic),
                        gate(2, Op::kHloTanh)));
  if (clip > 0 && n.ok()) {
    const ir::Type type = cell.type();
    cell = n.Make(Op::kHloClamp,
                  {n.Number(kF32, -clip), cell, n.Number(kF32, clip)},
                  ir::NoAttributes{}, &type);
  }
  const Value hidden = n.Binary(Op::kHloMultiply, gate(3, Op::kHloLogistic),
                                n.Unary(Op::kHloTanh, cell));
  const Value outputs =
      n.Make(Op::kHloDynamicUpdateSlice,
             {p[kOutputs], n.Reshape(hidden, {1, state[0], state[1]}), p[kStep],
              zero, zero});
  const Value next = n.With(Op::kHloAdd, p[kStep], 1);
  status = n.status();
  region.Return({next, hidden, cell, outputs});
  return region.module;
}

std::shared_ptr<const ir::Module> Condition(const std::vector<Value>& operands,
                                            int64_t steps) {
  LoopRegion region(operands);
  const Value step = region.parameters[kStep];
  region.Return({region.nodes.Compare(
      ir::Direction::kLt, step,
      region.nodes.Number(kI32, static_cast<double>(steps)))});
  return region.module;
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
  HloNodes& n = in.nodes();
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
  const Value bias = n.Join(biases, 0);
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
  ir::Node node;
  node.op = Op::kHloWhile;
  node.operands = {n.Number(kI32, 0),
                   n.Number(kF32, 0, {batch, cells}),
                   n.Number(kF32, 0, {batch, cells}),
                   n.Number(kF32, 0, {steps, batch, cells}),
                   sums,
                   recurrent.weights};
  if (!recurrent.scales.empty())
    node.operands.push_back(n.Floats(recurrent.scales));
  if (!in.ok()) return;
  absl::Status status;
  node.regions = {Condition(node.operands, steps),
                  Body(node.operands, o->cell_clip(), in.precision(), status)};
  in.Fail(status);
  node.type = node.operands[kStep].type();
  for (const int i : {kHidden, kCell, kOutputs})
    node.more_types.push_back(node.operands[i].type());
  const Value loop = n.Add(std::move(node));
  if (!in.ok()) return;
  const Value outputs(loop.node, kOutputs);
  in.Set(o->time_major() ? outputs : n.Transpose(outputs, {1, 0, 2}));
}

}  // namespace

FloatRules RecurrentRules() {
  return {{B::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM, ImportLstm}};
}

}  // namespace systole::import
