// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/hlo_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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
        out.push_back(ir::Bool(value > 0));  // -inf: the least one
      } else if constexpr (std::is_integral_v<T>) {
        // The nearest number of the type; 2^63 is no double of it.
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

Value HloBuilder::Parameter(const std::string& name, const ir::Type& type,
                            const std::string& input) {
  return Own({name, Op::kParameter, type, {}, ir::ParameterAttributes{input}});
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
  ir::Node node = ir::MakeConstant(absl::StrCat("constant.", ++state_.nodes),
                                   type, std::move(data));
  node.location = state_.location;
  if (const absl::Status s = ir::VerifyNode(node); !s.ok()) return Fail(s);
  return Own(std::move(node));
}

Value HloBuilder::Scalar(ir::ElementType element, double value) {
  return Constant({element, {}, {}}, LiteralOf(element, {value}));
}

Value HloBuilder::Integers(const Ints& values) {
  return Constant(
      {ir::ElementType::kInt64, {static_cast<int64_t>(values.size())}, {}},
      Literal(std::vector<int64_t>(values)));
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
                                                       int64_t elements) {
  if (op == Op::kHloRng) return std::nullopt;
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
  ir::Node node{absl::StrCat(ShortName(op), ".", state_.nodes), op,
                shaped ? *shaped : ir::Type{}, operands, std::move(attributes)};
  node.regions = std::move(regions);
  node.location = state_.location;
  if (!shaped && !operands.empty()) {
    // Rules compare the number of results with that of the operands.
    if (op == Op::kHloWhile || op == Op::kHloSort || op == Op::kHloReduce ||
        op == Op::kHloReduceWindow || op == Op::kHloIf ||
        op == Op::kHloScatter) {
      const ir::Module& body = *node.regions.back();
      const size_t count = op == Op::kHloSort
                               ? node.regions[0]->inputs().size() / 2
                               : body.outputs.size();
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
  if (const auto known = Folded(op, operands, elements)) {
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
  ir::Node* const added = Own(std::move(node));
  Values values;
  for (int i = 0; i < added->results(); ++i) values.push_back({added, i});
  return values;
}

std::shared_ptr<const ir::Module> HloBuilder::Region(
    const std::vector<ir::Type>& parameters,
    const std::function<Values(HloBuilder&, const Values&)>& body) {
  auto module = std::make_shared<ir::Module>();
  HloBuilder inner(*module, state_);
  Values values;
  for (size_t i = 0; i < parameters.size(); ++i)
    values.push_back(inner.Parameter(absl::StrCat("arg", i), parameters[i]));
  for (const Value& result : body(inner, values))
    module->outputs.push_back({"", result});
  return module;
}

Values HloBuilder::While(
    const Values& states,
    const std::function<Value(HloBuilder&, const Values&)>& condition,
    const std::function<Values(HloBuilder&, const Values&)>& body) {
  auto test = std::make_shared<ir::Module>();
  auto step = std::make_shared<ir::Module>();
  HloBuilder tests(*test, state_, this), steps(*step, state_, this);
  const auto parameters = [&](HloBuilder& b) {
    Values values;
    for (size_t i = 0; i < states.size(); ++i)
      values.push_back(b.Parameter(absl::StrCat("arg", i), states[i].type()));
    return values;
  };
  const Values next = body(steps, parameters(steps));
  const Values tested = parameters(tests);
  tests.Capture(steps.captured());
  const Value holds = condition(tests, tested);
  if (!ok()) return Values(std::max<size_t>(states.size(), 16), NoResult());
  if (tests.captured().size() > steps.captured().size()) {
    steps.Capture({tests.captured().begin() +
                       static_cast<int64_t>(steps.captured().size()),
                   tests.captured().end()});
  }
  test->outputs.push_back({"", holds});
  for (const Value& value : next) step->outputs.push_back({"", value});
  test->RemoveUnused();
  step->RemoveUnused();
  Values operands = states;
  operands.insert(operands.end(), steps.captured().begin(),
                  steps.captured().end());
  return Add(Op::kHloWhile, operands, {}, std::nullopt, {test, step});
}

Values HloBuilder::Repeat(int64_t count, const Values& states,
                          const std::function<Values(HloBuilder&, const Value&,
                                                     const Values&)>& body) {
  constexpr ir::ElementType kIndex = ir::ElementType::kInt32;
  Values all = {Scalar(kIndex, 0)};
  all.insert(all.end(), states.begin(), states.end());
  Values results = While(
      all,
      [&](HloBuilder& b, const Values& now) {
        return b.Compare(ir::Direction::kLt, now[0],
                         static_cast<double>(count));
      },
      [&](HloBuilder& b, const Values& now) {
        Values next = {b.Binary(Op::kHloAdd, now[0], 1)};
        for (const Value& value : body(b, now[0], {now.begin() + 1, now.end()}))
          next.push_back(value);
        return next;
      });
  results.erase(results.begin());
  return results;
}

}  // namespace systole::import
