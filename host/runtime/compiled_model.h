// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model that can be run: the programs of the device, which can be placed
// anywhere in its memory (loader.h), and the host's computation before, between
// and after them. A program file holds all of it.
//
//   absl::StatusOr<CompiledModel> model = runtime::ReadModel("model.tpu");
//   if (!model.ok()) return model.status();
#ifndef SYSTOLE_HOST_RUNTIME_COMPILED_MODEL_H_
#define SYSTOLE_HOST_RUNTIME_COMPILED_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/lower/lowering.h"
#include "systole/program.h"

namespace systole::runtime {

// Host parts and programs alternate, with host parts first and last. Values are
// passed by name (lowering.h). Host parts do one run of the model, a program
// `batch()` runs, of images() images each.
struct CompiledModel {
  std::string name;
  std::vector<Program> programs;                   // at least one
  std::vector<std::unique_ptr<ir::Module>> parts;  // one more than programs
  std::vector<lower::Placement> placements;

  // Inputs and outputs of a run, without the variables that the model keeps
  // between runs.
  std::vector<ir::Node*> inputs() const;
  std::vector<ir::Output> outputs() const;
  // A variable: an input and an output of the module with the same name. A
  // model with variables runs one image at a time.
  struct Variable {
    size_t input = 0, output = 0;  // in the first and in the last part
    const ir::Node* parameter = nullptr;
  };
  std::vector<Variable> variables() const { return VariablesOf(parts); }
  static std::vector<Variable> VariablesOf(
      const std::vector<std::unique_ptr<ir::Module>>& parts);
  // Runs of the model that one run of the programs does.
  int64_t batch() const;
  // Images that every value between host and device has (lowering.h).
  int64_t images() const;
  const std::string& preset() const { return programs.front().preset; }
  // Bytes of the largest memory part with this use.
  uint64_t MostBytes(MemoryUse use) const;
  // Memory of the model: arguments and temporaries once, because the programs
  // share them, and constants and code of each program.
  uint64_t hbm_bytes() const;
};

// The first program, with a section for each other program and one for the rest
// of the model.
Program ToProgram(const CompiledModel& model);
// Checks that the parts fit together. Errors: FailedPrecondition (a program
// without a model, or one with loops that its chip cannot run),
// InvalidArgument; messages begin with `name`. `as_written`: keeps the file's
// loops even if they are unrolled for the chip.
absl::StatusOr<CompiledModel> FromProgram(Program program,
                                          const std::string& name,
                                          bool as_written = false);

absl::Status WriteModel(const CompiledModel& model, const std::string& path);
absl::StatusOr<CompiledModel> ReadModel(const std::string& path);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMPILED_MODEL_H_
