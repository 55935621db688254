// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/calls.h"

#include <algorithm>

namespace systole::ir {
namespace {

bool Calls(const Node& node, const char* target) {
  return node.op == Op::kHloCustomCall &&
         node.attr<HloCustomCallAttributes>().target == target;
}

}  // namespace

bool IsCall(const Node& node) {
  return Calls(node, kPureCall) || Calls(node, kEffectCall);
}

bool HasEffect(const Node& node) {
  return Calls(node, kEffectCall) ||
         std::any_of(node.regions.begin(), node.regions.end(),
                     [](const auto& region) {
                       const auto& nodes = region->nodes();
                       return std::any_of(
                           nodes.begin(), nodes.end(),
                           [](const auto& inner) { return HasEffect(*inner); });
                     });
}

}  // namespace systole::ir
