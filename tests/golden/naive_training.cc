// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/golden/naive_training.h"

#include <array>
#include <cmath>
#include <functional>

#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"

namespace systole::golden {
namespace {

using fp32::FromBits;
using fp32::ToBits;

float Rcp(float a) { return FromBits(Reciprocal(ToBits(a))); }
float Rsqrt(float a) { return FromBits(ReciprocalSqrt(ToBits(a))); }

// p[i] = p[i] + p[(i + distance) mod size], all at once, halving the distance.
float Fold(std::vector<float> p) {
  for (size_t distance = p.size() / 2; distance > 0; distance /= 2) {
    const std::vector<float> old = p;
    for (size_t i = 0; i < p.size(); ++i) {
      p[i] = old[i] + old[(i + distance) % p.size()];
    }
  }
  return p[0];
}

float InOrder(const std::vector<float>& p) {
  float sum = p[0];
  for (size_t i = 1; i < p.size(); ++i) sum += p[i];
  return sum;
}

using Next = std::function<float(float p, int64_t position)>;

// P of docs/training.md.
int PositionsInRow(const NaiveLayer& l, Slip slip) {
  if (l.kernel == 0 || slip == Slip::kEightPartials) return 1;
  const int most = slip == Slip::kPartialsOfWideRows ? 256 : 128;
  int best = 1;
  for (int p = 2; p <= 8; p *= 2) {
    const bool whole = l.OutHeight() * l.OutWidth() % p == 0;
    if (whole && p * l.filters <= most) best = p;
  }
  return best;
}

float PositionSum(const NaiveLayer& l, Slip slip, const Next& next) {
  std::vector<float> p(8 * PositionsInRow(l, slip), 0.0f);
  const int64_t partials = static_cast<int64_t>(p.size());
  int64_t position = 0;
  for (int n = 0; n < l.batch; ++n) {
    for (int y = 0; y < l.OutHeight(); ++y) {
      for (int x = 0; x < l.OutWidth(); ++x, ++position) {
        int64_t i = l.kernel == 0 ? n % 8 : (y * l.OutWidth() + x) % partials;
        if (slip == Slip::kPartialsOfBatch) i = position % partials;
        p[i] = next(p[i], position);
      }
    }
  }
  return slip == Slip::kPartialsInOrder ? InOrder(p) : Fold(p);
}

float LaneSum(const std::vector<float>& p, Slip slip) {
  return slip == Slip::kLanesInOrder ? InOrder(p) : Fold(p);
}

float Xhat(float z, float mean, float inv, Slip slip) {
  if (slip == Slip::kEarlyGain) return std::fma(-mean, inv, z * inv);
  return (z - mean) * inv;
}

float Positions(const NaiveLayer& l) {
  return static_cast<float>(l.batch * l.OutHeight() * l.OutWidth());
}

void NormForward(const NaiveLayer& l, const Fp32Matrix& beta, Slip slip,
                 LayerTrace* t) {
  const int64_t channels = t->z.cols();
  const float share = 1.0f / Positions(l);
  t->a.resize(t->z.rows(), channels);
  t->mean.resize(channels);
  t->var.resize(channels);
  t->inv.resize(channels);
  for (int64_t c = 0; c < channels; ++c) {
    const float shift = slip == Slip::kUnshifted ? 0.0f : t->z(0, c);
    const float s = PositionSum(
        l, slip, [&](float p, int64_t i) { return p + (t->z(i, c) - shift); });
    const float q = PositionSum(l, slip, [&](float p, int64_t i) {
      const float d = t->z(i, c) - shift;
      return std::fma(d, d, p);
    });
    const float rest = s * share, mean = rest + shift;
    const float mean_q = slip == Slip::kNoShareInVariance
                             ? q * (1.0f / (Positions(l) - 1))
                             : q * share;
    float var = std::fma(-rest, rest, mean_q);
    if (slip == Slip::kVarianceOfSquares) {
      const float square = rest * rest;
      var = mean_q - square;
    }
    if (!(var > 0)) var = 0.0f;
    const float inv = Rsqrt(var + 0.001f);
    t->mean(c) = mean;
    t->var(c) = var;
    t->inv(c) = inv;
    for (int64_t i = 0; i < t->z.rows(); ++i) {
      const float y = Xhat(t->z(i, c), mean, inv, slip) + beta(c);
      t->a(i, c) = y > 0 ? fp32::Bf16(y) : 0.0f;
    }
  }
}

void NormBackward(const NaiveLayer& l, const Fp32Matrix& beta, Slip slip,
                  LayerTrace* t) {
  const int64_t channels = t->z.cols();
  const float share = 1.0f / Positions(l);
  t->dz.resize(t->z.rows(), channels);
  t->sum_g.resize(channels);
  t->sum_gx.resize(channels);
  for (int64_t c = 0; c < channels; ++c) {
    const auto xhat = [&](int64_t i) {
      return Xhat(t->z(i, c), t->mean(c), t->inv(c), slip);
    };
    const auto g = [&](int64_t i) {
      const float y = xhat(i) + beta(c);
      const bool open = slip == Slip::kOpenAtZero ? y >= 0 : y > 0;
      return open ? t->da(i, c) : 0.0f;
    };
    const float sb =
        PositionSum(l, slip, [&](float p, int64_t i) { return p + g(i); });
    const float sx = PositionSum(l, slip, [&](float p, int64_t i) {
      return std::fma(g(i), xhat(i), p);
    });
    const float mb = sb * share, mx = sx * share;
    t->sum_g(c) = sb;
    t->sum_gx(c) = sx;
    for (int64_t i = 0; i < t->z.rows(); ++i) {
      const float centred = g(i) - mb, product = xhat(i) * mx;
      const float rest = slip == Slip::kUnfusedDz
                             ? centred - product
                             : std::fma(-xhat(i), mx, centred);
      t->dz(i, c) = fp32::Bf16(rest * t->inv(c));
    }
  }
  t->doffset = t->sum_g;
}

void Loss(const std::vector<uint8_t>& labels, int lanes, Slip slip,
          LayerTrace* t, StepResult* result) {
  const int64_t batch = t->z.rows(), classes = t->z.cols();
  const NaiveLayer samples{static_cast<int>(batch), 1, 1, 1, 0, 1, 1};
  std::vector<float> losses, right;
  t->a.resize(batch, classes);
  t->dz.resize(batch, classes);
  for (int64_t n = 0; n < batch; ++n) {
    float m = t->z(n, 0);
    for (int64_t c = 1; c < classes; ++c) m = std::max(m, t->z(n, c));
    std::vector<float> e(lanes, 0.0f), chosen(lanes, 0.0f);
    for (int64_t c = 0; c < classes; ++c) {
      const float d = t->z(n, c) - m;
      e[c] = FromBits(Exp2(ToBits(d * 1.44269502f)));
      chosen[c] = (c == labels[n] ? 1.0f : 0.0f) * d;
    }
    const float sum = LaneSum(e, slip), u = LaneSum(chosen, slip);
    for (int64_t c = 0; c < classes; ++c) {
      const float p = e[c] * Rcp(sum);
      t->a(n, c) = p;
      t->dz(n, c) = fp32::Bf16((p - (c == labels[n] ? 1.0f : 0.0f)) *
                               (1.0f / static_cast<float>(batch)));
    }
    const float log = FromBits(Log2(ToBits(sum))) * 0.693147182f;
    losses.push_back(log - u);
    right.push_back(u == 0 ? 1.0f : 0.0f);
  }
  result->loss = PositionSum(samples, slip,
                             [&](float p, int64_t n) { return p + losses[n]; });
  result->correct = PositionSum(
      samples, slip, [&](float p, int64_t n) { return p + right[n]; });
  t->doffset.resize(classes);
  for (int64_t c = 0; c < classes; ++c) {
    t->doffset(c) = PositionSum(
        samples, slip, [&](float p, int64_t n) { return p + t->dz(n, c); });
  }
}

void UpdateOne(const Optimiser& optimiser, const TrainingState& state, float g,
               Slip slip, float* w, float* first, float* second) {
  if (const auto* sgd = std::get_if<Sgd>(&optimiser)) {
    const float scaled = sgd->momentum * *first;
    *first = slip == Slip::kUnfusedMoment ? scaled + g
                                          : std::fma(sgd->momentum, *first, g);
    *w = std::fma(-sgd->rate, *first, *w);
    return;
  }
  const Adam& adam = std::get<Adam>(optimiser);
  float rest1 = static_cast<float>(1.0 - adam.beta1);
  float rest2 = static_cast<float>(1.0 - adam.beta2);
  if (slip == Slip::kFloatRest) {
    rest1 = 1.0f - static_cast<float>(adam.beta1);
    rest2 = 1.0f - static_cast<float>(adam.beta2);
  }
  if (g > 0x1p63f) g = 0x1p63f;
  if (g < -0x1p63f) g = -0x1p63f;
  const float square = g * g, difference = g - *first;
  const float product = rest1 * difference;
  *first = slip == Slip::kUnfusedMoment ? *first + product
                                        : std::fma(rest1, difference, *first);
  *second = std::fma(rest2, square - *second, *second);
  const float k1 =
      slip == Slip::kUncorrectedMoment ? 1.0f : Rcp(1.0f - state.power1);
  const float k2 = Rcp(1.0f - state.power2);
  const float h = std::fma(*second, k2, 1e-30f);
  const float den = std::fma(h, Rsqrt(h), 1e-7f);
  const float move = *first * k1 * Rcp(den);
  *w = std::fma(-adam.rate, move, *w);
}

void UpdateAll(const Optimiser& optimiser, const TrainingState& state,
               const Fp32Matrix& gradient, Slip slip, Parameter* p) {
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    UpdateOne(optimiser, state, gradient.data()[i], slip, p->value.data() + i,
              p->first.data() + i, p->second.data() + i);
  }
}

void UpdateRunning(const Fp32Row& seen, Slip slip, Fp32Row* run) {
  for (Eigen::Index c = 0; c < seen.size(); ++c) {
    const float kept = 0.9f * (*run)(c);
    (*run)(c) = slip == Slip::kRunningProducts
                    ? std::fma(0.1f, seen(c), kept)
                    : std::fma(0.1f, seen(c) - (*run)(c), (*run)(c));
  }
}

Fp32Matrix Working(const Parameter& weights) {
  return weights.value.unaryExpr(&fp32::Bf16);
}

float Truncated(float v) { return FromBits(ToBits(v) & 0xFFFF0000); }

// As rows of `columns`: a flattened map for a dense layer.
Fp32Matrix InRows(const Fp32Matrix& values, int64_t columns) {
  return Eigen::Map<const Fp32Matrix>(values.data(), values.size() / columns,
                                      columns);
}

}  // namespace

