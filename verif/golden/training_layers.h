// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The parts of a training step (docs/training.md). A matrix of activations or
// gradients has one row per position (image, y, x) and one column per channel;
// bf16 values are stored as fp32. `rows` is the number of rows of the array.
#ifndef SYSTOLE_VERIF_GOLDEN_TRAINING_LAYERS_H_
#define SYSTOLE_VERIF_GOLDEN_TRAINING_LAYERS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "verif/golden/training_network.h"

namespace systole::golden {

// All values rounded to bf16.
Fp32Matrix RoundedToBf16(const Fp32Matrix& values);

// Sum over positions of each column of a layer's output, or over samples.
Fp32Row PositionSum(const LayerGeometry& g, const Fp32Matrix& values);
Fp32Row SampleSum(const Fp32Matrix& values);

// Convolution or dense layer: the fp32 rows before rounding.
Fp32Matrix Forward(const LayerGeometry& g, const Fp32Matrix& x,
                   const Fp32Matrix& weights, int rows);
// dw.
Fp32Matrix WeightGradient(const LayerGeometry& g, const Fp32Matrix& x,
                          const Fp32Matrix& dz, int rows);
// da of the layer below, rounded to bf16.
Fp32Matrix InputGradient(const LayerGeometry& g, const Fp32Matrix& dz,
                         const Fp32Matrix& weights, int rows);

// Statistics of a batch, or running statistics.
struct BatchNorm {
  Fp32Row mean, var, inv;
};
BatchNorm BatchStatistics(const LayerGeometry& g, const Fp32Matrix& z);
BatchNorm FromStatistics(const Fp32Row& mean, const Fp32Row& var);
// Computes a.
Fp32Matrix NormaliseRelu(const BatchNorm& norm, const Fp32Matrix& z,
                         const Fp32Matrix& beta);
// run = fma(0.1, x - run, run).
void UpdateRunning(const Fp32Row& x, Fp32Row* run);

// Max or average pool; `g` is the convolution before it.
Fp32Matrix PoolForward(const LayerGeometry& g, const TrainingPool& pool,
                       const Fp32Matrix& a);
// da, rounded to bf16.
Fp32Matrix PoolGradient(const LayerGeometry& g, const TrainingPool& pool,
                        const Fp32Matrix& a, const Fp32Matrix& pooled,
                        const Fp32Matrix& dpooled);

struct BatchNormGradient {
  Fp32Matrix dz;
  Fp32Row sum_g, sum_gx;  // sb, which is dbeta, and sx
};
BatchNormGradient NormaliseReluGradient(const LayerGeometry& g,
                                        const BatchNorm& norm,
                                        const Fp32Matrix& z,
                                        const Fp32Matrix& beta,
                                        const Fp32Matrix& da);

// Softmax and cross-entropy of a batch; `lanes` is that of the vector unit.
struct ClassLoss {
  Fp32Matrix p, dz;  // fp32, bf16
  float loss, correct;
};
ClassLoss SoftmaxLoss(const Fp32Matrix& logits,
                      absl::Span<const uint8_t> labels, int lanes);

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_TRAINING_LAYERS_H_
