// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The body of a loop whose turns are known when it is compiled, without what is
// known of each turn: numbers that follow from the counter, and the parts of
// arrays that a turn reads and writes at them. These become parameters and
// results of the body, whose places in memory differ from turn to turn:
//
//   ys = while(i, h, ys; xs) { x = dynamic_slice(xs, i); h = f(h, x)
//                              ys = dynamic_update_slice(ys, h, i) }
//   --> h = f(h, x), with x at xs + 512 i, and h at ys + 512 i
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_TURN_BODY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_TURN_BODY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/compiler/kernels/counted_loop.h"
#include "host/compiler/kernels/node_kind.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct TurnBody {
  // Its inputs are those of the loop's body, then those of `given`; its outputs
  // are what the body carries on.
  std::shared_ptr<const ir::Module> module;
  int64_t turns = 0;

  // A part of other memory, which begins at a byte of its own in each turn.
  struct Given {
    int of = -1;  // input of the loop, or the table of numbers if -1
    std::vector<int64_t> begins;
  };
  std::vector<Given> given;
  // The numbers of all turns.
  std::vector<uint8_t> table;
  // Of arrays that a turn writes a part of: the output is that part.
  struct Written {
    std::vector<int64_t> begins;
    bool all = false;  // all turns together write every byte
  };
  std::map<int, Written> written;  // by the value that the loop carries
  // The counter after the last turn.
  ir::Literal end;
};

// nullopt: the turns are not known, none, or more than `most`.
std::optional<TurnBody> TurnBodyOf(const ir::Node& loop,
                                   const CountedLoop& counted, NodeKinds& kinds,
                                   int64_t most, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_TURN_BODY_H_
