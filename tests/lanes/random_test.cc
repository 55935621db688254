// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random graphs of elementwise operations in one kernel.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

// `nodes` operations on values of three types, some of them results.
std::string RandomModule(std::mt19937_64& random, int64_t size, int nodes) {
  std::map<std::string, std::vector<std::string>> values;
  std::string text = "module @m {\n", outputs;
  for (const char* type : {"f32", "u32", "i1"}) {
    for (int i = 0; i < 2; ++i) {
      const std::string name = absl::StrCat("%", type, "_", i);
      absl::StrAppendFormat(&text, "  %s = %s[%d] parameter(), name=\"%s\"\n",
                            name, type, size, name.substr(1));
      values[type].push_back(name);
    }
  }
  struct Form {
    const char *op, *result;
    std::vector<std::string> operands;
  };
  static const std::vector<Form> forms = {
      {"add", "f32", {"f32", "f32"}},
      {"multiply", "f32", {"f32", "f32"}},
      {"divide", "f32", {"f32", "f32"}},
      {"maximum", "f32", {"f32", "f32"}},
      {"exponential", "f32", {"f32"}},
      {"tanh", "f32", {"f32"}},
      {"sqrt", "f32", {"f32"}},
      {"negate", "f32", {"f32"}},
      {"select", "f32", {"i1", "f32", "f32"}},
      {"convert", "f32", {"u32"}},
      {"convert", "u32", {"f32"}},
      {"add", "u32", {"u32", "u32"}},
      {"xor", "u32", {"u32", "u32"}},
      {"shift_left", "u32", {"u32", "u32"}},
      {"shift_right_logical", "u32", {"u32", "u32"}},
      {"compare", "i1", {"f32", "f32"}},
      {"compare", "i1", {"u32", "u32"}},
      {"and", "i1", {"i1", "i1"}},
      {"not", "i1", {"i1"}},
      {"minimum", "u32", {"u32", "u32"}},
      {"subtract", "f32", {"f32", "f32"}},
  };
  for (int i = 0; i < nodes; ++i) {
    const Form& form = forms[random() % forms.size()];
    std::string operands;
    for (const std::string& type : form.operands) {
      const std::vector<std::string>& of = values[type];
      // Rather new ones, so that the graph is deep.
      const size_t back =
          std::min<size_t>(random() % 6 * (random() % 6), of.size() - 1);
      absl::StrAppend(&operands, operands.empty() ? "" : ", ",
                      of[of.size() - 1 - back]);
    }
    const std::string name = absl::StrCat("%n", i);
    absl::StrAppendFormat(
        &text, "  %s = %s[%d] hlo.%s(%s)%s\n", name, form.result, size, form.op,
        operands, std::string(form.op) == "compare" ? ", direction=LT" : "");
    values[form.result].push_back(name);
    if (random() % 5 == 0 || i + 1 == nodes) {
      absl::StrAppendFormat(&outputs, "%s%s as \"o%d\"",
                            outputs.empty() ? "" : ", ", name, i);
    }
  }
  return absl::StrCat(text, "  return ", outputs, "\n}\n");
}

TEST(RandomTest, GraphsAreTheHosts) {
  DeviceCheck mini("mini"), v2("v2");
  const char* rounds = std::getenv("SYSTOLE_ROUNDS");
  const int count = rounds != nullptr ? std::atoi(rounds) : 30;
  for (int seed = 1; seed <= count; ++seed) {
    std::mt19937_64 random(seed);
    const int64_t size = 1 + random() % 700;
    const int nodes = 1 + static_cast<int>(random() % 120);
    const std::string text = RandomModule(random, size, nodes);
    (seed % 2 ? mini : v2).Check(text, seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace systole::lanes
