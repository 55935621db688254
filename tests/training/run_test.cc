// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training runs: resuming, interrupting, tests, the checks and that they see a
// flipped bit.
//   --backend=iss|rtl --preset=lite --steps=N
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "host/tools/digits.h"
#include "host/tools/train_checkpoint.h"
#include "tests/testing/options.h"
#include "tests/training/train_case.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::tools {
namespace {

using testing::HasSubstr;

// Lockstep with the other backend where there is one, and with the golden
// model.
TEST_F(TrainRunTest, EveryStepIsEqual) {
  TrainOptions options = Options();
  if (g_backend == "rtl") options.compare = "iss";
  options.tested = true;
  options.test_samples = g_backend == "rtl" ? 3 : 50;
  const auto run = Done(options);
  const std::vector<CurvePoint>& curve = run->history().curve;
  ASSERT_EQ(curve.size(), static_cast<size_t>(g_steps));
  for (const CurvePoint& p : curve) {
    EXPECT_TRUE(p.checked);
    EXPECT_EQ(p.compared, g_backend == "rtl");
    EXPECT_EQ(p.cycles > 0, g_backend == "rtl");
    EXPECT_EQ(p.metrics.size(), 2u);
  }
  EXPECT_EQ(curve.back().test.size(), 1u);
  EXPECT_THAT(run->placement(), HasSubstr(" 0 operations on the host"));
}

TEST_F(TrainRunTest, ChecksSeeAFlippedBit) {
  const auto program = ReadTrainProgram(kSmall);
  ASSERT_TRUE(program.ok());
  const auto state = InitialState(*program, 3);
  ASSERT_TRUE(state.ok());
  const StepOutcome good = {*state,
                            {ir::Literal(std::vector<float>{0.25f}),
                             ir::Literal(std::vector<float>{1.5f})}};
  EXPECT_TRUE(CompareSteps(*program, 7, "rtl", good, "iss", good).ok());
  for (size_t i = 0; i < state->size(); ++i) {
    SCOPED_TRACE(program->state[i].name);
    StepOutcome bad = good;
    std::vector<uint8_t> bytes = bad.state[i].Bytes();
    bytes.back() ^= 1;
    bad.state[i] = ir::Literal::FromBytes(bad.state[i].element(),
                                          bad.state[i].size(), bytes.data());
    const absl::Status s = CompareSteps(*program, 7, "rtl", bad, "iss", good);
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(s.message()),
                HasSubstr("step 7: rtl and iss differ: " +
                          program->state[i].name + "["));
    EXPECT_THAT(std::string(s.message()), HasSubstr("; 1 of "));
  }
  StepOutcome bad = good;
  bad.values[1] = ir::Literal(std::vector<float>{2.0f});
  const absl::Status loss = CompareSteps(*program, 7, "rtl", bad, "iss", good);
  EXPECT_THAT(std::string(loss.message()),
              HasSubstr("loss[0] is 2 (0x40000000) instead of 1.5 ("));
}

TEST_F(TrainRunTest, ResumedRunEqualsAWholeOne) {
  if (g_backend != "iss") GTEST_SKIP() << "the host's part is the same";
  TrainOptions options = Options();
  options.recipe.steps = 6;
  options.save = folder_ + "/whole";
  Done(options);
  options.save = folder_ + "/half";
  options.stop = 3;
  EXPECT_EQ(Done(options)->history().curve.size(), 3u);

  TrainOptions rest = Options();
  rest.recipe = Recipe();
  rest.resume = rest.save = folder_ + "/half";
  const auto run = Done(rest);
  EXPECT_EQ(run->history().curve.size(), 6u);
  EXPECT_EQ(run->history().recipe.rate, 0.05);
  const auto state = ReadTrainProgram(kSmall)->state;
  const auto whole = ReadCheckpoint(folder_ + "/whole", state),
             half = ReadCheckpoint(folder_ + "/half", state);
  ASSERT_TRUE(whole.ok() && half.ok());
  EXPECT_TRUE(half->state == whole->state);
  const auto a = ParseHistory(whole->description),
             b = ParseHistory(half->description);
  ASSERT_TRUE(a.ok() && b.ok());
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(a->curve[i].metrics, b->curve[i].metrics) << i;
  EXPECT_THAT(CreateError(rest), HasSubstr("is after step 6 already"));
}

// Stopped after a step, and in the middle of the next one.
TEST_F(TrainRunTest, InterruptedRunEqualsAWholeOne) {
  TrainOptions options = Options();
  const bool rtl = g_backend == "rtl";
  options.recipe.steps = rtl ? 2 : 3;
  options.check = Check::kNone;
  options.save = folder_ + "/whole";
  Done(options);
  for (const bool give_up : {false, true}) {
    if (rtl && !give_up) continue;  // the host's part is the same
    SCOPED_TRACE(give_up ? "in a step" : "after a step");
    TrainOptions first = options;
    first.save = folder_ + (give_up ? "/in" : "/after");
    int steps = 0, asked = 0;
    first.interrupted = [&] { return ++steps == 1 && !give_up; };
    first.overdue = [&] { return give_up && steps == 1 && ++asked == 2; };
    const auto run = Done(first);
    EXPECT_TRUE(run->interrupted());
    EXPECT_EQ(run->history().curve.size(), 1u);
    TrainOptions rest = Options();
    rest.resume = rest.save = first.save;
    rest.recipe.steps = options.recipe.steps;
    rest.check = rtl ? Check::kNone : Check::kEnds;
    EXPECT_FALSE(Done(rest)->interrupted());
    const auto tensors = ReadTrainProgram(kSmall)->state;
    const auto whole = ReadCheckpoint(folder_ + "/whole", tensors);
    const auto got = ReadCheckpoint(first.save, tensors);
    ASSERT_TRUE(whole.ok() && got.ok());
    EXPECT_TRUE(got->state == whole->state);
  }
}

