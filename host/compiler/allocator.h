// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Places buffers in the unified buffer. A buffer lives from one layer to
// another; two that live at the same time do not overlap. Space that nothing of
// the layer before uses is preferred, so that loads can run ahead.
#ifndef HOST_COMPILER_ALLOCATOR_H_
#define HOST_COMPILER_ALLOCATOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "systole/program.h"

namespace systole::compiler {

class UbAllocator {
 public:
  UbAllocator(int64_t bytes, int64_t align) : bytes_(bytes), align_(align) {}

  // Address of `bytes` bytes that are free from layer `first` to layer `last`,
  // or nothing. `name` is for people.
  std::optional<int64_t> Allocate(int64_t bytes, int first, int last,
                                  std::string name = "");

  // Undo: a mark is the number of buffers placed so far.
  size_t Mark() const { return buffers_.size(); }
  void Release(size_t mark) { buffers_.resize(mark); }

  // Everything placed, in the order of the calls.
  std::vector<BufferInfo> Buffers() const;

  // Bytes of buffers alive at some time between the two layers.
  int64_t Used(int first, int last) const;

 private:
  struct Buffer {
    int64_t begin, end;
    int first, last;
    std::string name;
  };
  std::optional<int64_t> FirstFit(int64_t bytes, int first, int last) const;

  int64_t bytes_, align_;
  std::vector<Buffer> buffers_;
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_ALLOCATOR_H_
