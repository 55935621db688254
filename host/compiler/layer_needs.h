// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a layer of a plan needs in the unified buffer, given the plan and the
// tensors that are already resident.
#ifndef HOST_COMPILER_LAYER_NEEDS_H_
#define HOST_COMPILER_LAYER_NEEDS_H_

#include <cstdint>
#include <vector>

#include "host/compiler/layer_fit.h"
#include "host/compiler/plan.h"

namespace systole::compiler {

// Needs of layer `l`, whose result stays in the unified buffer if out_resident.
// resident_buffers: buffer of each tensor, or kNowhere. wished: whether each
// layer should run between the blocks of the layer before it.
LayerNeeds NeedsOf(const Plan& plan, int l, bool out_resident,
                   const std::vector<int>& resident_buffers,
                   const std::vector<bool>& wished);

// Places an input of a concatenation in its buffer: the input takes its share
// of each line. Returns the bytes of the buffer.
int64_t PlacePart(const Plan& plan, const PlanLayer& layer, size_t input,
                  const LayerFit& fit, InputPlacement& in);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_NEEDS_H_
