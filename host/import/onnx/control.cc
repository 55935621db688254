// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators with subgraphs: If, Loop, Scan.
#include "host/import/onnx/control.h"

#include <algorithm>
#include <memory>

#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using ir::ElementType;
using ir::Type;

constexpr int64_t kMostUnrolled = 1024;

const void* GraphOf(OnnxNode& n, const char* name) {
  const OnnxAttribute* a = n.Find(name);
  if (a == nullptr || a->kind != OnnxAttribute::Kind::kGraph) {
    n.Wrong("no graph '", name, "'");
    return nullptr;
  }
  return a->graph;
}

std::optional<bool> KnownTruth(HloBuilder& b, const Value& value) {
  if (!b.ok()) return std::nullopt;
  const auto known = b.ConstantOf(value);
  if (!known || known->size() != 1) return std::nullopt;
  return NumbersOf(*known)[0] != 0;
}

Values If(OnnxNode& n) {
  HloBuilder& b = n.b;
  const void* const branches[] = {GraphOf(n, "then_branch"),
                                  GraphOf(n, "else_branch")};
  const Value in = n.In(0);
  if (!b.ok() || !n.Check(in.type().element == ElementType::kBool &&
                              in.type().elements() == 1,
                          "the condition is ", ir::TypeText(in.type())))
    return {};
  if (const auto known = KnownTruth(b, in))
    return n.subgraph(branches[*known ? 0 : 1], b, {});
  const Value condition = b.Reshape(in, {});
  auto first = std::make_shared<ir::Module>();
  auto second = std::make_shared<ir::Module>();
  HloBuilder then(*first, b.state(), &b), otherwise(*second, b.state(), &b);
  const Values yes = n.subgraph(branches[0], then, {});
  if (!b.ok()) return {};
  otherwise.Capture(then.captured());
  const Values no = n.subgraph(branches[1], otherwise, {});
  if (!b.ok()) return {};
  then.Capture({otherwise.captured().begin() +
                    static_cast<int64_t>(then.captured().size()),
                otherwise.captured().end()});
  if (!n.Check(yes.size() == no.size() && !yes.empty(),
               "branches of different numbers of outputs"))
    return {};
  for (size_t i = 0; i < yes.size(); ++i) {
    if (yes[i].type() != no[i].type()) {
      return {n.Refuse("output ", i, " is ", ir::TypeText(yes[i].type()),
                       " of one branch, ", ir::TypeText(no[i].type()),
                       " of the other")};
    }
    first->outputs.push_back({"", yes[i]});
    second->outputs.push_back({"", no[i]});
  }
  first->RemoveUnused();
  second->RemoveUnused();
  Values operands = {condition};
  operands.insert(operands.end(), then.captured().begin(),
                  then.captured().end());
  return b.Add(Op::kHloIf, operands, {}, std::nullopt, {first, second});
}

// The results of a body for inputs of these types: their types, and their
// values where these are known truth values.
struct BodyTypes {
  std::vector<Type> types;
  std::vector<std::optional<bool>> truths;
};
BodyTypes TypesOfBody(OnnxNode& n, const void* body,
                      const std::vector<Type>& inputs) {
  ir::Module module;
  HloBuilder trial(module, n.b.state(), &n.b);
  Values values;
  for (const Type& type : inputs)
    values.push_back(trial.Parameter(absl::StrCat("arg", values.size()), type));
  BodyTypes result;
  for (const Value& value : n.subgraph(body, trial, values)) {
    result.types.push_back(value.type());
    auto truth = KnownTruth(trial, value);
    // While the body runs, its input condition is true.
    if (values.size() > 1 && value == values[1]) truth = true;
    result.truths.push_back(truth);
  }
  return result;
}

struct LoopParts {
  const void* body = nullptr;
  std::optional<int64_t> most;  // iterations, if known
  Value condition;              // before the first iteration
  Values states;
  size_t collected = 0;  // outputs that collect a value per iteration
};

