// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From a model file to a model that can be run.
//
//   absl::StatusOr<Source> source = runtime::ReadSource("model.tflite");
//   absl::StatusOr<CompiledModel> model =
//       runtime::Build(*source, preset, options);
#ifndef SYSTOLE_HOST_RUNTIME_BUILD_H_
#define SYSTOLE_HOST_RUNTIME_BUILD_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "host/ir/pass.h"
#include "host/lower/lowering.h"
#include "host/runtime/compiled_model.h"
#include "systole/compiler.h"

namespace systole::runtime {

struct Source {
  std::unique_ptr<ir::Module> module;  // as imported; null for a network file
  lower::Lowered lowered;
};

// Runs the standard passes and divides the module between device and host.
// `observer` sees it after each pass. Without a preset, the result suits every
// preset that runs such models. `alone`: the host may be alone
// (lower::LowerModule).
absl::StatusOr<Source> SourceOf(std::unique_ptr<ir::Module> module,
                                ir::PassManager::Observer observer = nullptr,
                                const Preset* preset = nullptr,
                                bool alone = false);

// Reads a TensorFlow Lite model or a network (.safetensors), whatever the
// file's extension is. `signature`: of those of a TensorFlow Lite model, "" for
// the first subgraph. Errors name the file.
absl::StatusOr<Source> ReadSource(const std::string& path,
                                  ir::PassManager::Observer observer = nullptr,
                                  const Preset* preset = nullptr,
                                  const std::string& signature = "",
                                  bool alone = false);

// The model's name, its host parts, and the placement of its operators.
CompiledModel WithoutPrograms(const Source& source);

// The observer of `options` sees the steps of each program.
absl::StatusOr<CompiledModel> Build(const Source& source, const Preset& preset,
                                    const compiler::Options& options);

// FailedPrecondition if operators run on the host; names them and the reasons.
absl::Status RefuseHostOperators(
    const std::vector<lower::Placement>& placements);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_BUILD_H_
