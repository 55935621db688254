// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The part of GraphBuilder for what enters and leaves a module: complex numbers
// become their parts, and the parts complex numbers.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/graph_builder.h"
#include "host/import/stablehlo/types.h"

namespace systole::import {

absl::Status GraphBuilder::AddParameter(mlir::ValueId argument,
                                        const std::string& name,
                                        const std::string& input) {
  const mlir::Value& value = context_.source.values[argument];
  absl::StatusOr<std::vector<ir::Type>> types = ConvertParts(*value.type);
  if (!types.ok()) return types.status();
  ir::Type type = types->front();
  const bool is_complex = types->size() == 2;
  if (is_complex) type.shape.push_back(2);
  ir::Node* const added = module_.Add(
      {name,
       ir::Op::kParameter,
       std::move(type),
       {},
       ir::ParameterAttributes{input, is_complex ? ir::kComplexStored : ""}});
  added->location = mlir::SourceText(value.location);
  values_[argument] = is_complex ? Divided(added, name) : Values{added};
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddParts(mlir::ValueId argument,
                                    int64_t& parameters) {
  const mlir::Value& value = context_.source.values[argument];
  absl::StatusOr<std::vector<ir::Type>> types = ConvertParts(*value.type);
  if (!types.ok()) return types.status();
  Values& parts = values_[argument];
  parts.clear();
  for (ir::Type& type : *types) {
    parts.push_back(module_.Add({absl::StrCat("arg", parameters++),
                                 ir::Op::kParameter,
                                 std::move(type),
                                 {},
                                 ir::ParameterAttributes{""}}));
    parts.back()->location = mlir::SourceText(value.location);
  }
  return absl::OkStatus();
}

void GraphBuilder::PairParts(const std::vector<mlir::ValueId>& arguments) {
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    Values &left = values_[arguments[i]], &right = values_[arguments[i + 1]];
    // Real left, imaginary left, real right: the second and third change roles.
    if (left.size() == 2 && right.size() == 2) std::swap(left[1], right[0]);
  }
}

GraphBuilder::Values GraphBuilder::Divided(const ir::Value& pairs,
                                           const std::string& name) {
  complex_.Begin(name, pairs->location);
  ir::Ints shape = pairs.type().shape;
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  shape.pop_back();
  Values parts;
  for (const int64_t part : {0, 1}) {
    parts.push_back(
        complex_.Reshape(complex_.SliceIn(pairs, last, part, part + 1), shape));
  }
  return parts;
}

void GraphBuilder::ForgetSince(size_t first) {
  for (size_t i = first; i < module_.nodes().size(); ++i) {
    context_.found.suggested.erase(module_.nodes()[i].get());
    context_.found.marks.erase(module_.nodes()[i].get());
  }
}

void GraphBuilder::Begin(const mlir::Operation& operation) {
  complex_.Begin(absl::StrCat(ShortName(operation.name), ".", names_++),
                 mlir::SourceText(operation.location));
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::CallOfPairs(
    const mlir::Operation& operation, const ir::Attributes& attributes,
    const std::vector<Values>& operands) {
  ir::Node node{"call", ir::Op::kHloCustomCall, TokenType(), {}, attributes};
  for (const Values& parts : operands) {
    node.operands.push_back(parts.size() == 2 ? Joined(parts[0], parts[1])
                                              : parts[0]);
  }
  if (!complex_.ok()) return complex_.status();
  std::vector<bool> is_complex;
  for (const mlir::ValueId id : operation.results) {
    const absl::StatusOr<std::vector<ir::Type>> parts =
        ConvertParts(*context_.source.values[id].type);
    if (!parts.ok()) return parts.status();
    ir::Type type = parts->front();
    is_complex.push_back(parts->size() == 2);
    if (is_complex.back()) type.shape.push_back(2);
    if (is_complex.size() == 1) {
      node.type = std::move(type);
    } else {
      node.more_types.push_back(std::move(type));
    }
  }
  const absl::StatusOr<ir::Node*> call = Add(operation, std::move(node));
  if (!call.ok()) return call.status();
  Values results;
  for (size_t i = 0; i < is_complex.size(); ++i) {
    const ir::Value result(*call, static_cast<int>(i));
    if (!is_complex[i]) {
      results.push_back(result);
      continue;
    }
    for (const ir::Value& part :
         Divided(result, absl::StrCat((*call)->name, ".", i)))
      results.push_back(part);
  }
  return results;
}

// By a transpose, which takes less time than a concatenation along the last
// dimension.
ir::Value GraphBuilder::Joined(const ir::Value& re, const ir::Value& im) {
  ir::Ints shape = re.type().shape, order = Range(1, re.type().rank() + 1);
  shape.insert(shape.begin(), 1);
  order.push_back(0);
  return complex_.Transpose(
      complex_.Concatenate(
          {complex_.Reshape(re, shape), complex_.Reshape(im, shape)}, 0),
      order);
}

absl::StatusOr<std::vector<ir::Output>> GraphBuilder::Outputs(
    const mlir::Block& block, const Values& results) {
  const size_t before = module_.nodes().size();
  std::vector<ir::Output> outputs;
  auto next = results.begin();
  for (const mlir::ValueId id : block.operations.back().operands) {
    if (!IsComplex(*context_.source.values[id].type)) {
      outputs.push_back({"", *next++});
      continue;
    }
    complex_.Begin(absl::StrCat("result.", names_++), (*next)->location);
    outputs.push_back({"", Joined(next[0], next[1]), ir::kComplexStored});
    next += 2;
    if (!complex_.ok()) return complex_.status();
  }
  ForgetSince(before);
  return outputs;
}

}  // namespace systole::import
