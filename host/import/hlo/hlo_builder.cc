// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/hlo/hlo_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/ir/hlo/ops.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

constexpr int64_t kMostNodes = 1 << 20;
constexpr int64_t kFoldedElements = 4096;
constexpr int64_t kKnownElements = int64_t{1} << 24;

std::string ShortName(Op op) {
  const std::string name = ir::OpName(op);
  return name.substr(name.find('.') + 1);
}

Ints Ones(int64_t count) { return Ints(count, 1); }

}  // namespace

Literal LiteralOf(ir::ElementType element, const std::vector<double>& values) {
  return ir::WithElement(element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> out;
    out.reserve(values.size());
    for (const double value : values) {
      if constexpr (std::is_same_v<T, ir::Bool>) {
        out.push_back(ir::Bool(value > 0));  // -inf: false, the lowest value
      } else if constexpr (std::is_integral_v<T>) {
        // Saturates. The double of the limit 2^63 - 1 is 2^63, which would
        // overflow.
        if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
          out.push_back(std::numeric_limits<T>::max());
        } else if (value <=
                   static_cast<double>(std::numeric_limits<T>::lowest())) {
          out.push_back(std::numeric_limits<T>::lowest());
        } else {
          out.push_back(std::isnan(value) ? T{0} : static_cast<T>(value));
        }
      } else {
        out.push_back(T(static_cast<float>(value)));
      }
    }
    return Literal(std::move(out));
  });
}

Ints IntegersOf(const Literal& literal) {
  return literal.Visit([](const auto& values) {
    Ints out;
    out.reserve(values.size());
    for (const auto& value : values) out.push_back(static_cast<int64_t>(value));
    return out;
  });
}

std::vector<double> NumbersOf(const Literal& literal) {
  return literal.Visit([](const auto& values) {
    std::vector<double> out;
    out.reserve(values.size());
    for (const auto& value : values) out.push_back(static_cast<double>(value));
    return out;
  });
}

int64_t Product(const Ints& values, size_t first, size_t limit) {
  int64_t product = 1;
  for (size_t i = first; i < std::min(limit, values.size()); ++i)
    product *= values[i];
  return product;
}

Ints Range(int64_t first, int64_t limit) {
  Ints range(std::max<int64_t>(limit - first, 0));
  std::iota(range.begin(), range.end(), first);
  return range;
}

Value HloBuilder::NoResult() {
  if (scratch_ == nullptr) {
    scratch_ = std::make_unique<ir::Module>();
    const ir::Type type{ir::ElementType::kFloat32, Ones(ir::kMaxRank), {}};
    scratch_->Add(
        {"none", Op::kParameter, type, {}, ir::ParameterAttributes{}});
  }
  return scratch_->nodes().front().get();
}

Value HloBuilder::Fail(const absl::Status& status) {
  if (state_.status.ok()) state_.status = status;
  return NoResult();
}

void HloBuilder::Begin(std::string name, std::string location) {
  state_.name = std::move(name);
  state_.location = std::move(location);
  state_.status = absl::OkStatus();
}

std::string HloBuilder::Unique(const std::string& base) {
  std::string name = base;
  while (names_[name]++ > 0) name = absl::StrCat(base, ".", names_[base] - 1);
  return name;
}

std::string HloBuilder::NameOf(const std::string& kind) {
  return Unique(state_.name.empty() ? kind
                                    : absl::StrCat(state_.name, ".", kind));
}

void HloBuilder::NameResult(const Value& value) {
  // A node of an earlier operator keeps its name.
  if (!ok() || state_.name.empty() || own_.count(value.node) == 0 ||
      value->location != state_.location ||
      !absl::StartsWith(value->name, state_.name))
    return;
  value->name = Unique(state_.name);
}

Value HloBuilder::Parameter(const std::string& name, const ir::Type& type,
                            const std::string& input) {
  return Own(
      {Unique(name), Op::kParameter, type, {}, ir::ParameterAttributes{input}});
}

ir::Node* HloBuilder::Own(ir::Node node) {
  ir::Node* const added = module_.Add(std::move(node));
  own_.insert(added);
  return added;
}

Value HloBuilder::Here(const Value& value) {
  if (!ok() || outer_ == nullptr) return value;
  for (const auto& [index, here] : here_[value.node])
    if (index == value.index) return here;
  if (own_.count(value.node) > 0) return value;
  const Value outside = outer_->Here(value);
  for (const auto& [index, here] : here_[outside.node])
    if (index == outside.index) return here;
  Value here;
  if (outside->is_constant()) {
    here = Constant(outside.type(), outside->literal());
  } else {
    captured_.push_back(outside);
    here = Parameter(absl::StrCat("outer.", captured_.size()), outside.type());
  }
  here_[value.node].push_back({value.index, here});
  return here;
}

void HloBuilder::Capture(const Values& values) {
  for (const Value& value : values) {
    captured_.push_back(value);
    const Value here =
        Parameter(absl::StrCat("outer.", captured_.size()), value.type());
    here_[value.node].push_back({value.index, here});
  }
}

Value HloBuilder::Constant(const ir::Type& type, Literal data) {
  if (!ok()) return NoResult();
  ++state_.nodes;
  ir::Node node = ir::MakeConstant(NameOf("constant"), type, std::move(data));
  node.location = state_.location;
  if (const absl::Status s = ir::VerifyNode(node); !s.ok()) return Fail(s);
  return Own(std::move(node));
}

Value HloBuilder::Scalar(ir::ElementType element, double value) {
  return Constant({element, {}, {}}, LiteralOf(element, {value}));
}

