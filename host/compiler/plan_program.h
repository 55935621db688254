// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// From a plan with addresses to a program: what is the same for quantised
// networks and products of bf16.
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

// Runs the passes; `options.observer` sees the plan before the first and behind
// each.
absl::Status RunPasses(PlanPassManager& passes, const Options& options,
                       Plan& plan);

// Allocates what the plan put in HBM, arguments and temporaries, and begins the
// constants. The program lists the tensors whose bytes are there at its end;
// returned are all, with the plan's numbers.
std::vector<TensorInfo> AddTensors(const Plan& plan, HbmImage& hbm,
                                   Program& program);

// Schedules what was appended, lists the plan's buffers, and finishes the
// program (FinishProgram).
absl::Status FinishPlan(const Plan& plan, const Options& options,
                        ScheduleBuilder& builder, HbmImage& hbm,
                        Program& program);

}  // namespace systole::compiler

#endif  // HOST_COMPILER_PLAN_PROGRAM_H_
