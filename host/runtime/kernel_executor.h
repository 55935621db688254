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
#include "host/runtime/core.h"

namespace systole::runtime {

// Device memory that is freed when nobody needs it.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<MemoryPool> pool, uint64_t address)
      : pool_(std::move(pool)), address_(address) {}
  ~DeviceMemory() { pool_->Free(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  uint64_t address() const { return address_; }

 private:
  std::shared_ptr<MemoryPool> pool_;
  const uint64_t address_;
};

// A value on the host, on the device, or on both. Users share it. A copy is
// never removed, but the other one may be added.
struct Place {
  int64_t bytes = 0;
  std::optional<ir::Literal> host;
  std::shared_ptr<DeviceMemory> device;
};
using PlacedValue = std::shared_ptr<Place>;
using PlacedValues = std::vector<PlacedValue>;

PlacedValue OnHost(ir::Literal literal);

// Counts of an execution.
struct TransferCounts {
  int64_t kernels = 0;                        // runs of kernels
  int64_t codes = 0;                          // their code, host to HBM
  int64_t uploads = 0, upload_bytes = 0;      // host to HBM
  int64_t downloads = 0, download_bytes = 0;  // HBM to host
};

// Used for one execution.
class KernelExecutor {
 public:
  // Both must outlive the executor.
  KernelExecutor(Core& core, ir::ProductUnit& products);

  // Computes the results, on the host or on the device, from the parameters and
  // the plan's constants. Errors name the node, or are those of the device.
  absl::StatusOr<PlacedValues> Run(const lanes::DevicePlan& plan,
                                   PlacedValues inputs,
                                   const PlacedValues& constants);
  // Copies a value to the host, with this type.
  absl::StatusOr<ir::Literal> ToHost(Place& value, const ir::Type& type);

  const TransferCounts& counts() const { return counts_; }

 private:
  absl::StatusOr<PlacedValues> RunRegion(const ir::Module& region,
                                         const lanes::DevicePlan& plan,
                                         PlacedValues inputs);
  absl::Status RunKernel(const lanes::PlanStep& step, PlacedValues& values);
  absl::Status RunNode(const lanes::PlanStep& step, PlacedValues& values);
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
  absl::StatusOr<std::shared_ptr<DeviceMemory>> CodeOf(
      const lanes::KernelProgram& kernel);
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes);
  absl::Status ToDevice(Place& value);

  Core& core_;
  ir::Evaluation evaluation_;
  // Of plans of regions: brought to the device once for all turns of a loop.
  std::map<const lanes::DevicePlan*, PlacedValues> constants_;
  // Code of the regions' kernels, likewise.
  std::map<const lanes::KernelProgram*, std::shared_ptr<DeviceMemory>> codes_;
  int depth_ = 0;  // nesting of regions
  TransferCounts counts_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_KERNEL_EXECUTOR_H_
