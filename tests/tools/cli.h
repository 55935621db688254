// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the built command-line program and looks at what it says.
#ifndef SYSTOLE_TESTS_TOOLS_CLI_H_
#define SYSTOLE_TESTS_TOOLS_CLI_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"

namespace systole::tools {

struct Outcome {
  int code;
  std::string text;  // stdout and stderr
};

class CliTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Outcome Run(const std::string& arguments) {
    const std::string command =
        SYSTOLE_BINARY_DIR "/bin/systole " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> buffer;
    while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
      text.append(buffer.data(), got);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
  }
  void ExpectError(const std::string& arguments, int code,
                   const std::string& text) {
    const Outcome o = Run(arguments);
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.text;
    EXPECT_THAT(o.text, testing::HasSubstr(text)) << arguments;
  }
  std::string File(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Tests run side by side.
  const std::string folder_ = absl::StrCat(
      testing::TempDir(), "/cli_",
      testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace systole::tools

#endif  // SYSTOLE_TESTS_TOOLS_CLI_H_
