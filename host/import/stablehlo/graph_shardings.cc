// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The part of GraphBuilder that reads shardings.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/stablehlo/graph_builder.h"
#include "host/import/stablehlo/types.h"
#include "host/partition/partitioner.h"

namespace systole::import {

using mlir::Attribute;

absl::StatusOr<ir::Value> GraphBuilder::Mark(
    const mlir::Operation& operation, ir::Value operand, const char* target,
    ir::Type type, const Attribute& sharding,
    const std::vector<absl::string_view>& axes) {
  const size_t rank = type.shape.size();
  absl::StatusOr<partition::Sharding> read =
      context_.shardings.Read(sharding, rank, axes);
  if (!read.ok()) return Located(operation, read.status());
  const absl::StatusOr<ir::Node*> node =
      Add(operation, {"mark",
                      ir::Op::kHloCustomCall,
                      std::move(type),
                      {operand},
                      ir::HloCustomCallAttributes{target, ""}});
  if (!node.ok()) return node.status();
  context_.found.marks[*node] = *std::move(read);
  return ir::Value(*node);
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::ConvertSharding(
    const mlir::Operation& operation) {
  absl::StatusOr<Values> operands = Operands(operation);
  if (!operands.ok() || context_.shardings.partitions() == 1) return operands;
  const Attribute* sharding = operation.Find("sharding");
  if (operation.operands.size() != 1 || sharding == nullptr) {
    return Located(operation,
                   absl::InvalidArgumentError("an operand and a sharding"));
  }
  for (ir::Value& part : *operands) {
    const absl::StatusOr<ir::Value> mark = Mark(
        operation, part, partition::kConstraint, part.type(), *sharding, {});
    if (!mark.ok()) return mark.status();
    part = *mark;
  }
  return operands;
}

absl::StatusOr<GraphBuilder::Values> GraphBuilder::ConvertManual(
    const mlir::Operation& operation) {
  const absl::StatusOr<std::vector<Values>> operands = OperandParts(operation);
  if (!operands.ok()) return operands.status();
  const Attribute* in = operation.Find("in_shardings");
  const Attribute* out = operation.Find("out_shardings");
  const Attribute* manual = operation.Find("manual_axes");
  const auto error = [&](const char* what) {
    return Located(operation, absl::InvalidArgumentError(what));
  };
  if (!in || !out || !manual || operation.regions.size() != 1)
    return error("manual axes, shardings and a region");
  const mlir::Block& body = BlockOf(operation.regions[0]);
  if (body.arguments.size() != operands->size() ||
      in->elements.size() != operands->size())
    return error("another number of operands, arguments and shardings");
  std::vector<absl::string_view> axes;
  for (const Attribute* axis : manual->elements) axes.push_back(axis->text);
  const bool alone = context_.shardings.partitions() == 1 || axes.empty();
  for (size_t i = 0; i < operands->size(); ++i) {
    const mlir::Value& argument = context_.source.values[body.arguments[i]];
    const absl::StatusOr<std::vector<ir::Type>> types =
        ConvertParts(*argument.type);
    if (!types.ok()) return Located(operation, types.status());
    Values parts = (*operands)[i];
    if (parts.size() != types->size())
      return error("an argument of another type than its operand");
    for (size_t part = 0; part < parts.size(); ++part) {
      if (alone && (*types)[part] != parts[part].type())
        return error("an argument of another type than its operand");
      if (alone) continue;
      const absl::StatusOr<ir::Value> tile =
          Mark(operation, parts[part], partition::kToTiles, (*types)[part],
               *in->elements[i], axes);
      if (!tile.ok()) return tile.status();
      parts[part] = *tile;
    }
    values_[body.arguments[i]] = std::move(parts);
  }
  absl::StatusOr<Values> results = Convert(body);
  if (!results.ok() || alone) return results;
  const absl::StatusOr<std::vector<ir::Type>> types = ResultTypes(operation);
  if (!types.ok()) return types.status();
  if (types->size() != results->size() ||
      out->elements.size() != operation.results.size())
    return error("another number of results and shardings");
  size_t next = 0;
  for (size_t i = 0; i < operation.results.size(); ++i) {
    const mlir::Type& type = *context_.source.values[operation.results[i]].type;
    for (const size_t end = next + (IsComplex(type) ? 2 : 1); next < end;
         ++next) {
      const absl::StatusOr<ir::Value> whole =
          Mark(operation, (*results)[next], partition::kToWhole, (*types)[next],
               *out->elements[i], axes);
      if (!whole.ok()) return whole.status();
      (*results)[next] = *whole;
    }
  }
  return results;
}

// Reads the sharding that propagation has left on an operation.
absl::Status GraphBuilder::Suggest(const mlir::Operation& operation,
                                   const ir::Node* node) {
  if (context_.shardings.partitions() == 1) return absl::OkStatus();
  const Attribute* all = operation.Find("sdy.sharding");
  if (all == nullptr ||
      static_cast<int>(all->elements.size()) != node->results())
    return absl::OkStatus();
  auto& suggested = context_.found.suggested[node];
  for (int r = 0; r < node->results(); ++r) {
    absl::StatusOr<partition::Sharding> read = context_.shardings.Read(
        *all->elements[r], node->result_type(r).shape.size());
    // A suggestion may be ignored, so an error is, too.
    suggested.emplace_back();
    if (read.ok()) suggested.back() = *std::move(read);
  }
  return absl::OkStatus();
}

}  // namespace systole::import
