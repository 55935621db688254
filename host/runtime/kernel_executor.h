// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Executes a module by its plan: kernels run on the vector unit with their
// values in HBM, products run on the array, and the rest runs on the host.
#ifndef SYSTOLE_HOST_RUNTIME_KERNEL_EXECUTOR_H_
#define SYSTOLE_HOST_RUNTIME_KERNEL_EXECUTOR_H_

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/compiler/kernels/device_plan.h"
#include "host/ir/evaluate.h"
#include "host/runtime/communicator.h"
#include "host/runtime/core.h"
#include "host/runtime/place.h"
#include "host/runtime/plan_exchanges.h"

namespace systole::runtime {

// Counts of an execution.
struct TransferCounts {
  int64_t kernels = 0;                        // runs of kernels
  int64_t uploads = 0, upload_bytes = 0;      // host to HBM
  int64_t downloads = 0, download_bytes = 0;  // HBM to host
  int64_t collectives = 0;                    // exchanges with other processes
};

// Where the part of a partition begins that a `shard` takes, in bytes.
int64_t ShardBegin(const ir::Node& node, int partition);

// The process that an execution is, of those of its run.
struct Process {
  int number = 0;
  ir::ProcessGrid grid;
  // They must outlive the execution. The communicator may be null if there is
  // only one process.
  const CollectiveGroups* groups = nullptr;
  Communicator* communicator = nullptr;
  ExchangingPrograms* programs = nullptr;
};

// Used for one execution.
class KernelExecutor : private ProcessDevice {
 public:
  // Both must outlive the executor.
  KernelExecutor(Core& core, ir::ProductUnit& products, ir::Caller caller = {},
                 Process process = {});

  // Computes the results, on the host or on the device, from the parameters and
  // the plan's constants. Errors name the node, or are those of the device.
  absl::StatusOr<PlacedValues> Run(const lanes::DevicePlan& plan,
                                   PlacedValues inputs,
                                   const PlacedValues& constants);
  // Copies a value to the host, with this type.
  absl::StatusOr<ir::Literal> ToHost(Place& value,
                                     const ir::Type& type) override;

  const TransferCounts& counts() const { return counts_; }

 private:
  absl::StatusOr<PlacedValues> RunRegion(const ir::Module& region,
                                         const lanes::DevicePlan& plan,
                                         PlacedValues inputs);
  absl::Status RunKernel(const lanes::PlanStep& step, PlacedValues& values);
  absl::Status RunExchanging(const lanes::PlanStep& step, PlacedValues& values);
  // Brings the inputs to the device and makes the outputs; addresses of both.
  absl::StatusOr<std::vector<uint64_t>> Places(const lanes::PlanStep& step,
                                               PlacedValues& values);
  std::vector<LayerInfo> LayersOf(const lanes::PlanStep& step) const;
  // Memory for an output: its own, or an input's that the kernel changes.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> OutputMemory(
      const lanes::PlanStep& step, size_t output, PlacedValues& values);
  absl::Status Copy(const DeviceMemory& from, const DeviceMemory& to,
                    int64_t bytes);
  absl::Status RunProgram(const lanes::KernelProgram& kernel,
                          absl::Span<const uint64_t> places,
                          std::vector<LayerInfo> layers, uint64_t hbm_bytes);
  absl::Status RunNode(const lanes::PlanStep& step, PlacedValues& values);
  const PlacedValue& DeviceId(ir::Op op);
  absl::Status RunShard(const lanes::PlanStep& step, PlacedValues& values);
  absl::Status RunCollective(const lanes::PlanStep& step, PlacedValues& values);
  absl::Status RunControl(const lanes::PlanStep& step,
                          const lanes::DevicePlan& plan, PlacedValues& values);
  absl::StatusOr<std::optional<int64_t>> TurnsOf(const lanes::PlanStep& step,
                                                 const PlacedValues& values);
  absl::StatusOr<bool> Condition(const ir::Module& condition,
                                 const lanes::DevicePlan& plan,
                                 const PlacedValues& values);
  absl::StatusOr<PlacedValues> Repeat(const lanes::PlanStep& step,
                                      const lanes::DevicePlan& plan,
                                      PlacedValues values);
  Core& core() override { return core_; }
  absl::Status ToDevice(Place& value) override;
  absl::Status Run(Program& program) override;

  Core& core_;
  const Process process_;
  PlacedValue replica_, partition_;  // its numbers, once they are needed
  ir::Evaluation evaluation_;
  // Of plans of regions: brought to the device once for all turns of a loop.
  std::map<const lanes::DevicePlan*, PlacedValues> constants_;
  TransferCounts counts_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_KERNEL_EXECUTOR_H_
