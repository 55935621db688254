// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From a plan with addresses to a program; shared by quantised networks and
// bf16 products.
//
//   hbm.Begin...: AddTensors(plan, hbm, program);
//   ... descriptors and constants ...
//   absl::Status status = FinishPlan(plan, options, builder, hbm, program);
#ifndef HOST_COMPILER_PLAN_PROGRAM_H_
#define HOST_COMPILER_PLAN_PROGRAM_H_

#include <vector>

#include "absl/status/status.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "systole/compiler.h"
#include "systole/program.h"

namespace systole::compiler {

// Runs the passes. `options.observer` sees the plan before the first pass and
// after each pass.
absl::Status RunPasses(PlanPassManager& passes, const Options& options,
                       Plan& plan);

// Allocates the plan's HBM, arguments and temporaries, and begins the
// constants. The program lists the tensors whose bytes are in HBM at its end;
// the result has all tensors, with the plan's numbers.
std::vector<TensorInfo> AddTensors(const Plan& plan, HbmImage& hbm,
                                   Program& program);

// Schedules what was appended, lists the plan's buffers, places the descriptors
// and sets the preset, data segments, memory parts and relocations.
// ResourceExhausted: the program does not fit the memory.
absl::Status FinishPlan(const Plan& plan, const Options& options,
                        ScheduleBuilder& builder, HbmImage& hbm,
                        Program& program);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PLAN_PROGRAM_H_
