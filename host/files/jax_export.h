// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What jax.export's Exported.serialize() writes: a FlatBuffer that holds a
// StableHLO artifact beside names, trees of arguments and derivatives. It has
// no mark of its own.
#ifndef SYSTOLE_HOST_FILES_JAX_EXPORT_H_
#define SYSTOLE_HOST_FILES_JAX_EXPORT_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace systole {

// Whether the bytes, or the first of them, begin with the table of an Exported.
bool IsJaxExport(std::string_view bytes);

// The artifact (mlir_module_serialized) in the bytes of an Exported.
// kUnimplemented: of another version; kDataLoss: truncated.
absl::StatusOr<std::string_view> ModuleOfJaxExport(std::string_view bytes);

}  // namespace systole

#endif  // SYSTOLE_HOST_FILES_JAX_EXPORT_H_
