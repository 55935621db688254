// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The golden training step against the naive one, to the bit.
#include "verif/golden/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/golden/naive_training.h"
#include "verif/golden/fp32.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 8;

// Layers whose lines, channels and batch fit nothing: lines of 5 and 3
// positions in blocks of one and two lines, 11 samples.
TrainingNetwork Small() {
  return {6, 5, 2, {{3, 1, 5}, {4, 2, 7}, {0, 1, 9}, {0, 1, 4}}};
}

// Lines longer than the array, a kernel smaller than its stride (some inputs
// are not read), an even kernel with uneven padding.
TrainingNetwork Odd() {
  return {10, 9, 1, {{2, 1, 3}, {2, 3, 4}, {1, 2, 3}, {0, 1, 3}}};
}

// Whole images fill the array, their lines do not.
TrainingNetwork FullImages() { return {4, 6, 2, {{3, 1, 3}, {0, 1, 4}}}; }

// For two samples the three terms of dz cancel but for roundings.
TrainingNetwork Hidden() { return {1, 50, 1, {{0, 1, 200}, {0, 1, 4}}}; }

// Rows of four positions, 96 elements; eight would be 192.
TrainingNetwork Wide() { return {8, 8, 1, {{3, 1, 24}, {0, 1, 4}}}; }

TrainingNetwork OneLayer() { return {1, 13, 1, {{0, 1, 8}}}; }

int64_t Differences(const float* a, const float* b, int64_t count) {
  int64_t differences = 0;
  for (int64_t i = 0; i < count; ++i) {
    differences += fp32::ToBits(a[i]) != fp32::ToBits(b[i]);
  }
  return differences;
}

template <typename M>
void Compare(const std::string& name, const M& a, const M& b,
             std::string* report) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    *report += name + " has another shape; ";
  } else if (Differences(a.data(), b.data(), a.size()) != 0) {
    *report += name + "; ";
  }
}

void Compare(const std::string& name, const Parameter& a, const Parameter& b,
             std::string* report) {
  Compare(name + ".value", a.value, b.value, report);
  Compare(name + ".first", a.first, b.first, report);
  Compare(name + ".second", a.second, b.second, report);
}

// The names of what differs in some bit.
std::string Differing(const StepResult& a, const StepResult& b) {
  std::string report;
  if (Differences(&a.loss, &b.loss, 1) != 0) report += "loss; ";
  if (Differences(&a.correct, &b.correct, 1) != 0) report += "correct; ";
  for (size_t i = 0; i < a.layers.size(); ++i) {
    const LayerTrace &x = a.layers[i], &y = b.layers[i];
    const std::string layer = std::to_string(i + 1) + ".";
    Compare(layer + "z", x.z, y.z, &report);
    Compare(layer + "a", x.a, y.a, &report);
    Compare(layer + "da", x.da, y.da, &report);
    Compare(layer + "dz", x.dz, y.dz, &report);
    Compare(layer + "dw", x.dw, y.dw, &report);
    Compare(layer + "mean", x.mean, y.mean, &report);
    Compare(layer + "var", x.var, y.var, &report);
    Compare(layer + "inv", x.inv, y.inv, &report);
    Compare(layer + "sum_g", x.sum_g, y.sum_g, &report);
    Compare(layer + "sum_gx", x.sum_gx, y.sum_gx, &report);
    Compare(layer + "doffset", x.doffset, y.doffset, &report);
  }
  return report;
}

std::string Differing(const TrainingState& a, const TrainingState& b) {
  std::string report;
  if (a.power1 != b.power1 || a.power2 != b.power2) report += "p; ";
  for (size_t i = 0; i < a.layers.size(); ++i) {
    const LayerState &x = a.layers[i], &y = b.layers[i];
    const std::string layer = std::to_string(i + 1) + ".";
    Compare(layer + "weights", x.weights, y.weights, &report);
    Compare(layer + "offset", x.offset, y.offset, &report);
    Compare(layer + "running_mean", x.running_mean, y.running_mean, &report);
    Compare(layer + "running_var", x.running_var, y.running_var, &report);
  }
  return report;
}

