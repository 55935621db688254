// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Models side by side in the memory of one device: each lies where the others
// do not, and runs whenever it is asked to.
//
//   Loader loader(**device);
//   absl::StatusOr<std::unique_ptr<LoadedModel>> a = loader.Load(first);
//   absl::StatusOr<std::unique_ptr<LoadedModel>> b = loader.Load(second);
//   (*device)->Start((*b)->programs()[0]);
#ifndef SYSTOLE_HOST_RUNTIME_LOADER_H_
#define SYSTOLE_HOST_RUNTIME_LOADER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/runtime/compiled_model.h"
#include "host/runtime/core.h"
#include "systole/device.h"

namespace systole::runtime {

// A model's programs at their places, as long as it lives. The programs run one
// after the other, so they share the memory for arguments and temporaries:
// what one leaves there, the next one overwrites.
class LoadedModel {
 public:
  explicit LoadedModel(std::shared_ptr<MemoryPool> pool)
      : pool_(std::move(pool)) {}
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  // Without the bytes of their data segments, which are in the device.
  const std::vector<Program>& programs() const { return programs_; }

 private:
  friend class Loader;
  // ResourceExhausted.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);

  std::shared_ptr<MemoryPool> pool_;
  std::vector<uint64_t> places_;
  std::vector<Program> programs_;
};

class Loader {
 public:
  // The device, which must outlive it, has all of its memory for the loader.
  explicit Loader(systole::Device& device);

  // Brings constants and descriptors into the device. Errors: those of
  // PlaceProgram; ResourceExhausted names the model and what it needs.
  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(const CompiledModel& model);

  systole::Device& device() const { return device_; }

 private:
  systole::Device& device_;
  std::shared_ptr<MemoryPool> pool_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_LOADER_H_
