// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/associative_region.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/compiler/kernels/region_nodes.h"
#include "host/ir/evaluate.h"

namespace systole::lanes {
namespace {

using ir::ElementType;
using ir::Literal;
using ir::Node;
using ir::Op;
using ir::Value;

constexpr int64_t kMostTrials = 1 << 18;
constexpr int kTruth = -1, kOther = -2;

// For each node the operand of the reduction whose elements it selects, or
// kTruth for what follows from comparisons; kOther: anything else.
class Classes {
 public:
  explicit Classes(const ir::Module& region)
      : operands_(static_cast<int>(region.inputs().size()) / 2) {
    int parameter = 0;
    for (const auto& node : region.nodes()) {
      of_[node.get()] =
          node->op == Op::kParameter ? parameter++ % operands_ : ClassOf(*node);
    }
  }

  bool Selects(const ir::Module& region) const {
    for (const auto& [node, which] : of_) {
      if (which == kOther) return false;
    }
    for (int i = 0; i < static_cast<int>(region.outputs.size()); ++i) {
      if (of_.at(region.outputs[i].node.node) != i) return false;
    }
    return static_cast<int>(region.outputs.size()) == operands_;
  }

 private:
  int ClassOf(const Node& node) const {
    const auto of = [&](size_t i) { return of_.at(node.operands[i].node); };
    switch (node.op) {
      case Op::kHloCompare:
        return of(0) >= 0 && of(0) == of(1) ? kTruth : kOther;
      case Op::kHloNot:
        return of(0) == kTruth ? kTruth : kOther;
      case Op::kHloAnd:
      case Op::kHloOr:
      case Op::kHloXor:
        return of(0) == kTruth && of(1) == kTruth ? kTruth : kOther;
      case Op::kHloSelect:
        return of(0) == kTruth && of(1) == of(2) ? of(1) : kOther;
      default:
        return kOther;
    }
  }

  const int operands_;
  std::unordered_map<const Node*, int> of_;
};

// Elements of all kinds that comparisons tell apart, three ordinary ones among
// them.
std::vector<double> SamplesOf(ElementType type) {
  if (!ir::IsFloat(type)) return {0, 1, 2};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {-nan, -0.0, 0.0, 1, 2, 3, nan};
}

Literal Samples(ElementType type, const std::vector<double>& numbers) {
  Literal literal = Literal::Zeros(type, static_cast<int64_t>(numbers.size()));
  literal.Visit([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    auto& to = literal.values<T>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      if constexpr (std::is_same_v<T, ir::Bool>) {
        to[i] = T(numbers[i] != 0);
      } else {
        to[i] = static_cast<T>(static_cast<float>(numbers[i]));
      }
    }
  });
  return literal;
}

using Literals = std::vector<Literal>;

// The region's results for all trials. Nothing if it cannot be evaluated.
Literals Combined(const ir::Module& region, const Literals& kept,
                  const Literals& next) {
  ir::Module module;
  RegionNodes nodes(module, nullptr, "try");
  const ir::Ints shape = {kept[0].size()};
  std::vector<Value> parameters;
  std::unordered_map<const Node*, Literal> known;
  for (const Literals* side : {&kept, &next}) {
    for (const Literal& literal : *side) {
      parameters.push_back(nodes.Parameter({literal.element(), shape, {}}));
      known.emplace(parameters.back().node, literal);
    }
  }
  const std::vector<Value> results = nodes.Lift(region, shape, parameters);
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kParameter) continue;
    std::vector<const Literal*> operands;
    for (const Value& operand : node->operands)
      operands.push_back(&known.at(operand.node));
    absl::StatusOr<Literal> value = ir::Evaluate(*node, operands);
    if (!value.ok()) return {};
    known.emplace(node.get(), *std::move(value));
  }
  Literals all;
  for (const Value& result : results) all.push_back(known.at(result.node));
  return all;
}

}  // namespace

bool IsAssociative(const ir::Module& region) {
  const std::vector<ir::Node*> inputs = region.inputs();
  const size_t operands = inputs.size() / 2;
  if (operands == 0 || inputs.size() % 2 != 0 || !IsLiftable(region) ||
      !Classes(region).Selects(region))
    return false;
  // A trial is a number whose digits choose the elements.
  int64_t trials = 1;
  Literals elements[3];
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < operands; ++i) {
      trials *= static_cast<int64_t>(SamplesOf(inputs[i]->type.element).size());
      if (trials > kMostTrials) return false;
    }
  }
  int64_t step = 1;
  for (Literals& some : elements) {
    for (size_t i = 0; i < operands; ++i) {
      const ElementType type = inputs[i]->type.element;
      const std::vector<double> samples = SamplesOf(type);
      const auto count = static_cast<int64_t>(samples.size());
      std::vector<double> numbers;
      for (int64_t t = 0; t < trials; ++t)
        numbers.push_back(samples[t / step % count]);
      some.push_back(Samples(type, numbers));
      step *= count;
    }
  }
  const auto& [a, b, c] = elements;
  const Literals ab = Combined(region, a, b), bc = Combined(region, b, c);
  if (ab.empty() || bc.empty()) return false;
  const Literals left = Combined(region, ab, c),
                 right = Combined(region, a, bc);
  for (size_t i = 0; i < operands; ++i) {
    const int64_t bytes = left[i].size() * ir::ElementBytes(left[i].element());
    if (std::memcmp(left[i].data(), right[i].data(), bytes) != 0) return false;
  }
  return true;
}

}  // namespace systole::lanes
