// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The golden training step as mathematics: gradients and losses against double
// precision, and that it learns digits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/tools/digits.h"
#include "tests/golden/naive_training.h"
#include "tests/testing/long.h"
#include "verif/golden/fp32.h"
#include "verif/golden/tensor.h"
#include "verif/golden/training.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

using Real = Matrix<double>;

struct RealLayer {
  Real weights;
  Eigen::RowVectorXd offset;
};

Real Linear(const NaiveLayer& l, const Real& x, const Real& weights) {
  if (l.kernel == 0) return x * weights;
  const int height = l.OutHeight(), width = l.OutWidth();
  const int pad_y = std::max((height - 1) * l.stride + l.kernel - l.height, 0);
  const int pad_x = std::max((width - 1) * l.stride + l.kernel - l.width, 0);
  Real z = Real::Zero(l.batch * height * width, l.filters);
  for (int64_t i = 0; i < z.rows(); ++i) {
    const int64_t n = i / width / height, oy = i / width % height,
                  ox = i % width;
    for (int ky = 0; ky < l.kernel; ++ky) {
      for (int kx = 0; kx < l.kernel; ++kx) {
        const int64_t iy = oy * l.stride + ky - pad_y / 2;
        const int64_t ix = ox * l.stride + kx - pad_x / 2;
        if (iy < 0 || iy >= l.height || ix < 0 || ix >= l.width) continue;
        z.row(i) +=
            x.row((n * l.height + iy) * l.width + ix) *
            weights.middleRows((ky * l.kernel + kx) * l.channels, l.channels);
      }
    }
  }
  return z;
}

double CrossEntropy(const Real& logits, const std::vector<uint8_t>& labels) {
  double loss = 0;
  for (int64_t n = 0; n < logits.rows(); ++n) {
    loss +=
        std::log((logits.row(n).array() - logits(n, labels[n])).exp().sum());
  }
  return loss;
}

// The mean loss of a batch. ReLU lets pass what it did in `step`: rounding to
// bf16 moves a few values over the edge, where the derivative jumps.
double Loss(const std::vector<NaiveLayer>& layers,
            const std::vector<RealLayer>& parameters, const StepResult& step,
            Real x, const std::vector<uint8_t>& labels) {
  for (size_t i = 0;; ++i) {
    x = Real(Eigen::Map<const Real>(x.data(), x.size() / layers[i].channels,
                                    layers[i].channels));
    Real z = Linear(layers[i], x, parameters[i].weights);
    if (i + 1 < layers.size()) {
      z.rowwise() -= z.colwise().mean().eval();
      const Eigen::RowVectorXd var = z.array().square().colwise().mean();
      z.array().rowwise() /= (var.array() + 0.001).sqrt();
    }
    z.rowwise() += parameters[i].offset;
    if (i + 1 == layers.size()) {
      return CrossEntropy(z, labels) / static_cast<double>(labels.size());
    }
    x = (step.layers[i].a.array() > 0)
            .select(z, Real::Zero(z.rows(), z.cols()));
  }
}

// The derivative in each of `values`, which `loss` depends on.
template <typename Values, typename LossOf>
Real Derivatives(Values* values, LossOf loss) {
  constexpr double kStep = 1e-6;
  Real result(values->rows(), values->cols());
  for (int64_t i = 0; i < values->rows(); ++i) {
    for (int64_t j = 0; j < values->cols(); ++j) {
      double& value = (*values)(i, j);
      const double old = value;
      value = old + kStep;
      const double above = loss();
      value = old - kStep;
      const double below = loss();
      value = old;
      result(i, j) = (above - below) / (2 * kStep);
    }
  }
  return result;
}

TEST(TrainingLearning, GradientsAreTheDerivativesOfTheLoss) {
  const TrainingNetwork network = {
      8, 7, 2, {{3, 1, 4}, {4, 2, 6}, {0, 1, 8}, {0, 1, 5}}};
  constexpr int kBatch = 24;
  std::mt19937 random(3);
  std::normal_distribution<float> value;
  Fp32Matrix images(kBatch, 8 * 7 * 2);
  for (float& v : images.reshaped()) v = fp32::Bf16(value(random));
  std::vector<uint8_t> labels;
  for (int n = 0; n < kBatch; ++n) labels.push_back(random() % 5);

  TrainingState state = InitialState(network, 5);
  const std::vector<NaiveLayer> layers = NaiveLayers(network, kBatch);
  std::vector<RealLayer> parameters;
  for (LayerState& layer : state.layers) {
    layer.weights.value = RoundedToBf16(layer.weights.value);
    for (float& v : layer.offset.value.reshaped()) v = 0.25f * value(random);
    parameters.push_back({layer.weights.value.cast<double>(),
                          layer.offset.value.row(0).cast<double>()});
  }
  const Real x = images.cast<double>();
  const auto result =
      Step(network, ToBf16(images), labels, Sgd{}, /*rows=*/8, &state);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto loss = [&] {
    return Loss(layers, parameters, *result, x, labels);
  };
  EXPECT_NEAR(result->loss / kBatch, loss(), 0.01 * loss());
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerTrace& trace = result->layers[i];
    const Real dw = Derivatives(&parameters[i].weights, loss);
    EXPECT_LT((trace.dw.cast<double>() - dw).norm(), 0.02 * dw.norm())
        << "layer " << i + 1;
    const Real doffset = Derivatives(&parameters[i].offset, loss);
    EXPECT_LT((trace.doffset.matrix().cast<double>() - doffset).norm(),
              0.02 * doffset.norm())
        << "layer " << i + 1;
  }
}

