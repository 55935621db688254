// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A training step as a module of the IR: forward, backward and optimiser are
// operations of train/ (host/ir/train/ops.h). The names of inputs and outputs
// are those of checkpoints; an output of an input's name takes its place in
// memory.
//
//   auto module = StepModule(DigitsLayers(), options, preset.rows);
//   std::cout << ir::Print(**module);
#ifndef HOST_TRAINING_STEP_MODULE_H_
#define HOST_TRAINING_STEP_MODULE_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/ir/module.h"
#include "host/training/step_program.h"

namespace systole::training {

// Verified. `rows`: of the array that multiplies. Layers read layers before
// them; each but the last is read. Errors: InvalidArgument, which names the
// layer or the node.
absl::StatusOr<std::unique_ptr<ir::Module>> StepModule(
    const std::vector<Layer>& layers, const StepOptions& options, int64_t rows);

// "conv1" of "conv1.z": what the node belongs to.
std::string LayerNameOf(const ir::Node& node);

// What the node counts as.
Phase PhaseOf(const ir::Node& node);

// The first operation that reads the value as one of `ops`, or null.
ir::Node* UserOf(const ir::Module& module, ir::Value value,
                 std::initializer_list<ir::Op> ops);

}  // namespace systole::training

#endif  // HOST_TRAINING_STEP_MODULE_H_
