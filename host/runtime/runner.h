// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs a compiled model: host parts and device programs in turn.
//
//   Runner runner(**device, *model);
//   absl::StatusOr<BatchRun> run = runner.Run(images);
//   if (!run.ok()) return run.status();
//   Use(run->outputs[0]);
//
// Several models on one device: Runner first(loader, a), second(loader, b);
#ifndef SYSTOLE_HOST_RUNTIME_RUNNER_H_
#define SYSTOLE_HOST_RUNTIME_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/literal.h"
#include "host/runtime/compiled_model.h"
#include "host/runtime/loader.h"
#include "systole/device.h"

namespace systole::runtime {

struct BatchRun {
  int64_t images = 0;
  RunStats stats;              // sum over all programs
  std::vector<RunStats> runs;  // per program
  // As CompiledModel::outputs, images contiguous.
  std::vector<ir::Literal> outputs;
  // All tensors that the programs leave in HBM, by name, dense.
  std::map<std::string, std::vector<int8_t>> tensors;
};

class Runner {
 public:
  // Both must outlive the runner, and nothing else may use the device's memory.
  Runner(systole::Device& device, const CompiledModel& model)
      : own_(std::make_unique<Loader>(device)), loader_(*own_), model_(model) {
    ResetVariables();
  }
  // Both must outlive the runner.
  Runner(Loader& loader, const CompiledModel& model)
      : loader_(loader), model_(model) {
    ResetVariables();
  }

  // Runs 1 to batch() images; each input of the model has its values for the
  // images one after the other, and the rest of the batch is zeros. Loads the
  // model if it is not in the device yet. Variables have the values of the
  // previous run. Errors: InvalidArgument names the input; those of
  // Loader::Load.
  absl::StatusOr<BatchRun> Run(const std::vector<ir::Literal>& inputs);
  // The next run starts with the initial values of the variables.
  void ResetVariables();

 private:
  using Values =
      std::map<std::string, ir::Literal>;  // by name, images contiguous

  absl::StatusOr<int64_t> Images(const std::vector<ir::Literal>& inputs) const;
  absl::Status RunPart(const ir::Module& part, Values& values,
                       BatchRun& run) const;
  absl::Status RunProgram(const Program& program, Values& values,
                          BatchRun& run) const;

  const std::unique_ptr<Loader> own_;
  Loader& loader_;
  const CompiledModel& model_;
  std::unique_ptr<LoadedModel> loaded_;
  std::vector<CompiledModel::Variable> variables_;
  std::vector<ir::Literal> kept_;  // values of `variables_`
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_RUNNER_H_
