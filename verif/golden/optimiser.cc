// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/optimiser.h"

#include "verif/golden/fp32.h"
#include "verif/golden/functions.h"

namespace systole::golden {
namespace {

using namespace fp32;

constexpr float kMostGradient = 0x1p63f;

float Rcp(float a) { return FromBits(Reciprocal(ToBits(a))); }
float Rsqrt(float a) { return FromBits(ReciprocalSqrt(ToBits(a))); }

void UpdateSgd(const Sgd& sgd, const Fp32Matrix& gradient, Parameter* p) {
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    float& v = p->first.data()[i];
    float& w = p->value.data()[i];
    v = Fma(sgd.momentum, v, gradient.data()[i]);
    w = Fnma(sgd.rate, v, w);
  }
}

void UpdateAdam(const Adam& adam, const TrainingState& state,
                const Fp32Matrix& gradient, Parameter* p) {
  const auto rest1 = static_cast<float>(1 - adam.beta1);
  const auto rest2 = static_cast<float>(1 - adam.beta2);
  const float k1 = Rcp(Sub(1, state.power1));
  const float k2 = Rcp(Sub(1, state.power2));
  for (Eigen::Index i = 0; i < gradient.size(); ++i) {
    const float g = Max(Min(gradient.data()[i], kMostGradient), -kMostGradient);
    float& m = p->first.data()[i];
    float& v = p->second.data()[i];
    float& w = p->value.data()[i];
    m = Fma(rest1, Sub(g, m), m);
    v = Fma(rest2, Sub(Mul(g, g), v), v);
    const float h = Fma(v, k2, 1e-30f);
    const float den = Fma(h, Rsqrt(h), 1e-7f);
    w = Fnma(adam.rate, Mul(Mul(m, k1), Rcp(den)), w);
  }
}

}  // namespace

void BeginStep(const Optimiser& optimiser, TrainingState* state) {
  if (const auto* adam = std::get_if<Adam>(&optimiser)) {
    state->power1 = Mul(state->power1, static_cast<float>(adam->beta1));
    state->power2 = Mul(state->power2, static_cast<float>(adam->beta2));
  }
}

void Update(const Optimiser& optimiser, const TrainingState& state,
            const Fp32Matrix& gradient, Parameter* parameter) {
  if (const auto* adam = std::get_if<Adam>(&optimiser)) {
    UpdateAdam(*adam, state, gradient, parameter);
  } else {
    UpdateSgd(std::get<Sgd>(optimiser), gradient, parameter);
  }
}

}  // namespace systole::golden
