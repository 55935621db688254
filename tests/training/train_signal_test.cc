// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SIGINT and SIGTERM sent to the built program: exit codes, what is kept, and
// that the command which it prints goes on to the same bits.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/tools/cli.h"
#include "tests/training/test_digits.h"

namespace systole::tools {
namespace {

using testing::HasSubstr;

constexpr char kLong[] = "tests/data/training/long";  // steps of seconds

void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What follows the header of a safetensors file: all weights, all state of the
// optimiser. The header has times.
std::string Weights(const std::string& path) {
  const std::string bytes = Contents(path);
  uint64_t header = 0;
  if (bytes.size() < sizeof(header)) return "";
  std::memcpy(&header, bytes.data(), sizeof(header));
  return bytes.substr(sizeof(header) + header);
}

class SignalTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    training::WriteTestDigitsAsTraining(folder_);
    setenv("SYSTOLE_DIGITS", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (child_ > 0) kill(child_, SIGKILL);
    CliTest::TearDown();
  }

  // Starts the program; returns when it says that a device runs.
  void Start(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {SYSTOLE_BINARY_DIR "/bin/systole"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string output = File("output");
    std::filesystem::remove(output);
    child_ = fork();
    if (child_ == 0) {
      const int file =
          open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    const double start = Seconds();
    while (!absl::StrContains(Contents(output), " descriptors")) {
      ASSERT_LT(Seconds() - start, 60) << Contents(output);
      Sleep(5);
    }
  }

  Outcome Finish() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            Contents(File("output"))};
  }

  pid_t child_ = 0;
};

TEST_F(SignalTest, AStoppedRunGoesOnToTheSameBits) {
  const std::string recipe = "train --steps 12";
  const std::string rest = "--test-images 10 --eval-every 7 --check none";
  EXPECT_EQ(Run(absl::StrCat(recipe, " ", rest, " --reports '' --save ",
                             File("whole")))
                .code,
            0);
  const std::string want = Weights(File("whole"));
  ASSERT_GT(want.size(), 8'000'000u);
  struct Case {
    int signal, code, milliseconds;
    const char* name;
  };
  for (const Case& c :
       {Case{SIGINT, 130, 300, "SIGINT"}, Case{SIGTERM, 143, 900, "SIGTERM"}}) {
    // A name that a shell would split.
    const std::string file = File(absl::StrCat("it's ", c.name));
    std::vector<std::string> words =
        absl::StrSplit(absl::StrCat(recipe, " ", rest), ' ');
    words.insert(words.end(), {"--reports", "", "--save", file});
    Start(words);
    Sleep(c.milliseconds);
    kill(child_, c.signal);
    const Outcome o = Finish();
    EXPECT_EQ(o.code, c.code) << o.text;
    EXPECT_THAT(o.text, HasSubstr(absl::StrCat("systole: stopped by ", c.name,
                                               " after step ")));
    EXPECT_THAT(o.text, HasSubstr(" of 12, the checkpoint is " + file));
    EXPECT_NE(Weights(file), want);

    const std::vector<std::string> lines =
        absl::StrSplit(o.text, '\n', absl::SkipEmpty());
    const std::string& command = lines.back();
    EXPECT_THAT(command, HasSubstr(" --test-images 10 --eval-every 7 "));
    EXPECT_EQ(std::system((command + " --quiet > /dev/null").c_str()), 0)
        << command;
    EXPECT_TRUE(Weights(file) == want) << c.name << ": the weights differ";
    EXPECT_FALSE(std::filesystem::exists(file + ".tmp"));
  }
}

TEST_F(SignalTest, WithoutACheckpoint) {
  Start({"train", "--steps", "60", "--test-images", "0", "--check", "none",
         "--reports", ""});
  Sleep(200);
  kill(child_, SIGINT);
  const Outcome o = Finish();
  EXPECT_EQ(o.code, 130);
  EXPECT_THAT(o.text, HasSubstr(" of 60; without --save nothing is kept"));
}

// A step of seconds is given up after one; signals that come together are one.
TEST_F(SignalTest, ALongStepIsGivenUp) {
  Start({"train", kLong, "--test-images", "0", "--save", File("checkpoint"),
         "--reports", ""});
  const double start = Seconds();
  kill(child_, SIGTERM);
  kill(child_, SIGTERM);
  const Outcome o = Finish();
  EXPECT_EQ(o.code, 143);
  EXPECT_GT(Seconds() - start, 0.5);
  EXPECT_LT(Seconds() - start, 8);
  EXPECT_THAT(o.text, HasSubstr("stopped by SIGTERM before the end of the "
                                "first step"));
  EXPECT_FALSE(std::filesystem::exists(File("checkpoint")));
}

TEST_F(SignalTest, ASecondSignalEndsAtOnce) {
  Start({"train", kLong, "--test-images", "0", "--reports", ""});
  kill(child_, SIGINT);
  Sleep(200);
  kill(child_, SIGINT);
  const Outcome o = Finish();
  EXPECT_EQ(o.code, 130);
  EXPECT_THAT(o.text, testing::Not(HasSubstr("stopped by")));
}

TEST_F(SignalTest, OtherCommands) {
  Start({"run", "--backend", "iss", "--images", "2000", "--reports", folder_});
  kill(child_, SIGTERM);
  Outcome o = Finish();
  EXPECT_EQ(o.code, 143);
  EXPECT_THAT(o.text, HasSubstr("stopped by SIGTERM after "));
  EXPECT_THAT(o.text, HasSubstr(" of 2000 images; no results are written"));
  EXPECT_FALSE(std::filesystem::exists(File("run.json")));

  Start({"run", "models/mnist_cnn.safetensors", "--backend", "iss", "--random",
         "5000", "--output", File("output.npy")});
  kill(child_, SIGINT);
  o = Finish();
  EXPECT_EQ(o.code, 130);
  EXPECT_THAT(o.text, HasSubstr(" of 5000 images; no results are written"));
  EXPECT_FALSE(std::filesystem::exists(File("output.npy")));
}

}  // namespace
}  // namespace systole::tools
