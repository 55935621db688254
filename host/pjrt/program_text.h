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

// A module with one call, of the program, as jax reads it: types, and how
// values are divided.
std::string TextOf(const PJRT_Executable& executable,
                   const Shardings& shardings);

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_
