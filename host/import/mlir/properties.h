// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which properties an operation has: bytecode lists their values, not their
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

// In the order of the encoding; nothing for an operation that is not known.
std::optional<absl::Span<const Property>> PropertiesOf(
    absl::string_view operation);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_PROPERTIES_H_
