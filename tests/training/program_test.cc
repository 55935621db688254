// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What training runs are made of: programs and their rules, data, the order of
// the samples, checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host/model/checkpoint.h"
#include "host/npy/npy.h"
#include "host/tools/train_checkpoint.h"
#include "tests/training/train_case.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrainProgramTest : public TrainRunTest {
 protected:
  std::string ReadError(const std::string& path) {
    return std::string(ReadCheckpoint(path, ReadTrainProgram(kSmall)->state)
                           .status()
                           .message());
  }
  // A program of these files, others of kSmall.
  std::string ProgramError(
      const std::vector<std::pair<std::string, std::string>>& files) {
    const std::string folder = folder_ + "/program";
    std::filesystem::remove_all(folder);
    std::filesystem::copy(kSmall, folder);
    for (const auto& [name, from] : files)
      std::filesystem::copy_file(
          from, folder + "/" + name,
          std::filesystem::copy_options::overwrite_existing);
    return std::string(ReadTrainProgram(folder).status().message());
  }
};

TEST(TrainNames, PathsAndKeys) {
  EXPECT_EQ(PathOf("state['parameters']['conv1']['weights']"),
            "parameters.conv1.weights");
  EXPECT_EQ(PathOf("state[0][1]"), "0.1");
  EXPECT_EQ(PathOf("state.params['w']"), "params.w");
  EXPECT_EQ(PathOf("state"), "state");
  EXPECT_EQ(PathOf("state["), "state[");
  EXPECT_EQ(PathOf("state['a.b']"), "a.b");
  EXPECT_EQ(KeyOf("result[1]['loss']"), "loss");
  EXPECT_EQ(KeyOf("result[1]"), "");
  EXPECT_EQ(KeyOf("result[1].loss"), "loss");
  EXPECT_EQ(KeyOf("result['top5']"), "top5");
  EXPECT_EQ(KeyOf("result[\"it's\"]"), "it's");
  EXPECT_EQ(PathOf("state[\"it's\"]['a]b'].c[0]"), "it's.a]b.c.0");
  EXPECT_EQ(RootOf("state['a'].b"), "state");
  EXPECT_EQ(KeyOf("images"), "");
}

TEST(BatchOrder, AnEpochHasEachSampleOnce) {
  constexpr int64_t kCount = 37;
  BatchOrder order(kCount, 5), other(kCount, 6);
  std::vector<int64_t> all(kCount);
  std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<std::vector<int64_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    epochs.push_back(order.Batch(epoch, kCount));
    EXPECT_THAT(epochs.back(), testing::UnorderedElementsAreArray(all));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[0], other.Batch(0, kCount));
  // The same samples however large the batch is, larger than an epoch too.
  std::vector<int64_t> joined = epochs[0];
  joined.insert(joined.end(), epochs[1].begin(), epochs[1].end());
  EXPECT_EQ(order.Batch(0, 2 * kCount), joined);
  for (int64_t step = 0; step < 2 * kCount; ++step)
    EXPECT_EQ(order.Batch(step, 1)[0], joined[step]);
}

// Published figures depend on it.
TEST(BatchOrder, IsThatOfTheHash) {
  EXPECT_THAT(BatchOrder(8000, 1).Batch(0, 5),
              ElementsAre(85, 2679, 5975, 412, 1562));
}

TEST(Recipe, RateFallsLinearly) {
  Recipe recipe;
  recipe.steps = 4;
  recipe.rate = 0.008;
  EXPECT_EQ(recipe.Rate(0), 0.008f);
  EXPECT_EQ(recipe.Rate(3), 0.002f);
}

TEST(TrainProgram, TheDigits) {
  const auto program = ReadTrainProgram(kDigits);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->batch, 100);
  EXPECT_TRUE(program->seeded);
  EXPECT_THAT(program->step.results, ElementsAre("accuracy", "loss"));
  EXPECT_THAT(program->evaluate->results, ElementsAre("right"));
  std::vector<std::string> names;
  for (const TrainArgument& argument : program->step.arguments)
    names.push_back(argument.name);
  EXPECT_THAT(names, ElementsAre("images", "labels", "rate"));
  EXPECT_EQ(program->state.size(), 40u);
  const auto tensor = std::find_if(
      program->state.begin(), program->state.end(), [](const StateTensor& t) {
        return t.name == "parameters.conv2.weights";
      });
  ASSERT_NE(tensor, program->state.end());
  EXPECT_EQ(tensor->type.shape, (ir::Ints{6, 6, 12, 24}));
}

