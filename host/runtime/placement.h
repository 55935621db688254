// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Which operations of an hlo module run on the array, on the vector unit and on
// the host. For loops and branches, the host reads the condition and starts the
// programs of the next region; the values stay on the device.
#ifndef SYSTOLE_HOST_RUNTIME_PLACEMENT_H_
#define SYSTOLE_HOST_RUNTIME_PLACEMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/ir/module.h"

namespace systole::runtime {

// Counts operations of the module; operations in regions count once.
struct PlacementShare {
  int64_t operations = 0;
  int64_t macs = 0;   // multiply-adds of products
  int64_t bytes = 0;  // of results
};

// A kernel, by the cost model; of a loop that is part of a program, all turns.
struct PlacedKernel {
  std::string name;    // of its last operation
  int64_t cycles = 0;  // expected
  // The larger of its multiply-adds over the array's, and of the bytes of its
  // operands and results over the memory's.
  int64_t bound = 0;
  std::string limit;  // "the vector unit", what is busy most
  double busy = 0;    // its share of the cycles
};

struct ModulePlacement {
  PlacementShare array, vector, host;
  int64_t kernels = 0;      // kernels for the vector unit's share
  int64_t moved_bytes = 0;  // by the kernels, between HBM and unified buffer
  int64_t free = 0;         // operations without work: constants, views
  int64_t control = 0;      // loops and branches, controlled by the host
  int64_t calls = 0;        // of the script that made the program (ir/calls.h)
  std::map<std::string, int64_t> host_operations;  // number of each operation
  std::string first_host;  // of them: operation, type, place in the source
  // Exchanges among processes, through the host's memory, and their operands.
  PlacementShare collectives;
  std::map<std::string, int64_t> collective_operations;
  PlacementShare linked;  // likewise, over the links between the devices
  std::map<std::string, int64_t> linked_operations;
  std::vector<PlacedKernel> all_kernels;  // of the array, too; in their order
};

// Multiply-adds of a product on the array, a matrix_product.
int64_t MacsOf(const ir::Node& product);

ModulePlacement PlacementOf(const ir::Module& module,
                            const lanes::DevicePlan& plan,
                            const Preset& preset);

// "jit_step: 6 products on the array (1.2e+06 MACs), 80 operations in 9 kernels
// on the vector unit, 8 operations on the host (sort 1, ...)".
std::string PlacementText(const std::string& name,
                          const ModulePlacement& placement);

// A line for each kernel below kReportedShare of its bound, and one before them
// that counts them; the slowest first, those of less than 1 % of the cycles
// together. Empty if there is none.
inline constexpr double kReportedShare = 0.3;
std::string SlowKernelsText(const ModulePlacement& placement);

// FailedPrecondition if operations would run on the host; names them.
absl::Status RefuseHost(const std::string& name,
                        const ModulePlacement& placement);

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_PLACEMENT_H_
