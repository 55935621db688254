// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/training.md once more, an element at a time in the order of its words:
// what the golden model's fast code is compared with. A slip is a mistake that
// one could make while reading; each must change some bit.
#ifndef SYSTOLE_TESTS_GOLDEN_NAIVE_TRAINING_H_
#define SYSTOLE_TESTS_GOLDEN_NAIVE_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "verif/golden/training.h"

namespace systole::golden {

enum class Slip {
  kNone,
  // Sums.
  kNoFill,
  kPartialsOfBatch,     // position in the batch, not in the image
  kEightPartials,       // whatever the channels
  kPartialsOfWideRows,  // more elements than a row has
  kPartialsInOrder,     // p[0] + p[1] + ...
  kLanesInOrder,
  // Forward.
  kForwardOrder,
  kTruncatedZ,
  kVarianceOfSquares,  // not fused
  kUnshifted,          // sums of z, not of z - z[0]
  kEarlyGain,          // z * inv - mean * inv
  kRunningProducts,
  kRoundedLogits,
  kNoShareInVariance,  // N - 1
  // Backward.
  kGradientOrder,
  kBlocksAcrossImages,
  kWholeImageBlocks,
  kAscendingTaps,
  kOpenAtZero,  // y >= 0
  kUnfusedDz,
  kNewWeights,  // input gradients with the updated ones
  // Optimisers.
  kUnfusedMoment,
  kUncorrectedMoment,
  kFloatRest,  // 1-b1 of fp32 numbers
};

struct NaiveLayer {
  int batch, height, width, channels;  // a dense layer: 1 x 1 x inputs
  int kernel, stride, filters;         // kernel 0: dense

  int OutHeight() const { return (height + stride - 1) / stride; }
  int OutWidth() const { return (width + stride - 1) / stride; }
};
std::vector<NaiveLayer> NaiveLayers(const TrainingNetwork& network, int batch);

Fp32Matrix NaiveForward(const NaiveLayer& layer, const Fp32Matrix& x,
                        const Fp32Matrix& weights, int rows, Slip slip);
Fp32Matrix NaiveWeightGradient(const NaiveLayer& layer, const Fp32Matrix& x,
                               const Fp32Matrix& dz, int rows, Slip slip);
Fp32Matrix NaiveInputGradient(const NaiveLayer& layer, const Fp32Matrix& dz,
                              const Fp32Matrix& weights, int rows, Slip slip);

StepResult NaiveStep(const TrainingNetwork& network, const Bf16Matrix& images,
                     const std::vector<uint8_t>& labels,
                     const Optimiser& optimiser, int rows, Slip slip,
                     TrainingState* state);

}  // namespace systole::golden

#endif  // SYSTOLE_TESTS_GOLDEN_NAIVE_TRAINING_H_
