// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Steps on both cores of a chip, each on half of a batch, against the golden
// model's step of two replicas (docs/training.md, "Two cores").
//   --backend=iss|rtl --preset=minichip --steps=N --batch=B (of a core)
#include "tests/training/step_check.h"

namespace systole {
namespace {

// Small enough for eight lanes.
std::vector<training::Layer> TinyLayers() {
  return {training::ConvLayer("conv1", 6, 6, 1, 3, 2, 5),
          training::DenseLayer("dense1", 3 * 3 * 5, 11, true),
          training::DenseLayer("dense2", 11, 6, false)};
}

void ExpectState(Trainer& trainer, const golden::TrainingState& want) {
  for (size_t l = 0; l < want.layers.size(); ++l) {
    const int i = static_cast<int>(l);
    const training::Layer& layer = trainer.layers()[l];
    const training::LayerLayout& p = trainer.step().layout.layers[l];
    const golden::LayerState& state = want.layers[l];
    SCOPED_TRACE(layer.name);
    EXPECT_TRUE(
        SameBits(*trainer.ReadMatrix(p.slab, p.master), state.weights.value))
        << "weights";
    EXPECT_TRUE(
        SameBits(*trainer.ReadMatrix(p.slab, p.first), state.weights.first))
        << "what the optimiser remembers of the weights";
    EXPECT_TRUE(SameBits(
        *trainer.ReadParam(i, layer.normed ? training::kBeta : training::kBias),
        state.offset.value))
        << "offset";
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kOffsetFirst),
                         state.offset.first))
        << "what the optimiser remembers of the offset";
    if (!layer.normed) continue;
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kRunningMean),
                         state.running_mean))
        << "running mean";
  }
}

void CheckReplicas(const std::vector<training::Layer>& layers,
                   training::StepOptions options, float rate, int steps) {
  options.replicas = 2;
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.check_races = true;
  auto cores = Device::OpenCores(g_backend, device_options);
  ASSERT_TRUE(cores.ok()) << cores.status();
  ASSERT_EQ(cores->size(), 2u);
  const uint32_t seed =
      static_cast<uint32_t>(testing_options::FirstSeed(kSeed));
  std::array<std::unique_ptr<Trainer>, 2> trainers;
  for (int c = 0; c < 2; ++c) {
    auto trainer = Trainer::Create(*(*cores)[c], layers, options, seed);
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    trainers[c] = *std::move(trainer);
  }
  const golden::TrainingNetwork network = tools::GoldenNetwork(layers);
  std::array<golden::TrainingState, 2> states;
  states.fill(golden::InitialState(network, seed));
  golden::Optimiser optimiser = golden::Adam{rate};
  if (options.optimiser == training::OptimiserKind::kSgd)
    optimiser = golden::Sgd{rate, static_cast<float>(options.momentum)};
  const int batch = static_cast<int>(options.batch);
  const int pixels_each = network.height * network.width;
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(absl::StrFormat("step %d", step));
    std::vector<uint8_t> pixels, labels;
    MakeBatch(network.classes(), network.height, network.width, 2 * batch,
              100 + step, pixels, labels);
    const auto reports =
        StepOnBoth(*trainers[0], *trainers[1], pixels, labels, rate);
    ASSERT_TRUE(reports.ok()) << reports.status();
    std::array<golden::Bf16Matrix, 2> images;
    std::array<absl::Span<const uint8_t>, 2> halves;
    for (int c = 0; c < 2; ++c) {
      images[c] = golden::PixelsToBf16(
          absl::MakeConstSpan(pixels).subspan(c * batch * pixels_each,
                                              batch * pixels_each),
          pixels_each);
      halves[c] = absl::MakeConstSpan(labels).subspan(c * batch, batch);
    }
    const auto want = golden::StepOnReplicas(
        network, images, halves, optimiser,
        static_cast<int>((*cores)[0]->preset().rows), &states);
    ASSERT_TRUE(want.ok()) << want.status();
    for (int c = 0; c < 2; ++c) {
      SCOPED_TRACE(absl::StrFormat("core %d", c));
      ExpectState(*trainers[c], states[c]);
      EXPECT_EQ((*reports)[c].loss,
                (*want)[c].loss / static_cast<double>(batch));
      if ((*reports)[c].stats.cycles > 0) {
        std::printf(
            "step %d, core %d: loss %.4f, %llu cycles\n", step, c,
            (*reports)[c].loss,
            static_cast<unsigned long long>((*reports)[c].stats.cycles));
      }
    }
  }
}

TEST(Replicas, Adam) {
  training::StepOptions options;
  options.batch = 3;
  CheckReplicas(TinyLayers(), options, 0.002f, 2);
}

TEST(Replicas, Sgd) {
  if (g_backend != "iss") GTEST_SKIP() << "as Adam";
  training::StepOptions options;
  options.batch = 7;
  options.optimiser = training::OptimiserKind::kSgd;
  CheckReplicas(TinyLayers(), options, 0.05f, 3);
}

TEST(Replicas, Errors) {
  training::StepOptions options;
  options.batch = 3;
  options.replicas = 2;
  EXPECT_THAT(std::string(training::BuildStep(TinyLayers(), options,
                                              *FindPreset("mini"))
                              .status()
                              .message()),
              HasSubstr("2 replicas: a chip of preset 'mini' has 1 cores"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  systole::g_preset = "minichip";
  return systole::RunStepTests(argc, argv);
}
