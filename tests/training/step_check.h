// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training steps on a device against the golden model, every tensor to the bit.
//   CheckSteps(layers, options, /*rate=*/0.002f, /*steps=*/3);
#ifndef SYSTOLE_TESTS_TRAINING_STEP_CHECK_H_
#define SYSTOLE_TESTS_TRAINING_STEP_CHECK_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_format.h"
#include "host/tools/golden_network.h"
#include "host/training/trainer.h"
#include "systole/device.h"
#include "tests/testing/options.h"
#include "tests/testing/seeds.h"
#include "verif/golden/training.h"

namespace systole {

using testing::HasSubstr;
using training::Padding;
using training::PoolKind;
using training::PoolWindow;
using training::Trainer;

// Options of the test program.
inline std::string g_backend = "iss";
inline std::string g_preset = "lite";
inline int g_steps = 2;
inline int g_batch = 8;
constexpr uint64_t kSeed = 5;  // unless another one is asked for

inline int RunStepTests(int argc, char** argv) {
  return testing_options::RunTests(argc, argv,
                                   {{"backend", &g_backend},
                                    {"preset", &g_preset},
                                    {"steps", &g_steps},
                                    {"batch", &g_batch}});
}

// Why the layers make no program, or nothing.
inline std::string BuildError(const std::vector<training::Layer>& layers,
                              int64_t batch, const char* preset) {
  training::StepOptions options;
  options.batch = batch;
  return std::string(training::BuildStep(layers, options, *FindPreset(preset))
                         .status()
                         .message());
}

inline std::vector<training::Layer> SmallLayers() {
  return {training::ConvLayer("conv1", 10, 10, 1, 3, 1, 6),
          training::ConvLayer("conv2", 10, 10, 6, 4, 2, 9),
          training::DenseLayer("dense1", 5 * 5 * 9, 40, true),
          training::DenseLayer("dense2", 40, 7, false)};
}

// Blots, a class at a time in its own place.
inline void MakeBatch(int classes, int height, int width, int batch,
                      uint64_t seed, std::vector<uint8_t>& pixels,
                      std::vector<uint8_t>& labels) {
  std::mt19937_64 rng(seed);
  pixels.assign(static_cast<size_t>(batch) * height * width, 0);
  labels.resize(batch);
  for (int n = 0; n < batch; ++n) {
    labels[n] = static_cast<uint8_t>(rng() % classes);
    const double cy = height * (0.2 + 0.6 * (labels[n] % 3) / 2.0);
    const double cx = width * (0.2 + 0.6 * (labels[n] / 3) / 3.0);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double d = std::hypot(y - cy, x - cx);
        pixels[(n * height + y) * width + x] = static_cast<uint8_t>(
            std::min(255.0, 255 * std::exp(-d * d / 8) + rng() % 40));
      }
    }
  }
}

