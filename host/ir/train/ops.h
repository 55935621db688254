// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of train/, from which a training step is built: forward,
// backward, optimiser. docs/training.md defines each of them. Both the device
// (host/training) and the host (evaluate.h) compute them.
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
