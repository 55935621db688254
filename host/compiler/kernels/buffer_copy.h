// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies within the unified buffer: of any elements, walked with a stride a
// dimension on either side.
//
//   BufferCopier copier(preset);
//   copier.AddCode(words);           // behind what is there
//   builder.SetCode(words);
//   copier.Copy(builder, {from, to, 4, dimensions, ...});
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"

namespace systole::lanes {

struct CopyDimension {
  int64_t size;
  int64_t from, to;  // strides, in elements
};

// Without those of one element; neighbours that lie one behind the other on
// both sides are one.
std::vector<CopyDimension> MergedDimensions(
    const std::vector<CopyDimension>& dimensions);

struct BufferCopy {
  int64_t from, to;       // bytes of the first element
  int64_t element_bytes;  // 1, 2, 4 or 8
  std::vector<CopyDimension> dimensions;
  // All that may be read and written.
  KernelBuilder::Bytes reads, writes;
  // Code of one's own instead, of elements: its walks are `from`, `to` and
  // words from `beside` on, an element of `to` each; what it reads and writes
  // more.
  int pc = -1;
  int64_t beside = 0;
  std::vector<KernelBuilder::Bytes> more_reads = {}, more_writes = {};
};

class BufferCopier {
 public:
  explicit BufferCopier(const Preset& preset) : preset_(preset) {}

  absl::Status AddCode(std::vector<uint64_t>& words);
  // ResourceExhausted: it takes too many runs.
  absl::Status Copy(KernelBuilder& builder, const BufferCopy& copy) const;

 private:
  const Preset& preset_;
  int pc_[2][2] = {};  // [bytes, not words][spread a row's first element]
};

// Rows of a kernel: places and strides in bytes, a walk each.
struct RowsRun {
  int64_t place[kWalks] = {}, stride[kWalks] = {};
  int64_t rows = 1, lanes = 1;
};
std::vector<int64_t> ArgumentsOf(const RowsRun& run);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_
