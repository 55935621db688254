// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts the operations of a block to nodes of a module of the IR: the
// program, or a region of one of its nodes.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/import/mlir/module.h"
#include "host/import/stablehlo/functions.h"
#include "host/import/stablehlo/operations.h"
#include "host/import/stablehlo/shardings.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/module.h"

namespace systole::import {

// State that all builders of an import share.
struct ImportContext {
  const mlir::Module& source;
  const Functions& functions;
  const Shardings& shardings;
  StableHloShardings& found;              // shardings found by the builders
  int64_t operations = 0;                 // so far, including inlined calls
  std::vector<std::string> refused = {};  // "stablehlo.dot_general at ...: ..."
};

class GraphBuilder {
 public:
  // All arguments must outlive the builder.
  GraphBuilder(ImportContext& context, ir::Module& module)
      : context_(context), module_(module) {}

  // Adds a parameter for an argument of the next block.
  absl::Status AddParameter(mlir::ValueId argument, const std::string& name,
                            const std::string& input);
  // Converts the operations of a block and returns its results. Operations with
  // unsupported attributes are recorded in the context, and parameters replace
  // their results.
  absl::StatusOr<std::vector<ir::Value>> Convert(const mlir::Block& block);

 private:
  using Values = std::vector<ir::Value>;

  absl::StatusOr<Values> ConvertCall(const mlir::Operation& call,
                                     const OperationRule& rule);
  // Operations of programs for several devices.
  absl::StatusOr<Values> ConvertSharding(const mlir::Operation& operation);
  absl::StatusOr<Values> ConvertManual(const mlir::Operation& operation);
  absl::StatusOr<ir::Value> Mark(const mlir::Operation& operation,
                                 ir::Value operand, const char* target,
                                 ir::Type type, const mlir::Attribute& sharding,
                                 const std::vector<absl::string_view>& axes);
  absl::Status Suggest(const mlir::Operation& operation, const ir::Node* node);
  absl::Status ConvertOperation(const mlir::Operation& operation,
                                const OperationRule& rule);
  absl::Status AddNode(const mlir::Operation& operation,
                       const OperationRule& rule);
  absl::Status AddConstant(const mlir::Operation& operation);
  absl::Status AddToken(const mlir::Operation& operation);
  absl::Status AddRegions(const mlir::Operation& operation, ir::Node& node);
  void StandIn(const mlir::Operation& operation);

  absl::StatusOr<Values> Operands(const mlir::Operation& operation) const;
  absl::Status Define(const mlir::Operation& operation, const Values& values);
  absl::StatusOr<std::vector<ir::Type>> ResultTypes(
      const mlir::Operation& operation) const;
  // Adds a node and verifies it.
  absl::StatusOr<ir::Node*> Add(const mlir::Operation& operation,
                                ir::Node node);

  ImportContext& context_;
  ir::Module& module_;
  std::unordered_map<mlir::ValueId, ir::Value> values_;
  int64_t names_ = 0;
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_
