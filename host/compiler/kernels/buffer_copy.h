// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies within the unified buffer, of elements of any size, with a stride for
// each dimension on both sides.
//
//   BufferCopier copier(preset);
//   copier.AddCode(words);  // appends its code
//   builder.SetCode(words);
//   copier.Copy(builder, {from, to, 4, dimensions, ...});
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"

namespace systole::lanes {

struct BufferCopy {
  int64_t from, to;       // byte addresses of the first element
  int64_t element_bytes;  // 1, 2, 4 or 8
  std::vector<CopyDimension> dimensions;
  // Everything that may be read and written.
  KernelBuilder::Bytes reads, writes;
  // Custom code instead of a plain copy, if pc >= 0. Its walks are `from`,
  // `to`, and the words from `beside` on, one for each element of `to`.
  // more_reads and more_writes are its additional accesses.
  int pc = -1;
  int64_t beside = 0;
  int64_t row_cycles = 4;  // expected, of custom code
  std::vector<KernelBuilder::Bytes> more_reads = {}, more_writes = {};
};

class BufferCopier {
 public:
  explicit BufferCopier(const Preset& preset) : preset_(preset) {}

  absl::Status AddCode(std::vector<uint64_t>& words);
  // ResourceExhausted: the copy needs too many runs.
  absl::Status Copy(KernelBuilder& builder, const BufferCopy& copy) const;

 private:
  const Preset& preset_;
  int pc_[2][2] = {};  // [bytes, not words][spread the first element of a row]
};

// Rows of a run: start and stride in bytes of each walk.
struct RowsRun {
  int64_t place[kWalks] = {}, stride[kWalks] = {};
  int64_t rows = 1, lanes = 1;
};
std::vector<int64_t> ArgumentsOf(const RowsRun& run);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_BUFFER_COPY_H_
