// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// When collectives take their turns beside kernels. The order is the same on
// all cores of a group, as it depends on nothing that differs between them.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_ORDER_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_ORDER_H_

#include <cstdint>
#include <vector>

namespace systole::lanes {

// A collective, or a stretch of one.
struct OrderedCollective {
  // It comes behind this kernel, -1: none, and before that one, or the end.
  int after = -1, before = 0;
  std::vector<int> needs;  // collectives before it in the list
  int64_t cycles = 0;      // expected
};

struct CollectiveOrder {
  std::vector<int64_t> kernels;  // expected start of each
  std::vector<int64_t> starts;   // of each collective
  std::vector<int> order;        // of the collectives, one after the other
};

// cycles: of kernels, which run one after the other; 0: beside the one before.
// The links do one collective at a time. A kernel waits for those that come
// before it; otherwise, those go first that a kernel needs first. If the links
// have time, none starts that would hold up one that the next kernel needs.
CollectiveOrder OrderCollectives(
    const std::vector<int64_t>& cycles,
    const std::vector<OrderedCollective>& collectives);

// The collectives in their order, those together that are stretches of one and
// follow each other. of: the number of what each is a stretch of.
std::vector<std::vector<int>> TurnsOf(const CollectiveOrder& order,
                                      const std::vector<int>& of);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_COLLECTIVE_ORDER_H_
