// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// RNN, GRU, LSTM. One product covers the inputs of all steps. A loop computes
// the steps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "host/import/onnx/control.h"
#include "host/import/onnx/functions.h"
#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"

namespace systole::import {
namespace {

using ir::ElementType;

struct Recurrent {
  int64_t steps = 0, batch = 0, hidden = 0, gates = 0, directions = 0;
  bool linear_before_reset = false, coupled = false;
  float clip = 0;
  std::vector<Activation> activations;  // direction by direction
};

// The weights of one direction. Optional ones may be null.
struct Weights {
  Value inputs;     // [steps, batch, gates * hidden], with the biases of W
  Value recurrent;  // [hidden, gates * hidden]
  Value bias;       // of R, [1, gates * hidden]
  Value peepholes;  // [1, 3 * hidden]
};

Value Add(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloAdd, x, y);
}
Value Multiply(HloBuilder& b, const Value& x, const Value& y) {
  return b.Binary(Op::kHloMultiply, x, y);
}

Value Activated(HloBuilder& b, const Recurrent& r, size_t which, Value x) {
  if (r.clip > 0) {
    x = b.Binary(Op::kHloMaximum, x, -r.clip);
    x = b.Binary(Op::kHloMinimum, x, r.clip);
  }
  return b.ok() ? r.activations[which](b, x) : x;
}

Value GateOf(HloBuilder& b, const Recurrent& r, const Value& x, int64_t gate,
             int64_t count = 1) {
  return b.SliceIn(x, 1, gate * r.hidden, (gate + count) * r.hidden);
}

// One step of a direction. `first`: the number of its first activation. x: the
// product of W and the input. Returns the new states; the first one is h.
Values RnnStep(HloBuilder& b, const Recurrent& r, size_t first, const Value& x,
               const Weights& w, const Values& states) {
  const Value sum =
      Add(b, x, Add(b, MatMul(b, states[0], w.recurrent), w.bias));
  return {Activated(b, r, first, sum)};
}

Values GruStep(HloBuilder& b, const Recurrent& r, size_t first, const Value& x,
               const Weights& w, const Values& states) {
  const Value& h = states[0];
  const auto part = [&](const Value& v, int64_t gate, int64_t count) {
    return GateOf(b, r, v, gate, count);
  };
  const Value both = Activated(
      b, r, first,
      Add(b, part(x, 0, 2),
          Add(b, MatMul(b, h, part(w.recurrent, 0, 2)), part(w.bias, 0, 2))));
  const Value z = part(both, 0, 1), reset = part(both, 1, 1);
  const Value weights = part(w.recurrent, 2, 1), bias = part(w.bias, 2, 1);
  const Value before =
      r.linear_before_reset
          ? Multiply(b, reset, Add(b, MatMul(b, h, weights), bias))
          : Add(b, MatMul(b, Multiply(b, reset, h), weights), bias);
  const Value now = Activated(b, r, first + 1, Add(b, part(x, 2, 1), before));
  const Value one = b.Scalar(z.type().element, 1);
  return {Add(b, Multiply(b, b.Binary(Op::kHloSubtract, one, z), now),
              Multiply(b, z, h))};
}

// Gates: input, output, forget, cell.
Values LstmStep(HloBuilder& b, const Recurrent& r, size_t first, const Value& x,
                const Weights& w, const Values& states) {
  const Value& cell = states[1];
  const Value sum =
      Add(b, x, Add(b, MatMul(b, states[0], w.recurrent), w.bias));
  // Peepholes: input, output, forget.
  const auto gate = [&](int64_t at, const Value& looks_at) {
    Value own = GateOf(b, r, sum, at);
    if (w.peepholes.node != nullptr && at < 3)
      own = Add(b, own, Multiply(b, looks_at, GateOf(b, r, w.peepholes, at)));
    return own;
  };
  const Value input = Activated(b, r, first, gate(0, cell));
  const Value forget =
      r.coupled
          ? b.Binary(Op::kHloSubtract, b.Scalar(input.type().element, 1), input)
          : Activated(b, r, first, gate(2, cell));
  const Value candidate = Activated(b, r, first + 1, gate(3, cell));
  const Value next =
      Add(b, Multiply(b, forget, cell), Multiply(b, input, candidate));
  const Value output = Activated(b, r, first, gate(1, next));
  // The output function is not clipped.
  return {Multiply(b, output, r.activations[first + 2](b, next)), next};
}

using Step = Values (*)(HloBuilder& b, const Recurrent& r, size_t first,
                        const Value& x, const Weights& w, const Values& states);

// All steps of a direction. Returns the final states, then h of every step,
// [steps, batch, hidden].
Values Steps(HloBuilder& b, const Recurrent& r, size_t first, Step step,
             const Weights& w, const Values& initial, bool backwards) {
  Values all = initial;
  all.push_back(
      Zeros(b, {initial[0].type().element, {r.steps, r.batch, r.hidden}, {}}));
  return b.Repeat(
      r.steps, all, [&](HloBuilder& t, const Value& i, const Values& now) {
        const Value last =
            t.Scalar(i.type().element, static_cast<double>(r.steps - 1));
        const Value at = backwards ? t.Binary(Op::kHloSubtract, last, i) : i;
        Weights here = w;
        here.recurrent = t.Here(w.recurrent);
        here.bias = t.Here(w.bias);
        if (w.peepholes.node != nullptr) here.peepholes = t.Here(w.peepholes);
        const Value x = PartAt(t, t.Here(w.inputs), 0, at);
        Values next = step(t, r, first, x, here, {now.begin(), now.end() - 1});
        if (!t.ok()) return next;
        next.push_back(WithPart(t, now.back(), 0, at, next[0]));
        return next;
      });
}

// A scale for each activation; NaN if it has none. The list has one scale for
// each activation, or one for each that uses it. Returns nothing if its length
// is neither.
std::optional<std::vector<float>> ScalesOf(
    const std::vector<std::string>& activations,
    const std::vector<float>& scales, const std::set<std::string>& users) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (scales.size() == activations.size()) return scales;
  std::vector<float> all;
  size_t used = 0;
  for (const std::string& name : activations) {
    const bool uses = users.count(absl::AsciiStrToLower(name)) > 0;
    all.push_back(uses && used < scales.size() ? scales[used] : kNone);
    used += uses ? 1 : 0;
  }
  if (!scales.empty() && scales.size() != used) return std::nullopt;
  return all;
}