template <class Matrix, class T>
::testing::AssertionResult SameBits(const std::vector<T>& got,
                                    const Matrix& want) {
  if (static_cast<int64_t>(got.size()) != want.size()) {
    return ::testing::AssertionFailure()
           << got.size() << " values, golden has " << want.size();
  }
  int64_t wrong = 0, first = -1;
  for (int64_t e = 0; e < want.size(); ++e) {
    if (std::memcmp(&got[e], want.data() + e, sizeof(T)) == 0) continue;
    if (first < 0) first = e;
    ++wrong;
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  const int64_t cols = want.cols();
  return ::testing::AssertionFailure()
         << "row " << first / cols << ", column " << first % cols << ": got "
         << +got[first] << ", golden " << +want.data()[first] << " (" << wrong
         << " of " << want.size() << " differ)";
}

inline void CheckLayer(Trainer& trainer, int i, const golden::LayerTrace& want,
                       const golden::LayerState& state) {
  const training::Layer& l = trainer.layers()[i];
  const training::LayerLayout& p = trainer.step().layout.layers[i];
  SCOPED_TRACE(l.name);
  if (l.normed) {
    EXPECT_TRUE(SameBits(*trainer.ReadImages(p.z), golden::ToBf16(want.z)))
        << "z";
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kMean), want.mean))
        << "mean";
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kInv), want.inv))
        << "inv";
    EXPECT_TRUE(SameBits(*trainer.ReadImages(p.a), golden::ToBf16(want.a)))
        << "a";
    EXPECT_TRUE(SameBits(*trainer.ReadImages(p.out), golden::ToBf16(want.out)))
        << "output";
    EXPECT_TRUE(
        SameBits(*trainer.ReadImages(p.dout), golden::ToBf16(want.dout)))
        << "gradient of the output";
    EXPECT_TRUE(SameBits(*trainer.ReadImages(p.da), golden::ToBf16(want.da)))
        << "da";
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kRunningMean),
                         state.running_mean))
        << "running mean";
    EXPECT_TRUE(SameBits(*trainer.ReadParam(i, training::kRunningVar),
                         state.running_var))
        << "running variance";
  }
  EXPECT_TRUE(SameBits(*trainer.ReadImages(p.dz), golden::ToBf16(want.dz)))
      << "dz";
  EXPECT_TRUE(SameBits(*trainer.ReadMatrix(p.slab, p.gradient), want.dw))
      << "dw";
  EXPECT_TRUE(
      SameBits(*trainer.ReadParam(i, training::kOffsetGradient), want.doffset))
      << "gradient of the offset";
  EXPECT_TRUE(
      SameBits(*trainer.ReadMatrix(p.slab, p.master), state.weights.value))
      << "weights";
  EXPECT_TRUE(SameBits(
      *trainer.ReadParam(i, l.normed ? training::kBeta : training::kBias),
      state.offset.value))
      << "offset";
}

inline void CheckSteps(const std::vector<training::Layer>& layers,
                       training::StepOptions options, float rate, int steps) {
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.check_races = true;
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  const uint64_t first = testing_options::FirstSeed(kSeed);
  const uint32_t seed = static_cast<uint32_t>(first);
  auto trainer = Trainer::Create(**device, layers, options, seed);
  ASSERT_TRUE(trainer.ok()) << trainer.status();

  const golden::TrainingNetwork network = tools::GoldenNetwork(layers);
  golden::TrainingState state = golden::InitialState(network, seed);
  golden::Optimiser optimiser = golden::Adam{};
  if (options.optimiser == training::OptimiserKind::kSgd) {
    optimiser = golden::Sgd{rate, static_cast<float>(options.momentum)};
  } else {
    golden::Adam adam;
    adam.rate = rate;
    optimiser = adam;
  }
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(absl::StrFormat("step %d", step));
    std::vector<uint8_t> pixels, labels;
    MakeBatch(network.classes(), network.height, network.width,
              static_cast<int>(options.batch),
              100 + step + 1000 * (first - kSeed), pixels, labels);
    const auto report = (*trainer)->Step(pixels, labels, rate);
    ASSERT_TRUE(report.ok()) << report.status();
    const auto want = golden::Step(
        network, golden::PixelsToBf16(pixels, network.height * network.width),
        labels, optimiser, static_cast<int>((*device)->preset().rows), &state);
    ASSERT_TRUE(want.ok()) << want.status();
    for (size_t i = 0; i < layers.size(); ++i) {
      CheckLayer(**trainer, static_cast<int>(i), want->layers[i],
                 state.layers[i]);
    }
    const double loss = want->loss / static_cast<double>(options.batch);
    EXPECT_TRUE(report->loss == loss ||
                (std::isnan(report->loss) && std::isnan(loss)))
        << report->loss << " and " << loss;
    EXPECT_EQ(report->right,
              want->correct / static_cast<double>(options.batch));
    std::printf("step %d: loss %.4f, %.1f %% right", step, report->loss,
                100 * report->right);
    if (report->stats.cycles > 0) {
      std::printf(", %llu cycles",
                  static_cast<unsigned long long>(report->stats.cycles));
    }
    std::printf("\n");
    std::fflush(stdout);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace systole

#endif  // SYSTOLE_TESTS_TRAINING_STEP_CHECK_H_
