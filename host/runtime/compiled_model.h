// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model that can be run: the device's programs, which can lie anywhere in its
// memory (loader.h), and what the host computes before, between and behind
// them. A program file holds all of it.
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

// Parts of the host and programs take turns, the host first and last, and
// values go on by name: lowering.h. The parts of the host work on one image, a
// program on `batch()` of them.
struct CompiledModel {
  std::string name;
  std::vector<Program> programs;                   // at least one
  std::vector<std::unique_ptr<ir::Module>> parts;  // one more
  std::vector<lower::Placement> placements;

  // Of a run: without what the model keeps from one to the next.
  std::vector<ir::Node*> inputs() const;
  std::vector<ir::Output> outputs() const;
  // A variable: an input and an output of the module of one name. Runs of a
  // model with variables take one image.
  struct Variable {
    size_t input = 0, output = 0;  // of the first part and the last
    const ir::Node* parameter = nullptr;
  };
  std::vector<Variable> variables() const { return VariablesOf(parts); }
  static std::vector<Variable> VariablesOf(
      const std::vector<std::unique_ptr<ir::Module>>& parts);
  int64_t batch() const;
  const std::string& preset() const { return programs.front().preset; }
  // The memory that one part of this use at most takes.
  uint64_t MostBytes(MemoryUse use) const;
  // What the model takes: arguments and temporaries once, which the programs
  // share, constants and code of each.
  uint64_t hbm_bytes() const;
};

// The first program with a section for each of the others, and one that has
// the rest.
Program ToProgram(const CompiledModel& model);
// Checks that the parts fit each other. Errors: FailedPrecondition (a program
// without a model, or one whose loops its chip cannot run), InvalidArgument;
// messages begin with `name`. `as_written`: with the file's loops, also where
// they are unrolled for the chip.
absl::StatusOr<CompiledModel> FromProgram(Program program,
                                          const std::string& name,
                                          bool as_written = false);

absl::Status WriteModel(const CompiledModel& model, const std::string& path);
absl::StatusOr<CompiledModel> ReadModel(const std::string& path);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMPILED_MODEL_H_
