// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Steps of graphs of layers, chains and residual ones of any shape, against the
// golden model.
//   --backend=iss|rtl --preset=lite --steps=N --batch=B
#include "tests/training/random_graph.h"
#include "tests/training/step_check.h"

namespace systole {
namespace {

using training::ConvLayer;
using training::DenseLayer;
using training::From;
using training::Layer;
using training::Plus;

TEST(TrainingGraph, RandomGraphs) {
  const int rounds = g_backend == "iss" ? 24 : 3;
  int shortcuts = 0, forks = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t seed = 1000 + static_cast<uint64_t>(round);
    SCOPED_TRACE(absl::StrFormat("graph of seed %d", seed));
    const std::vector<Layer> layers = RandomGraph(seed).Draw();
    for (size_t i = 0; i < layers.size(); ++i) {
      shortcuts += layers[i].plus != training::kNothing;
      forks += i > 0 && layers[i].from == training::kImages;
    }
    training::StepOptions options;
    options.batch = g_backend == "iss" ? 1 + round % 9 : g_batch;
    if (round % 3 == 1) options.optimiser = training::OptimiserKind::kSgd;
    CheckSteps(layers, options, 0.01f, g_steps);
    if (HasFailure()) return;
  }
  EXPECT_GT(shortcuts, rounds / 3);
  if (g_backend == "iss") EXPECT_GT(forks, 0);
}

// The answers of a forward pass with the running statistics.
TEST(TrainingGraph, CountsRightAnswers) {
  std::vector<Layer> layers = {ConvLayer("stem", 8, 8, 1, 3, 1, 5),
                               ConvLayer("block1", 8, 8, 5, 3, 1, 4),
                               Plus(ConvLayer("block2", 8, 8, 4, 3, 1, 5), 0),
                               DenseLayer("classes", 8 * 8 * 5, 6, false)};
  training::StepOptions options;
  options.batch = 4;
  auto device = Device::Open(g_backend, {.preset = g_preset});
  ASSERT_TRUE(device.ok()) << device.status();
  auto trainer = Trainer::Create(**device, layers, options, 3);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  const golden::TrainingNetwork network = tools::GoldenNetwork(layers);
  golden::TrainingState state = golden::InitialState(network, 3);
  std::vector<uint8_t> pixels, labels;
  MakeBatch(6, 8, 8, 4, 77, pixels, labels);
  ASSERT_TRUE((*trainer)->Step(pixels, labels, 0.01f).ok());
  const int rows = static_cast<int>((*device)->preset().rows);
  golden::Adam adam;
  adam.rate = 0.01f;
  ASSERT_TRUE(golden::Step(network, golden::PixelsToBf16(pixels, 64), labels,
                           adam, rows, &state)
                  .ok());
  MakeBatch(6, 8, 8, 11, 78, pixels, labels);
  const auto logits =
      golden::Evaluate(network, golden::PixelsToBf16(pixels, 64), rows, state);
  ASSERT_TRUE(logits.ok()) << logits.status();
  const auto right = (*trainer)->CountRight(pixels, labels);
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(*right, golden::CountCorrect(*logits, labels));
}

// What a step does to the first layer's weights is not what it does without the
// shortcut, whose gradient they have.
TEST(TrainingGraph, AShortcutShows) {
  const std::vector<Layer> layers = {
      ConvLayer("stem", 6, 6, 1, 3, 1, 4),
      ConvLayer("block1", 6, 6, 4, 3, 1, 3),
      Plus(ConvLayer("block2", 6, 6, 3, 3, 1, 4), 0),
      DenseLayer("classes", 6 * 6 * 4, 3, false)};
  training::StepOptions options;
  options.batch = 3;
  auto device = Device::Open(g_backend, {.preset = g_preset});
  ASSERT_TRUE(device.ok()) << device.status();
  auto trainer = Trainer::Create(**device, layers, options, 3);
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  std::vector<uint8_t> pixels, labels;
  MakeBatch(3, 6, 6, 3, 77, pixels, labels);
  ASSERT_TRUE((*trainer)->Step(pixels, labels, 0.01f).ok());
  golden::Adam adam;
  adam.rate = 0.01f;
  for (const bool shortcut : {true, false}) {
    golden::TrainingNetwork network = tools::GoldenNetwork(layers);
    if (!shortcut) network.layers[2].plus = -1;
    golden::TrainingState state = golden::InitialState(network, 3);
    ASSERT_TRUE(golden::Step(network, golden::PixelsToBf16(pixels, 36), labels,
                             adam, static_cast<int>((*device)->preset().rows),
                             &state)
                    .ok());
    const training::LayerLayout& p = (*trainer)->step().layout.layers[0];
    EXPECT_EQ(
        static_cast<bool>(SameBits(*(*trainer)->ReadMatrix(p.slab, p.master),
                                   state.layers[0].weights.value)),
        shortcut);
  }
}

TEST(TrainingGraph, Errors) {
  const auto graph = [](int from, int plus) {
    return std::vector<Layer>{
        ConvLayer("a", 6, 6, 1, 3, 1, 4),
        From(Plus(ConvLayer("b", 6, 6, 4, 3, 1, 4), plus), from),
        DenseLayer("c", 6 * 6 * 4, 3, false)};
  };
  EXPECT_EQ(BuildError(graph(0, 0), 2, "lite"), "");
  EXPECT_EQ(BuildError(graph(1, 0), 2, "lite"),
            "b reads layer 1, which is not before it");
  EXPECT_EQ(BuildError(graph(training::kBelow, 2), 2, "lite"),
            "b reads layer 2, which is not before it");
  std::vector<Layer> layers = graph(0, 0);
  layers[2].from = 0;
  EXPECT_EQ(BuildError(layers, 2, "lite"), "nothing reads b");
  layers = graph(0, 0);
  layers[2].plus = 0;
  EXPECT_EQ(BuildError(layers, 2, "lite"),
            "c: nothing is added to the classes");
  layers = graph(0, 0);
  layers[1] = Plus(ConvLayer("b", 6, 6, 4, 3, 1, 5), 0);
  layers[2].ci = 6 * 6 * 5;
  EXPECT_THAT(BuildError(layers, 2, "lite"),
              HasSubstr("node 'b.sum' (train.add): operand 1 is "
                        "bf16[2,6,6,4], not bf16[2,6,6,5]"));
  layers = graph(0, 0);
  layers[1].name = "a";
  EXPECT_THAT(BuildError(layers, 2, "lite"), HasSubstr("two nodes 'a."));
  layers[1].name = "a.b";
  EXPECT_EQ(BuildError(layers, 2, "lite"), "'a.b' is no name of a layer");
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) { return systole::RunStepTests(argc, argv); }
