// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/fold.h"

#include <utility>

#include "host/ir/hlo/combiner.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {

std::optional<Op> CombinerOf(const Module& region) {
  const std::vector<Node*> parameters = region.inputs();
  if (parameters.size() != 2 || region.nodes().size() != 3 ||
      region.outputs.size() != 1) {
    return std::nullopt;
  }
  const Node& node = *region.outputs[0].node;
  const auto reads = [&](int a, int b) {
    return node.operands[0] == parameters[a] &&
           node.operands[1] == parameters[b];
  };
  if (node.operands.size() != 2 || (!reads(0, 1) && !reads(1, 0)) ||
      !IsCombiner(node.op)) {
    return std::nullopt;
  }
  return node.op;
}

Literal Filled(const Literal& value, int64_t count) {
  if (value.size() == count) return value;
  return value.Visit([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    return Literal(std::vector<T>(count, values[0]));
  });
}

namespace {

void FoldBy(const Combiner& combiner, const FoldPlan& plan, int bytes,
            const uint8_t* from, uint8_t* to, int64_t results) {
  const int last = static_cast<int>(plan.results.size()) - 1;
  const int64_t row = last < 0 ? 1 : plan.results[last];
  const int64_t step = last < 0 ? 0 : plan.result_strides[last];
  int64_t taps = 1;
  for (int64_t size : plan.taps) taps *= size;
  // The outer loop goes over rows, the inner one over taps, so each row of
  // results is finished before the next.
  Ints index(plan.results.size(), 0);
  for (int64_t done = 0; done < results; done += row) {
    int64_t base = 0;
    for (int i = 0; i < last; ++i) base += index[i] * plan.result_strides[i];
    Ints tap(plan.taps.size(), 0);
    uint8_t* target = to + done * bytes;
    for (int64_t t = 0; t < taps; ++t) {
      int64_t offset = base;
      for (size_t i = 0; i < tap.size(); ++i) {
        offset += tap[i] * plan.tap_strides[i];
      }
      combiner.map(row, target, 1, from + offset * bytes, step, target);
      Advance(plan.taps, tap);
    }
    if (last >= 0) {
      index[last] = row - 1;
      Advance(plan.results, index);
    }
  }
}

}  // namespace

absl::StatusOr<Literals> Fold(const FoldPlan& plan, const Module& region,
                              const Operands& inputs, const Operands& inits,
                              const Operands& captured,
                              Evaluation& evaluation) {
  int64_t results = 1, taps = 1;
  for (int64_t size : plan.results) results *= size;
  for (int64_t size : plan.taps) taps *= size;
  Literals sums;
  for (const Literal* init : inits) sums.push_back(Filled(*init, results));
  if (results == 0 || taps == 0) return sums;
  const std::optional<Op> combiner = CombinerOf(region);
  if (combiner && inputs.size() == 1) {
    const ElementType element = inputs[0]->element();
    FoldBy(*FindCombiner(*combiner, element), plan, ElementBytes(element),
           inputs[0]->data(), sums[0].data(), results);
    return sums;
  }
  // Evaluates the region for all results at once, one tap after the other.
  const Ints packed = StridesOf(plan.results);
  Ints tap(plan.taps.size(), 0);
  for (int64_t t = 0; t < taps; ++t) {
    int64_t offset = 0;
    for (size_t i = 0; i < tap.size(); ++i) {
      offset += tap[i] * plan.tap_strides[i];
    }
    Literals lanes;
    for (const Literal* input : inputs) {
      const int bytes = ElementBytes(input->element());
      lanes.push_back(Literal::Zeros(input->element(), results));
      CopyStrided(bytes, plan.results,
                  {input->data() + offset * bytes, plan.result_strides},
                  {lanes.back().data(), packed});
    }
    Operands operands;
    for (const Literal& sum : sums) operands.push_back(&sum);
    for (const Literal& lane : lanes) operands.push_back(&lane);
    operands.insert(operands.end(), captured.begin(), captured.end());
    absl::StatusOr<Literals> next =
        evaluation.RunLanes(region, results, operands);
    if (!next.ok()) return next.status();
    sums = *std::move(next);
    for (Literal& sum : sums) sum = Filled(sum, results);
    Advance(plan.taps, tap);
  }
  return sums;
}

}  // namespace systole::ir
