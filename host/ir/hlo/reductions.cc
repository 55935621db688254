// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/window.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

Operands Some(const Operands& operands, size_t first, size_t count) {
  return {operands.begin() + first, operands.begin() + first + count};
}

Operands From(const Operands& operands, size_t first) {
  return {operands.begin() + first, operands.end()};
}

}  // namespace

absl::StatusOr<Literals> EvaluateReduceWindow(const Node& node,
                                              const Operands& operands,
                                              Evaluation& evaluation) {
  const size_t count = node.results();
  const auto& a = node.attr<HloWindowAttributes>();
  // Taps outside the operand read the initial value.
  HloPadAttributes padding{a.low, a.high, a.base_dilation};
  Ints shape;
  for (size_t i = 0; i < a.low.size(); ++i) {
    --padding.interior[i];
    shape.push_back(std::max<int64_t>(
        WindowOf(a, node.operands[0].type().shape, static_cast<int>(i))
            .padded(),
        0));
  }
  const bool pads = shape != node.operands[0].type().shape ||
                    std::any_of(a.low.begin(), a.low.end(),
                                [](int64_t low) { return low != 0; });
  Literals padded;
  for (size_t i = 0; i < count; ++i) {
    padded.push_back(*operands[i]);
    if (!pads) continue;
    const Node pad{"",
                   Op::kHloPad,
                   {node.operands[i].type().element, shape, {}},
                   {node.operands[i], node.operands[count + i]},
                   padding};
    absl::StatusOr<Literals> values =
        EvaluatePad(pad, {operands[i], operands[count + i]}, evaluation);
    if (!values.ok()) return values.status();
    padded.back() = (*values)[0];
  }
  Operands inputs;
  for (const Literal& values : padded) inputs.push_back(&values);
  FoldPlan plan{node.type.shape, StridesOf(shape), a.window, StridesOf(shape)};
  for (size_t i = 0; i < shape.size(); ++i) {
    plan.result_strides[i] *= a.stride[i];
    plan.tap_strides[i] *= a.window_dilation[i];
  }
  return Fold(plan, *node.regions[0], inputs, Some(operands, count, count),
              From(operands, 2 * count), evaluation);
}

absl::StatusOr<Literals> EvaluateMap(const Node& node, const Operands& operands,
                                     Evaluation& evaluation) {
  const int64_t lanes = node.type.elements();
  if (lanes == 0) return Literals{Literal::Zeros(node.type.element, 0)};
  absl::StatusOr<Literals> results =
      evaluation.RunLanes(*node.regions[0], lanes, operands);
  if (!results.ok()) return results.status();
  return Only(Filled((*results)[0], lanes));
}

namespace {

// The comparison, if the region only compares its two parameters.
const HloCompareAttributes* ComparisonOf(const Module& region) {
  const std::vector<Node*> parameters = region.inputs();
  const Node& node = *region.outputs[0].node;
  const bool plain = parameters.size() == 2 && region.nodes().size() == 3 &&
                     node.op == Op::kHloCompare &&
                     node.operands[0] == parameters[0] &&
                     node.operands[1] == parameters[1];
  return plain ? &node.attr<HloCompareAttributes>() : nullptr;
}

template <typename T>
bool Chosen(Direction direction, T a, T b) {
  switch (direction) {
    case Direction::kGe:
      return a >= b;
    case Direction::kGt:
      return a > b;
    case Direction::kLe:
      return a <= b;
    case Direction::kLt:
      return a < b;
    case Direction::kEq:
      return a == b;
    case Direction::kNe:
      return a != b;
  }
  return false;
}

}  // namespace

absl::StatusOr<Literals> EvaluateSelectAndScatter(const Node& node,
                                                  const Operands& operands,
                                                  Evaluation& evaluation) {
  const auto& a = node.attr<HloWindowAttributes>();
  const Ints& shape = node.type.shape;
  const Ints strides = StridesOf(shape);
  const Ints& positions = node.operands[1].type().shape;
  const Operands captured = From(operands, 3);
  const HloCompareAttributes* compare = ComparisonOf(*node.regions[0]);
  if (compare && compare->type == CompareType::kTotalOrder) compare = nullptr;
  const std::optional<Op> op = CombinerOf(*node.regions[1]);
  const std::optional<Combiner> combiner =
      op ? FindCombiner(*op, operands[0]->element()) : std::nullopt;
  int64_t taps = 1;
  for (int64_t size : a.window) taps *= size;
  Literal initial = *operands[2];
  // Storing bf16 or f16 makes NaNs canonical, also for the initial value.
  if (IsFloat(initial.element()) && ElementBytes(initial.element()) == 2) {
    const uint8_t* from = operands[2]->data();
    initial = Literal::Zeros(initial.element(), 1);
    FindCombiner(Op::kHloMaximum, initial.element())
        ->map(1, from, 1, from, 1, initial.data());
  }
  Literal result = Filled(initial, node.type.elements());
  return operands[0]->Visit(
      [&](const auto& values) -> absl::StatusOr<Literals> {
        using T = typename std::decay_t<decltype(values)>::value_type;
        std::vector<T>& sums = result.values<T>();
        const std::vector<T>& source = operands[1]->values<T>();
        // Runs a region with two scalars.
        const auto run = [&](int region, T x, T y) {
          const Literal left(std::vector<T>{x}), right(std::vector<T>{y});
          Operands scalars = {&left, &right};
          scalars.insert(scalars.end(), captured.begin(), captured.end());
          return evaluation.RunLanes(*node.regions[region], 1, scalars);
        };
        Ints position(shape.size(), 0);
        for (const T& value : source) {
          int64_t selected = -1;
          Ints tap(shape.size(), 0);
          for (int64_t t = 0; t < taps; ++t, Advance(a.window, tap)) {
            int64_t place = 0;
            for (size_t i = 0; i < shape.size() && place >= 0; ++i) {
              const int64_t at = position[i] * a.stride[i] + tap[i] - a.low[i];
              place = at < 0 || at >= shape[i] ? -1 : place + at * strides[i];
            }
            if (place < 0) continue;
            bool keeps = selected >= 0;
            if (keeps && compare) {
              keeps = Chosen<Wide<T>>(compare->direction, values[selected],
                                      values[place]);
            } else if (keeps) {
              const auto chosen = run(0, values[selected], values[place]);
              if (!chosen.ok()) return chosen.status();
              keeps = (*chosen)[0].template values<Bool>()[0];
            }
            if (!keeps) selected = place;
          }
          Advance(positions, position);
          if (selected < 0) continue;
          T& sum = sums[selected];
          if (combiner) {
            combiner->map(1, &sum, 1, &value, 1, &sum);
          } else {
            const auto next = run(1, sum, value);
            if (!next.ok()) return next.status();
            sum = (*next)[0].template values<T>()[0];
          }
        }
        return Only(std::move(result));
      });
}

}  // namespace systole::ir
