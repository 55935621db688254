// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The golden training step: bit-exact as docs/training.md defines it.
//
//   TrainingNetwork network = DigitsNetwork();
//   TrainingState state = InitialState(network, /*seed=*/1);
//   auto result = Step(network, images, labels, Adam{}, /*rows=*/128, &state);
//   std::cout << result->loss / labels.size();
#ifndef SYSTOLE_VERIF_GOLDEN_TRAINING_H_
#define SYSTOLE_VERIF_GOLDEN_TRAINING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "verif/golden/float_ops.h"
#include "verif/golden/optimiser.h"
#include "verif/golden/training_network.h"

namespace systole::golden {

// The values computed in a step. Matrices have one row per position (n, y, x)
// or sample, and one column per channel; bf16 values are stored as fp32.
struct LayerTrace {
  Fp32Matrix z;   // bf16; last layer: the logits, fp32
  Fp32Matrix a;   // bf16; last layer: the probabilities p, fp32
  Fp32Matrix da;  // bf16; last layer: empty
  Fp32Matrix pooled,
      dpooled;           // bf16; a and da after the pool, if there is one
  Fp32Matrix out, dout;  // bf16; read by other layers; last layer: empty
  Fp32Matrix dz;         // bf16
  Fp32Matrix dw;         // K x Co, fp32
  Fp32Row mean, var, inv, sum_g, sum_gx;  // sb and sx; last layer: empty
  Fp32Row doffset;                        // dbeta, dbias of the last layer
};

struct StepResult {
  float loss;     // sum over the batch
  float correct;  // count
  std::vector<LayerTrace> layers;
};

// One step on a batch. `images`: bf16, B x (height * width * channels);
// `rows`: rows and columns of the array.
absl::StatusOr<StepResult> Step(const TrainingNetwork& network,
                                const Bf16Matrix& images,
                                absl::Span<const uint8_t> labels,
                                const Optimiser& optimiser, int rows,
                                TrainingState* state);

// One step of two replicas, each with its own batch and state. After the
// backward pass, the gradients of all parameters are those of the first replica
// plus those of the second. The results contain each replica's own gradients.
absl::StatusOr<std::array<StepResult, 2>> StepOnReplicas(
    const TrainingNetwork& network, const std::array<Bf16Matrix, 2>& images,
    const std::array<absl::Span<const uint8_t>, 2>& labels,
    const Optimiser& optimiser, int rows, std::array<TrainingState, 2>* states);

// Returns the logits, B x classes, using the running statistics.
absl::StatusOr<Fp32Matrix> Evaluate(const TrainingNetwork& network,
                                    const Bf16Matrix& images, int rows,
                                    const TrainingState& state);

// The number of right answers. The answer is the largest logit; of equal ones,
// the first.
int CountCorrect(const Fp32Matrix& logits, absl::Span<const uint8_t> labels);

// Digits as images: pixel / 255, rounded to fp32 and then to bf16.
Bf16Matrix PixelsToBf16(absl::Span<const uint8_t> pixels, int image_size);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_TRAINING_H_
