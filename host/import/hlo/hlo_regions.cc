// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Regions and loops of HloBuilder.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

std::shared_ptr<const ir::Module> HloBuilder::Region(
    const std::vector<ir::Type>& parameters,
    const std::function<Values(HloBuilder&, const Values&)>& body) {
  auto module = std::make_shared<ir::Module>();
  HloBuilder inner(*module, state_);
  Values values;
  for (size_t i = 0; i < parameters.size(); ++i)
    values.push_back(inner.Parameter(absl::StrCat("arg", i), parameters[i]));
  for (const Value& result : body(inner, values))
    module->outputs.push_back({"", result});
  return module;
}

Values HloBuilder::While(
    const Values& states,
    const std::function<Value(HloBuilder&, const Values&)>& condition,
    const std::function<Values(HloBuilder&, const Values&)>& body) {
  auto test = std::make_shared<ir::Module>();
  auto step = std::make_shared<ir::Module>();
  HloBuilder tests(*test, state_, this), steps(*step, state_, this);
  const auto parameters = [&](HloBuilder& b) {
    Values values;
    for (size_t i = 0; i < states.size(); ++i)
      values.push_back(b.Parameter(absl::StrCat("arg", i), states[i].type()));
    return values;
  };
  const Values next = body(steps, parameters(steps));
  const Values tested = parameters(tests);
  tests.Capture(steps.captured());
  const Value holds = condition(tests, tested);
  if (!ok()) return Values(std::max<size_t>(states.size(), 16), NoResult());
  if (tests.captured().size() > steps.captured().size()) {
    steps.Capture({tests.captured().begin() +
                       static_cast<int64_t>(steps.captured().size()),
                   tests.captured().end()});
  }
  test->outputs.push_back({"", holds});
  for (const Value& value : next) step->outputs.push_back({"", value});
  test->RemoveUnused();
  step->RemoveUnused();
  Values operands = states;
  operands.insert(operands.end(), steps.captured().begin(),
                  steps.captured().end());
  return Add(Op::kHloWhile, operands, {}, std::nullopt, {test, step});
}

Values HloBuilder::Repeat(int64_t count, const Values& states,
                          const std::function<Values(HloBuilder&, const Value&,
                                                     const Values&)>& body) {
  constexpr ir::ElementType kIndex = ir::ElementType::kInt32;
  Values all = {Scalar(kIndex, 0)};
  all.insert(all.end(), states.begin(), states.end());
  Values results = While(
      all,
      [&](HloBuilder& b, const Values& now) {
        return b.Compare(ir::Direction::kLt, now[0],
                         static_cast<double>(count));
      },
      [&](HloBuilder& b, const Values& now) {
        Values next = {b.Binary(Op::kHloAdd, now[0], 1)};
        for (const Value& value : body(b, now[0], {now.begin() + 1, now.end()}))
          next.push_back(value);
        return next;
      });
  results.erase(results.begin());
  return results;
}

}  // namespace systole::import
