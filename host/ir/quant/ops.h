// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The operations of quant/: docs/tflite.md.
#ifndef SYSTOLE_HOST_IR_QUANT_OPS_H_
#define SYSTOLE_HOST_IR_QUANT_OPS_H_

#include <vector>

#include "host/ir/op.h"

namespace systole::ir {

// In the order of the enumeration.
std::vector<OpInfo> QuantOps();

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_OPS_H_
