// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_
#define SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_

#include <string>

#include "host/pjrt/objects.h"

namespace systole::pjrt {

// A module of StableHLO as jax reads it: types, how arguments and results are
// divided, and one call of the program. With `operations`, those that each
// device runs instead of the call; what StableHLO does not have in the same
// form is a call with the operation's text.
std::string TextOf(const PJRT_Executable& executable, bool operations);

// Whether this thread asks for the operations (systole_show_operations).
bool ShowsOperations();

}  // namespace systole::pjrt

#endif  // SYSTOLE_HOST_PJRT_PROGRAM_TEXT_H_
