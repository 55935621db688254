// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Graphs of lanes whose rows are lines: a line consists of chunks of elements,
// one after the other. So what belongs to a line is loaded once for all of its
// chunks, and the line can be reduced while it is computed:
//
//   along the line  A chunk is a row of lanes. All elements become one.
//   columns         A line is [count][inner], and a chunk some rows of it. A row
//                   of lanes of each chunk becomes one, so that a chunk is left.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LINE_GRAPH_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LINE_GRAPH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Reduces `count` elements, rows of `cols` lanes, by halves (docs/hlo.md). The
// result is in lane 0. Lanes behind the last element may hold anything.
using CombineLanes = std::function<Lane(Lane, Lane)>;
Lane ReduceRows(LaneGraph& graph, std::vector<Lane> rows, int64_t count,
                int64_t cols, const CombineLanes& combine);

// The graph of a stage that goes by lines, for a line. Operand o of the stage
// is operand o * chunks + c for chunk c, or for all of them operand o * chunks;
// the stores are numbered likewise. Behind the operands come the first values
// of the reductions along lines; before the stores, the results of all.
struct LineGraph {
  LaneGraph graph;
  std::vector<LaneStore> stores;
};
// `stage_graph`, `stores`: those of the stage, with guards or without.
LineGraph OverLines(const FusedSpec::Lanes& stage, const LaneGraph& stage_graph,
                    const std::vector<LaneStore>& stores, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LINE_GRAPH_H_
