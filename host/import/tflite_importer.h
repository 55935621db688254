// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads TensorFlow Lite models of integers. docs/tflite.md lists the operators;
// float/float_importer.h reads those that compute with floats.
//
//   absl::StatusOr<std::unique_ptr<ir::Module>> module =
//       import::ReadTflite("model.tflite");
//   if (!module.ok()) return module.status();
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_IMPORTER_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_IMPORTER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/module.h"

namespace systole::import {

// The module is verified. `signature`: which of the file's signatures, by name;
// "" for the first subgraph. The inputs and outputs then have the names of the
// signature, else those of the tensors. Every field of the file is checked
// before its use. Errors: NotFound and Unavailable (the file), DataLoss (not a
// flatbuffer of a model), InvalidArgument (an invalid model), Unimplemented (an
// unsupported operator or option). Messages name the file, and operators by
// index, name and tensor shapes.
absl::StatusOr<std::unique_ptr<ir::Module>> ReadTflite(
    const std::string& path, const std::string& signature = "");

// The same for bytes in memory. `name` replaces the file name in messages and
// names the module.
absl::StatusOr<std::unique_ptr<ir::Module>> ImportTflite(
    absl::string_view bytes, const std::string& name,
    const std::string& signature = "");

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_IMPORTER_H_
