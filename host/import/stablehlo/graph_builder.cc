// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/graph_builder.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/types.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

constexpr int64_t kMaxOperations = 1 << 20;

// Collects the outside values that the operations of a region read, in the
// order of first use. Values inside have numbers from `first_inside` on.
void FindCaptured(const mlir::Region& region, mlir::ValueId first_inside,
                  std::unordered_set<mlir::ValueId>& seen,
                  std::vector<mlir::ValueId>& captured) {
  for (const mlir::Operation& operation : BlockOf(region).operations) {
    for (const mlir::ValueId operand : operation.operands) {
      if (operand < first_inside && seen.insert(operand).second) {
        captured.push_back(operand);
      }
    }
    for (const mlir::Region& inner : operation.regions) {
      FindCaptured(inner, first_inside, seen, captured);
    }
  }
}

// The lowest number of a value inside the operation's regions.
mlir::ValueId FirstInside(const mlir::Operation& operation) {
  if (!operation.results.empty()) return operation.results.back() + 1;
  mlir::ValueId first = std::numeric_limits<mlir::ValueId>::max();
  for (const mlir::Region& region : operation.regions) {
    const mlir::Block& block = BlockOf(region);
    for (const mlir::ValueId argument : block.arguments)
      first = std::min(first, argument);
    for (const mlir::Operation& inner : block.operations) {
      for (const mlir::ValueId result : inner.results)
        first = std::min(first, result);
      first = std::min(first, FirstInside(inner));
    }
  }
  return first;
}

// A token. It also stands for the result of an operation without results.
ir::Node MakeToken() {
  return ir::MakeConstant("token", TokenType(),
                          ir::Literal::Zeros(TokenType().element, 0));
}

}  // namespace

std::string ShortName(absl::string_view operation) {
  const std::string name = SourceName(operation);
  return name.substr(name.find('.') + 1);
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::Convert(
    const mlir::Block& block) {
  for (const mlir::Operation& operation : block.operations) {
    const OperationRule* rule = FindRule(operation);
    if (rule == nullptr) {
      return Located(operation, absl::UnimplementedError("not supported"));
    }
    if (rule->conversion == Conversion::kReturn) {
      if (&operation != &block.operations.back()) {
        return Located(operation, absl::InvalidArgumentError("not the last"));
      }
      return Operands(operation);
    }
    if (++context_.operations > kMaxOperations) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "more than ", kMaxOperations, " operations once calls are inlined"));
    }
    const absl::Status status = ConvertOperation(operation, *rule);
    if (!status.ok()) return status;
  }
  return absl::InvalidArgumentError("a function or region without return");
}

