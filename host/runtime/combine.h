// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#ifndef SYSTOLE_HOST_RUNTIME_COMBINE_H_
#define SYSTOLE_HOST_RUNTIME_COMBINE_H_

#include <cstdint>

#include "host/ir/module.h"

namespace systole::runtime {

// Makes one all_reduce of those with the same groups, operation and type of
// which none needs the result of another, and one reduce_scatter and one
// all_gather likewise, as far as the larger of their operands and results have
// `most_bytes` together: they start once and use the links without a pause.
// Each comes as late as its users allow; what its operands need comes before.
// No bit changes: the order of each operand's sums is its own. In regions too.
void CombineExchanges(ir::Module& module, int64_t most_bytes);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMBINE_H_
