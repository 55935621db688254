// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Cases of the verifier: legal statements, and edits that make them illegal.
#ifndef SYSTOLE_TESTS_IR_VERIFIER_CASES_H_
#define SYSTOLE_TESTS_IR_VERIFIER_CASES_H_

#include <string>
#include <vector>

namespace systole::ir {

struct Edit {
  const char* from;
  const char* to;
  const char* error;
};

struct Case {
  std::string statements;
  std::vector<Edit> edits;
};

inline std::string Input(const std::string& shape) {
  return "%x = i8" + shape + "{scale=0.5, zero=7} parameter()\n";
}

// Of functions of floats, conversions, and weights with a zero point.
inline std::vector<Case> MoreCases() {
  std::vector<Case> cases = {
      {Input("[2,3]") + "%w = i8[4,3]{scale=0.1, zero=5} constant(), "
                        "data=x\"111111111111111111111111\"\n"
                        "%b = i32[4]{scale=0.05} constant(), "
                        "data=x\"11111111111111111111111111111111\"\n"
                        "%y = i8[2,4]{scale=0.4} fully_connected(%x, %w, %b)",
       {{"0.05", "0.06", "bias scale 0.06 is not the product"}}},
      {Input("[2,3]") + "%y = i8[2,3]{scale=0.25, zero=9} rescale(%x)",
       {{"i8[2,3]{scale=0.25", "i8[3,2]{scale=0.25", "[2,3]"}}},
      {Input("[2,3]") + "%y = i64[2,3] cast(%x)",
       {{"i64[2,3]", "i64[3,2]", "[2,3]"}}},
      {"%a = f32[2,3] parameter(), name=\"a\" "
       "%b = f32[3] parameter(), name=\"b\" "
       "%y = f32[2,3] pow(%a, %b)",
       {{"f32[2,3] pow", "f32[3] pow", "[2,3]"}}}};
  const std::string state =
      "%s = i32[1,2] constant(), data=x\"1111111111111111\"\n"
      "%c = i16[1,4]{scale=0.5} constant(), data=x\"1111111111111111\"\n";
  cases.push_back({state + "%y = i16[1,4]{scale=0.5} svdf_state(%s, %c)",
                   {{"y = i16[1,4]", "y = i16[1,2]", "the state i16[1,4]"},
                    {"s = i32[1,2]", "s = i32[2,1]", "sums of i32[2,1]"},
                    {"i16[1,4]{scale=0.5} con", "i8[1,8]{scale=0.5} con",
                     "the state i8[1,8]"}}});
  cases.push_back(
      {state + "%w = i16[2,2]{scale=1} constant(), data=x\"1111111111111111\"\n"
               "%y = i8[1,1]{scale=4} svdf_output(%c, %w), rank=2",
       {{"rank=2", "rank=3", "of rank 3"},
        {"i8[1,1]", "i8[1,2]", "i8[1,2]"},
        {"w = i16[2,2]", "w = i8[4,2]", "weights i8[4,2]"}}});
  for (const char* name : {"sin", "cos", "floor", "ceil", "round"}) {
    cases.push_back({std::string("%x = f32[2,3] parameter() %y = f32[2,3] ") +
                         name + "(%x)",
                     {{"y = f32[2,3]", "y = f32[3,2]", "[2,3]"},
                      {"y = f32[2,3]", "y = i32[2,3]", "not of floats"}}});
  }
  return cases;
}

}  // namespace systole::ir

#endif  // SYSTOLE_TESTS_IR_VERIFIER_CASES_H_
