// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Part of every test program: with SYSTOLE_WAVES=FOLDER, the first failure of a
// test leaves the waveform of the program that started last on a device of the
// RTL, and prints the complete command that records it again.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "host/files/shell_word.h"
#include "systole/device.h"

namespace systole {

// Of sim/rtl/environment.h, in programs that have it.
[[gnu::weak]] absl::StatusOr<Waveform> ReplayLastProgram(
    const std::string& name);
[[gnu::weak]] int ProgramsStarted();

namespace {

// This program with its own arguments, and this test alone.
std::string Command(const std::string& test) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command;
  for (std::string word; std::getline(file, word, '\0');) {
    if (word.rfind("--gtest_filter", 0) == 0) continue;
    command += (command.empty() ? "" : " ") + ShellWord(word);
  }
  return command + " --gtest_filter=" + ShellWord(test);
}

class Waves : public testing::EmptyTestEventListener {
  // Programs that a suite starts for all its tests are run again with each.
  void OnTestSuiteStart(const testing::TestSuite&) override {
    before_suite_ = ProgramsStarted();
    in_suite_ = -1;
  }
  void OnTestStart(const testing::TestInfo& info) override {
    const int started = ProgramsStarted();
    if (in_suite_ < 0) in_suite_ = started - before_suite_;
    before_ = started - in_suite_;
    name_ = std::string(info.test_suite_name()) + "." + info.name();
    left_ = false;
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || left_ || name_.empty()) return;
    left_ = true;
    std::string file = name_;
    for (char& c : file) c = c == '/' ? '_' : c;
    const auto waveform = ReplayLastProgram(file);
    if (absl::IsNotFound(waveform.status())) return;
    if (!waveform.ok()) {
      std::printf("no waveform: %s\n",
                  std::string(waveform.status().message()).c_str());
      return;
    }
    std::printf(
        "waveform: %s, cycles %llu to %llu of the program that started last, "
        "replayed from its start\nopen it:  gtkwave %s\nagain:    cd %s && "
        "SYSTOLE_TRACE=%s,run=%d,window=%llu:%llu %s\n",
        waveform->file.c_str(), static_cast<unsigned long long>(waveform->from),
        static_cast<unsigned long long>(waveform->to),
        ShellWord(waveform->view).c_str(), ShellWord(get_current_dir()).c_str(),
        ShellWord(waveform->file).c_str(), ProgramsStarted() - 1 - before_,
        static_cast<unsigned long long>(waveform->from),
        static_cast<unsigned long long>(waveform->to), Command(name_).c_str());
  }

  static std::string get_current_dir() {
    char* const folder = getcwd(nullptr, 0);
    const std::string text = folder == nullptr ? "." : folder;
    std::free(folder);
    return text;
  }

  int before_suite_ = 0, in_suite_ = -1, before_ = 0;
  std::string name_;
  bool left_ = false;
};

[[maybe_unused]] const bool listening = [] {
  if (ReplayLastProgram != nullptr && std::getenv("SYSTOLE_WAVES") != nullptr)
    testing::UnitTest::GetInstance()->listeners().Append(new Waves);
  return true;
}();

}  // namespace
}  // namespace systole
