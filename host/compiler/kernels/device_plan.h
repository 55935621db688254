// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How a device executes a module of op set hlo: kernels of the vector unit,
// each for as many operations as possible, and what is left, node by node.
//
//   DevicePlan plan = PlanFor(module, preset);
//   for (const PlanStep& step : plan.steps) ...
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_DEVICE_PLAN_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_DEVICE_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/counted_loop.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Values have numbers, slots. A slot holds what lies in memory: operations that
// only look at it otherwise (reshape, bitcast_convert) have their operand's.
struct PlanStep {
  // A kernel, or else the node that is computed one by one.
  std::optional<KernelProgram> kernel;
  const ir::Node* node = nullptr;
  std::vector<const ir::Node*> nodes;  // of the kernel
  std::vector<int> inputs, outputs;    // slots
  std::vector<int> dead;               // slots not needed behind this step
  std::optional<CountedLoop> loop;     // of a `while` of known turns
};

struct DevicePlan {
  std::vector<PlanStep> steps;
  std::vector<int> parameters, outputs;  // slots
  // What does not depend on the parameters.
  std::vector<std::pair<int, ir::Literal>> constants;
  int slots = 0;
  // Of the regions of nodes that steps are: `while`, `if` and `case`.
  std::map<const ir::Module*, std::unique_ptr<DevicePlan>> regions;
};

// Whether the regions of such a node have plans of their own, between which the
// host chooses.
bool IsControl(const ir::Node& node);

// The module must be verified and outlive the plan.
DevicePlan PlanFor(const ir::Module& module, const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEVICE_PLAN_H_