bool ReadActivations(OnnxNode& n, Recurrent& r,
                     const std::vector<std::string>& defaults) {
  std::vector<std::string> names = n.Texts("activations");
  if (names.empty()) {
    for (int64_t d = 0; d < r.directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (!n.Check(names.size() == defaults.size() * r.directions, names.size(),
               " activations"))
    return false;
  const auto alpha = ScalesOf(names, n.Floats("activation_alpha"),
                              {"affine", "elu", "hardsigmoid", "leakyrelu",
                               "scaledtanh", "thresholdedrelu"});
  const auto beta = ScalesOf(names, n.Floats("activation_beta"),
                             {"affine", "hardsigmoid", "scaledtanh"});
  if (!n.Check(alpha && beta, "scales for another number of activations"))
    return false;
  for (size_t i = 0; i < names.size(); ++i) {
    r.activations.push_back(FindActivation(names[i], (*alpha)[i], (*beta)[i]));
    if (r.activations.back() == nullptr) {
      n.Refuse("activation '", names[i], "'");
      return false;
    }
  }
  return n.b.ok();
}

// Inputs: X, W, R, B, sequence_lens, initial_h; for LSTM also initial_c, P.
Values Convert(OnnxNode& n, int64_t gates,
               const std::vector<std::string>& defaults, Step step) {
  HloBuilder& b = n.b;
  Recurrent r;
  r.gates = gates;
  const bool lstm = gates == 4;
  const std::string direction = n.Text("direction", "forward");
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.linear_before_reset = n.Int("linear_before_reset", 0) != 0;
  r.coupled = n.Int("input_forget", 0) != 0;
  r.clip = n.Float("clip", 0);
  n.Ignore("output_sequence");
  const bool batch_first = n.Int("layout", 0) != 0;
  if (!n.Check(
          direction == "forward" || direction == "reverse" || r.directions == 2,
          "direction '", direction, "'") ||
      !ReadActivations(n, r, defaults))
    return {};
  const auto turned = [&](const Value& v) {
    if (!batch_first || v.type().rank() != 3) return v;
    return b.Transpose(v, {1, 0, 2});
  };
  const Value x = turned(n.In(0)), w = n.In(1), recurrent = n.In(2);
  if (!n.Check(x.type().rank() == 3 && w.type().rank() == 3 &&
                   recurrent.type().rank() == 3,
               "inputs of other ranks than 3"))
    return {};
  r.steps = x.type().shape[0];
  r.batch = x.type().shape[1];
  r.hidden = recurrent.type().shape[2];
  const int64_t wide = gates * r.hidden;
  const Ints w_shape = {r.directions, wide, x.type().shape[2]},
             r_shape = {r.directions, wide, r.hidden},
             state_shape = {r.directions, r.batch, r.hidden};
  if (!n.Check(w.type().shape == w_shape && recurrent.type().shape == r_shape &&
                   n.Int("hidden_size", r.hidden) == r.hidden && r.steps > 0,
               "weights ", ir::TypeText(w.type()), " and ",
               ir::TypeText(recurrent.type()), " for ", ir::TypeText(x.type())))
    return {};
  if (n.Has(4)) {
    const auto lengths = b.ConstantOf(n.In(4));
    const Ints all(r.batch, r.steps);
    if (!lengths || IntegersOf(*lengths) != all)
      return {n.Refuse("sequence_lens other than the number of steps")};
  }
  const ElementType element = x.type().element;
  const auto part = [&](const Value& v, int64_t d) {  // without the direction
    Ints shape = v.type().shape;
    shape.erase(shape.begin());
    return b.Reshape(b.SliceIn(v, 0, d, d + 1), shape);
  };
  Values sequences, last(lstm ? 2 : 1, Value());
  std::vector<Values> ends(last.size());
  for (int64_t d = 0; d < r.directions; ++d) {
    Weights own;
    own.inputs = MatMul(b, x, b.Transpose(part(w, d), {1, 0}));
    own.recurrent = b.Transpose(part(recurrent, d), {1, 0});
    own.bias = Zeros(b, {element, {1, wide}, {}});
    if (n.Has(3)) {
      const Value bias = n.In(3);
      if (!n.Check(bias.type().shape == Ints({r.directions, 2 * wide}),
                   "biases ", ir::TypeText(bias.type())))
        return {};
      const Value row = b.Reshape(part(bias, d), {1, 2 * wide});
      own.inputs = Add(b, own.inputs, b.SliceIn(row, 1, 0, wide));
      own.bias = b.SliceIn(row, 1, wide, 2 * wide);
    }
    if (lstm && n.Has(7)) {
      if (!n.Check(n.Shape(7) == Ints({r.directions, 3 * r.hidden}),
                   "peepholes ", ir::TypeText(n.In(7).type())))
        return {};
      own.peepholes = b.Reshape(part(n.In(7), d), {1, 3 * r.hidden});
    }
    Values initial;
    for (size_t i = 5; i < 5 + last.size(); ++i) {
      if (!n.Has(i)) {
        initial.push_back(Zeros(b, {element, {r.batch, r.hidden}, {}}));
        continue;
      }
      const Value state = turned(n.In(i));
      if (!n.Check(state.type().shape == state_shape, "a state ",
                   ir::TypeText(state.type())))
        return {};
      initial.push_back(part(state, d));
    }
    const bool backwards = direction == "reverse" || d == 1;
    const Values results =
        Steps(b, r, d * defaults.size(), step, own, initial, backwards);
    if (!b.ok()) return {};
    for (size_t i = 0; i < ends.size(); ++i)
      ends[i].push_back(b.Reshape(results[i], {1, r.batch, r.hidden}));
    sequences.push_back(
        b.Reshape(results.back(), {r.steps, 1, r.batch, r.hidden}));
  }
  Value y = b.Concatenate(sequences, 1);
  if (batch_first) y = b.Transpose(y, {2, 0, 1, 3});
  Values outputs = {y};
  for (const Values& end : ends)
    outputs.push_back(turned(b.Concatenate(end, 0)));
  return outputs;
}

Values Rnn(OnnxNode& n) { return Convert(n, 1, {"tanh"}, RnnStep); }
Values Gru(OnnxNode& n) { return Convert(n, 3, {"sigmoid", "tanh"}, GruStep); }
Values Lstm(OnnxNode& n) {
  return Convert(n, 4, {"sigmoid", "tanh", "tanh"}, LstmStep);
}

}  // namespace

OnnxOperators RecurrentOperators() {
  return {{"GRU", 3, 6, Gru}, {"LSTM", 3, 8, Lstm}, {"RNN", 3, 6, Rnn}};
}

}  // namespace systole::import
