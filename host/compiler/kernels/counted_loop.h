// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops whose number of turns shows before the first one: `while (i < n)` with
// `i = i + c` at the end of each turn and an n that stays, as lax.scan and
// fori_loop make them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_

#include <cstdint>
#include <optional>

#include "host/ir/module.h"

namespace systole::lanes {

struct CountedLoop {
  int counter = 0;  // operand of the `while`
  // What it is compared with: an operand, or (-1) a number.
  int bound = -1;
  int64_t number = 0;
  ir::Direction direction = ir::Direction::kLt;  // of counter and bound
  int64_t step = 1;

  // Turns from there on. None: the counter would leave its type, whose ends
  // decide then.
  std::optional<int64_t> Turns(int64_t first, int64_t end,
                               ir::ElementType type) const;
};

// None: the node is another kind of loop.
std::optional<CountedLoop> CountedLoopOf(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_
