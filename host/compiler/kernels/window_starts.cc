// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/window_starts.h"

namespace systole::lanes {

using vpu::Op;

Lane Beyond(LaneGraph& graph, const Windows::Start& start, Lane at) {
  const LaneBuilder g{graph};
  // As an unsigned number, a negative start is larger than every size.
  const Lane top = g.K(int64_t{1} << 31);
  const Lane last = g.K(start.size - start.window);
  return g(Op::kIlt, g(Op::kIxor, last, top), g(Op::kIxor, at, top));
}

Lane MovedInside(LaneGraph& graph, const Windows::Start& start,
                 ir::ElementType type, Lane at) {
  const LaneBuilder g{graph};
  const Lane last = g.K(start.size - start.window);
  const Lane inside = g(Op::kSel, Beyond(graph, start, at), last, at);
  if (!ir::IsSigned(type)) return inside;
  return g(Op::kSel, g(Op::kIlt, at, g.K(0)), g.K(0), inside);
}

}  // namespace systole::lanes
