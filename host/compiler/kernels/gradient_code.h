// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code of the gradients of depthwise kernels: each tap's sum is a chain
// of fma over positions and images, the images fastest.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_CODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Of a register's rows, each is a tap or a part of the channels; the sums that
// a run computes have registers of their own. Bytes throughout; inputs and
// gradients are bf16, sums f32.
struct GradientTile {
  int64_t rows = 1;
  int64_t row_in = 0, row_gradient = 0, row_sum = 0;  // from row to row
  // Of each sum, from the first one.
  struct Sum {
    int64_t in, at;
  };
  std::vector<Sum> sums;
  // Parts of the channels whose chains take turns.
  int64_t turns = 1, turn_in = 0, turn_gradient = 0, turn_sum = 0;
  int64_t images = 1;  // of an iteration
  int64_t image_in = 0, image_gradient = 0;
};

struct GradientCode {
  std::vector<uint64_t> words;
  int64_t iteration_cycles = 0, run_cycles = 0;  // expected; run: the rest
};

// Arguments of a run: addresses of input, gradient, and sums; positions;
// iterations over the images of each; lanes; bytes from behind a position's
// images to the next position.
struct GradientRun {
  int64_t in, gradient, sum;
  int64_t positions, iterations, lanes;
  int64_t next_in, next_gradient;

  std::vector<int64_t> Arguments() const;
};

// Code for instruction memory index `base` on; it starts there.
// ResourceExhausted: too many sums for the registers.
absl::StatusOr<GradientCode> EmitGradient(const GradientTile& tile,
                                          const Preset& preset, int base);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_CODE_H_
