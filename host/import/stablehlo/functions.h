// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The functions of an artifact, and a check for operations that cannot be
// imported.
#ifndef SYSTOLE_HOST_IMPORT_STABLEHLO_FUNCTIONS_H_
#define SYSTOLE_HOST_IMPORT_STABLEHLO_FUNCTIONS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/import/mlir/module.h"
#include "host/import/stablehlo/operations.h"

namespace systole::import {

class Functions {
 public:
  // Errors: InvalidArgument, for a module whose functions have no names or
  // more than one block.
  static absl::StatusOr<Functions> Of(const mlir::Module& module);

  const mlir::Operation* Find(absl::string_view name) const;
  // "main", or the only public function. Null if there is none.
  const mlir::Operation* Main() const;
  // The function of a call or composite.
  absl::StatusOr<const mlir::Operation*> Callee(
      const mlir::Operation& call, const OperationRule& rule) const;

  // Checks every operation that is reachable from a function. The error names
  // all unsupported ones, or a function that calls itself.
  absl::Status CheckSupported(const mlir::Module& module,
                              const mlir::Operation& main) const;

 private:
  std::map<absl::string_view, const mlir::Operation*> functions_;
};

// The block of a function or region.
const mlir::Block& BlockOf(const mlir::Region& region);

// "stablehlo.fft at model.py:12:3 (jit(f)/fft)".
std::string Describe(const mlir::Operation& operation);
absl::Status Located(const mlir::Operation& operation,
                     const absl::Status& status);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_STABLEHLO_FUNCTIONS_H_
