// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// StableHLO programs, as jax.export writes them: their files, and the values of
// their inputs and outputs in .npy files.
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
#include "host/runtime/placement.h"
#include "systole/gen/presets.h"

namespace systole::tools {

// Errors begin with the file's name: those of ImportStableHlo; Unimplemented
// for a program of several partitions.
absl::StatusOr<std::unique_ptr<ir::Module>> ReadStableHlo(
    const std::string& path);

// What of it runs where on the preset; the module is lowered.
runtime::ModulePlacement PlacementOn(ir::Module& module, const Preset& preset);

// A preset that such programs run on, the `lite` one if none is given. Errors:
// InvalidArgument lists those that there are.
absl::StatusOr<const Preset*> ModulePreset(const std::string& name, bool given);

// "float32 (17, 32)".
std::string ValuesText(const ir::Type& type);

// Runs a program once, and waits.
absl::StatusOr<std::vector<ir::Literal>> RunOnce(
    runtime::Executable& executable, runtime::Device& device,
    const std::vector<ir::Literal>& values);

struct ModuleValues {
  std::vector<ir::Literal> runs;  // one a run
  bool stacked = false;           // with one axis more than the type
};

// Of the type's shape, or a stack of such values along an axis in front. bf16
// and f16 also take float32, which is rounded to nearest even; bf16 also
// uint16, its bits. Errors: InvalidArgument names both types.
absl::StatusOr<ModuleValues> FromArray(const npy::Array& array,
                                       const ir::Type& type);

// bf16 as float32, which holds all of its numbers. `stacked`: with an axis for
// the runs.
npy::Array ToArray(const std::vector<ir::Literal>& runs, const ir::Type& type,
                   bool stacked);

// Floats uniform in -1..1, whole numbers in 0..7, as indices are.
ir::Literal RandomOf(const ir::Type& type, uint64_t seed);

// "-0.98 to 3.1", "0 to 7, 2 NaN"; "empty".
std::string SpanText(const std::vector<ir::Literal>& runs);

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_FILE_H_
