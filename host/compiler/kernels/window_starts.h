// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lanes with the starts of windows whose positions are numbers in memory.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_

#include "host/compiler/kernels/lane_graph.h"
#include "host/compiler/kernels/windows.h"

namespace systole::lanes {

// A mask: the window begins below 0 or ends behind the last element.
Lane Beyond(LaneGraph& graph, const Windows::Start& start, Lane at);

// The nearest start whose window is inside. type: of the number.
Lane MovedInside(LaneGraph& graph, const Windows::Start& start,
                 ir::ElementType type, Lane at);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_STARTS_H_
