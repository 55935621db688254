// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Plans as text, for tests of passes.
#ifndef SYSTOLE_TESTS_COMPILER_PLAN_TEXT_H_
#define SYSTOLE_TESTS_COMPILER_PLAN_TEXT_H_

#include <gtest/gtest.h>

#include <string>

#include "host/compiler/plan.h"

namespace systole::compiler {

inline Plan Parsed(const std::string& text) {
  const auto plan = ParsePlan(text);
  EXPECT_TRUE(plan.ok()) << plan.status() << text;
  return plan.ok() ? *plan : Plan();
}

// What pass P makes of a plan. Before and after it the plan must be valid, and
// its text be read as itself.
template <class P>
std::string After(const std::string& text) {
  Plan plan = Parsed(text);
  EXPECT_EQ(Verify(plan), absl::OkStatus()) << text;
  const std::string before = Print(plan);
  const auto changed = P().Run(plan);
  EXPECT_TRUE(changed.ok()) << changed.status();
  if (!changed.ok()) return "";
  EXPECT_EQ(*changed, Print(plan) != before);
  EXPECT_EQ(Verify(plan), absl::OkStatus()) << Print(plan);
  const auto again = ParsePlan(Print(plan));
  EXPECT_TRUE(again.ok()) << again.status();
  if (again.ok()) EXPECT_EQ(Print(*again), Print(plan));
  return Print(plan);
}

}  // namespace systole::compiler

#endif  // SYSTOLE_TESTS_COMPILER_PLAN_TEXT_H_
