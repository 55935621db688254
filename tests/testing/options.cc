// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/testing/options.h"

#include <gtest/gtest.h>

#include "CLI/CLI.hpp"

namespace systole::testing_options {

int RunTests(int argc, char** argv, std::initializer_list<Option> options) {
  testing::InitGoogleTest(&argc, argv);
  CLI::App app("GoogleTest's options, and");
  for (const Option& option : options) {
    std::visit(
        [&](auto* value) {
          app.add_option(std::string("--") + option.name, *value)
              ->capture_default_str();
        },
        option.value);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return RUN_ALL_TESTS();
}

}  // namespace systole::testing_options
