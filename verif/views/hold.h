// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Random stalls of the models that take their first step from now on in this
// thread (verif/views/systole_prim_hold.sv):
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