// Unrolls the loop, because values or shapes depend on the iteration number.
Values Unrolled(OnnxNode& n, const LoopParts& loop) {
  HloBuilder& b = n.b;
  Values states = loop.states;
  std::vector<Values> collected(loop.collected);
  bool goes_on = true;
  for (int64_t i = 0; i < *loop.most && goes_on; ++i) {
    Values inputs = {b.Reshape(b.Integers({i}), {}),
                     b.Scalar(ElementType::kBool, 1)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const Values results = n.subgraph(loop.body, b, inputs);
    if (!b.ok()) return {};
    const auto truth = KnownTruth(b, results[0]);
    if (!truth) {
      return {
          n.Refuse("a loop whose values change their shapes, and whose "
                   "number of iterations depends on the model's inputs")};
    }
    goes_on = *truth;
    states.assign(results.begin() + 1,
                  results.begin() + 1 + static_cast<int64_t>(states.size()));
    for (size_t k = 0; k < collected.size(); ++k) {
      const Value part = results[1 + states.size() + k];
      Ints shape = part.type().shape;
      shape.insert(shape.begin(), 1);
      collected[k].push_back(b.Reshape(part, shape));
    }
  }
  for (const Values& parts : collected) {
    if (parts.empty()) return {n.Refuse("a loop without an iteration")};
    states.push_back(b.Concatenate(parts, 0));
  }
  return states;
}

// The states of the loop: iteration number, condition, states of the model,
// collected outputs.
Values Iterated(OnnxNode& n, const LoopParts& loop, const Value& most,
                const BodyTypes& types) {
  HloBuilder& b = n.b;
  const size_t states = loop.states.size();
  Values all = {b.Reshape(b.Integers({0}), {}), loop.condition};
  all.insert(all.end(), loop.states.begin(), loop.states.end());
  for (size_t k = 0; k < loop.collected; ++k) {
    Type type = types.types[1 + states + k];
    type.shape.insert(type.shape.begin(), *loop.most);
    all.push_back(Zeros(b, type));
  }
  Values results = b.While(
      all,
      [&](HloBuilder& t, const Values& now) {
        if (most.node == nullptr) return now[1];
        const Value more = t.Compare(ir::Direction::kLt, now[0], t.Here(most));
        return t.Binary(Op::kHloAnd, more, now[1]);
      },
      [&](HloBuilder& t, const Values& now) {
        const Values inputs(now.begin(),
                            now.begin() + 2 + static_cast<int64_t>(states));
        const Values made = n.subgraph(loop.body, t, inputs);
        Values next = {t.Binary(Op::kHloAdd, now[0], 1.0)};
        if (!t.ok()) return next;
        next.push_back(t.Reshape(made[0], {}));
        for (size_t i = 0; i < states; ++i) next.push_back(made[1 + i]);
        for (size_t k = 0; k < loop.collected; ++k) {
          next.push_back(WithPart(t, now[2 + states + k], 0, now[0],
                                  made[1 + states + k]));
        }
        return next;
      });
  if (!b.ok()) return {};
  results.erase(results.begin(), results.begin() + 2);
  return results;
}

Values Loop(OnnxNode& n) {
  HloBuilder& b = n.b;
  LoopParts loop;
  loop.body = GraphOf(n, "body");
  Value most;
  if (n.Has(0)) {
    most = b.Convert(b.Reshape(n.In(0), {}), ElementType::kInt64);
    const auto known = b.ok() ? b.ConstantOf(most) : std::nullopt;
    if (known) loop.most = std::max<int64_t>(IntegersOf(*known)[0], 0);
  }
  loop.condition =
      n.Has(1) ? b.Reshape(n.In(1), {}) : b.Scalar(ElementType::kBool, 1);
  for (size_t i = 2; i < n.inputs.size(); ++i) loop.states.push_back(n.In(i));
  if (!b.ok()) return {};
  const auto [inputs, outputs] = n.counts(loop.body);
  const auto states = static_cast<int>(loop.states.size());
  if (!n.Check(inputs == states + 2 && outputs >= states + 1, "a body of ",
               inputs, " inputs and ", outputs, " outputs for ", states,
               " states"))
    return {};
  loop.collected = outputs - states - 1;
  if (most.node == nullptr && !n.Has(1)) return {n.Refuse("an endless loop")};
  const auto starts = KnownTruth(b, loop.condition);
  if (starts && !*starts) loop.most = 0;
  if (loop.most == 0 && loop.collected == 0) return loop.states;
  std::vector<Type> types = {{ElementType::kInt64, {}, {}},
                             {ElementType::kBool, {}, {}}};
  for (const Value& state : loop.states) types.push_back(state.type());
  const BodyTypes body = TypesOfBody(n, loop.body, types);
  if (!b.ok()) return {};
  bool same = true;
  for (int i = 0; i < states; ++i)
    same &= body.types[1 + i] == loop.states[i].type();
  const bool counted = loop.most && starts && *starts;
  const bool unrolls =
      !same || (loop.collected > 0 && !(body.truths[0] && *body.truths[0]));
  if (unrolls && counted && *loop.most > kMostUnrolled) {
    return {n.Refuse("a loop of ", *loop.most,
                     " iterations that has to be unrolled, which up to ",
                     kMostUnrolled, " are")};
  }
  if (!same && !counted) {
    return {
        n.Refuse("a loop whose values change their shapes, and whose "
                 "number of iterations depends on the model's inputs")};
  }
  if (!same) return Unrolled(n, loop);
  const bool goes_on = body.truths[0] && *body.truths[0];
  if (loop.collected > 0 && !(counted && goes_on)) {
    if (counted) return Unrolled(n, loop);
    return {
        n.Refuse("a loop that collects outputs, and whose number of "
                 "iterations depends on the model's inputs")};
  }
  if (loop.most == 0) return {n.Refuse("a loop without an iteration")};
  return Iterated(n, loop, most, body);
}

struct ScanParts {
  const void* body = nullptr;
  int64_t states = 0, scanned = 0, collected = 0, count = 0;
  Ints input_axes, input_backwards, output_axes, output_backwards;
};

bool ReadScan(OnnxNode& n, ScanParts& scan) {
  if (n.opset < 9) {
    n.Refuse("opset ", n.opset, ", which scans batches");
    return false;
  }
  scan.body = GraphOf(n, "body");
  scan.scanned = n.Int("num_scan_inputs");
  if (!n.b.ok()) return false;
  const auto [inputs, outputs] = n.counts(scan.body);
  scan.states = static_cast<int64_t>(n.inputs.size()) - scan.scanned;
  scan.collected = outputs - scan.states;
  if (!n.Check(scan.scanned >= 1 && scan.states >= 0 && scan.collected >= 0 &&
                   inputs == static_cast<int>(n.inputs.size()),
               "a body of ", inputs, " inputs and ", outputs, " outputs"))
    return false;
  const Ints in(scan.scanned, 0), out(scan.collected, 0);
  scan.input_axes = n.List("scan_input_axes", in);
  scan.input_backwards = n.List("scan_input_directions", in);
  scan.output_axes = n.List("scan_output_axes", out);
  scan.output_backwards = n.List("scan_output_directions", out);
  if (!n.Check(scan.input_axes.size() == in.size() &&
                   scan.input_backwards.size() == in.size() &&
                   scan.output_axes.size() == out.size() &&
                   scan.output_backwards.size() == out.size(),
               "lists of other lengths"))
    return false;
  for (int64_t i = 0; i < scan.scanned; ++i) {
    const Value x = n.In(scan.states + i);
    scan.input_axes[i] = n.Axis(scan.input_axes[i], x.type().rank());
    if (!n.b.ok()) return false;
    const int64_t size = x.type().shape[scan.input_axes[i]];
    if (i == 0) scan.count = size;
    if (!n.Check(size == scan.count && size > 0, "scanned inputs of ", size,
                 " and ", scan.count, " elements"))
      return false;
  }
  return true;
}

Values Scan(OnnxNode& n) {
  HloBuilder& b = n.b;
  ScanParts scan;
  if (!ReadScan(n, scan)) return {};
  std::vector<Type> types;
  for (int64_t i = 0; i < scan.states + scan.scanned; ++i) {
    Type type = n.In(i).type();
    if (i >= scan.states)
      type.shape.erase(type.shape.begin() + scan.input_axes[i - scan.states]);
    types.push_back(type);
  }
  const BodyTypes body = TypesOfBody(n, scan.body, types);
  if (!b.ok()) return {};
  Values all;
  for (int64_t i = 0; i < scan.states; ++i) {
    all.push_back(n.In(i));
    if (body.types[i] != all.back().type())
      return {n.Refuse("a state that changes its shape")};
  }
  for (int64_t k = 0; k < scan.collected; ++k) {
    Type type = body.types[scan.states + k];
    scan.output_axes[k] = n.Axis(scan.output_axes[k], type.rank() + 1);
    if (!b.ok()) return {};
    type.shape.insert(type.shape.begin() + scan.output_axes[k], scan.count);
    all.push_back(Zeros(b, type));
  }
  return b.Repeat(
      scan.count, all, [&](HloBuilder& t, const Value& i, const Values& now) {
        const Value last =
            t.Scalar(i.type().element, static_cast<double>(scan.count - 1));
        const Value back = t.Binary(Op::kHloSubtract, last, i);
        Values inputs(now.begin(), now.begin() + scan.states);
        for (int64_t k = 0; k < scan.scanned; ++k) {
          inputs.push_back(PartAt(t, t.Here(n.In(scan.states + k)),
                                  scan.input_axes[k],
                                  scan.input_backwards[k] ? back : i));
        }
        Values next = n.subgraph(scan.body, t, inputs);
        if (!t.ok()) return next;
        for (int64_t k = 0; k < scan.collected; ++k) {
          Value& made = next[scan.states + k];
          made = WithPart(t, now[scan.states + k], scan.output_axes[k],
                          scan.output_backwards[k] ? back : i, made);
        }
        return next;
      });
}

Values Starts(HloBuilder& b, const Value& x, int64_t axis, const Value& index) {
  Values starts;
  for (int64_t i = 0; i < x.type().rank(); ++i)
    starts.push_back(i == axis ? index : b.Scalar(index.type().element, 0));
  return starts;
}

}  // namespace

