// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts types and constants of artifacts to those of the IR.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_

#include "absl/status/statusor.h"
#include "host/import/mlir/module.h"
#include "host/ir/literal.h"
#include "host/ir/type.h"

namespace systole::import {

// The type of tokens, which order the calls of the script. It has no elements,
// as jax passes tokens.
ir::Type TokenType();

// Unimplemented for types that the IR does not have: "f64", "complex numbers",
// "a dynamic shape".
absl::StatusOr<ir::Type> ConvertType(const mlir::Type& type);

// The values of dense elements of that type; a splat has one value.
absl::StatusOr<ir::Literal> ConvertElements(const mlir::Attribute& elements,
                                            const ir::Type& type);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_
