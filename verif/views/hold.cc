// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/views/hold.h"

namespace systole::views {

thread_local Hold hold;

extern "C" {
unsigned int systole_hold_rate() { return hold.rate; }
unsigned int systole_hold_seed() { return hold.seed; }
}

}  // namespace systole::views