TEST(TrainingLearning, StatisticsAreMeanAndVariance) {
  std::mt19937 random(1);
  std::normal_distribution<float> value(0.5f, 2.0f);
  const LayerGeometry g = Geometries({13, 11, 1, {{3, 1, 20}}}, 9)[0];
  Fp32Matrix z(g.positions(), g.out_channels);
  for (float& v : z.reshaped()) v = fp32::Bf16(value(random));
  const BatchNorm norm = BatchStatistics(g, z);
  const Real exact = z.cast<double>();
  for (int c = 0; c < g.out_channels; ++c) {
    const double mean = exact.col(c).mean();
    const double var = (exact.col(c).array() - mean).square().mean();
    EXPECT_NEAR(norm.mean(c), mean, 1e-5);
    EXPECT_NEAR(norm.var(c), var, 1e-5);
    EXPECT_NEAR(norm.inv(c), 1 / std::sqrt(var + 0.001), 1e-5);
  }
}

TEST(TrainingLearning, LossIsTheCrossEntropy) {
  std::mt19937 random(2);
  std::normal_distribution<float> value(0.0f, 4.0f);
  constexpr int kBatch = 50;
  Fp32Matrix logits(kBatch, 10);
  for (float& v : logits.reshaped()) v = value(random);
  std::vector<uint8_t> labels;
  for (int n = 0; n < kBatch; ++n) labels.push_back(random() % 10);
  const ClassLoss loss = SoftmaxLoss(logits, labels, /*lanes=*/128);
  const Real exact = logits.cast<double>();
  EXPECT_NEAR(loss.loss, CrossEntropy(exact, labels), 1e-3);
  EXPECT_EQ(loss.correct, CountCorrect(logits, labels));
  for (int n = 0; n < kBatch; ++n) {
    const Eigen::RowVectorXd e =
        (exact.row(n).array() - exact.row(n).maxCoeff()).exp();
    for (int c = 0; c < 10; ++c) {
      const double p = e(c) / e.sum();
      EXPECT_NEAR(loss.p(n, c), p, 1e-6);
      const double dz = (p - (labels[n] == c)) / kBatch;
      EXPECT_NEAR(loss.dz(n, c), dz, 0.004 * std::abs(dz) + 1e-8);
    }
  }
}

// All moments equal the constant gradient, so each step moves by the rate.
TEST(TrainingLearning, AdamMovesByItsRate) {
  const TrainingNetwork network = {1, 2, 1, {{0, 1, 2}}};
  TrainingState state = InitialState(network, 1);
  Parameter& weights = state.layers[0].weights;
  const Fp32Matrix start = weights.value;
  Fp32Matrix gradient(2, 2);
  gradient << 1e-3f, -2.0f, 0.5f, -1e-4f;
  const Optimiser adam = Adam{0.01f};
  for (int step = 0; step < 20; ++step) {
    BeginStep(adam, &state);
    Update(adam, state, gradient, &weights);
  }
  for (int i = 0; i < 4; ++i) {
    const float moved = weights.value.data()[i] - start.data()[i];
    EXPECT_NEAR(moved, gradient.data()[i] > 0 ? -0.2 : 0.2, 1e-3) << i;
  }
}

TEST(TrainingLearning, ThirtyStepsLearnDigits) {
  const auto digits = tools::ReadDigits(SYSTOLE_SOURCE_DIR "/tests/data/mnist");
  ASSERT_TRUE(digits.ok()) << digits.status();
  const TrainingNetwork network = DigitsNetwork();
  const Bf16Matrix images = PixelsToBf16(digits->pixels, 28 * 28);
  const int batch = testing_options::Sized(32, 64);
  const float learnt = testing_options::Sized(0.7f, 0.25f);
  constexpr int kTrain = 960, kSteps = 30, kTest = 200;
  TrainingState state = InitialState(network, 1);
  std::vector<float> losses;
  for (int step = 0; step < kSteps; ++step) {
    const int first = step * batch % kTrain;
    const auto result =
        Step(network, images.middleRows(first, batch),
             absl::MakeSpan(digits->labels).subspan(first, batch), Adam{0.002f},
             /*rows=*/128, &state);
    ASSERT_TRUE(result.ok()) << result.status();
    losses.push_back(result->loss / batch);
  }
  EXPECT_GT(losses.front(), 2.0f);
  EXPECT_LT(losses.back(), learnt);
  const auto logits =
      Evaluate(network, images.middleRows(kTrain, kTest), 128, state);
  ASSERT_TRUE(logits.ok()) << logits.status();
  const int correct = CountCorrect(
      *logits, absl::MakeSpan(digits->labels).subspan(kTrain, kTest));
  EXPECT_GT(correct, kTest * 88 / 100);
  RecordProperty("loss", std::to_string(losses.back()));
  RecordProperty("correct", correct);
}

}  // namespace
}  // namespace systole::golden