Value PartAt(HloBuilder& b, const Value& x, int64_t axis, const Value& index) {
  if (!b.ok()) return x;
  Values operands = {x};
  for (const Value& start : Starts(b, x, axis, index))
    operands.push_back(start);
  Ints sizes = x.type().shape, left = sizes;
  sizes[axis] = 1;
  left.erase(left.begin() + axis);
  return b.Reshape(
      b.AddOne(Op::kHloDynamicSlice, operands, ir::HloSizesAttributes{sizes}),
      left);
}

Value WithPart(HloBuilder& b, const Value& x, int64_t axis, const Value& index,
               const Value& part) {
  if (!b.ok()) return x;
  Ints shape = part.type().shape;
  shape.insert(shape.begin() + axis, 1);
  Values operands = {x, b.Reshape(part, shape)};
  for (const Value& start : Starts(b, x, axis, index))
    operands.push_back(start);
  return b.AddOne(Op::kHloDynamicUpdateSlice, operands);
}

Value Zeros(HloBuilder& b, const Type& type) {
  return b.BroadcastInDim(b.Scalar(type.element, 0), type.shape, {});
}

OnnxOperators ControlOperators() {
  return {{"If", 1, 1, If},
          {"Loop", 2, kAnyNumber, Loop},
          {"Scan", 1, kAnyNumber, Scan}};
}

}  // namespace systole::import
