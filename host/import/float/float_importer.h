// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// TensorFlow Lite models that compute with floats, as modules of hlo/: float32,
// FLOAT16 weights, dynamic-range quantisation, and parts that are quantised.
// docs/tflite.md, "Float models", lists the operators.
//
//   if (IsFloatTflite(bytes)) module = ImportFloatTflite(bytes, name);
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_IMPORTER_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_IMPORTER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/module.h"

namespace systole::import {

struct FloatOptions {
  // For all products of floats (docs/hlo.md, "Products").
  ir::Precision precision = ir::Precision::kDefault;
  // Shapes of inputs by name, instead of those in the file. "" names the only
  // input.
  std::map<std::string, ir::Ints> shapes = {};
  // The name of the signature; "" selects the first subgraph.
  std::string signature = {};
};

// Whether the model has float arithmetic that the int8 operations (ReadTflite)
// do only with integers. False if the bytes are no model, or the model lacks
// the signature.
bool IsFloatTflite(absl::string_view bytes, const std::string& signature = "");

// The module is verified; its parameters have the names of the inputs. Errors:
// DataLoss (not a flatbuffer of a model), InvalidArgument (an invalid model, or
// a shape that does not fit), Unimplemented (one error lists every operator
// that is not supported). Messages begin with `name`.
absl::StatusOr<std::unique_ptr<ir::Module>> ImportFloatTflite(
    absl::string_view bytes, const std::string& name,
    const FloatOptions& options = {});

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_FLOAT_IMPORTER_H_
