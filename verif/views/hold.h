// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random stalls (verif/views/systole_prim_hold.sv). The settings apply to
// models whose first step is taken in this thread from now on:
//
//   views::hold = {.rate = 32, .seed = 7};  // each stream, in 1/256 a cycle
//   model.eval();
//   views::hold = {};

#ifndef SYSTOLE_VERIF_VIEWS_HOLD_H_
#define SYSTOLE_VERIF_VIEWS_HOLD_H_

#include <cstdint>

namespace systole::views {

struct Hold {
  uint32_t rate = 0, seed = 1;
};
extern thread_local Hold hold;

}  // namespace systole::views

#endif  // SYSTOLE_VERIF_VIEWS_HOLD_H_