absl::Status GraphBuilder::ConvertOperation(const mlir::Operation& operation,
                                            const OperationRule& rule) {
  switch (rule.conversion) {
    case Conversion::kOperation:
      return IsComplexOperation(operation) ? AddComplex(operation, rule)
                                           : AddNode(operation, rule);
    case Conversion::kComplex:
      return AddComplex(operation, rule);
    case Conversion::kConstant:
      return AddConstant(operation);
    case Conversion::kToken:
      return AddToken(operation);
    case Conversion::kIdentity: {
      const absl::StatusOr<Values> operands = Operands(operation);
      if (!operands.ok()) return operands.status();
      return Define(operation, *operands);
    }
    case Conversion::kCall: {
      const absl::StatusOr<Values> results = ConvertCall(operation, rule);
      if (!results.ok()) return results.status();
      return Define(operation, *results);
    }
    case Conversion::kSharding:
    case Conversion::kManual: {
      const absl::StatusOr<Values> results =
          rule.conversion == Conversion::kManual ? ConvertManual(operation)
                                                 : ConvertSharding(operation);
      if (!results.ok()) return results.status();
      return Define(operation, *results);
    }
    case Conversion::kReturn:
    case Conversion::kNothing:
      break;
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::ConvertCall(
    const mlir::Operation& call, const OperationRule& rule) {
  const auto callee = context_.functions.Callee(call, rule);
  if (!callee.ok()) return callee.status();
  const absl::StatusOr<Values> operands = Operands(call);
  if (!operands.ok()) return operands.status();
  const mlir::Block& body = BlockOf((*callee)->regions[0]);
  if (body.arguments.size() != call.operands.size()) {
    return Located(call,
                   absl::InvalidArgumentError(absl::StrCat(
                       call.operands.size(), " operands of a function of ",
                       body.arguments.size())));
  }
  if (absl::Status s = Bind(call, "operand", body.arguments, *operands);
      !s.ok())
    return s;
  return Convert(body);
}

absl::StatusOr<std::vector<GraphBuilder::Values>> GraphBuilder::OperandParts(
    const mlir::Operation& operation) const {
  std::vector<Values> parts;
  for (const mlir::ValueId id : operation.operands) {
    const auto found = values_.find(id);
    if (found == values_.end()) {
      return Located(operation, absl::InvalidArgumentError(
                                    "an operand of another function"));
    }
    parts.push_back(found->second);
  }
  return parts;
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::Operands(
    const mlir::Operation& operation) const {
  const absl::StatusOr<std::vector<Values>> parts = OperandParts(operation);
  if (!parts.ok()) return parts.status();
  Values values;
  for (const Values& of : *parts)
    values.insert(values.end(), of.begin(), of.end());
  return values;
}

absl::StatusOr<std::vector<ir::Type>> GraphBuilder::ResultTypes(
    const mlir::Operation& operation) const {
  std::vector<ir::Type> types;
  for (const mlir::ValueId id : operation.results) {
    const absl::StatusOr<std::vector<ir::Type>> parts =
        ConvertParts(*context_.source.values[id].type);
    if (!parts.ok()) return Located(operation, parts.status());
    types.insert(types.end(), parts->begin(), parts->end());
  }
  return types;
}

absl::Status GraphBuilder::Bind(const mlir::Operation& operation,
                                const char* what,
                                const std::vector<mlir::ValueId>& ids,
                                const Values& values) {
  size_t next = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const absl::StatusOr<std::vector<ir::Type>> types =
        ConvertParts(*context_.source.values[ids[i]].type);
    if (!types.ok()) return Located(operation, types.status());
    Values parts;
    for (const ir::Type& type : *types) {
      if (next < values.size() && type != values[next].type()) {
        return Located(operation, absl::InvalidArgumentError(absl::StrCat(
                                      what, " ", i, " is of another type")));
      }
      if (next < values.size()) parts.push_back(values[next]);
      ++next;
    }
    values_[ids[i]] = std::move(parts);
  }
  if (next == values.size()) return absl::OkStatus();
  return Located(operation, absl::InvalidArgumentError(absl::StrCat(
                                next, " ", what, "s of ", values.size())));
}

absl::StatusOr<ir::Node*> GraphBuilder::Add(const mlir::Operation& operation,
                                            ir::Node node) {
  node.name = absl::StrCat(node.name, ".", names_++);
  node.location = mlir::SourceText(operation.location);
  // The verifier's message has the name of the node; the source location is
  // more useful.
  const absl::Status status = ir::VerifyNode(node);
  if (!status.ok()) return Located(operation, status);
  ir::Node* const added = module_.Add(std::move(node));
  // The node may have the address of a removed node, whose entries are stale.
  context_.found.suggested.erase(added);
  context_.found.marks.erase(added);
  return added;
}

absl::Status GraphBuilder::AddConstant(const mlir::Operation& operation) {
  const mlir::Attribute* value = operation.Find("value");
  if (value == nullptr || operation.results.size() != 1) {
    return Located(operation,
                   absl::InvalidArgumentError("a constant without a value"));
  }
  const auto types = ResultTypes(operation);
  if (!types.ok()) return types.status();
  absl::StatusOr<std::vector<ir::Literal>> literals = ConvertElements(
      *value, *context_.source.values[operation.results[0]].type);
  if (!literals.ok()) return Located(operation, literals.status());
  Values values;
  for (size_t part = 0; part < types->size(); ++part) {
    const ir::Type& type = (*types)[part];
    ir::Literal& literal = (*literals)[part];
    const bool splat = value->is_splat && type.elements() != 0;
    const ir::Type stored =
        splat ? ir::Type{type.element, {}, std::nullopt} : type;
    if (value->is_splat && !splat)
      literal = ir::Literal::Zeros(type.element, 0);
    absl::StatusOr<ir::Node*> node = Add(
        operation, ir::MakeConstant("constant", stored, std::move(literal)));
    if (node.ok() && splat) {
      node = Add(operation, {"broadcast",
                             ir::Op::kHloBroadcastInDim,
                             type,
                             {*node},
                             ir::HloDimensionsAttributes{}});
    }
    if (!node.ok()) return node.status();
    if (absl::Status s = Suggest(operation, *node); !s.ok()) return s;
    values.push_back(*node);
  }
  return Define(operation, values);
}

// Depends on the tokens that it joins.
absl::Status GraphBuilder::AddToken(const mlir::Operation& operation) {
  const absl::StatusOr<Values> operands = Operands(operation);
  if (!operands.ok()) return operands.status();
  absl::StatusOr<ir::Node*> token = Add(operation, MakeToken());
  for (const ir::Value& operand : *operands) {
    if (!token.ok()) break;
    token = Add(operation, {"token",
                            ir::Op::kHloOr,
                            TokenType(),
                            {*token, operand},
                            ir::NoAttributes{}});
  }
  if (!token.ok()) return token.status();
  return Define(operation, {*token});
}

// All regions get the same further parameters: the outside values that any of
// them reads, except constants.
absl::Status GraphBuilder::AddRegions(const mlir::Operation& operation,
                                      ir::Node& node) {
  std::unordered_set<mlir::ValueId> seen;
  std::vector<mlir::ValueId> captured, constants;
  for (const mlir::Region& region : operation.regions) {
    FindCaptured(region, FirstInside(operation), seen, captured);
  }
  for (auto id = captured.begin(); id != captured.end();) {
    const auto found = values_.find(*id);
    if (found == values_.end()) {
      return Located(operation, absl::InvalidArgumentError(
                                    "a region reads another function"));
    }
    const Values& parts = found->second;
    if (std::all_of(parts.begin(), parts.end(), [](const ir::Value& part) {
          return part->is_constant();
        })) {
      constants.push_back(*id);
      id = captured.erase(id);
    } else {
      node.operands.insert(node.operands.end(), parts.begin(), parts.end());
      ++id;
    }
  }
  for (const mlir::Region& region : operation.regions) {
    auto module = std::make_shared<ir::Module>();
    GraphBuilder builder(context_, *module);
    int64_t parameters = 0;
    const std::vector<mlir::ValueId>& arguments = BlockOf(region).arguments;
    for (const auto& ids : {arguments, captured}) {
      for (const mlir::ValueId id : ids) {
        const absl::Status status = builder.AddParts(id, parameters);
        if (!status.ok()) return Located(operation, status);
      }
    }
    if (node.op == ir::Op::kHloSort) builder.PairParts(arguments);
    for (const mlir::ValueId id : constants) {
      for (const ir::Value& part : values_[id]) {
        ir::Node constant = *part;
        constant.name = absl::StrCat("constant.", builder.names_++);
        builder.values_[id].emplace_back(module->Add(std::move(constant)));
      }
    }
    const absl::StatusOr<Values> results = builder.Convert(BlockOf(region));
    if (!results.ok()) return results.status();
    for (const ir::Value& result : *results) {
      module->outputs.push_back({"", result});
    }
    // Every node has a result, so a region without one returns a token.
    if (results->empty())
      module->outputs.push_back({"", module->Add(MakeToken())});
    module->RemoveUnused();
    node.regions.push_back(std::move(module));
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddNode(const mlir::Operation& operation,
                                   const OperationRule& rule) {
  absl::StatusOr<Values> operands = Operands(operation);
  if (!operands.ok()) return operands.status();
  absl::StatusOr<std::vector<ir::Type>> types = ResultTypes(operation);
  if (!types.ok()) return types.status();
  const bool without = types->empty();
  if (without) {
    if (!MayHaveNoResult(operation, rule))
      return Located(operation, absl::UnimplementedError("no result"));
    types->push_back(TokenType());
  }
  ir::Node node{ShortName(operation.name), rule.op, (*types)[0],
                *std::move(operands), ir::NoAttributes{}};
  node.more_types.assign(types->begin() + 1, types->end());
  if (rule.attributes) {
    std::vector<ir::Type> operand_types;
    for (const ir::Value& operand : node.operands) {
      operand_types.push_back(operand.type());
    }
    AttributeReader in(operation, std::move(operand_types));
    node.attributes = rule.attributes(in);
    if (absl::IsUnimplemented(in.status())) {
      Refuse(operation, in.status());
      return absl::OkStatus();
    }
    if (!in.status().ok()) return Located(operation, in.status());
  }
  if (!operation.regions.empty()) {
    const absl::Status status = AddRegions(operation, node);
    if (!status.ok()) return status;
  }
  const int results = node.results();
  const absl::StatusOr<ir::Node*> added = Add(operation, std::move(node));
  if (!added.ok()) return added.status();
  if (absl::Status s = Suggest(operation, *added); !s.ok()) return s;
  if (without) return absl::OkStatus();
  Values values;
  for (int i = 0; i < results; ++i) values.push_back({*added, i});
  return Define(operation, values);
}

void GraphBuilder::Refuse(const mlir::Operation& operation,
                          const absl::Status& why) {
  context_.refused.emplace_back(Located(operation, why).message());
  for (const mlir::ValueId result : operation.results) {
    const std::string name = absl::StrCat("missing.", names_++);
    AddParameter(result, name, name).IgnoreError();
  }
}

}  // namespace systole::import