struct Batch {
  Bf16Matrix images;
  std::vector<uint8_t> labels;
};

Batch RandomBatch(const TrainingNetwork& network, int size, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::uniform_int_distribution<int> label(0, network.classes() - 1);
  Batch batch;
  Fp32Matrix images(size, network.height * network.width * network.channels);
  for (float& v : images.reshaped()) v = value(random);
  batch.images = ToBf16(images);
  for (int n = 0; n < size; ++n) batch.labels.push_back(label(random));
  return batch;
}

// The first filter of the first layer is dead: its y is 0.
TrainingState StateWithDeadFilter(const TrainingNetwork& network) {
  TrainingState state = InitialState(network, 7);
  if (network.layers.size() > 1) state.layers[0].weights.value.col(0).setZero();
  return state;
}

// What differs between two golden and two naive steps.
std::string TwoSteps(const TrainingNetwork& network, int batch_size,
                     const Optimiser& optimiser, Slip slip) {
  TrainingState golden = StateWithDeadFilter(network), naive = golden;
  std::string report;
  for (int step = 0; step < 2; ++step) {
    const Batch batch = RandomBatch(network, batch_size, step);
    const auto result =
        Step(network, batch.images, batch.labels, optimiser, kRows, &golden);
    if (!result.ok()) return std::string(result.status().message());
    report += Differing(*result, NaiveStep(network, batch.images, batch.labels,
                                           optimiser, kRows, slip, &naive));
  }
  return report + Differing(golden, naive);
}

TEST(TrainingStep, IsTheNaiveOneToTheBit) {
  for (const Optimiser& optimiser : {Optimiser(Sgd{}), Optimiser(Adam{})}) {
    EXPECT_EQ(TwoSteps(Small(), 11, optimiser, Slip::kNone), "");
    EXPECT_EQ(TwoSteps(Hidden(), 2, optimiser, Slip::kNone), "");
    EXPECT_EQ(TwoSteps(FullImages(), 8, optimiser, Slip::kNone), "");
    EXPECT_EQ(TwoSteps(Wide(), 3, optimiser, Slip::kNone), "");
    EXPECT_EQ(TwoSteps(Odd(), 3, optimiser, Slip::kNone), "");
    EXPECT_EQ(TwoSteps(OneLayer(), 19, optimiser, Slip::kNone), "");
  }
}

TEST(TrainingStep, EverySlipOfTheVectorUnitsPartShows) {
  for (Slip slip :
       {Slip::kPartialsOfBatch, Slip::kEightPartials, Slip::kPartialsInOrder,
        Slip::kLanesInOrder, Slip::kTruncatedZ, Slip::kVarianceOfSquares,
        Slip::kUnshifted, Slip::kEarlyGain, Slip::kRunningProducts,
        Slip::kRoundedLogits, Slip::kNoShareInVariance, Slip::kOpenAtZero,
        Slip::kNewWeights, Slip::kUnfusedMoment}) {
    EXPECT_NE(TwoSteps(Small(), 11, Sgd{}, slip), "") << static_cast<int>(slip);
  }
  EXPECT_NE(TwoSteps(Wide(), 3, Sgd{}, Slip::kPartialsOfWideRows), "");
  EXPECT_NE(TwoSteps(Hidden(), 2, Sgd{}, Slip::kUnfusedDz), "");
  for (Slip slip :
       {Slip::kUnfusedMoment, Slip::kUncorrectedMoment, Slip::kFloatRest}) {
    EXPECT_NE(TwoSteps(Small(), 11, Adam{}, slip), "")
        << static_cast<int>(slip);
  }
}

