// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/call_once.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "host/ir/calls.h"

namespace systole::partition {

using ir::Node;
using ir::Value;

bool IsCalledOnce(const Node& node) {
  return ir::IsCall(node) &&
         absl::EndsWith(node.attr<ir::HloCustomCallAttributes>().config,
                        ir::kOnce);
}

std::vector<Tiles> CallOnce(const Node& node,
                            const std::vector<Value>& operands,
                            Numbers& numbers, Scope& scope) {
  Node call = node;
  std::string& config = call.attr<ir::HloCustomCallAttributes>().config;
  config = std::string(absl::StripSuffix(config, ir::kOnce));
  Node branch{absl::StrCat(node.name, ".", numbers.names++),
              ir::Op::kHloIf,
              node.type,
              {scope.IsFirst()},
              ir::NoAttributes{}};
  branch.more_types = node.more_types;
  branch.location = node.location;
  branch.operands.insert(branch.operands.end(), operands.begin(),
                         operands.end());
  const auto first = std::make_shared<ir::Module>();
  const auto others = std::make_shared<ir::Module>();
  for (const auto& region : {first, others}) {
    for (size_t i = 0; i < operands.size(); ++i) {
      Node parameter{absl::StrCat("arg", i),
                     ir::Op::kParameter,
                     operands[i].type(),
                     {},
                     ir::ParameterAttributes{""}};
      Node* const made = region->Add(std::move(parameter));
      if (region == first) call.operands[i] = made;
    }
  }
  Node* const made = first->Add(std::move(call));
  Scope other(numbers, *others);
  for (int r = 0; r < node.results(); ++r) {
    first->outputs.push_back({"", Value(made, r)});
    others->outputs.push_back({"", other.Zeros(node.result_type(r))});
  }
  branch.regions = {first, others};
  Node* const all = scope.module().Add(std::move(branch));
  std::vector<Tiles> results;
  for (int r = 0; r < node.results(); ++r) {
    const ir::Type& type = node.result_type(r);
    results.push_back({scope.Broadcast(Value(all, r)),
                       Sharding::Replicated(type.rank()), type});
  }
  return results;
}

}  // namespace systole::partition
