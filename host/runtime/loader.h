// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Several models in the memory of one device. Each has its own place and runs
// when it is asked to.
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

// A model's programs in device memory, for the lifetime of this object. The
// programs run one after the other and share the memory for arguments and
// temporaries: each overwrites what the previous one left there.
class LoadedModel {
 public:
  explicit LoadedModel(std::shared_ptr<MemoryPool> pool)
      : pool_(std::move(pool)) {}
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  // The programs without the bytes of their data segments, which are in the
  // device.
  const std::vector<Program>& programs() const { return programs_; }

 private:
  friend class Loader;
  // ResourceExhausted: no space.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);

  std::shared_ptr<MemoryPool> pool_;
  std::vector<uint64_t> places_;
  std::vector<Program> programs_;
};

class Loader {
 public:
  // The device must outlive the loader, which manages all of its memory.
  explicit Loader(systole::Device& device);

  // Copies constants and descriptors into the device. Errors: those of
  // PlaceProgram; ResourceExhausted names the model and its needs.
  absl::StatusOr<std::unique_ptr<LoadedModel>> Load(const CompiledModel& model);

  systole::Device& device() const { return device_; }

 private:
  systole::Device& device_;
  std::shared_ptr<MemoryPool> pool_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_LOADER_H_
