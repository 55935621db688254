// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The part of GraphBuilder for operations with complex numbers. Loops, branches
// and regions of several operations take both parts of a number as they take
// two values. Moves and sums are done for each part. The others are formulas
// (hlo_complex.h, hlo_fourier.h).
#include <map>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/hlo/hlo_fourier.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/graph_builder.h"
#include "host/import/stablehlo/types.h"
#include "host/ir/calls.h"

namespace systole::import {
namespace {

using ir::Op;
using ir::Value;
using Values = std::vector<Value>;

// How an operation takes complex numbers.
enum class Way {
  kNone,
  kFlat,      // both parts are operands, results and parameters
  kEachPart,  // one node for each part
  kSum,       // one node for each part if its region allows, otherwise kFlat
  kExchange,  // one node for each part if its region allows
  kFormula,
};

Way WayOf(Op op) {
  switch (op) {
    case Op::kHloCase:
    case Op::kHloIf:
    case Op::kHloMap:
    case Op::kHloOptimizationBarrier:
    case Op::kHloSort:
    case Op::kHloWhile:
      return Way::kFlat;
    case Op::kHloAdd:
    case Op::kHloAllGather:
    case Op::kHloAllToAll:
    case Op::kHloBroadcastInDim:
    case Op::kHloCollectiveBroadcast:
    case Op::kHloCollectivePermute:
    case Op::kHloConcatenate:
    case Op::kHloDynamicSlice:
    case Op::kHloDynamicUpdateSlice:
    case Op::kHloGather:
    case Op::kHloNegate:
    case Op::kHloPad:
    case Op::kHloReshape:
    case Op::kHloReverse:
    case Op::kHloSelect:
    case Op::kHloSlice:
    case Op::kHloSubtract:
    case Op::kHloTranspose:
      return Way::kEachPart;
    case Op::kHloReduce:
    case Op::kHloReduceWindow:
    case Op::kHloScatter:
      return Way::kSum;
    case Op::kHloAllReduce:
    case Op::kHloReduceScatter:
      return Way::kExchange;
    default:
      return Way::kFormula;
  }
}

using Function = Complex (*)(HloBuilder&, const Complex&);
Function FunctionOf(Op op) {
  static const auto& functions = *new std::map<Op, Function>{
      {Op::kHloCosine, Cosine},
      {Op::kHloExponential, Exponential},
      {Op::kHloExponentialMinusOne, ExponentialMinusOne},
      {Op::kHloLog, Log},
      {Op::kHloLogPlusOne, LogPlusOne},
      {Op::kHloLogistic, Logistic},
      {Op::kHloRsqrt, Rsqrt},
      {Op::kHloSign, Sign},
      {Op::kHloSine, Sine},
      {Op::kHloSqrt, Sqrt},
      {Op::kHloTan, Tan},
      {Op::kHloTanh, Tanh}};
  const auto found = functions.find(op);
  return found == functions.end() ? nullptr : found->second;
}

using Arithmetic = Complex (*)(HloBuilder&, const Complex&, const Complex&);
Arithmetic ArithmeticOf(Op op) {
  return op == Op::kHloMultiply ? Multiply
         : op == Op::kHloDivide ? Divide
         : op == Op::kHloPower  ? Power
                                : nullptr;
}

// Of a region of two complex parameters and one result: what it does with one
// part of them. Null if that depends on the other part.
std::shared_ptr<const ir::Module> PartOf(const ir::Module& region,
                                         size_t part) {
  const std::vector<ir::Node*> inputs = region.inputs();
  if (inputs.size() != 4 || region.outputs.size() != 2) return nullptr;
  auto made = std::make_shared<ir::Module>();
  std::unordered_map<const ir::Node*, ir::Node*> copies;
  for (const ir::Node* input : {inputs[part], inputs[part + 2]})
    copies[input] = made->Add(*input);
  for (const auto& node : region.nodes()) {
    if (node->op == Op::kParameter) continue;
    ir::Node copy = *node;
    bool within = true;
    for (Value& operand : copy.operands) {
      const auto found = copies.find(operand.node);
      within = within && found != copies.end();
      if (within) operand.node = found->second;
    }
    if (within) copies[node.get()] = made->Add(std::move(copy));
  }
  const Value result = region.outputs[part].node;
  const auto found = copies.find(result.node);
  if (found == copies.end()) return nullptr;
  made->outputs.push_back({"", {found->second, result.index}});
  made->RemoveUnused();
  return made;
}

// A real number has no imaginary part.
Complex ComplexOf(HloBuilder& b, const Values& parts) {
  return {parts[0], parts.size() == 2 ? parts[1] : b.Like(parts[0], 0)};
}

// Four products, or two if one operand is real: (a c - b d) + i (a d + b c).
Values Products(HloBuilder& b, const Values& x, const Values& y,
                const std::function<Value(const Value&, const Value&)>& of) {
  if (x.size() + y.size() < 3)
    return {b.Fail(absl::InvalidArgumentError("a product of real numbers"))};
  const auto sum = [&](Op op, size_t i, size_t j, size_t k, size_t l) {
    const bool first = i < x.size() && j < y.size();
    const bool second = k < x.size() && l < y.size();
    if (!second) return of(x[i], y[j]);
    const Value other = of(x[k], y[l]);
    return first ? b.Binary(op, of(x[i], y[j]), other) : other;
  };
  return {sum(Op::kHloSubtract, 0, 0, 1, 1), sum(Op::kHloAdd, 0, 1, 1, 0)};
}

}  // namespace

bool GraphBuilder::IsComplexOperation(const mlir::Operation& operation) const {
  for (const auto& ids : {operation.operands, operation.results}) {
    for (const mlir::ValueId id : ids)
      if (IsComplex(*context_.source.values[id].type)) return true;
  }
  return false;
}

absl::Status GraphBuilder::AddComplex(const mlir::Operation& operation,
                                      const OperationRule& rule) {
  const Way way =
      rule.conversion == Conversion::kComplex ? Way::kFormula : WayOf(rule.op);
  if (way == Way::kFlat) return AddNode(operation, rule);
  const absl::StatusOr<std::vector<Values>> operands = OperandParts(operation);
  if (!operands.ok()) return operands.status();
  ir::Attributes attributes;
  if (rule.attributes) {
    std::vector<ir::Type> types;
    for (const Values& parts : *operands) types.push_back(parts[0].type());
    AttributeReader in(operation, std::move(types));
    attributes = rule.attributes(in);
    if (absl::IsUnimplemented(in.status())) {
      Refuse(operation, in.status());
      return absl::OkStatus();
    }
    if (!in.status().ok()) return Located(operation, in.status());
  }
  Begin(operation);
  const size_t before = module_.nodes().size();
  const auto* const call = attributes.If<ir::HloCustomCallAttributes>();
  absl::StatusOr<Values> results =
      call && (call->target == ir::kPureCall || call->target == ir::kEffectCall)
          ? CallOfPairs(operation, attributes, *operands)
      : way == Way::kFormula
          ? ComplexResult(operation, rule, attributes, *operands)
          : EachPart(operation, rule, attributes, *operands);
  if (results.ok() && !complex_.ok()) results = complex_.status();
  if (way == Way::kFormula) ForgetSince(before);
  if (absl::IsUnimplemented(results.status())) {
    Refuse(operation, results.status());
    return absl::OkStatus();
  }
  if (results.ok()) return Define(operation, *results);
  return Located(operation, results.status());
}

absl::StatusOr<Values> GraphBuilder::EachPart(
    const mlir::Operation& operation, const OperationRule& rule,
    const ir::Attributes& attributes, const std::vector<Values>& operands) {
  ir::Node whole{"", rule.op, {}, {}, attributes};
  if (!operation.regions.empty()) {
    if (absl::Status s = AddRegions(operation, whole); !s.ok()) return s;
  }
  const bool apart = whole.operands.empty() && operation.results.size() == 1;
  std::vector<std::shared_ptr<const ir::Module>> regions[2];
  bool allows = apart || whole.regions.empty();
  for (const size_t part : {0, 1}) {
    for (const auto& region : whole.regions) {
      regions[part].push_back(PartOf(*region, part));
      allows = allows && regions[part].back() != nullptr;
    }
  }
  if (!allows && WayOf(rule.op) == Way::kExchange) {
    return absl::UnimplementedError(
        "complex numbers, combined by another operation than a sum");
  }
  const absl::StatusOr<std::vector<ir::Type>> types = ResultTypes(operation);
  if (!types.ok()) return types.status();
  if (!allows) {
    Values all;
    for (const Values& parts : operands)
      all.insert(all.end(), parts.begin(), parts.end());
    all.insert(all.end(), whole.operands.begin(), whole.operands.end());
    Values results =
        complex_.Add(rule.op, all, attributes, std::nullopt, whole.regions);
    if (complex_.ok()) results.resize(types->size());
    ForgetSince(module_.nodes().size() - 1);
    return results;
  }
  Values results[2];
  for (const size_t part : {0, 1}) {
    ir::Node node{absl::StrCat(ShortName(operation.name), part ? ".im" : ".re"),
                  rule.op,
                  {},
                  {},
                  attributes};
    for (const Values& parts : operands)
      node.operands.push_back(parts[parts.size() == 2 ? part : 0]);
    size_t next = 0;
    for (const mlir::ValueId id : operation.results) {
      const bool is_complex = IsComplex(*context_.source.values[id].type);
      const ir::Type& type = (*types)[next];
      if (next == 0) {
        node.type = type;
      } else {
        node.more_types.push_back(type);
      }
      next += is_complex ? 2 : 1;
    }
    node.regions = std::move(regions[part]);
    const absl::StatusOr<ir::Node*> added = Add(operation, std::move(node));
    if (!added.ok()) return added.status();
    if (absl::Status s = Suggest(operation, *added); !s.ok()) return s;
    for (int i = 0; i < (*added)->results(); ++i)
      results[part].emplace_back(*added, i);
  }
  Values all;
  for (size_t i = 0; i < operation.results.size(); ++i) {
    all.push_back(results[0][i]);
    if (IsComplex(*context_.source.values[operation.results[i]].type))
      all.push_back(results[1][i]);
  }
  return all;
}

absl::StatusOr<Values> GraphBuilder::ComplexResult(
    const mlir::Operation& operation, const OperationRule& rule,
    const ir::Attributes& attributes, const std::vector<Values>& operands) {
  HloBuilder& b = complex_;
  const auto pair = [](const Complex& z) { return Values{z.re, z.im}; };
  const absl::string_view name = operation.name;
  const absl::StatusOr<std::vector<ir::Type>> types = ResultTypes(operation);
  if (!types.ok()) return types.status();
  if (types->empty()) return absl::InvalidArgumentError("no result");
  if (rule.op == Op::kHloIota && rule.conversion == Conversion::kOperation) {
    const Value re = b.AddOne(Op::kHloIota, {}, attributes, types->front());
    return Values{re, b.Like(re, 0)};
  }
  const bool two = name == "vhlo.complex_v1" || rule.op == Op::kHloCompare ||
                   rule.op == Op::kHloDotGeneral ||
                   rule.op == Op::kHloConvolution || ArithmeticOf(rule.op);
  if (operands.size() != (two ? 2 : 1)) {
    if (rule.op == Op::kHloCustomCall || operands.size() > 1)
      return absl::UnimplementedError("complex numbers");
    return absl::InvalidArgumentError("another number of operands");
  }
  const Values& x = operands.front();
  const Values& y = operands.back();
  if (name == "vhlo.complex_v1") {
    if (x.size() != 1 || y.size() != 1)
      return absl::InvalidArgumentError("parts that are complex");
    return Values{x[0], y[0]};
  }
  if (name == "vhlo.real_v1") return Values{x[0]};
  if (name == "vhlo.imag_v1")
    return Values{x.size() == 2 ? x[1] : b.Like(x[0], 0)};
  if (name == "vhlo.fft_v1") return Transformed(operation, x);
  const Complex z = ComplexOf(b, x);
  if (const Function function = FunctionOf(rule.op))
    return pair(function(b, z));
  if (const Arithmetic arithmetic = ArithmeticOf(rule.op))
    return pair(arithmetic(b, z, ComplexOf(b, y)));
  switch (rule.op) {
    case Op::kHloAbs:
      return Values{Abs(b, z)};
    case Op::kHloBitcastConvert:
      if (x.size() == types->size()) return x;
      return absl::UnimplementedError("the bits of complex numbers");
    case Op::kHloIsFinite:
      return Values{b.Binary(Op::kHloAnd, b.Unary(Op::kHloIsFinite, z.re),
                             b.Unary(Op::kHloIsFinite, z.im))};
    case Op::kHloConvert: {
      const Value re = b.Convert(z.re, types->front().element);
      if (types->size() == 1) return Values{re};
      return Values{re, x.size() == 2 ? z.im : b.Like(re, 0)};
    }
    case Op::kHloCompare: {
      const ir::Direction direction =
          attributes.Get<ir::HloCompareAttributes>().direction;
      const bool equal = direction == ir::Direction::kEq;
      if (!equal && direction != ir::Direction::kNe)
        return absl::UnimplementedError("an order of complex numbers");
      const Complex w = ComplexOf(b, y);
      return Values{b.Binary(equal ? Op::kHloAnd : Op::kHloOr,
                             b.Compare(direction, z.re, w.re),
                             b.Compare(direction, z.im, w.im))};
    }
    case Op::kHloDotGeneral: {
      const auto& how = attributes.Get<ir::HloDotAttributes>();
      b.state().precision = how.precision;
      return Products(b, x, y, [&](const Value& left, const Value& right) {
        return b.DotGeneral(left, right, how);
      });
    }
    case Op::kHloConvolution: {
      const auto& how = attributes.Get<ir::HloConvolutionAttributes>();
      b.state().precision = how.precision;
      return Products(b, x, y, [&](const Value& left, const Value& right) {
        return b.Convolution(left, right, how);
      });
    }
    default:
      return absl::UnimplementedError("complex numbers");
  }
}

// One dimension after the other, each of them the last one in turn.
absl::StatusOr<Values> GraphBuilder::Transformed(
    const mlir::Operation& operation, const Values& operand) {
  enum Kind { kForward, kInverse, kFromReal, kToReal };
  AttributeReader in(operation, {});
  const int64_t kind = in.Enumeration("fft_type", "fft_type");
  const ir::Ints lengths = in.Integers("fft_length");
  if (!in.status().ok()) return in.status();
  const int64_t rank = operand[0].type().rank();
  const auto count = static_cast<int64_t>(lengths.size());
  if (count > rank || (kind == kFromReal) != (operand.size() == 1))
    return absl::InvalidArgumentError("another operand");
  HloBuilder& b = complex_;
  Complex x{operand[0], operand.size() == 2 ? operand[1] : Value()};
  const auto swapped = [&](const Complex& z, int64_t d) {
    ir::Ints order = Range(0, rank);
    std::swap(order[d], order[rank - 1]);
    return Complex{b.Transpose(z.re, order), b.Transpose(z.im, order)};
  };
  if (kind == kFromReal && count > 0) x = FourierOfReal(b, x.re);
  const bool inverse = kind == kInverse || kind == kToReal;
  // The last one is done first if it begins as real numbers, last if it ends
  // so.
  const bool last_apart = kind == kFromReal || kind == kToReal;
  for (int64_t d = rank - (last_apart ? 2 : 1); d >= rank - count; --d)
    x = swapped(Fourier(b, swapped(x, d), inverse), d);
  if (kind == kToReal && count > 0)
    return Values{FourierToReal(b, x, lengths.back())};
  return Values{x.re, x.im};
}

}  // namespace systole::import
