// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The optimisers of docs/training.md.
#ifndef SYSTOLE_VERIF_GOLDEN_OPTIMISER_H_
#define SYSTOLE_VERIF_GOLDEN_OPTIMISER_H_

#include <variant>

#include "verif/golden/training_network.h"

namespace systole::golden {

struct Sgd {
  float rate = 0.05f;
  float momentum = 0.9f;
};

struct Adam {
  float rate = 0.002f;
  double beta1 = 0.9, beta2 = 0.999;
};

using Optimiser = std::variant<Sgd, Adam>;

// Call it once per step, before the parameters are updated.
void BeginStep(const Optimiser& optimiser, TrainingState* state);

// `gradient` has the shape of the parameter.
void Update(const Optimiser& optimiser, const TrainingState& state,
            const Fp32Matrix& gradient, Parameter* parameter);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_OPTIMISER_H_
