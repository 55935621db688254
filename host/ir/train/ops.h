// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of train/, of which a training step is made: forward,
// backward, optimiser. docs/training.md says what each computes; the device
// does (host/training), and so does the host (evaluate.h).
//
//   x, a, z, d..    bf16 [images, height, width, channels], of dense layers
//                   [images, channels]
//   w               bf16 [kernel height, kernel width, in, out], dense
//                   [in, out]
//   offset, mean .. f32 [channels]
#ifndef SYSTOLE_HOST_IR_TRAIN_OPS_H_
#define SYSTOLE_HOST_IR_TRAIN_OPS_H_

#include <vector>

#include "host/ir/op.h"

namespace systole::ir {

// In the order of the enumeration.
std::vector<OpInfo> TrainOps();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_TRAIN_OPS_H_
