// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The size of a Verilated model. Compiled once per build with state.vlt, with
//   SYSTOLE_STATE_HEADER  header of the model's internals
//   SYSTOLE_STATE_SYMS    class of the internals
//   SYSTOLE_MODEL_PRESET  "nano"

#include SYSTOLE_STATE_HEADER
#include "verif/faults/state.h"

namespace systole::faults {
namespace {

[[maybe_unused]] const bool registered =
    RegisterState(SYSTOLE_MODEL_PRESET, sizeof(SYSTOLE_STATE_SYMS));

}  // namespace
}  // namespace systole::faults
