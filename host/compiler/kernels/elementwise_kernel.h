// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Kernel for a graph of lanes over tensors with the same number of elements,
// dense in HBM. Blocks pass through the unified buffer, two at a time.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ELEMENTWISE_KERNEL_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ELEMENTWISE_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"

namespace systole::lanes {

struct ElementwiseSpec {
  int64_t elements = 0;  // at least one
  // Operands that the graph loads, by number.
  struct Operand {
    Storage storage;
    Pattern pattern;
  };
  std::vector<Operand> operands;
  LaneGraph graph;
  std::vector<LaneStore> stores;
  // The same with guards, if that is shorter; else without stores.
  LaneGraph guarded;
  std::vector<LaneStore> guarded_stores;
};

// Operands of the program: those of the graph, then the results. Errors:
// ResourceExhausted (registers, instruction memory, unified buffer): the graph
// must be divided.
absl::StatusOr<KernelProgram> CompileElementwise(const ElementwiseSpec& spec,
                                                 const Preset& preset);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ELEMENTWISE_KERNEL_H_