// The initial state is computed on the host.
TEST(TrainProgram, TheInitialStateIsTheGoldenModels) {
  const auto program = ReadTrainProgram(kDigits);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto state = InitialState(*program, 7),
             other = InitialState(*program, 8);
  ASSERT_TRUE(state.ok() && other.ok());
  const auto want =
      golden::RunHlo(*program->init, {ir::Literal(std::vector<uint32_t>{7})});
  ASSERT_TRUE(want.ok()) << want.status();
  EXPECT_TRUE(*state == *want);
  EXPECT_FALSE(*state == *other);
}

TEST_F(TrainProgramTest, DamagedCheckpoints) {
  const auto program = ReadTrainProgram(kSmall);
  ASSERT_TRUE(program.ok());
  const std::string path = folder_ + "/checkpoint", bad = folder_ + "/bad";
  const auto state = InitialState(*program, 1);
  ASSERT_TRUE(state.ok());
  ASSERT_TRUE(WriteCheckpoint(path, program->state, {"text", *state}).ok());
  const auto back = ReadCheckpoint(path, program->state);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->state == *state);
  EXPECT_EQ(back->description, "text");

  const std::string bytes = Contents(path);
  std::string changed = bytes;
  changed[changed.size() - 1000] ^= 4;
  WriteContents(bad, changed);
  EXPECT_THAT(ReadError(bad), HasSubstr(bad + ": damaged: the CRC-32 is"));
  changed = bytes;
  changed.replace(changed.find("\"text\""), 6, "\"tent\"");
  WriteContents(bad, changed);
  EXPECT_THAT(ReadError(bad), HasSubstr("damaged"));
  WriteContents(bad, bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(ReadError(bad), HasSubstr("truncated"));
  WriteContents(bad, "");
  EXPECT_THAT(ReadError(bad), HasSubstr("truncated"));
  EXPECT_THAT(ReadError(folder_ + "/none"), HasSubstr("cannot be opened"));
  EXPECT_THAT(ReadError(SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors"),
              HasSubstr("no checkpoint of a training"));
  EXPECT_THAT(
      std::string(ReadCheckpoint(path, ReadTrainProgram(kDigits)->state)
                      .status()
                      .message()),
      HasSubstr("tensor 'first.conv1.offset' is F32 [4], expected F32 [12]"));
  std::vector<StateTensor> other = program->state;
  other[0].name = "first.of.all";
  EXPECT_THAT(std::string(ReadCheckpoint(path, other).status().message()),
              HasSubstr("there is no tensor 'first.of.all'"));
  other = {program->state.begin() + 1, program->state.end()};
  EXPECT_THAT(std::string(ReadCheckpoint(path, other).status().message()),
              HasSubstr(" tensors, the state has "));
  TrainOptions options = Options();
  options.resume = path;
  EXPECT_THAT(CreateError(options), HasSubstr("no description of a run"));
  // No int8 network comes of it.
  EXPECT_THAT(
      std::string(model::ReadNetworkOrCheckpoint(path).status().message()),
      HasSubstr(
          "'parameters.conv1.weights' of 108 floats: a checkpoint becomes "
          "an int8 network only if it is of the digits network"));
}

// All types that a state may have.
TEST_F(TrainProgramTest, CheckpointsOfAllTypes) {
  std::vector<StateTensor> tensors;
  std::vector<ir::Literal> state;
  for (int i = 0; i <= static_cast<int>(ir::ElementType::kFloat32); ++i) {
    const auto element = static_cast<ir::ElementType>(i);
    tensors.push_back({ir::ElementTypeName(element), {element, {2, 3}, {}}});
    state.push_back(ir::Literal::Zeros(element, 6));
    state.back().data()[0] = 1;
  }
  const std::string path = folder_ + "/types";
  ASSERT_TRUE(WriteCheckpoint(path, tensors, {"text", state}).ok());
  const auto back = ReadCheckpoint(path, tensors);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->state == state);
}