Value HloBuilder::Integers(const Ints& values, ir::ElementType element) {
  return Constant(
      {element, {static_cast<int64_t>(values.size())}, {}},
      ir::WithElement(element, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
          return Literal(std::vector<T>(values.begin(), values.end()));
        } else {
          return Literal::Zeros(ir::ElementType::kInt64, 0);  // no integers
        }
      }));
}

Value HloBuilder::Floats(const std::vector<float>& values) {
  return Constant(
      {ir::ElementType::kFloat32, {static_cast<int64_t>(values.size())}, {}},
      Literal(values));
}

Value HloBuilder::Filled(const ir::Type& type, double value) {
  return BroadcastTo(Scalar(type.element, value), type.shape);
}

std::optional<Literal> HloBuilder::ConstantOf(const Value& value) {
  if (!ok()) return std::nullopt;
  const ir::Node& node = *value;
  if (node.is_constant()) return node.literal();
  if (node.op == Op::kParameter) return std::nullopt;
  const auto found = known_.find(&node);
  if (found != known_.end()) {
    if (found->second.empty()) return std::nullopt;
    return found->second[value.index];
  }
  std::vector<Literal> operands;
  for (int i = 0; i < node.results(); ++i) {
    if (node.result_type(i).elements() > kKnownElements) return std::nullopt;
  }
  known_[&node] = {};
  for (const Value& operand : node.operands) {
    auto known = ConstantOf(operand);
    if (!known) return std::nullopt;
    operands.push_back(*std::move(known));
  }
  ir::Operands pointers;
  for (const Literal& operand : operands) pointers.push_back(&operand);
  auto results = ir::Evaluation().Node(node, pointers);
  if (!results.ok()) return std::nullopt;
  known_[&node] = *std::move(results);
  return known_[&node][value.index];
}

std::optional<std::vector<Literal>> HloBuilder::Folded(Op op,
                                                       const Values& operands,
                                                       int64_t elements,
                                                       bool floats) {
  if (op == Op::kHloRng || (floats && !state_.folds_floats))
    return std::nullopt;
  int64_t most = kFoldedElements;
  for (const Value& value : operands) {
    const bool stretched = value->op == Op::kHloBroadcastInDim &&
                           value->operands[0]->is_constant();
    if (!value->is_constant() && !stretched) return std::nullopt;
    if (value->is_constant()) most += value.type().elements();
  }
  if (elements > std::min(most, kKnownElements)) return std::nullopt;
  std::vector<Literal> known;
  for (const Value& value : operands) {
    auto literal = ConstantOf(value);
    if (!literal) return std::nullopt;
    known.push_back(*std::move(literal));
  }
  return known;
}

Values HloBuilder::Add(Op op, const Values& operands, ir::Attributes attributes,
                       std::optional<ir::Type> shaped,
                       std::vector<std::shared_ptr<const ir::Module>> regions) {
  const auto none = [&] { return Values(ir::kMaxRank, NoResult()); };
  if (!ok()) return none();
  if (++state_.nodes > kMostNodes) {
    Fail(absl::ResourceExhaustedError(
        absl::StrCat("more than ", kMostNodes, " operations")));
    return none();
  }
  ir::Node node{"", op, shaped ? *shaped : ir::Type{}, operands,
                std::move(attributes)};
  node.regions = std::move(regions);
  node.location = state_.location;
  if (!shaped && !operands.empty()) {
    // The rules of these operations compare the number of results with the
    // number of operands.
    if (op == Op::kHloWhile || op == Op::kHloSort || op == Op::kHloReduce ||
        op == Op::kHloReduceWindow || op == Op::kHloIf ||
        op == Op::kHloScatter) {
      const ir::Module& body = *node.regions.back();
      const size_t count = op == Op::kHloSort
                               ? node.regions[0]->inputs().size() / 2
                               : body.outputs.size();
      if (count == 0) {
        Fail(absl::InvalidArgumentError("a region without results"));
        return none();
      }
      if (op == Op::kHloIf) {
        node.type = body.outputs[0].node.type();
        for (size_t i = 1; i < count; ++i)
          node.more_types.push_back(body.outputs[i].node.type());
      } else {
        node.more_types.resize(count - 1);
      }
    }
  }
  auto types = ir::InferTypes(node);
  if (!types.ok()) {
    Fail(types.status());
    return none();
  }
  node.type = (*types)[0];
  node.more_types.assign(types->begin() + 1, types->end());
  int64_t elements = 0;
  for (const ir::Type& type : *types) {
    int64_t most = 1;
    for (const int64_t size : type.shape) {
      if (size < 0 || (size > 0 && most > ir::kMaxElements / size)) {
        Fail(absl::InvalidArgumentError(
            absl::StrCat("a result of shape ", ir::ShapeText(type.shape),
                         ": a tensor has up to 2^31 elements")));
        return none();
      }
      most *= size;
    }
    elements += most;
  }
  if (const absl::Status s = ir::VerifyNode(node); !s.ok()) {
    Fail(s);
    return none();
  }
  const bool floats = std::any_of(
      types->begin(), types->end(),
      [](const ir::Type& type) { return ir::IsFloat(type.element); });
  if (const auto known = Folded(op, operands, elements, floats)) {
    ir::Operands pointers;
    for (const Literal& operand : *known) pointers.push_back(&operand);
    auto results = ir::Evaluation().Node(node, pointers);
    if (results.ok()) {
      Values values;
      for (size_t i = 0; i < results->size(); ++i)
        values.push_back(Constant((*types)[i], std::move((*results)[i])));
      return values;
    }
  }
  node.name = NameOf(ShortName(op));
  ir::Node* const added = Own(std::move(node));
  Values values;
  for (int i = 0; i < added->results(); ++i) values.push_back({added, i});
  return values;
}

}  // namespace systole::import
