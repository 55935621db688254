// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The vector unit's part of a training step.
#include "verif/golden/training_layers.h"

#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"

namespace systole::golden {
namespace {

using namespace fp32;

constexpr float kEpsilon = 0.001f;
constexpr float kRunningRate = 0.1f;
constexpr float kLog2E = 1.44269502f;
constexpr float kLn2 = 0.693147182f;

float Rcp(float a) { return FromBits(Reciprocal(ToBits(a))); }
float Rsqrt(float a) { return FromBits(ReciprocalSqrt(ToBits(a))); }

// Partial sums of a layer, and the number of positions after which they
// restart.
struct PartialSums {
  int64_t count, image;
};

// The largest P that the rules of "Positions in a row" allow.
PartialSums PartialsOf(const LayerGeometry& g) {
  if (g.dense) return {8, g.positions()};
  for (int64_t p : {8, 4, 2}) {
    if (p * g.out_channels <= 128 && g.out_positions() % p == 0)
      return {8 * p, g.out_positions()};
  }
  return {8, g.out_positions()};
}

// Computes p = next(p, position, channel) into partial sums, for each channel.
template <typename Next>
Fp32Row SumOverPositions(int64_t positions, int64_t channels,
                         const PartialSums& sums, Next next) {
  Fp32Matrix partial = Fp32Matrix::Zero(sums.count, channels);
  for (int64_t position = 0; position < positions; ++position) {
    auto p = partial.row(position % sums.image % sums.count);
    for (int64_t c = 0; c < channels; ++c) p(c) = next(p(c), position, c);
  }
  for (int64_t distance = sums.count / 2; distance > 0; distance /= 2) {
    for (int64_t i = 0; i < distance; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        partial(i, c) = Add(partial(i, c), partial(i + distance, c));
      }
    }
  }
  return partial.row(0).array();
}

// Sum over `lanes` values. Only lane 0 of the result is needed, so only the
// lanes that contribute to it are computed.
float SumOverLanes(Fp32Row p) {
  for (Eigen::Index distance = p.size() / 2; distance > 0; distance /= 2) {
    for (Eigen::Index l = 0; l < distance; ++l) {
      p(l) = Add(p(l), p(l + distance));
    }
  }
  return p(0);
}

float Xhat(const BatchNorm& norm, float z, int64_t c) {
  return Mul(Sub(z, norm.mean(c)), norm.inv(c));
}

}  // namespace

Fp32Matrix RoundedToBf16(const Fp32Matrix& values) {
  return values.unaryExpr(&Bf16);
}

Fp32Row PositionSum(const LayerGeometry& g, const Fp32Matrix& values) {
  return SumOverPositions(
      values.rows(), values.cols(), PartialsOf(g),
      [&](float p, int64_t i, int64_t c) { return Add(p, values(i, c)); });
}

Fp32Row SampleSum(const Fp32Matrix& values) {
  return SumOverPositions(
      values.rows(), values.cols(), {8, values.rows()},
      [&](float p, int64_t i, int64_t c) { return Add(p, values(i, c)); });
}

BatchNorm BatchStatistics(const LayerGeometry& g, const Fp32Matrix& z) {
  Fp32Matrix d = z;  // from the first position
  for (int64_t i = 0; i < z.rows(); ++i) {
    for (int64_t c = 0; c < z.cols(); ++c) d(i, c) = Sub(z(i, c), z(0, c));
  }
  const Fp32Row s = PositionSum(g, d);
  const Fp32Row q = SumOverPositions(
      d.rows(), d.cols(), PartialsOf(g),
      [&](float p, int64_t i, int64_t c) { return Fma(d(i, c), d(i, c), p); });
  const float share = 1.0f / static_cast<float>(g.positions());
  Fp32Row mean(z.cols()), var(z.cols());
  for (int64_t c = 0; c < z.cols(); ++c) {
    const float shifted = Mul(s(c), share);
    mean(c) = Add(z(0, c), shifted);
    var(c) = Max(Fnma(shifted, shifted, Mul(q(c), share)), 0.0f);
  }
  return FromStatistics(mean, var);
}

