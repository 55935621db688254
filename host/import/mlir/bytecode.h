// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads MLIR bytecode, versions 0 to 6:
// https://mlir.llvm.org/docs/BytecodeFormat
//
//   absl::StatusOr<std::unique_ptr<mlir::Module>> module =
//       mlir::ReadBytecode(bytes);
//
// Types and attributes of the dialects builtin, vhlo and sdy are decoded. Those
// of other dialects, and unknown ones, are opaque. Properties are read for
// operations of these dialects. Resources are read if dense elements refer to
// them.
#ifndef SYSTOLE_HOST_IMPORT_MLIR_BYTECODE_H_
#define SYSTOLE_HOST_IMPORT_MLIR_BYTECODE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/import/mlir/module.h"

namespace systole::mlir {

// Whether the bytes begin like MLIR bytecode.
bool IsBytecode(absl::string_view file);

// kDataLoss: not bytecode, or damaged ("offset 123: ..."); kUnimplemented: a
// newer version. Time and memory are proportional to the file size.
absl::StatusOr<std::unique_ptr<Module>> ReadBytecode(absl::string_view file);

}  // namespace systole::mlir

#endif  // SYSTOLE_HOST_IMPORT_MLIR_BYTECODE_H_
