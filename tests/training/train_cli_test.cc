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
    return "train " + program_ + " --quiet --reports " + folder_ + " " +
           arguments;
  }
  Outcome Train(const std::string& arguments) {
    return Run(Command(arguments));
  }
  void ExpectError(const std::string& arguments, int code,
                   const std::string& text) {
    CliTest::ExpectError(Command(arguments), code, text);
  }
  std::string program_ = "tests/data/training/small";
};

TEST_F(TrainCli, PrintsTheCurveAndWritesTheReport) {
  const Outcome o = Train(
      "--steps 30 --stop 26 --eval-every 20 --test-images 25 --rate 0.05 "
      "--save " +
      folder_ + "/out/checkpoint");
  EXPECT_EQ(o.code, 0) << o.text;
  for (const char* text :
       {"tests/data/training/small on iss, lite: 26 of 30 steps of 8 samples, "
        "rate 0.05 falling to 0, seed 1",
        "step", "accuracy", "test right", "1 to 2 ", "25 to 26 ",
        " of 25 samples right", "golden model:  2 of 26 steps, every value",
        " 0 operations on the host", "/out/checkpoint"})
    EXPECT_THAT(o.text, HasSubstr(text));
  std::ifstream file(folder_ + "/train.json");
  const nlohmann::json report = nlohmann::json::parse(file);
  EXPECT_EQ(report["program"], program_);
  EXPECT_EQ(report["batch"], 8);
  EXPECT_EQ(report["recipe"]["rate"], 0.05);
  EXPECT_EQ(report["steps_done"], 26);
  EXPECT_EQ(report["checked_by_golden"], 2);
  EXPECT_EQ(report["test_samples"], 25);
  EXPECT_EQ(report["curve"].size(), 26u);
  EXPECT_TRUE(report["curve"][19]["test"].contains("right"));
  EXPECT_TRUE(report["curve"][18]["test"].empty());
  EXPECT_GT(report["curve"][0]["metrics"]["loss"].get<double>(),
            report["curve"][25]["metrics"]["loss"].get<double>());
  EXPECT_EQ(report["test"], report["curve"][25]["test"]);

  // To the end, with the recipe of the checkpoint.
  const Outcome rest =
      Train("--test-images 0 --json --resume " + folder_ + "/out/checkpoint");
  EXPECT_EQ(rest.code, 0) << rest.text;
  const nlohmann::json whole = nlohmann::json::parse(rest.text);
  EXPECT_EQ(whole["curve"].size(), 30u);
  EXPECT_TRUE(whole["test"].empty());
  EXPECT_EQ(whole["curve"][3], report["curve"][3]);
  ExpectError("--steps 31 --resume " + folder_ + "/out/checkpoint", 1,
              "belongs to another run: its steps is 30, here it is 31");
}

TEST_F(TrainCli, TheGoal) {
  const std::string run = "--steps 1 --check none ";
  ExpectError(run + "--test-images 20 --goal 99", 1,
              "% of the test samples are right, the goal is 99.00 %");
  ExpectError(run + "--test-images 0 --goal 99", 1,
              "--goal needs --test-images");
  EXPECT_EQ(Train(run + "--test-images 20 --goal 0").code, 0);
}

TEST_F(TrainCli, WrongArguments) {
  EXPECT_EQ(Train("--help").code, 0);
  ExpectError("--check some", 2, "--check");
  ExpectError("--steps many", 2, "--steps");
  ExpectError("--preset v9", 1, "unknown preset 'v9'; there are ");
  ExpectError("--preset edge", 1,
              "preset 'edge': StableHLO runs on bf16 cores: ");
  ExpectError("--backend fpga", 1, "fpga");
  ExpectError("--steps 0", 1, "0 steps: at least 1 is needed");
  ExpectError("--rate nan", 1,
              "a rate of nan: a float32 of more than 0 is needed");
  ExpectError("--stop -1", 2, "--stop");
  ExpectError("--test-images 3000", 1, "tests/data/mnist has 2000");
  ExpectError("--compare iss", 1, "compare with the other backend");
  ExpectError("--digits /nowhere", 1,
              "/nowhere: no such folder; "
              "scripts/python scripts/train/fetch_digits.py FOLDER fetches "
              "the training digits");
  ExpectError("--resume /nowhere", 1, "/nowhere: cannot be opened");
  ExpectError("--data images=/nowhere", 1, "/nowhere: ");
  ExpectError("--steps 1 --test-images 0 --save /proc/checkpoint", 1,
              "/proc/checkpoint: cannot be written");
  program_ = "/nowhere";
  ExpectError("", 1,
              "/nowhere: no such folder; a training is a folder with "
              "init.mlirbc, step.mlirbc and evaluate.mlirbc");
}

TEST_F(TrainCli, DamagedCheckpoint) {
  const std::string path = folder_ + "/checkpoint";
  EXPECT_EQ(Train("--steps 2 --stop 1 --test-images 0 --save " + path).code, 0);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(10'000);
  file.put('x');
  file.close();
  ExpectError("--resume " + path, 1, path + ": damaged: the CRC-32 is ");
}

}  // namespace
}  // namespace systole::tools
