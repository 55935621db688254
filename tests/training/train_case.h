// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs of a small training on the test digits.
//   --backend=iss|rtl --preset=lite --steps=N
#ifndef SYSTOLE_TESTS_TRAINING_TRAIN_CASE_H_
#define SYSTOLE_TESTS_TRAINING_TRAIN_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "host/tools/train_run.h"
#include "tests/training/test_digits.h"

namespace systole::tools {

inline const std::string kSmall =
    SYSTOLE_SOURCE_DIR "/tests/data/training/small";
inline const std::string kDigits = SYSTOLE_SOURCE_DIR "/models/digits_training";

inline std::string g_backend = "iss";
inline std::string g_preset = "lite";
inline int g_steps = 3;

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteContents(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class TrainRunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    training::WriteTestDigitsAsTraining(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  TrainOptions Options() const {
    TrainOptions o;
    o.program = kSmall;
    o.preset = g_preset;
    o.recipe.steps = g_steps;
    o.recipe.rate = 0.05;
    o.backend = g_backend;
    o.data = {{}, "--data", folder_, "train"};
    o.test = {{}, "--test", SYSTOLE_SOURCE_DIR "/tests/data/mnist", "test"};
    o.tested = false;
    o.check = Check::kAll;
    return o;
  }
  // A run to its end.
  std::unique_ptr<TrainRun> Done(const TrainOptions& options) {
    auto run = TrainRun::Create(options);
    EXPECT_TRUE(run.ok()) << run.status();
    const absl::Status status = (*run)->Run();
    EXPECT_TRUE(status.ok()) << status;
    return *std::move(run);
  }
  std::string CreateError(const TrainOptions& options) {
    return std::string(TrainRun::Create(options).status().message());
  }
  const std::string folder_ =
      testing::TempDir() + "/train_run_test_" + g_backend + "_" + g_preset;
};

}  // namespace systole::tools

#endif  // SYSTOLE_TESTS_TRAINING_TRAIN_CASE_H_
