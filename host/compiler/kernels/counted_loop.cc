// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/counted_loop.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace systole::lanes {
namespace {

using ir::Direction;
using ir::ElementType;
using ir::Node;
using ir::Op;
using ir::Value;

// The number of the region's parameter that the value is, or -1.
int ParameterOf(const ir::Module& region, const Value& value) {
  const std::vector<Node*> inputs = region.inputs();
  const auto found = std::find(inputs.begin(), inputs.end(), value.node);
  return found == inputs.end() ? -1 : static_cast<int>(found - inputs.begin());
}

Direction Mirrored(Direction direction) {
  switch (direction) {
    case Direction::kLt:
      return Direction::kGt;
    case Direction::kGt:
      return Direction::kLt;
    case Direction::kLe:
      return Direction::kGe;
    case Direction::kGe:
      return Direction::kLe;
    default:
      return direction;
  }
}

// What each iteration adds to a carried value, as a signed number.
std::optional<int64_t> StepOf(const ir::Module& body, int carried) {
  const Node& next = *body.outputs[carried].node;
  if (next.op != Op::kHloAdd) return std::nullopt;
  for (const int i : {0, 1}) {
    if (ParameterOf(body, next.operands[i]) != carried) continue;
    const std::optional<int64_t> step = NumberOf(next.operands[1 - i]);
    // Unsigned counters that decrease are not supported.
    if (step) return step;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> NumberOf(const Value& value) {
  if (!value->is_constant() || value.type().elements() != 1)
    return std::nullopt;
  switch (value.type().element) {
    case ElementType::kInt32:
      return value->literal().values<int32_t>()[0];
    case ElementType::kUint32:
      return value->literal().values<uint32_t>()[0];
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> CountedLoop::Turns(int64_t first, int64_t end,
                                          ElementType type) const {
  const bool up = direction == Direction::kLt || direction == Direction::kLe;
  const bool last = direction == Direction::kLe || direction == Direction::kGe;
  const int64_t distance = (up ? end - first : first - end) + (last ? 1 : 0);
  if (distance <= 0) return 0;
  const int64_t size = up ? step : -step;
  if (size <= 0) return std::nullopt;
  const int64_t turns = (distance + size - 1) / size;
  const int64_t left = first + turns * step;
  const bool is_signed = type == ElementType::kInt32;
  const int64_t low = is_signed ? std::numeric_limits<int32_t>::min() : 0;
  const int64_t high = is_signed ? std::numeric_limits<int32_t>::max()
                                 : std::numeric_limits<uint32_t>::max();
  if (left < low || left > high) return std::nullopt;
  return turns;
}

std::optional<CountedLoop> CountedLoopOf(const Node& node) {
  if (node.op != Op::kHloWhile) return std::nullopt;
  const ir::Module &condition = *node.regions[0], &body = *node.regions[1];
  const Node& compare = *condition.outputs[0].node;
  if (compare.op != Op::kHloCompare) return std::nullopt;
  const Direction direction =
      compare.attr<ir::HloCompareAttributes>().direction;
  if (direction == Direction::kEq || direction == Direction::kNe)
    return std::nullopt;
  for (const int i : {0, 1}) {
    CountedLoop loop;
    loop.direction = i == 0 ? direction : Mirrored(direction);
    loop.counter = ParameterOf(condition, compare.operands[i]);
    if (loop.counter < 0 || loop.counter >= node.results()) continue;
    const std::optional<int64_t> step = StepOf(body, loop.counter);
    if (!step) continue;
    loop.step = *step;
    const Value& bound = compare.operands[1 - i];
    if (const std::optional<int64_t> number = NumberOf(bound)) {
      loop.number = *number;
      return loop;
    }
    loop.bound = ParameterOf(condition, bound);
    const bool stays =
        loop.bound >= node.results() ||
        (loop.bound >= 0 &&
         ParameterOf(body, body.outputs[loop.bound].node) == loop.bound);
    if (stays) return loop;
  }
  return std::nullopt;
}

}  // namespace systole::lanes