TEST_F(TrainProgramTest, OwnData) {
  npy::Array images{npy::Type::kUint8, {12, 28, 28, 1}, {}},
      labels{npy::Type::kUint8, {12}, {}};
  images.bytes.resize(12 * 784, 100);
  labels.bytes.resize(12, 3);
  const std::string x = folder_ + "/x.npy", y = folder_ + "/y.npy";
  ASSERT_TRUE(npy::Write(images, x).ok() && npy::Write(labels, y).ok());
  TrainOptions options = Options();
  options.data.files = {"images=" + x, "labels=" + y};
  options.data.digits = folder_ + "/nowhere";
  EXPECT_EQ(Done(options)->train_count(), 12);
  options.data.files = {"images=" + x};
  options.data.digits = folder_;
  EXPECT_THAT(CreateError(options),
              HasSubstr(": the data 'labels' have 2000 samples, those of " + x +
                        " 12"));
  options.data.files = {"pixels=" + x};
  EXPECT_THAT(
      CreateError(options),
      HasSubstr("--data pixels=" + x + ": NAME=FILE.npy is needed; data of " +
                kSmall + "/step.mlirbc: images, labels"));
  options.data.files = {"images=" + x, "images=" + y};
  EXPECT_THAT(CreateError(options), HasSubstr("is given twice"));
  options.data.files = {"images=" + y, "labels=" + y};
  EXPECT_THAT(CreateError(options),
              HasSubstr(y + ": the data 'images': is uint8 (12,), a batch is "
                            "uint8 (8, 28, 28)"));
  labels.type = npy::Type::kInt8;
  ASSERT_TRUE(npy::Write(labels, y).ok());
  options.data.files = {"images=" + x, "labels=" + y};
  EXPECT_THAT(CreateError(options),
              HasSubstr("is int8 (12,), a batch is uint8 (8,)"));
}

TEST_F(TrainProgramTest, ProgramsThatBreakTheRules) {
  const std::string data = SYSTOLE_SOURCE_DIR "/tests/data/";
  EXPECT_THAT(
      std::string(ReadTrainProgram(folder_ + "/nowhere").status().message()),
      HasSubstr("nowhere: no such folder; a training is a folder with "
                "init.mlirbc"));
  EXPECT_THAT(ProgramError({{"step.mlirbc", data + "stablehlo/exp.txt"}}),
              HasSubstr("step.mlirbc: is not StableHLO"));
  EXPECT_THAT(ProgramError({{"init.mlirbc", data + "stablehlo/exp.mlirbc"}}),
              HasSubstr("init.mlirbc: argument 0, 'x', is float32 (4, 8): at "
                        "most a seed"));
  EXPECT_THAT(ProgramError({{"step.mlirbc", kDigits + "/step.mlirbc"}}),
              HasSubstr("step.mlirbc: argument 0, "
                        "'state['first']['conv1']['offset']', is float32 "
                        "(12,), but result 0 of init.mlirbc is float32 (4,)"));
  EXPECT_THAT(ProgramError({{"step.mlirbc", data + "stablehlo/exp.mlirbc"}}),
              HasSubstr("step.mlirbc: takes 1 values, the state that "
                        "init.mlirbc makes has 24"));
  EXPECT_THAT(ProgramError({{"step.mlirbc", kSmall + "/evaluate.mlirbc"}}),
              HasSubstr("step.mlirbc: has 1 results, the state that "
                        "init.mlirbc makes has 24"));
  EXPECT_THAT(ProgramError({{"evaluate.mlirbc", kSmall + "/step.mlirbc"}}),
              HasSubstr("evaluate.mlirbc: takes 'rate', which is for steps"));
  std::filesystem::copy(kSmall, folder_ + "/half");
  std::filesystem::remove(folder_ + "/half/evaluate.mlirbc");
  TrainOptions options = Options();
  options.program = folder_ + "/half";
  EXPECT_EQ(CreateError(options), "");
  options.tested = true;
  EXPECT_THAT(CreateError(options), HasSubstr("has no evaluate.mlirbc"));
  std::filesystem::remove(folder_ + "/half/init.mlirbc");
  EXPECT_THAT(CreateError(options),
              HasSubstr("half/init.mlirbc: cannot be opened"));
}

}  // namespace
}  // namespace systole::tools
