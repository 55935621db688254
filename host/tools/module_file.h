// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Files that become modules of hlo/: StableHLO programs, as jax.export writes
// them, float TensorFlow Lite models and ONNX models; and the values of their
// inputs and outputs in .npy files.
#ifndef HOST_TOOLS_MODULE_FILE_H_
#define HOST_TOOLS_MODULE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/npy/npy.h"
#include "host/runtime/client.h"
#include "systole/gen/presets.h"

namespace systole::tools {

// How a float TensorFlow Lite model or an ONNX model becomes a module.
// StableHLO has precisions and shapes of its own.
struct ModuleArgs {
  std::string precision;  // "default", "high", "highest"; "": not given
  // Of TensorFlow Lite: "NAME=1,28,28,1", or without a name.
  std::vector<std::string> shapes;
  // Of ONNX: "NAME=SIZE" of open dimensions; "NAME=FILE.npy" or "NAME=1,2" of
  // inputs.
  std::vector<std::string> dims, fixed;
  // Of TensorFlow Lite, of integers too: the signature, "" for the first graph.
  std::string signature;
  bool quiet = false;  // without notes
};

enum class ModuleKind { kNone, kStableHlo, kFloatTflite, kOnnx };

// kNone: the file is something else. Errors: the file cannot be read.
absl::StatusOr<ModuleKind> ModuleKindOf(const std::string& path,
                                        const std::string& signature);
// "StableHLO", "a float model", "an ONNX model".
std::string ModuleKindText(ModuleKind kind);

// Errors begin with the file's name: those of ImportStableHlo,
// ImportFloatTflite and ImportOnnx; Unimplemented for a program of several
// devices; InvalidArgument for arguments that have no effect. Notes of the
// importer of ONNX go to standard error.
absl::StatusOr<std::unique_ptr<ir::Module>> ReadModuleFile(
    const std::string& path, ModuleKind kind, const ModuleArgs& args);

// InvalidArgument for arguments that have no effect on a file of this kind.
absl::Status CheckModuleArgs(const std::string& path, ModuleKind kind,
                             const ModuleArgs& args);

// A preset that such files run on, the `lite` one if none is given. Errors:
// InvalidArgument lists those that there are.
absl::StatusOr<const Preset*> ModulePreset(ModuleKind kind,
                                           const std::string& name, bool given);

// "float32 (17, 32)". stored: as callers have the values
// (ir::ParameterAttributes), "complex64 (17,)" for f32 [17, 2].
std::string ValuesText(const ir::Type& type, const std::string& stored);

struct ModuleValues {
  std::vector<ir::Literal> runs;  // one a run
  bool stacked = false;           // with one axis more than the type
};

// Of the type's shape, or a stack of such values along an axis in front. bf16
// and f16 also take float32, which is rounded to nearest even; bf16 also
// uint16, its bits. Errors: InvalidArgument names both types.
absl::StatusOr<ModuleValues> FromArray(const npy::Array& array,
                                       const ir::Type& type,
                                       const std::string& stored);

// bf16 as float32, which holds all of its numbers. `stacked`: with an axis for
// the runs.
npy::Array ToArray(const std::vector<ir::Literal>& runs, const ir::Type& type,
                   const std::string& stored, bool stacked);

// Floats uniform in -1..1, whole numbers in 0..7, as indices are.
ir::Literal RandomOf(const ir::Type& type, uint64_t seed);

// "-0.98 to 3.1", "0 to 7, 2 NaN"; "empty".
std::string SpanText(const std::vector<ir::Literal>& runs);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_FILE_H_
