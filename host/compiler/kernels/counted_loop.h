// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loops whose number of iterations is known before the first one: `while (i <
// n)` with `i = i + c` in each iteration and a constant n, as lax.scan and
// fori_loop produce them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_

#include <cstdint>
#include <optional>

#include "host/ir/module.h"

namespace systole::lanes {

struct CountedLoop {
  int counter = 0;  // operand of the `while`
  // The bound: an operand, or `number` if -1.
  int bound = -1;
  int64_t number = 0;
  ir::Direction direction = ir::Direction::kLt;  // of counter and bound
  int64_t step = 1;

  // Number of iterations from `first` on. nullopt: the counter would overflow
  // its type before the loop ends.
  std::optional<int64_t> Turns(int64_t first, int64_t end,
                               ir::ElementType type) const;
};

// A constant of one element, of i32 or u32.
std::optional<int64_t> NumberOf(const ir::Value& value);

// nullopt: the node is another kind of loop.
std::optional<CountedLoop> CountedLoopOf(const ir::Node& node);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COUNTED_LOOP_H_