StepResult NaiveStep(const TrainingNetwork& network, const Bf16Matrix& images,
                     const std::vector<uint8_t>& labels,
                     const Optimiser& optimiser, int rows, Slip slip,
                     TrainingState* state) {
  const std::vector<NaiveLayer> layers =
      NaiveLayers(network, static_cast<int>(labels.size()));
  const int last = static_cast<int>(layers.size()) - 1;
  StepResult result;
  result.layers.resize(layers.size());
  std::vector<Fp32Matrix> inputs{InRows(FromBf16(images), layers[0].channels)};
  for (int i = 0; i <= last; ++i) {
    LayerTrace& t = result.layers[i];
    const Fp32Matrix& offset = state->layers[i].offset.value;
    const Fp32Matrix sums = NaiveForward(
        layers[i], inputs[i], Working(state->layers[i].weights), rows, slip);
    if (i < last) {
      t.z = slip == Slip::kTruncatedZ ? sums.unaryExpr(&Truncated)
                                      : sums.unaryExpr(&fp32::Bf16);
      NormForward(layers[i], offset, slip, &t);
      inputs.push_back(InRows(t.a, layers[i + 1].channels));
    } else {
      t.z = sums;
      if (slip == Slip::kRoundedLogits) t.z = sums.unaryExpr(&fp32::Bf16);
      t.z.rowwise() += offset.row(0);
      Loss(labels, rows, slip, &t, &result);
    }
  }
  TrainingState old = *state;
  const auto update = [&](int i) {
    UpdateAll(optimiser, *state, result.layers[i].dw, slip,
              &state->layers[i].weights);
    UpdateAll(optimiser, *state, result.layers[i].doffset.matrix(), slip,
              &state->layers[i].offset);
    if (i == last) return;
    UpdateRunning(result.layers[i].mean, slip, &state->layers[i].running_mean);
    UpdateRunning(result.layers[i].var, slip, &state->layers[i].running_var);
  };
  if (const auto* adam = std::get_if<Adam>(&optimiser)) {
    state->power1 *= static_cast<float>(adam->beta1);
    state->power2 *= static_cast<float>(adam->beta2);
  }
  for (int i = last; i >= 0; --i) {
    LayerTrace& t = result.layers[i];
    if (i < last) NormBackward(layers[i], old.layers[i].offset.value, slip, &t);
    t.dw = NaiveWeightGradient(layers[i], inputs[i], t.dz, rows, slip);
    update(i);
    if (i == 0) break;
    const TrainingState& used = slip == Slip::kNewWeights ? *state : old;
    result.layers[i - 1].da =
        InRows(NaiveInputGradient(layers[i], t.dz,
                                  Working(used.layers[i].weights), rows, slip),
               layers[i - 1].filters);
  }
  return result;
}

}  // namespace systole::golden
