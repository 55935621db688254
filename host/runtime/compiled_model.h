// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model that can be run: the device's program, and what the host computes
// before and behind it. A program file holds all of it.
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

// Values go from part to part by name: lowering.h. The parts of the host work
// on one image, the program on `batch()` of them.
struct CompiledModel {
  std::string name;
  Program program;
  std::unique_ptr<ir::Module> head, tail;
  std::vector<lower::Placement> placements;

  std::vector<ir::Node*> inputs() const { return head->inputs(); }
  const std::vector<ir::Output>& outputs() const { return tail->outputs; }
  int64_t batch() const;
};

// The program with a section that has the rest.
Program ToProgram(const CompiledModel& model);
// Checks that the parts fit each other. Errors: FailedPrecondition (a program
// without a model), InvalidArgument; messages begin with `name`.
absl::StatusOr<CompiledModel> FromProgram(Program program,
                                          const std::string& name);

absl::Status WriteModel(const CompiledModel& model, const std::string& path);
absl::StatusOr<CompiledModel> ReadModel(const std::string& path);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMPILED_MODEL_H_