// A mean of 1000 deviations over many positions: of sums of z and z^2 not a
// digit of the variance would be left.
TEST(BatchStatistics, KeepTheVarianceOfALargeMean) {
  TrainingNetwork network{28, 28, 1, {{1, 1, 2}, {0, 1, 3}}};
  const LayerGeometry g = Geometries(network, 32)[0];
  std::mt19937 random(1);
  for (const float mean : {0.0f, 16.0f, 4096.0f}) {
    Fp32Matrix z(g.positions(), g.out_channels);
    for (float& v : z.reshaped()) {
      v = fp32::Bf16(mean + std::normal_distribution<float>(
                                0, mean == 0 ? 1 : mean / 128)(random));
    }
    const BatchNorm norm = BatchStatistics(g, z);
    for (int64_t c = 0; c < z.cols(); ++c) {
      const Eigen::ArrayXd column = z.col(c).cast<double>();
      const double exact = column.mean();
      const double variance = (column - exact).square().mean();
      const double from = exact - z(0, c);
      const double bound = 3 * (static_cast<double>(z.rows()) / 8 + 6) *
                           0x1p-24 * (variance + from * from);
      EXPECT_NEAR(norm.var(c), variance, bound) << mean;
      EXPECT_LT(bound, 0.02 * variance) << mean;
      EXPECT_NEAR(norm.mean(c), exact, 1e-6 * std::abs(exact) + bound);
    }
  }
}

// Products that underflow to +0 and -0, zeros of both signs, a few ordinary
// values: the sign of a zero tells where a chain was filled up.
Fp32Matrix Tiny(int64_t rows, int64_t columns, int seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> kind(0, 99);
  Fp32Matrix values(rows, columns);
  for (float& v : values.reshaped()) {
    const int k = kind(random);
    const float magnitude = k < 60 ? 0.0f : k < 98 ? 0x1p-90f : 0x1p-30f;
    v = random() % 2 ? magnitude : -magnitude;
  }
  return values;
}

// Large values that cancel and small ones that rounding takes from them: other
// orders give other sums, even in bf16.
Fp32Matrix Cancelling(int64_t rows, int64_t columns, int seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> kind(0, 4);
  Fp32Matrix values(rows, columns);
  for (float& v : values.reshaped()) {
    const int k = kind(random);
    const float magnitude = k < 2 ? 0x1p12f : k < 4 ? 1.25f : 0x1.82p-6f;
    v = random() % 2 ? magnitude : -magnitude;
  }
  return values;
}

struct ProductDifferences {
  int64_t forward = 0, weight_gradient = 0, input_gradient = 0;
};

// All layers of the small networks.
template <typename Values>
ProductDifferences CompareProducts(Values values, int rows, Slip slip) {
  ProductDifferences sum;
  for (const TrainingNetwork& network :
       {Small(), Odd(), FullImages(), OneLayer()}) {
    for (int batch : {1, 3, 13}) {
      const auto geometries = Geometries(network, batch);
      const auto layers = NaiveLayers(network, batch);
      for (size_t i = 0; i < geometries.size(); ++i) {
        const LayerGeometry& g = geometries[i];
        const Fp32Matrix x =
            values(g.images * g.in_positions(), g.in_channels, 1);
        const Fp32Matrix w = values(g.contraction(), g.out_channels, 2);
        const Fp32Matrix dz = values(g.positions(), g.out_channels, 3);
        const auto count = [](const Fp32Matrix& a, const Fp32Matrix& b) {
          EXPECT_EQ(a.rows(), b.rows());
          EXPECT_EQ(a.cols(), b.cols());
          return Differences(a.data(), b.data(), a.size());
        };
        sum.forward += count(Forward(g, x, w, rows),
                             NaiveForward(layers[i], x, w, rows, slip));
        sum.weight_gradient +=
            count(WeightGradient(g, x, dz, rows),
                  NaiveWeightGradient(layers[i], x, dz, rows, slip));
        sum.input_gradient +=
            count(InputGradient(g, dz, w, rows),
                  NaiveInputGradient(layers[i], dz, w, rows, slip));
      }
    }
  }
  return sum;
}

