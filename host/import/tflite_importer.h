// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reads TensorFlow Lite models that compute with integers (docs/tflite.md lists
// the operators). For models that compute with floats, see
// float/float_importer.h.
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

// The module is verified. `signature` is the name of the file's signature to
// import; "" imports the first subgraph. Inputs and outputs have the names of
// the signature or, without one, of the tensors. Every field of the file is
// checked before its use. Errors: NotFound and Unavailable (the file), DataLoss
// (not a flatbuffer of a model), InvalidArgument (an invalid model),
// Unimplemented (an unsupported operator or option). Messages name the file,
// and operators by index, name and tensor shapes.
absl::StatusOr<std::unique_ptr<ir::Module>> ReadTflite(
    const std::string& path, const std::string& signature = "");

// The same for bytes in memory. `name` replaces the file name in messages and
// names the module.
absl::StatusOr<std::unique_ptr<ir::Module>> ImportTflite(
    absl::string_view bytes, const std::string& name,
    const std::string& signature = "");

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_IMPORTER_H_
