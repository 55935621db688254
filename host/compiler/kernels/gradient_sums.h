// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Sums of sections (docs/hlo.md, "Products") in the unified buffer: the chain
// of the present section, and the sections before.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_SUMS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_SUMS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_graph.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

class GradientSums {
 public:
  using Bytes = KernelBuilder::Bytes;

  // So many sums, whose results have this storage.
  GradientSums(int64_t count, Storage result, const Preset& preset)
      : count_(count), of_result_(result), preset_(preset) {}

  void Place(KernelBuilder& builder);
  // ResourceExhausted: the instruction memory.
  absl::Status AddCode(std::vector<uint64_t>& words);
  // All are +0.
  void Clear(KernelBuilder& builder) const;
  // sum = sum + chain; chain = +0.
  void EndSection(KernelBuilder& builder) const;
  // Stores the sums, rounded to the result's type.
  void Store(KernelBuilder& builder, int operand) const;

  const Bytes& chains() const { return chains_; }  // words
  int64_t result_bytes() const { return count_ * StorageBytes(of_result_); }

 private:
  void Run(KernelBuilder& builder, int pc, const Bytes& a, const Bytes& b,
           int64_t bytes, const std::vector<Bytes>& reads,
           const std::vector<Bytes>& writes) const;

  const int64_t count_;
  const Storage of_result_;
  const Preset& preset_;
  int clear_pc_ = 0, section_pc_ = 0, result_pc_ = 0;
  Bytes chains_ = {}, sums_ = {}, result_ = {};
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_GRADIENT_SUMS_H_
