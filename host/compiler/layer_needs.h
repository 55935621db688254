// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a layer of a plan needs of the unified buffer, from the plan and what
// stays there already.
#ifndef HOST_COMPILER_LAYER_NEEDS_H_
#define HOST_COMPILER_LAYER_NEEDS_H_

#include <cstdint>
#include <vector>

#include "host/compiler/layer_fit.h"
#include "host/compiler/plan.h"

namespace systole::compiler {

// Of layer `l`, whose result stays if out_resident. resident_buffers: of each
// tensor, kNowhere of one that does not stay; wished: of each layer, that it
// goes between the blocks of the one before it.
LayerNeeds NeedsOf(const Plan& plan, int l, bool out_resident,
                   const std::vector<int>& resident_buffers,
                   const std::vector<bool>& wished);

// An input of a concatenation has its share of each line: places it in its
// buffer, whose bytes are returned.
int64_t PlacePart(const Plan& plan, const PlanLayer& layer, size_t input,
                  const LayerFit& fit, InputPlacement& in);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_LAYER_NEEDS_H_
