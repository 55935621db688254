// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/caller.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "host/ir/calls.h"

namespace systole::pjrt {
namespace {

constexpr size_t kErrorBytes = 16384;

// How many programs have each call.
struct Uses {
  std::mutex mutex;
  std::map<uint64_t, int> counts;
};
Uses& AllUses() {
  static Uses& uses = *new Uses;
  return uses;
}

void FindCalls(const ir::Module& module, std::set<uint64_t>& numbers) {
  for (const auto& node : module.nodes()) {
    uint64_t number;
    if (ir::IsCall(*node) &&
        absl::SimpleAtoi(node->attr<ir::HloCustomCallAttributes>().config,
                         &number))
      numbers.insert(number);
    for (const auto& region : node->regions) FindCalls(*region, numbers);
  }
}

class Use {
 public:
  explicit Use(std::set<uint64_t> numbers) : numbers_(std::move(numbers)) {
    const std::lock_guard<std::mutex> lock(AllUses().mutex);
    for (const uint64_t number : numbers_) ++AllUses().counts[number];
  }
  ~Use() {
    const std::lock_guard<std::mutex> lock(AllUses().mutex);
    for (const uint64_t number : numbers_)
      if (--AllUses().counts[number] == 0) AllUses().counts.erase(number);
  }

 private:
  const std::set<uint64_t> numbers_;
};

absl::StatusOr<ir::Literals> CallOf(CallFunction function, const ir::Node& node,
                                    const ir::Operands& operands) {
  const std::string& config = node.attr<ir::HloCustomCallAttributes>().config;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(config, &number)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a call of '", config, "', which is not a number"));
  }
  std::vector<const void*> inputs;
  for (const ir::Literal* operand : operands) inputs.push_back(operand->data());
  ir::Literals results;
  std::vector<void*> outputs;
  for (int r = 0; r < node.results(); ++r) {
    const ir::Type& type = node.result_type(r);
    results.push_back(ir::Literal::Zeros(type.element, type.elements()));
  }
  outputs.reserve(results.size());
  for (ir::Literal& result : results) outputs.push_back(result.data());
  std::vector<char> error(kErrorBytes);
  if (function(number, inputs.data(), outputs.data(), error.data(),
               error.size()) == 0)
    return results;
  return absl::InternalError(absl::StrCat("the call failed: ", error.data()));
}

}  // namespace

ir::Caller CallerAt(uint64_t address) {
  const auto function = reinterpret_cast<CallFunction>(address);
  return [function](const ir::Node& node, const ir::Operands& operands) {
    return CallOf(function, node, operands);
  };
}

std::shared_ptr<void> UseOfCalls(const ir::Module& module) {
  std::set<uint64_t> numbers;
  FindCalls(module, numbers);
  if (numbers.empty()) return nullptr;
  return std::make_shared<Use>(std::move(numbers));
}

}  // namespace systole::pjrt

int systole_call_is_used(uint64_t number) {
  systole::pjrt::Uses& uses = systole::pjrt::AllUses();
  const std::lock_guard<std::mutex> lock(uses.mutex);
  return static_cast<int>(uses.counts.count(number));
}
