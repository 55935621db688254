// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A program of one generated kernel: descriptors and code that work on operands
// wherever these lie in HBM.
//
//   KernelBuilder builder(preset);
//   const int x = builder.AddOperand(bytes), y = builder.AddOperand(bytes);
//   builder.SetCode(words);
//   builder.Load(x, 0, ub, bytes);
//   builder.Run(...);
//   builder.Store(y, 0, ub, bytes);
//   absl::StatusOr<KernelProgram> program = builder.Finish();
//   program->Place(addresses, code_address);
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_PROGRAM_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_PROGRAM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "host/compiler/buffer_placer.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

struct KernelProgram {
  std::vector<isa::Descriptor> descriptors;
  // Of the instruction memory from index 0 on; behind them what LoadData needs.
  std::vector<uint64_t> words;
  std::vector<int64_t> bytes;               // of each operand
  int64_t load_bytes = 0, store_bytes = 0;  // between HBM and unified buffer

  // The descriptors for operands and code at these places of HBM, multiples of
  // the beat.
  std::vector<isa::Descriptor> Placed(absl::Span<const uint64_t> operands,
                                      uint64_t code) const;

  struct Patch {
    int descriptor, operand;  // operand -1: the code
    int64_t offset;
  };
  std::vector<Patch> patches;
};

class KernelBuilder {
 public:
  explicit KernelBuilder(const Preset& preset);

  // What lies in HBM, each operand apart from the others.
  int AddOperand(int64_t bytes);
  // Comes before all runs: instructions from index `pc` on.
  void SetCode(std::vector<uint64_t> words, int pc = 0);
  // A multiple of beat and word.
  int64_t Align(int64_t bytes) const {
    return compiler::RoundUp(bytes, plan_.align());
  }

  // A part of the unified buffer, in whole beats and words.
  struct Bytes {
    int64_t at, count;
  };
  // A buffer that is the kernel's from beginning to end. Where there is no room
  // for it, Fits says so, and Finish does.
  Bytes Place(const char* name, int64_t bytes);
  absl::Status Fits() const { return status_; }
  // What Place can still give.
  int64_t Room() const;
  // Takes back every Place, for an attempt with smaller ones.
  void ReleaseAll();

  // `bytes` between an operand and the unified buffer, from multiples of the
  // beat on.
  void Load(int operand, int64_t offset, int64_t ub, int64_t bytes);
  void Store(int operand, int64_t offset, int64_t ub, int64_t bytes);
  // Numbers that are known now, once a program; behind SetCode.
  void LoadData(const std::vector<uint32_t>& data, int64_t ub);
  // What the run reads and writes of the unified buffer: bytes, a superset.
  void Run(int pc, const std::vector<int64_t>& arguments,
           const std::vector<Bytes>& reads, const std::vector<Bytes>& writes,
           int64_t cycles);

  // Work of the array, tiles for it, or a kernel that is not generated.
  template <typename Op>
  void Append(const Op& op) {
    schedule_.Append(op);
  }

  absl::StatusOr<KernelProgram> Finish();

 private:
  template <typename Dma>
  Dma Move(int operand, int64_t offset, int64_t ub, int64_t bytes) const;

  const Preset& preset_;
  compiler::ScheduleBuilder schedule_;
  KernelProgram program_;
  compiler::Plan plan_;  // of buffers
  compiler::BufferPlacer placer_;
  absl::Status status_;
  std::vector<int64_t> bases_;  // addresses that stand for the operands
  int64_t next_ = 0;            // behind all that stands in HBM
  int64_t data_ = -1,
          data_offset_ = 0;  // stands for the data; bytes of `words`
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_PROGRAM_H_
