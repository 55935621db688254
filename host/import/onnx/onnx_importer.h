// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Imports ONNX models (https://onnx.ai, ir versions 3 to 14, opsets 7 to 28) as
// modules of hlo/ (docs/onnx.md).
//
//   absl::StatusOr<OnnxProgram> program = ImportOnnx(bytes, {});
//
// All shapes of the module are known. The file or the options give those of the
// inputs; the others follow. Constants and what depends only on them are
// computed at import. Local functions are inlined.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_ONNX_IMPORTER_H_
#define SYSTOLE_HOST_IMPORT_ONNX_ONNX_IMPORTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/attributes.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"

namespace systole::import {

constexpr int kOldestOpset = 7, kNewestOpset = 28, kNewestOnnxIr = 14;

// Makes the value of an input from its type. Errors do not name the input.
using FixedInput =
    std::function<absl::StatusOr<ir::Literal>(const ir::Type& type)>;

struct OnnxOptions {
  // Sizes of dimensions that the file leaves open. The key is the dimension's
  // name, or "input[axis]" if it has none.
  std::map<std::string, int64_t> dims;
  // Inputs with the same value in every run. Shapes may depend on them.
  std::map<std::string, FixedInput> fixed;
  // For products of float32 (docs/hlo.md, "Products").
  ir::Precision precision = ir::Precision::kDefault;
  // The folder with files of external data; "": there are none.
  std::string folder;
};

struct OnnxProgram {
  // Parameters and outputs are those of the graph, in its order and with its
  // names. The module is verified.
  std::unique_ptr<ir::Module> module;
  // Choices made for the caller: "dimension batch is 1 (--dim batch=N)".
  std::vector<std::string> notes;
};

// kDataLoss: not ONNX, or damaged. kInvalidArgument: the file violates ONNX's
// rules, or dimensions are open. kUnimplemented: unsupported parts. The message
// lists all obstacles, each with node and reason.
absl::StatusOr<OnnxProgram> ImportOnnx(absl::string_view bytes,
                                       const OnnxOptions& options);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_ONNX_IMPORTER_H_
