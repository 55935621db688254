// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/testing/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "CLI/CLI.hpp"
#include "tests/testing/seeds.h"

namespace systole::testing_options {

int RunTests(int argc, char** argv, std::initializer_list<Option> options) {
  CLI::App app("GoogleTest's options, and");
  // Unless the program has one of that name.
  const auto add = [&](const char* name, auto& value, const char* help) {
    for (const Option& option : options) {
      if (std::strcmp(option.name, name) == 0) return;
    }
    app.add_option(std::string("--") + name, value, help)
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  };
  add("seed", g_seed_option, "first seed of random tests (SYSTOLE_SEED)");
  add("cases", g_cases_option, "seeds of a random test (SYSTOLE_CASES)");
  for (const Option& option : options) {
    std::visit(
        [&](auto* value) {
          app.add_option(std::string("--") + option.name, *value)
              ->capture_default_str();
        },
        option.value);
  }
  // Lists of seeds are made while GoogleTest starts: its options come after.
  std::vector<std::string> own;
  std::vector<char*> others = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--gtest_", 8) == 0) {
      others.push_back(argv[i]);
    } else {
      own.push_back(argv[i]);
    }
  }
  if (std::find(own.begin(), own.end(), "--help") != own.end())
    others.push_back(const_cast<char*>("--help"));
  std::reverse(own.begin(), own.end());
  try {
    app.parse(own);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  int count = static_cast<int>(others.size());
  testing::InitGoogleTest(&count, others.data());
  return RUN_ALL_TESTS();
}

}  // namespace systole::testing_options
