// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Plan for the execution of an hlo module on a device: kernels of the vector
// unit, each for as many operations as possible, and the remaining operations
// node by node.
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

class ExchangingProgram;
class Exchanges;

// Values are numbered by slots. A slot is a piece of memory: an operation that
// only views its operand differently (reshape, bitcast_convert) has the
// operand's slot.
struct PlanStep {
  // A program of kernels, or else a single node; of a `shard`, the result is a
  // part of the input's memory.
  std::shared_ptr<const KernelProgram> kernel;
  const ir::Node* node = nullptr;
  // Nodes of the program's kernels, in their order.
  std::vector<std::vector<const ir::Node*>> kernels;
  std::vector<int> inputs, outputs;  // slots
  std::vector<int> dead;             // slots not needed after this step
  // Numbers of an input and an output: the kernel changes the input's memory,
  // which becomes the output's. If the input is needed otherwise, a copy of it
  // comes before.
  std::vector<std::pair<int, int>> updates;
  // The kernel runs along with that of the step before (plan_pairs.h).
  bool beside = false;
  // Of a program with collectives, which come last in `kernels`: `kernel` is
  // that of process 0.
  std::shared_ptr<const ExchangingProgram> exchanging;
  // For a `while` with a known number of iterations.
  std::optional<CountedLoop> loop;
};

struct DevicePlan {
  std::vector<PlanStep> steps;
  std::vector<int> parameters, outputs;  // slots
  // Values that do not depend on the parameters.
  std::vector<std::pair<int, ir::Literal>> constants;
  // Values that differ from process to process: partition_id, replica_id.
  std::vector<std::pair<int, ir::Op>> device_ids;
  int slots = 0;
  // Slots that are parts of other slots' memory, until steps are linked.
  struct Part {
    int of;
    int64_t begin, bytes, of_bytes;
  };
  std::map<int, Part> parts;
  // The same as a part of a slot that is none itself.
  Part WholePart(int slot) const {
    Part part = parts.at(slot);
    for (auto of = parts.find(part.of); of != parts.end();
         of = parts.find(part.of)) {
      part.of = of->second.of;
      part.begin += of->second.begin;
      part.of_bytes = of->second.of_bytes;
    }
    return part;
  }
  // Modules whose nodes the steps have, beside the plan's own.
  std::vector<std::shared_ptr<const ir::Module>> modules;
  // Plans of the regions of `while`, `if` and `case` steps that the host
  // controls.
  std::map<const ir::Module*, std::unique_ptr<DevicePlan>> regions;
};

// Whether the regions of such a node have their own plans, between which the
// host chooses.
bool IsControl(const ir::Node& node);

// The module must be verified and must outlive the plan. The memory of donated
// parameters may be used for results, and that of the first `owned` ones, which
// are, as a rule, values that nobody else has. With `exchanges`, which must
// outlive the plan, collectives run in programs of kernels, and these are
// compiled for what that leaves (collective_kernel.h).
DevicePlan PlanFor(const ir::Module& module, const Preset& preset,
                   size_t owned = 0, const Exchanges* exchanges = nullptr);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_DEVICE_PLAN_H_
