// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts the operations of a block to nodes of a module of the IR: the
// program, or a region of one of its nodes.
//
// A value of complex64 becomes two of f32, its real and its imaginary parts,
// wherever it goes: two parameters of a region, two operands of a loop.
// Arguments and results of the program are one array of f32 with a last
// dimension of two, which has the bytes of complex64, and are stored as "c64".
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/import/hlo/hlo_builder.h"
#include "host/import/hlo/hlo_complex.h"
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
      : context_(context), module_(module), complex_(module, state_) {
    state_.folds_floats = false;
  }

  // Adds a parameter for an argument of the next block.
  absl::Status AddParameter(mlir::ValueId argument, const std::string& name,
                            const std::string& input);
  // Adds those of a region: one, or the two parts of a complex value.
  absl::Status AddParts(mlir::ValueId argument, int64_t& parameters);
  // The parameters of what compares two values each of several operands, from
  // the order of the arguments to that of pairs of parts.
  void PairParts(const std::vector<mlir::ValueId>& arguments);
  // Converts the operations of a block and returns its results. Operations with
  // unsupported attributes are recorded in the context, and parameters replace
  // their results.
  absl::StatusOr<std::vector<ir::Value>> Convert(const mlir::Block& block);
  // The outputs of the program, unnamed, of what Convert returned.
  absl::StatusOr<std::vector<ir::Output>> Outputs(
      const mlir::Block& block, const std::vector<ir::Value>& results);

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
  // Operations with complex numbers (graph_complex.cc).
  bool IsComplexOperation(const mlir::Operation& operation) const;
  absl::Status AddComplex(const mlir::Operation& operation,
                          const OperationRule& rule);
  absl::StatusOr<Values> ComplexResult(const mlir::Operation& operation,
                                       const OperationRule& rule,
                                       const ir::Attributes& attributes,
                                       const std::vector<Values>& operands);
  absl::StatusOr<Values> EachPart(const mlir::Operation& operation,
                                  const OperationRule& rule,
                                  const ir::Attributes& attributes,
                                  const std::vector<Values>& operands);
  absl::StatusOr<Values> Transformed(const mlir::Operation& operation,
                                     const Values& operand);
  // A call of the script, which sees the bytes of complex numbers.
  absl::StatusOr<Values> CallOfPairs(const mlir::Operation& operation,
                                     const ir::Attributes& attributes,
                                     const std::vector<Values>& operands);
  // Nodes from this one on are new: what was found of others, which had their
  // addresses and were removed, is not of them.
  void ForgetSince(size_t first);
  // The next nodes of complex_ are an operation's.
  void Begin(const mlir::Operation& operation);
  // The two parts of an array of pairs; names its nodes after it.
  Values Divided(const ir::Value& pairs, const std::string& name);
  ir::Value Joined(const ir::Value& re, const ir::Value& im);
  // Records the error, and lets parameters stand for the results.
  void Refuse(const mlir::Operation& operation, const absl::Status& why);
  absl::Status AddRegions(const mlir::Operation& operation, ir::Node& node);

  // The parts of each operand; and those of all, one after the other.
  absl::StatusOr<std::vector<Values>> OperandParts(
      const mlir::Operation& operation) const;
  absl::StatusOr<Values> Operands(const mlir::Operation& operation) const;
  // Binds results or arguments to values, of which complex ones have two.
  absl::Status Bind(const mlir::Operation& operation, const char* what,
                    const std::vector<mlir::ValueId>& ids,
                    const Values& values);
  absl::Status Define(const mlir::Operation& operation, const Values& values) {
    return Bind(operation, "result", operation.results, values);
  }
  // The types of the parts of all results.
  absl::StatusOr<std::vector<ir::Type>> ResultTypes(
      const mlir::Operation& operation) const;
  // Adds a node and verifies it.
  absl::StatusOr<ir::Node*> Add(const mlir::Operation& operation,
                                ir::Node node);

  ImportContext& context_;
  ir::Module& module_;
  std::unordered_map<mlir::ValueId, Values> values_;
  int64_t names_ = 0;
  BuildState state_;
  HloBuilder complex_;  // makes what becomes of complex operations
};

// "add" for "vhlo.add_v1".
std::string ShortName(absl::string_view operation);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_GRAPH_BUILDER_H_