TEST_F(TrainRunTest, NothingIsWrittenBeforeTheFirstStep) {
  TrainOptions options = Options();
  options.save = folder_ + "/none";
  options.overdue = [] { return true; };
  const auto run = Done(options);
  EXPECT_TRUE(run->interrupted());
  EXPECT_TRUE(run->history().curve.empty());
  EXPECT_FALSE(std::filesystem::exists(options.save));
}

TEST_F(TrainRunTest, TestsAreTheGoldenModels) {
  if (g_backend != "iss") GTEST_SKIP() << "EveryStepIsEqual has one";
  TrainOptions options = Options();
  options.recipe.steps = 30;
  options.check = Check::kNone;
  options.tested = true;
  options.test_samples = 101;  // the last of its batches is not full
  options.save = folder_ + "/state";
  const auto run = Done(options);
  const TrainProgram& program = run->program();
  const auto state = ReadCheckpoint(folder_ + "/state", program.state);
  ASSERT_TRUE(state.ok()) << state.status();
  const auto digits = ReadDigits(SYSTOLE_SOURCE_DIR "/tests/data/mnist");
  ASSERT_TRUE(digits.ok());
  int right = 0;
  for (int first = 0; first < 101; first += 8) {
    std::vector<uint8_t> pixels(digits->pixels.begin() + first * 784,
                                digits->pixels.begin() + (first + 8) * 784);
    std::vector<uint8_t> labels(digits->labels.begin() + first,
                                digits->labels.begin() + first + 8);
    std::vector<ir::Literal> inputs = state->state;
    inputs.emplace_back(std::move(pixels));
    inputs.emplace_back(std::move(labels));
    const auto want = golden::RunHlo(*program.evaluate->program.module, inputs);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int i = first; i < std::min(first + 8, 101); ++i)
      right += static_cast<bool>((*want)[0].values<ir::Bool>()[i - first]);
  }
  const Metrics& test = run->history().curve.back().test;
  EXPECT_EQ(test, (Metrics{{"right", right / 101.0}}));
  EXPECT_GT(right, 30);  // more than by chance
}

TEST_F(TrainRunTest, Errors) {
  TrainOptions options = Options();
  options.data.digits = folder_ + "/nowhere";
  EXPECT_THAT(
      CreateError(options),
      HasSubstr(
          "no such folder; scripts/python scripts/train/fetch_digits.py"));
  options = Options();
  options.recipe.steps = 0;
  EXPECT_THAT(CreateError(options), HasSubstr("0 steps"));
  options = Options();
  options.recipe.rate = -1;
  EXPECT_THAT(CreateError(options), HasSubstr("a rate of -1"));
  options = Options();
  options.tested = true;
  options.test_samples = 2001;
  EXPECT_THAT(CreateError(options), HasSubstr("2001 test samples: "));
  options = Options();
  options.compare = g_backend;
  EXPECT_THAT(CreateError(options), HasSubstr("the other backend"));
  if (g_backend != "iss") return;
  WriteContents(folder_ + "/train-labels-idx1-ubyte.gz", "no digits");
  EXPECT_THAT(CreateError(Options()), HasSubstr("train-labels"));
}

TEST_F(TrainRunTest, ACheckpointOfAnotherRun) {
  if (g_backend != "iss") GTEST_SKIP() << "the host's part is the same";
  TrainOptions options = Options();
  options.recipe.steps = 4;
  options.stop = 1;
  options.save = folder_ + "/first";
  Done(options);
  options.stop = 0;
  options.resume = folder_ + "/first";
  options.recipe.rate = 0.06;
  options.given = {"rate"};
  EXPECT_THAT(
      CreateError(options),
      HasSubstr("belongs to another run: its rate is 0.05, here it is 0.06"));
  options.given.clear();
  EXPECT_EQ(CreateError(options), "");
  // Other digits.
  std::string labels(2008, '\1');
  labels.replace(0, 8, std::string("\0\0\x08\x01\0\0\x07\xD0", 8));
  WriteContents(folder_ + "/train-labels-idx1-ubyte.gz", labels);
  EXPECT_THAT(CreateError(options), HasSubstr("another run: its data is"));
}

// The training that `systole train` begins with: a step of all layers.
TEST_F(TrainRunTest, Digits) {
  TrainOptions options = Options();
  options.program = kDigits;
  options.recipe = Recipe();
  options.stop = 1;
  options.compare = g_backend == "rtl" ? "iss" : "";
  options.check = Check::kNone;  // TheWholeTraining has it
  const auto run = Done(options);
  EXPECT_THAT(run->placement(), HasSubstr(" 0 operations on the host"));
}

}  // namespace
}  // namespace systole::tools

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::tools::g_backend},
       {"preset", &systole::tools::g_preset},
       {"steps", &systole::tools::g_steps}});
}
