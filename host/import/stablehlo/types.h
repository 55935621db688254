// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts types and constants of artifacts to those of the IR.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "host/import/mlir/module.h"
#include "host/ir/literal.h"
#include "host/ir/type.h"

namespace systole::import {

// The type of tokens, which order the calls of the script. It has no elements,
// as jax passes tokens.
ir::Type TokenType();

// Unimplemented for types that the IR does not have: "f64", "complex<f32>",
// "a dynamic shape".
absl::StatusOr<ir::Type> ConvertType(const mlir::Type& type);

// Whether it is a tensor of complex64.
bool IsComplex(const mlir::Type& type);
// The type; of a tensor of complex64 that of its real and that of its imaginary
// parts, both f32 of the same shape.
absl::StatusOr<std::vector<ir::Type>> ConvertParts(const mlir::Type& type);

// The values of dense elements of that type, or those of its parts; a splat has
// one value in each.
absl::StatusOr<std::vector<ir::Literal>> ConvertElements(
    const mlir::Attribute& elements, const mlir::Type& type);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_TYPES_H_
