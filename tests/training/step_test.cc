// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training steps on a device against the golden model, every tensor to the bit
// (docs/training.md).
//   --backend=iss|rtl --preset=lite --steps=N --batch=B
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/str_format.h"
#include "host/training/trainer.h"
#include "systole/device.h"
#include "tests/testing/options.h"
#include "verif/golden/training.h"

namespace systole {
namespace {

using testing::HasSubstr;
using training::Padding;
using training::PoolKind;
using training::PoolWindow;
using training::Trainer;

std::string g_backend = "iss";
std::string g_preset = "lite";
int g_steps = 2;
int g_batch = 8;

// Blots, a class at a time in its own place.
void MakeBatch(int classes, int height, int width, int batch, uint64_t seed,
               std::vector<uint8_t>& pixels, std::vector<uint8_t>& labels) {
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

golden::TrainingPool GoldenPool(const training::Pool& pool) {
  golden::TrainingPool p;
  if (pool.kind == PoolKind::kNone) return p;
  p.kind = pool.kind == PoolKind::kMax ? golden::TrainingPool::Kind::kMax
                                       : golden::TrainingPool::Kind::kAverage;
  p.height = static_cast<int>(pool.window.h);
  p.width = static_cast<int>(pool.window.w);
  p.stride_y = static_cast<int>(pool.window.stride_y);
  p.stride_x = static_cast<int>(pool.window.stride_x);
  p.same = pool.window.padding == Padding::kSame;
  return p;
}

golden::TrainingNetwork GoldenNetwork(
    const std::vector<training::Layer>& layers) {
  golden::TrainingNetwork network;
  network.height = static_cast<int>(layers[0].h);
  network.width = static_cast<int>(layers[0].w);
  network.channels = static_cast<int>(layers[0].ci);
  for (const training::Layer& l : layers) {
    network.layers.push_back({l.dense ? 0 : static_cast<int>(l.kh),
                              static_cast<int>(l.stride),
                              static_cast<int>(l.co), GoldenPool(l.pool)});
  }
  return network;
}

void CheckLayer(Trainer& trainer, int i, const golden::LayerTrace& want,
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
    const training::ImageTensor& out = trainer.step().layout.layers[i + 1].in;
    EXPECT_TRUE(SameBits(*trainer.ReadImages(l.pooled() ? p.a : out),
                         golden::ToBf16(want.a)))
        << "a";
    if (l.pooled()) {
      EXPECT_TRUE(
          SameBits(*trainer.ReadImages(out), golden::ToBf16(want.pooled)))
          << "a behind the pool";
      EXPECT_TRUE(SameBits(*trainer.ReadImages(p.pooled_da),
                           golden::ToBf16(want.dpooled)))
          << "da behind the pool";
    }
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

void CheckSteps(const std::vector<training::Layer>& layers,
                training::StepOptions options, float rate, int steps) {
  DeviceOptions device_options;
  device_options.preset = g_preset;
  device_options.check_races = true;
  auto device = Device::Open(g_backend, device_options);
  ASSERT_TRUE(device.ok()) << device.status();
  constexpr uint32_t kSeed = 5;
  auto trainer = Trainer::Create(**device, layers, options, kSeed);
  ASSERT_TRUE(trainer.ok()) << trainer.status();

  const golden::TrainingNetwork network = GoldenNetwork(layers);
  golden::TrainingState state = golden::InitialState(network, kSeed);
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
              static_cast<int>(options.batch), 100 + step, pixels, labels);
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
    EXPECT_EQ(report->loss, want->loss / static_cast<double>(options.batch));
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

std::vector<training::Layer> SmallLayers() {
  return {training::ConvLayer("conv1", 10, 10, 1, 3, 1, 6),
          training::ConvLayer("conv2", 10, 10, 6, 4, 2, 9),
          training::DenseLayer("dense1", 5 * 5 * 9, 40, true),
          training::DenseLayer("dense2", 40, 7, false)};
}

TEST(TrainingStep, SmallAdam) {
  training::StepOptions options;
  options.batch = 5;
  CheckSteps(SmallLayers(), options, 0.002f, 3);
}

TEST(TrainingStep, SmallSgd) {
  training::StepOptions options;
  options.batch = 11;
  options.optimiser = training::OptimiserKind::kSgd;
  CheckSteps(SmallLayers(), options, 0.05f, 3);
}

// Pools in front of a convolution and of a dense layer; two tiles of channels
// (at lite) in the second.
std::vector<training::Layer> PooledLayers(PoolKind kind,
                                          const PoolWindow& window) {
  const training::Layer first = training::Pooled(
      training::ConvLayer("conv1", 8, 20, 1, 3, 1, 6), kind, window);
  const int64_t h = first.pool.oh, w = first.pool.ow;
  training::Layer second = training::ConvLayer("conv2", h, w, 6, 1, 1, 37);
  if (h >= window.h && w >= window.w)
    second = training::Pooled(second, kind, window);
  return {first, second,
          training::DenseLayer("dense1", second.outputs(), 7, false)};
}

struct PoolCase {
  const char* name;
  PoolWindow window;
};

const PoolCase kPoolCases[] = {
    {"3x3, stride 2, same", {3, 3, 2, 2, Padding::kSame}},
    {"2x2, stride 2", {2, 2, 2, 2}},
    {"3x3, stride 2", {3, 3, 2, 2}},
    {"3x3, stride 1", {3, 3, 1, 1}},
    {"3x3, stride 1, same", {3, 3, 1, 1, Padding::kSame}},
    {"2x3, stride 1x2, same", {2, 3, 1, 2, Padding::kSame}},
    {"3x2, stride 2x3", {3, 2, 2, 3}},  // every third column in no window
    {"1x1, stride 3, same", {1, 1, 3, 3, Padding::kSame}},
    {"5x4, stride 3x1, same", {5, 4, 3, 1, Padding::kSame}},
    {"whole image", {8, 20, 8, 20}},
    {"larger than the image, same", {11, 23, 4, 5, Padding::kSame}},
};

void CheckPools(PoolKind kind) {
  for (const PoolCase& c : kPoolCases) {
    SCOPED_TRACE(c.name);
    std::printf("%s\n", c.name);
    training::StepOptions options;
    options.batch = g_backend == "iss" ? 11 : 1;
    CheckSteps(PooledLayers(kind, c.window), options, 0.02f,
               g_backend == "iss" ? 3 : 1);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TrainingStep, MaxPool) { CheckPools(PoolKind::kMax); }
TEST(TrainingStep, AveragePool) { CheckPools(PoolKind::kAverage); }

// In turns, where the unified buffer does not hold a second image.
TEST(TrainingStep, LargePooledImages) {
  if (g_backend != "iss") GTEST_SKIP() << "seconds of golden model";
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    const training::Layer first =
        training::Pooled(training::ConvLayer("conv1", 32, 32, 1, 3, 1, 40),
                         kind, {3, 3, 1, 1, Padding::kSame});
    training::StepOptions options;
    options.batch = 3;
    CheckSteps(
        {first, training::DenseLayer("dense1", first.outputs(), 7, false)},
        options, 0.02f, 1);
  }
}

// A max pool and an average pool in one network, and SGD.
TEST(TrainingStep, BothPools) {
  if (g_backend != "iss") GTEST_SKIP() << "the two tests above";
  training::StepOptions options;
  options.batch = 9;
  options.optimiser = training::OptimiserKind::kSgd;
  CheckSteps({training::Pooled(training::ConvLayer("conv1", 9, 9, 1, 3, 1, 5),
                               PoolKind::kMax, {3, 3, 2, 2}),
              training::Pooled(training::ConvLayer("conv2", 4, 4, 5, 3, 1, 40),
                               PoolKind::kAverage, {4, 4, 4, 4}),
              training::DenseLayer("dense1", 40, 7, false)},
             options, 0.05f, 3);
}

TEST(TrainingStep, Digits) {
  training::StepOptions options;
  options.batch = g_batch;
  CheckSteps(training::DigitsLayers(), options, 0.002f, g_steps);
}

// The first activations alone are twice what the unified buffer holds: each
// block streams from HBM, the inputs of dense layers in slices. Neither a
// multiple of 8 nor of Rows.
TEST(TrainingStep, BatchLargerThanTheUnifiedBuffer) {
  if (g_backend != "iss") GTEST_SKIP() << "minutes on the RTL";
  const Preset& preset = *FindPreset(g_preset);
  const std::vector<training::Layer> layers = training::DigitsLayers();
  training::StepOptions options;
  const int64_t image = 2 * layers[0].positions() * layers[0].co;
  options.batch = 2 * preset.ub_bytes / image + 3;
  ASSERT_GT(options.batch * image, 2 * preset.ub_bytes);
  ASSERT_NE(options.batch % 8, 0);
  CheckSteps(layers, options, 0.002f, 1);
}

// More images than one operation takes: sums go on in the next.
TEST(TrainingStep, ManyImages) {
  if (g_backend != "iss") GTEST_SKIP() << "a minute on the RTL";
  training::StepOptions options;
  options.batch = 1100;
  CheckSteps({training::Pooled(training::ConvLayer("conv1", 8, 8, 1, 3, 2, 3),
                               PoolKind::kMax, {2, 2, 2, 2}),
              training::DenseLayer("dense1", 2 * 2 * 3, 9, true),
              training::DenseLayer("dense2", 9, 5, false)},
             options, 0.01f, 2);
}

TEST(TrainingStep, Errors) {
  const auto message = [](const std::vector<training::Layer>& layers,
                          int64_t batch, const char* preset) {
    training::StepOptions options;
    options.batch = batch;
    return std::string(training::BuildStep(layers, options, *FindPreset(preset))
                           .status()
                           .message());
  };
  EXPECT_THAT(message(SmallLayers(), 0, "lite"), HasSubstr("a batch of 0"));
  EXPECT_THAT(message(SmallLayers(), 4, "edge"), HasSubstr("int8 cell"));
  const auto pooled = [&](int layer, const PoolWindow& window) {
    std::vector<training::Layer> layers = SmallLayers();
    layers[layer] = training::Pooled(layers[layer], PoolKind::kMax, window);
    if (layer == 1)
      layers[2] = training::DenseLayer("dense1", layers[1].outputs(), 40, true);
    return message(layers, 4, "lite");
  };
  EXPECT_EQ(pooled(1, {5, 5, 1, 1}), "");
  EXPECT_THAT(pooled(1, {6, 2, 1, 2}),
              HasSubstr("conv2: a pool of 6 x 2 with stride 1 x 2 does not fit "
                        "an image of 5 x 5 without padding"));
  EXPECT_EQ(pooled(1, {6, 2, 1, 2, Padding::kSame}), "");
  EXPECT_THAT(
      pooled(1, {2, 2, 0, 1}),
      HasSubstr("conv2: a pool of 2 x 2 with stride 0 x 1: at least 1"));
  EXPECT_THAT(pooled(2, {1, 1, 1, 1}),
              HasSubstr("dense1: a pool of 1 x 1 with stride 1 x 1 stands "
                        "behind a convolution only"));
  EXPECT_THAT(pooled(0, {2, 2, 2, 2}),
              HasSubstr("conv1 has 150 outputs, conv2 takes 600"));
  const training::Layer wide =
      training::Pooled(training::ConvLayer("wide", 32, 32, 1, 3, 1, 50),
                       PoolKind::kMax, {3, 3, 1, 1, Padding::kSame});
  EXPECT_THAT(message({wide, training::ConvLayer("conv2", 32, 32, 50, 4, 4, 3),
                       training::DenseLayer("dense", 8 * 8 * 3, 7, false)},
                      4, "lite"),
              HasSubstr("wide: an image of the pool needs "));
  const training::Layer tall =
      training::Pooled(training::ConvLayer("tall", 65536, 1, 1, 3, 1, 1),
                       PoolKind::kMax, {2, 1, 2, 1});
  EXPECT_THAT(
      message({tall, training::DenseLayer("dense", tall.outputs(), 7, false)},
              4, "lite"),
      HasSubstr("tall: a pool of 2 x 1 with stride 2 x 1: images of "
                "65536 lines, its kernels take 65535"));
  EXPECT_THAT(message(training::DigitsLayers(), 4, "mini"),
              HasSubstr("at most 8 classes"));
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  return systole::testing_options::RunTests(argc, argv,
                                            {{"backend", &systole::g_backend},
                                             {"preset", &systole::g_preset},
                                             {"steps", &systole::g_steps},
                                             {"batch", &systole::g_batch}});
}
