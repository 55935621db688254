// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Maps each operation of an artifact to an operation of the IR.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_OPERATIONS_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_OPERATIONS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "host/import/stablehlo/attribute_reader.h"
#include "host/ir/attributes.h"
#include "host/ir/op.h"

namespace systole::import {

enum class Conversion {
  kOperation,  // one node, or more if there are complex numbers
  kComplex,    // of complex numbers alone
  kIdentity,   // replaced by its operands
  kConstant,
  kToken,
  kCall,      // its function is inlined
  kSharding,  // replaced by its operand; marked if several devices
  kManual,    // its region is inlined, between marks
  kReturn,    // the end of a function or region
  kNothing,   // not part of the program: meshes
};

struct OperationRule {
  Conversion conversion = Conversion::kOperation;
  ir::Op op = ir::Op::kParameter;
  // Null for an operation without attributes.
  ir::Attributes (*attributes)(AttributeReader& in) = nullptr;
  // For a call: the attribute with the function's name.
  absl::string_view callee;
};

// The rule for "vhlo.add_v1" and so on, or null.
const OperationRule* FindRule(const mlir::Operation& operation);

// Whether an operation without results is allowed, for its side effects.
bool MayHaveNoResult(const mlir::Operation& operation,
                     const OperationRule& rule);

// "stablehlo.add" for "vhlo.add_v1".
std::string SourceName(absl::string_view operation);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_OPERATIONS_H_
