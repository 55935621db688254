// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_
#define SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_

#include <string>
#include <vector>

#include "host/pjrt/objects.h"

namespace systole::pjrt {

// What jax reads of a compiled program: in XLA's notation.
struct Shardings {
  std::vector<std::string> inputs, outputs;
};

// A module of StableHLO as jax reads it: the operations that each device runs,
// and how arguments and results are divided. What StableHLO does not have in
// the same form is a call with the operation's text.
std::string TextOf(const PJRT_Executable& executable,
                   const Shardings& shardings);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_