TEST(TrainingProducts, AreTheNaiveOnesToTheBit) {
  for (int rows : {8, 16, 128}) {
    for (auto values : {&Tiny, &Cancelling}) {
      const ProductDifferences d = CompareProducts(values, rows, Slip::kNone);
      EXPECT_EQ(d.forward, 0);
      EXPECT_EQ(d.weight_gradient, 0);
      EXPECT_EQ(d.input_gradient, 0);
    }
  }
}

TEST(TrainingProducts, EverySlipShows) {
  const ProductDifferences unfilled = CompareProducts(&Tiny, 8, Slip::kNoFill);
  EXPECT_NE(unfilled.forward, 0);
  EXPECT_NE(unfilled.weight_gradient, 0);
  EXPECT_NE(unfilled.input_gradient, 0);
  for (Slip slip : {Slip::kBlocksAcrossImages, Slip::kWholeImageBlocks}) {
    EXPECT_NE(CompareProducts(&Tiny, 8, slip).weight_gradient, 0);
  }
  EXPECT_NE(CompareProducts(&Cancelling, 8, Slip::kForwardOrder).forward, 0);
  EXPECT_NE(
      CompareProducts(&Cancelling, 8, Slip::kGradientOrder).weight_gradient, 0);
  EXPECT_NE(
      CompareProducts(&Cancelling, 8, Slip::kAscendingTaps).input_gradient, 0);
}

TEST(TrainingStep, NansAreCanonical) {
  TrainingNetwork network = Small();
  TrainingState state = InitialState(network, 1);
  Batch batch = RandomBatch(network, 4, 1);
  batch.images(2, 5) = 0x7F80;  // infinity
  const auto result =
      Step(network, batch.images, batch.labels, Sgd{}, kRows, &state);
  ASSERT_TRUE(result.ok()) << result.status();
  int64_t nans = 0;
  for (const LayerTrace& trace : result->layers) {
    for (float v : trace.dw.reshaped()) {
      if (v == v) continue;
      ++nans;
      EXPECT_EQ(fp32::ToBits(v), 0x7FC00000u);
    }
  }
  EXPECT_GT(nans, 0);
}

TEST(TrainingStep, RefusesWhatDoesNotFit) {
  const TrainingNetwork network = Small();
  TrainingState state = InitialState(network, 1);
  Batch batch = RandomBatch(network, 2, 1);
  const auto message = [&](const TrainingNetwork& n, const Batch& b, int rows) {
    const auto result = Step(n, b.images, b.labels, Sgd{}, rows, &state);
    return std::string(result.status().message());
  };
  EXPECT_EQ(message(network, batch, 8), "");
  EXPECT_THAT(message(network, batch, 2), HasSubstr("2 lanes for 4 classes"));
  EXPECT_THAT(message(OneLayer(), batch, 8), HasSubstr("the network takes 13"));
  Batch wrong = batch;
  wrong.labels[1] = 4;
  EXPECT_THAT(message(network, wrong, 8), HasSubstr("label 1 is 4"));
  wrong.labels.pop_back();
  EXPECT_THAT(message(network, wrong, 8), HasSubstr("1 labels for 2 images"));
  TrainingNetwork broken = network;
  broken.layers.pop_back();
  broken.layers.pop_back();
  EXPECT_THAT(message(broken, batch, 8), HasSubstr("not dense"));
  broken = network;
  broken.layers.insert(broken.layers.begin() + 3, {3, 1, 4});
  EXPECT_THAT(message(broken, batch, 8), HasSubstr("behind a dense layer"));
  broken = network;
  broken.layers[0].pool = {TrainingPool::Kind::kMax, 100, 1, 1, 1};
  EXPECT_THAT(message(broken, batch, 8), HasSubstr("100 x 1 is larger than"));
  broken.layers[0].pool = {TrainingPool::Kind::kMax, 1, 1, 0, 1};
  EXPECT_THAT(message(broken, batch, 8), HasSubstr("layer 1: pool of 1 x 1, "
                                                   "strides 0 and 1"));
}

}  // namespace
}  // namespace systole::golden