BatchNorm FromStatistics(const Fp32Row& mean, const Fp32Row& var) {
  return {mean, var,
          var.unaryExpr([](float v) { return Rsqrt(Add(v, kEpsilon)); })};
}

Fp32Matrix NormaliseRelu(const BatchNorm& norm, const Fp32Matrix& z,
                         const Fp32Matrix& beta) {
  Fp32Matrix a(z.rows(), z.cols());
  for (int64_t i = 0; i < z.rows(); ++i) {
    for (int64_t c = 0; c < z.cols(); ++c) {
      const float y = Add(Xhat(norm, z(i, c), c), beta(c));
      a(i, c) = Bf16(Max(y, 0.0f));
    }
  }
  return a;
}

void UpdateRunning(const Fp32Row& x, Fp32Row* run) {
  *run = run->binaryExpr(
      x, [](float r, float v) { return Fma(kRunningRate, Sub(v, r), r); });
}

BatchNormGradient NormaliseReluGradient(const LayerGeometry& g,
                                        const BatchNorm& norm,
                                        const Fp32Matrix& z,
                                        const Fp32Matrix& beta,
                                        const Fp32Matrix& da) {
  const int64_t channels = z.cols();
  Fp32Matrix gate(z.rows(), channels), xhat(z.rows(), channels);
  for (int64_t i = 0; i < z.rows(); ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      xhat(i, c) = Xhat(norm, z(i, c), c);
      gate(i, c) = Add(xhat(i, c), beta(c)) > 0 ? da(i, c) : 0.0f;
    }
  }
  BatchNormGradient result;
  result.sum_g = PositionSum(g, gate);
  result.sum_gx = SumOverPositions(z.rows(), channels, PartialsOf(g),
                                   [&](float p, int64_t i, int64_t c) {
                                     return Fma(gate(i, c), xhat(i, c), p);
                                   });
  const float share = 1.0f / static_cast<float>(g.positions());
  result.dz.resize(z.rows(), channels);
  for (int64_t c = 0; c < channels; ++c) {
    const float mb = Mul(result.sum_g(c), share);
    const float mx = Mul(result.sum_gx(c), share);
    for (int64_t i = 0; i < z.rows(); ++i) {
      const float centred = Fnma(xhat(i, c), mx, Sub(gate(i, c), mb));
      result.dz(i, c) = Bf16(Mul(centred, norm.inv(c)));
    }
  }
  return result;
}

ClassLoss SoftmaxLoss(const Fp32Matrix& logits,
                      absl::Span<const uint8_t> labels, int lanes) {
  const int64_t batch = logits.rows(), classes = logits.cols();
  const float share = 1.0f / static_cast<float>(batch);
  ClassLoss result{Fp32Matrix(batch, classes), Fp32Matrix(batch, classes), 0,
                   0};
  Fp32Matrix scores(batch, 2);  // loss and correct of each sample
  for (int64_t n = 0; n < batch; ++n) {
    float m = logits(n, 0);
    for (int64_t c = 1; c < classes; ++c) m = Max(m, logits(n, c));
    Fp32Row e = Fp32Row::Zero(lanes), chosen = Fp32Row::Zero(lanes);
    for (int64_t c = 0; c < classes; ++c) {
      const float d = Sub(logits(n, c), m);
      e(c) = FromBits(Exp2(ToBits(Mul(d, kLog2E))));
      chosen(c) = Mul(labels[n] == c ? 1.0f : 0.0f, d);
    }
    const float t = SumOverLanes(e);
    const float u = SumOverLanes(chosen);
    const float scale = Rcp(t);
    for (int64_t c = 0; c < classes; ++c) {
      const float p = Mul(e(c), scale);
      result.p(n, c) = p;
      result.dz(n, c) = Bf16(Mul(Sub(p, labels[n] == c ? 1.0f : 0.0f), share));
    }
    scores(n, 0) = Sub(Mul(FromBits(Log2(ToBits(t))), kLn2), u);
    scores(n, 1) = u == 0.0f ? 1.0f : 0.0f;
  }
  const Fp32Row sums = SampleSum(scores);
  result.loss = sums(0);
  result.correct = sums(1);
  return result;
}

}  // namespace systole::golden
