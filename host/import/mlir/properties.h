// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The properties of each operation: bytecode stores their values without their
// names.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_PROPERTIES_H_
#define SYSTOLE_HOST_IMPORT_MLIR_PROPERTIES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace systole::mlir {

struct Property {
  absl::string_view name;
  bool optional = false;
};

// In the order of the encoding; empty for an unknown operation.
std::optional<absl::Span<const Property>> PropertiesOf(
    absl::string_view operation);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_PROPERTIES_H_
