// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A program of one generated kernel: descriptors and code for operands at any
// place in HBM.
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

#include <array>
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

// What the cost model expects of a kernel.
struct KernelCost {
  // From the end of the kernels before it to its own end.
  int64_t cycles = 0;
  // Of those, the cycles in which each unit has a descriptor of the kernel.
  std::array<int64_t, isa::kNumQueues> busy{};
  // Least cycles for the memory: each operand and result is moved once, or what
  // the kernel moves where that is less.
  int64_t memory_cycles = 0;
};

struct KernelProgram {
  std::vector<isa::Descriptor> descriptors;
  // The same before sync flags, for a program of several kernels.
  std::vector<compiler::Step> steps;
  // Instruction memory from index 0 on, followed by the data of LoadData.
  std::vector<uint64_t> words;
  std::vector<int64_t> bytes;               // size of each operand
  std::vector<int64_t> bases;               // where `steps` have them
  int64_t load_bytes = 0, store_bytes = 0;  // between HBM and unified buffer
  int64_t expected_cycles = 0;              // of the cost model
  int64_t ub_end = 0;             // end of its buffers in the unified buffer
  std::vector<KernelCost> costs;  // of each kernel in it

  // The descriptors for operands and code at these HBM addresses, which must be
  // multiples of the beat.
  std::vector<isa::Descriptor> Placed(absl::Span<const uint64_t> operands,
                                      uint64_t code) const;

  struct Patch {
    int descriptor, operand;  // operand -1: the code
    int64_t offset;
  };
  std::vector<Patch> patches;
};

// Cycles and busy units of kernels, whose descriptors have their number as tag.
void AddCosts(const compiler::Schedule& schedule,
              std::vector<KernelCost>& costs);

// The code for another place in the instruction memory, `by` instructions on.
void MoveCode(absl::Span<uint64_t> code, int64_t by);
void MoveCode(isa::Descriptor& descriptor, int64_t by);
void MoveCode(KernelProgram& program, int64_t by);

// Whether the descriptor moves data between the unified buffer and HBM, its own
// core's or another one's; its address there.
bool IsDma(const isa::Descriptor& d);
int64_t HbmAddressOf(const isa::Descriptor& d);
void SetHbmAddress(isa::Descriptor& d, int64_t address);
// Of descriptors with placeholder addresses: `bases` of the operands,
// ascending; what lies below is the code.
std::vector<KernelProgram::Patch> PatchesOf(
    const std::vector<isa::Descriptor>& descriptors,
    const std::vector<int64_t>& bases);

class KernelBuilder {
 public:
  // origin: no buffer but that of the code lies below this address, where a
  // kernel before may still be at work.
  explicit KernelBuilder(const Preset& preset, int64_t origin = 0);

  // Adds an operand in HBM; operands do not overlap.
  int AddOperand(int64_t bytes);
  // Sets the instructions from index `pc` on. Call before all runs.
  void SetCode(std::vector<uint64_t> words, int pc = 0);
  // Rounds up to a multiple of beat and word.
  int64_t Align(int64_t bytes) const {
    return compiler::RoundUp(bytes, plan_.align());
  }

  // A part of the unified buffer, in whole beats and words.
  struct Bytes {
    int64_t at, count;
  };
  // Reserves a buffer for the whole kernel. If there is no room, Fits and
  // Finish return the error.
  Bytes Place(const char* name, int64_t bytes);
  absl::Status Fits() const { return status_; }
  // Bytes that Place can still reserve.
  int64_t Room() const;
  // Undoes every Place, to try again with smaller buffers.
  void ReleaseAll();

  // Moves `bytes` between an operand and the unified buffer; offset and address
  // are multiples of the beat.
  void Load(int operand, int64_t offset, int64_t ub, int64_t bytes);
  void Store(int operand, int64_t offset, int64_t ub, int64_t bytes);
  // Loads or stores runs of `bytes` that lie apart. Up to two repetitions, the
  // inner one first; strides are multiples of the beat.
  struct Repeat {
    int64_t count, hbm, ub;  // strides in bytes
  };
  void LoadRuns(int operand, int64_t offset, int64_t ub, int64_t bytes,
                const std::vector<Repeat>& repeats);
  void StoreRuns(int operand, int64_t offset, int64_t ub, int64_t bytes,
                 const std::vector<Repeat>& repeats);
  // Loads or stores `count` runs of `bytes`, at the numbers of beats behind
  // `offset` that lie in the unified buffer from `table` on. `ub_stride`: from
  // a run to the next; all but `bytes` are multiples of the beat.
  struct Rows {
    int64_t count, table, ub_stride;
  };
  void LoadRows(int operand, int64_t offset, int64_t ub, int64_t bytes,
                const Rows& rows);
  void StoreRows(int operand, int64_t offset, int64_t ub, int64_t bytes,
                 const Rows& rows);
  // Loads constant data, once per program; call after SetCode.
  void LoadData(const std::vector<uint32_t>& data, int64_t ub);
  // reads, writes: bytes of the unified buffer that the run accesses (a
  // superset).
  void Run(int pc, const std::vector<int64_t>& arguments,
           const std::vector<Bytes>& reads, const std::vector<Bytes>& writes,
           int64_t cycles);

  // Appends work of the array, its tiles, or a kernel that is not generated.
  template <typename Op>
  void Append(const Op& op) {
    schedule_.Append(op);
  }

  absl::StatusOr<KernelProgram> Finish();

 private:
  template <typename Dma>
  Dma Move(int operand, int64_t offset, int64_t ub, int64_t bytes) const;
  template <typename Dma>
  int64_t AppendRows(Dma dma, int operand, const Rows& rows);
  // Bytes that all runs move.
  template <typename Dma>
  int64_t AppendRuns(Dma dma, int64_t bytes,
                     const std::vector<Repeat>& repeats);

  const Preset& preset_;
  compiler::ScheduleBuilder schedule_;
  KernelProgram program_;
  compiler::Plan plan_;  // holds the buffers
  compiler::BufferPlacer placer_;
  size_t fixed_ = 0;  // buffers that stay
  absl::Status status_;
  std::vector<int64_t> bases_;  // placeholder addresses of the operands
  int64_t next_ = 0;            // end of everything placed in HBM
  // Placeholder address of the data; its offset in `words`, in bytes.
  int64_t data_ = -1, data_offset_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_KERNEL_PROGRAM_H_
