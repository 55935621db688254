// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training runs: order of the digits, checkpoints, resuming, the checks and
// that they see a flipped bit, the forward pass on the device.
//   --backend=iss|rtl --preset=lite --steps=N --batch=B
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "host/tools/train_run.h"
#include "host/training/checkpoint.h"
#include "tests/testing/options.h"
#include "tests/training/test_digits.h"

namespace systole::tools {
namespace {

using testing::HasSubstr;
using training::DigitsLayers;
using training::TrainState;

std::string g_backend = "iss";
std::string g_preset = "lite";
int g_steps = 2;
int g_batch = 4;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteContents(const std::string& path, const std::string& bytes) {
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
    o.recipe.preset = g_preset;
    o.recipe.batch = g_batch;
    o.recipe.steps = g_steps;
    o.backend = g_backend;
    o.digits = folder_;
    o.test_digits = SYSTOLE_SOURCE_DIR "/tests/data/mnist";
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
  std::string ReadError(const std::string& path) {
    return std::string(
        training::ReadCheckpoint(path, DigitsLayers()).status().message());
  }
  const std::string folder_ =
      testing::TempDir() + "/train_run_test_" + g_backend + "_" + g_preset;
};

TEST(BatchOrder, AnEpochHasEachDigitOnce) {
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
  // The same digits however large the batch is, larger than an epoch too.
  std::vector<int64_t> joined = epochs[0];
  joined.insert(joined.end(), epochs[1].begin(), epochs[1].end());
  EXPECT_EQ(order.Batch(0, 2 * kCount), joined);
  for (int64_t step = 0; step < 2 * kCount; ++step)
    EXPECT_EQ(order.Batch(step, 1)[0], joined[step]);
}

// Published figures depend on it.
TEST(BatchOrder, IsThatOfTheHash) {
  EXPECT_THAT(BatchOrder(8000, 1).Batch(0, 5),
              testing::ElementsAre(85, 2679, 5975, 412, 1562));
}

TEST(Recipe, RateFallsLinearly) {
  Recipe recipe;
  recipe.steps = 4;
  recipe.rate = 0.008;
  EXPECT_EQ(recipe.Rate(0), 0.008f);
  EXPECT_EQ(recipe.Rate(3), 0.002f);
}

// Lockstep with the other backend where there is one, and with the golden
// model.
TEST_F(TrainRunTest, EveryStepIsEqual) {
  TrainOptions options = Options();
  if (g_backend == "rtl") options.compare = "iss";
  options.test_images = g_backend == "rtl" ? 3 : 50;
  const auto run = Done(options);
  const std::vector<CurvePoint>& curve = run->history().curve;
  ASSERT_EQ(curve.size(), static_cast<size_t>(g_steps));
  for (const CurvePoint& p : curve) {
    EXPECT_TRUE(p.checked);
    EXPECT_EQ(p.compared, g_backend == "rtl");
    EXPECT_EQ(p.cycles > 0, g_backend == "rtl");
  }
  EXPECT_EQ(curve.back().test_right >= 0, true);
}

TEST_F(TrainRunTest, ChecksSeeAFlippedBit) {
  const std::vector<training::Layer> layers = DigitsLayers();
  TrainState state = training::InitialState(layers, 3);
  const StepOutcome good = {1.5, 0.25, state};
  EXPECT_TRUE(CompareSteps(layers, 7, "rtl", good, "iss", good).ok());
  for (const training::StateTensor& t : training::Tensors(layers, state)) {
    SCOPED_TRACE(t.name);
    float& value = t.values->back();
    const float before = value;
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits ^= 1;
    std::memcpy(&value, &bits, sizeof(bits));
    const absl::Status s =
        CompareSteps(layers, 7, "rtl", {1.5, 0.25, state}, "iss", good);
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(s.message()),
                HasSubstr("step 7: rtl and iss differ: " + t.name + "["));
    EXPECT_THAT(std::string(s.message()), HasSubstr("; 1 of "));
    value = before;
  }
  state.layers[1].weights[24 * 5 + 3] = 2.0f;
  EXPECT_THAT(training::Difference(layers, state, good.state),
              HasSubstr("conv2.weights[5][3] is 2 (0x40000000) instead of "));
  const absl::Status loss = CompareSteps(
      layers, 7, "rtl", {1.5000001, 0.25, good.state}, "iss", good);
  EXPECT_THAT(std::string(loss.message()),
              HasSubstr("the loss is 1.5000001 instead of 1.5"));
}

TEST_F(TrainRunTest, ResumedRunEqualsAWholeOne) {
  if (g_backend != "iss") GTEST_SKIP() << "the host's part is the same";
  for (const char* optimiser : {"adam", "sgd"}) {
    TrainOptions options = Options();
    options.recipe.optimiser = optimiser;
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
    EXPECT_EQ(run->history().recipe.optimiser, optimiser);
    auto whole = training::ReadCheckpoint(folder_ + "/whole", DigitsLayers());
    auto half = training::ReadCheckpoint(folder_ + "/half", DigitsLayers());
    ASSERT_TRUE(whole.ok() && half.ok());
    EXPECT_EQ(training::Difference(DigitsLayers(), half->state, whole->state),
              "");
    const auto a = ParseHistory(whole->description),
               b = ParseHistory(half->description);
    ASSERT_TRUE(a.ok() && b.ok());
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(a->curve[i].loss, b->curve[i].loss) << i;
    EXPECT_THAT(CreateError(rest), HasSubstr("is after step 6 already"));
  }
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
    first.overdue = [&] { return give_up && steps == 1 && ++asked == 20; };
    const auto run = Done(first);
    EXPECT_TRUE(run->interrupted());
    EXPECT_EQ(run->history().curve.size(), 1u);
    TrainOptions rest = Options();
    rest.resume = rest.save = first.save;
    rest.recipe.steps = options.recipe.steps;
    rest.check = rtl ? Check::kNone : Check::kEnds;
    EXPECT_FALSE(Done(rest)->interrupted());
    const auto whole =
        training::ReadCheckpoint(folder_ + "/whole", DigitsLayers());
    const auto got = training::ReadCheckpoint(first.save, DigitsLayers());
    ASSERT_TRUE(whole.ok() && got.ok());
    EXPECT_EQ(training::Difference(DigitsLayers(), got->state, whole->state),
              "");
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

TEST_F(TrainRunTest, ForwardPassOnTheDevice) {
  if (g_backend != "iss") GTEST_SKIP() << "EveryStepIsEqual has one";
  TrainOptions options = Options();
  options.recipe.batch = 24;
  options.recipe.steps = 6;
  options.test_images = 101;  // the last of its batches is not full
  options.save = folder_ + "/state";
  const auto run = Done(options);
  const auto state =
      training::ReadCheckpoint(folder_ + "/state", DigitsLayers());
  ASSERT_TRUE(state.ok()) << state.status();
  auto digits = ReadDigits(options.test_digits);
  ASSERT_TRUE(digits.ok());
  digits->labels.resize(101);
  digits->pixels.resize(101 * 784);
  const auto want = GoldenCountRight(
      DigitsLayers(), static_cast<int>(FindPreset(g_preset)->rows),
      state->state, {digits->pixels, digits->labels});
  ASSERT_TRUE(want.ok()) << want.status();
  EXPECT_EQ(run->history().curve.back().test_right, *want);
  EXPECT_GT(*want, 20);  // more than by chance
}

TEST_F(TrainRunTest, DamagedCheckpoints) {
  const std::vector<training::Layer> layers = DigitsLayers();
  const std::string path = folder_ + "/checkpoint", bad = folder_ + "/bad";
  const TrainState state = training::InitialState(layers, 1);
  ASSERT_TRUE(training::WriteCheckpoint(path, layers, {"text", state}).ok());
  const auto back = training::ReadCheckpoint(path, layers);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(training::Difference(layers, back->state, state), "");
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
  std::vector<training::Layer> fewer = layers;
  fewer[1].co = 23;
  EXPECT_THAT(
      std::string(training::ReadCheckpoint(path, fewer).status().message()),
      HasSubstr("tensor 'conv2.weights' is F32 [432, 24], expected F32 [432, "
                "23]"));
  fewer = layers;
  fewer[0].name = "first";
  EXPECT_THAT(
      std::string(training::ReadCheckpoint(path, fewer).status().message()),
      HasSubstr("there is no tensor 'first.weights'"));
  TrainOptions options = Options();
  options.resume = path;
  EXPECT_THAT(CreateError(options), HasSubstr("no description of a run"));
}

TEST_F(TrainRunTest, Errors) {
  TrainOptions options = Options();
  options.digits = folder_ + "/nowhere";
  EXPECT_THAT(
      CreateError(options),
      HasSubstr(
          "no such folder; scripts/python scripts/train/fetch_digits.py"));
  options = Options();
  options.recipe.batch = 0;
  EXPECT_THAT(CreateError(options), HasSubstr("a batch of 0"));
  options = Options();
  options.recipe.steps = 0;
  EXPECT_THAT(CreateError(options), HasSubstr("0 steps"));
  options = Options();
  options.recipe.rate = -1;
  EXPECT_THAT(CreateError(options), HasSubstr("a rate of -1"));
  options = Options();
  options.recipe.momentum = 1;
  EXPECT_THAT(CreateError(options), HasSubstr("a momentum of 1"));
  options = Options();
  options.test_images = 2001;
  EXPECT_THAT(CreateError(options), HasSubstr("2001 test digits"));
  options = Options();
  options.compare = g_backend;
  EXPECT_THAT(CreateError(options), HasSubstr("the other backend"));
  if (g_backend != "iss") return;
  options = Options();
  options.recipe.preset = "edge";
  EXPECT_THAT(CreateError(options), HasSubstr("int8 cell"));
  options.recipe.preset = "mini";
  EXPECT_THAT(CreateError(options), HasSubstr("at most 8 classes"));
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
  options.recipe.batch = g_batch + 1;
  options.given = {"batch"};
  EXPECT_THAT(CreateError(options),
              HasSubstr("belongs to another run: batch is "));
  options.given.clear();
  EXPECT_EQ(CreateError(options), "");
  // Other digits.
  std::string labels(2008, '\1');
  labels.replace(0, 8, std::string("\0\0\x08\x01\0\0\x07\xD0", 8));
  WriteContents(folder_ + "/train-labels-idx1-ubyte.gz", labels);
  EXPECT_THAT(CreateError(options), HasSubstr("another run: digits is"));
}

}  // namespace
}  // namespace systole::tools

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(
      argc, argv,
      {{"backend", &systole::tools::g_backend},
       {"preset", &systole::tools::g_preset},
       {"steps", &systole::tools::g_steps},
       {"batch", &systole::tools::g_batch}});
}
