// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The stages of a fused kernel: what each places in the unified buffer, its
// code, and its runs for a block of rows.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSED_STAGES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSED_STAGES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/fused_layout.h"
#include "host/compiler/kernels/kernel_program.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// What the stages of a kernel share.
struct FusedParts {
  using Bytes = KernelBuilder::Bytes;

  const FusedSpec& spec;
  const Preset& preset;
  KernelBuilder& builder;
  const FusedLayout& layout;
  CopyCode copies;  // of all stages; their code comes first
  Bytes between = {0, 0}, guards = {0, 0};
  std::vector<uint64_t> words = {};
};

class FusedStage {
 public:
  virtual ~FusedStage() = default;
  // Errors: ResourceExhausted: no room; OutOfRange: values have too many kinds
  // of addresses.
  virtual absl::Status Place(FusedParts& parts) = 0;
  // Appends to the words. ResourceExhausted: registers, instruction memory.
  virtual absl::Status AddCode(FusedParts&) { return absl::OkStatus(); }
  virtual void Run(FusedParts& parts, int64_t block) const = 0;
};

// `at`: the stage's number. Not of a product of matrices (product_blocks.h).
std::unique_ptr<FusedStage> MakeStage(const FusedSpec::Stage& stage, int at);
std::unique_ptr<FusedStage> MakeLanesStage(const FusedSpec::Lanes& lanes);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSED_STAGES_H_
