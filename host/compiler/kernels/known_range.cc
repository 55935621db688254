// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/known_range.h"

#include <algorithm>
#include <vector>

#include "host/ir/hlo/fold.h"

namespace systole::lanes {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

// By dimension of a value: the dimension of the difference that it is, or -1
// for one of size 1.
using Places = std::vector<int>;

// Those of a reshape's operand, if it only adds or removes dimensions of size
// 1; else empty.
Places BeforeReshape(const Ints& from, const Ints& to, const Places& places) {
  Places before(from.size(), -1);
  size_t at = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    while (at < to.size() && to[at] == 1) ++at;
    if (at == to.size() || to[at] != from[d]) return {};
    before[d] = places[at++];
  }
  return before;
}

bool IsLargestOf(const Node& reduce, const Value& x, const Places& places) {
  if (reduce.op != Op::kHloReduce || reduce.operands.size() != 2 ||
      reduce.operands[0].node != x.node ||
      reduce.operands[0].index != x.index ||
      ir::CombinerOf(*reduce.regions[0]) != Op::kHloMaximum)
    return false;
  const Ints& reduced = reduce.attr<ir::HloDimensionsAttributes>().dimensions;
  size_t at = 0;
  for (int d = 0; d < x.type().rank(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), d) != reduced.end()) continue;
    if (at == places.size()) return false;
    if (x.type().shape[d] != 1 && places[at] != d) return false;
    ++at;
  }
  return true;
}

}  // namespace

bool SubtractsLargest(const Node& node) {
  if (node.op != Op::kHloSubtract) return false;
  const Value x = node.operands[0];
  Value largest = node.operands[1];
  Places places;
  for (int d = 0; d < node.type.rank(); ++d)
    places.push_back(node.type.shape[d] == 1 ? -1 : d);
  while (true) {
    const Node& next = *largest.node;
    if (IsLargestOf(next, x, places)) return true;
    if (next.operands.empty()) return false;
    const Value operand = next.operands[0];
    const Ints& from = operand.type().shape;
    if (next.op == Op::kHloBroadcastInDim) {
      const Ints& to = next.attr<ir::HloDimensionsAttributes>().dimensions;
      Places before(from.size(), -1);
      for (size_t d = 0; d < from.size(); ++d)
        if (from[d] != 1) before[d] = places[to[d]];
      places = std::move(before);
    } else if (next.op == Op::kHloReshape) {
      places = BeforeReshape(from, next.type.shape, places);
      if (places.size() != from.size()) return false;
    } else if (next.op == Op::kHloMaximum) {
      // Not below either of them.
      const bool first = operand.node->op == Op::kHloReduce;
      largest = next.operands[first ? 0 : 1];
      continue;
    } else {
      return false;
    }
    largest = operand;
  }
}

}  // namespace systole::lanes
