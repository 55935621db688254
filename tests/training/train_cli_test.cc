// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// `systole train`: output, report, exit codes, error texts. Runs the built
// program on the simulator.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/tools/cli.h"
#include "tests/training/test_digits.h"

namespace systole::tools {
namespace {

using testing::HasSubstr;

class TrainCli : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    training::WriteTestDigitsAsTraining(folder_);
    setenv("SYSTOLE_DIGITS", folder_.c_str(), 1);
  }
  std::string Command(const std::string& arguments) const {
    return "train --quiet --reports " + folder_ + " " + arguments;
  }
  Outcome Train(const std::string& arguments) {
    return Run(Command(arguments));
  }
  void ExpectError(const std::string& arguments, int code,
                   const std::string& text) {
    CliTest::ExpectError(Command(arguments), code, text);
  }
};

TEST_F(TrainCli, PrintsTheCurveAndWritesTheReport) {
  const Outcome o = Train(
      "--preset lite --steps 30 --batch 10 --stop 26 --eval-every 20 "
      "--test-images 25 --optimiser sgd --rate 0.05 --save " +
      folder_ + "/out/checkpoint");
  EXPECT_EQ(o.code, 0) << o.text;
  for (const char* text :
       {"digits network on iss, lite: 26 of 30 steps of 10 digits, sgd 0.05",
        "1 to 2 ", "25 to 26 ", "of 25 digits, by a forward pass on the device",
        "golden model:  4 of 26 steps, every weight and loss equal",
        "/out/checkpoint"})
    EXPECT_THAT(o.text, HasSubstr(text));
  std::ifstream file(folder_ + "/train.json");
  const nlohmann::json report = nlohmann::json::parse(file);
  EXPECT_EQ(report["optimiser"], "sgd");
  EXPECT_EQ(report["steps_done"], 26);
  EXPECT_EQ(report["checked_by_golden"], 4);
  EXPECT_EQ(report["test_digits"], 25);
  EXPECT_EQ(report["curve"].size(), 26u);
  EXPECT_GE(report["curve"][19]["test_right"], 0);
  EXPECT_EQ(report["curve"][18]["test_right"], -1);
  EXPECT_EQ(report["accuracy"].get<double>() * 25,
            report["curve"][25]["test_right"].get<double>());

  // To the end, with the recipe of the checkpoint.
  const Outcome rest =
      Train("--test-images 0 --json --resume " + folder_ + "/out/checkpoint");
  EXPECT_EQ(rest.code, 0) << rest.text;
  const nlohmann::json whole = nlohmann::json::parse(rest.text);
  EXPECT_EQ(whole["curve"].size(), 30u);
  EXPECT_EQ(whole["preset"], "lite");
  EXPECT_EQ(whole["accuracy"], nullptr);
  EXPECT_EQ(whole["curve"][3], report["curve"][3]);
  ExpectError("--steps 31 --resume " + folder_ + "/out/checkpoint", 1,
              "belongs to another run: steps is 30 and 31");
}

TEST_F(TrainCli, TheGoal) {
  const std::string run = "--preset lite --steps 1 --batch 8 --check none ";
  ExpectError(run + "--test-images 20 --goal 99", 1, "the goal is 99.00 %");
  ExpectError(run + "--test-images 0 --goal 99", 1,
              "--goal needs --test-images");
  EXPECT_EQ(Train(run + "--test-images 20 --goal 0").code, 0);
}

TEST_F(TrainCli, WrongArguments) {
  EXPECT_EQ(Train("--help").code, 0);
  ExpectError("--optimiser none", 2, "--optimiser");
  ExpectError("--check some", 2, "--check");
  ExpectError("--steps many", 2, "--steps");
  ExpectError("--preset v9", 1, "unknown preset 'v9'; there are ");
  ExpectError("--preset edge", 1, "preset 'edge' has the int8 cell");
  ExpectError("--preset mini", 1, "at most 8 classes at preset 'mini'");
  ExpectError("--backend fpga", 1, "fpga");
  ExpectError("--batch 0", 1, "a batch of 0: at least 1 is needed");
  ExpectError("--steps 0", 1, "0 steps: at least 1 is needed");
  ExpectError("--rate nan", 1, "a rate of nan: more than 0 is needed");
  ExpectError("--stop -1", 2, "--stop");
  ExpectError("--test-images 3000", 1, "tests/data/mnist has 2000");
  ExpectError("--compare iss", 1, "compare with the other backend");
  ExpectError("--digits /nowhere", 1,
              "/nowhere: no such folder; "
              "scripts/python scripts/train/fetch_digits.py FOLDER fetches "
              "the training digits");
  ExpectError("--resume /nowhere", 1, "/nowhere: cannot be opened");
  ExpectError(
      "--steps 1 --batch 2 --preset lite --test-images 0 --save "
      "/proc/checkpoint",
      1, "/proc/checkpoint: cannot be written");
}

TEST_F(TrainCli, DamagedCheckpoint) {
  const std::string path = folder_ + "/checkpoint";
  EXPECT_EQ(Train("--preset lite --steps 2 --stop 1 --batch 2 --test-images 0 "
                  "--save " +
                  path)
                .code,
            0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(1'000'000);
  file.put('x');
  file.close();
  ExpectError("--resume " + path, 1, path + ": damaged: the CRC-32 is ");
}

}  // namespace
}  // namespace systole::tools
