// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Imports ONNX models (https://onnx.ai, ir versions 3 to 14, opsets 7 to 28) as
// modules of the operations of hlo/ (docs/onnx.md).
//
//   absl::StatusOr<OnnxProgram> program = ImportOnnx(bytes, {});
//
// All shapes are known then: those of the inputs are given by the file or by
// the options, the others follow. Constants and what depends on them alone are
// computed; local functions are inlined.
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

// Makes the value of an input from its type; an error does not name the input.
using FixedInput =
    std::function<absl::StatusOr<ir::Literal>(const ir::Type& type)>;

struct OnnxOptions {
  // Sizes of dimensions that the file leaves open, by their names, or
  // "input[axis]" for those without one.
  std::map<std::string, int64_t> dims;
  // Inputs that have these values in every run: shapes may depend on them.
  std::map<std::string, FixedInput> fixed;
  // Of products of float32 (docs/hlo.md, "Products").
  ir::Precision precision = ir::Precision::kDefault;
  // Where files of external data are; "": there are none.
  std::string folder;
};

struct OnnxProgram {
  // Parameters and outputs are those of the graph, in its order, with its
  // names. The module is verified.
  std::unique_ptr<ir::Module> module;
  // What was chosen for the caller: "dimension batch is 1 (--dim batch=N)".
  std::vector<std::string> notes;
};

// kDataLoss: not ONNX, or damaged; kInvalidArgument: a violation of ONNX's
// rules, or open dimensions; kUnimplemented: what is not supported. The message
// lists all of a file's obstacles, each with the node and the reason.
absl::StatusOr<OnnxProgram> ImportOnnx(absl::string_view bytes,
                                       const OnnxOptions& options);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_ONNX_IMPORTER_H_
