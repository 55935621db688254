// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Vector code that fills boxes of the unified buffer with zeros.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_ZERO_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_ZERO_CODE_H_

#include <cstdint>
#include <vector>

#include "host/compiler/kernels/kernel_program.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Elements of 2 or 4 bytes at a byte address; the dimensions with their strides
// in bytes, the last one dense.
struct ZeroBox {
  struct Dimension {
    int64_t size, stride;
  };
  int64_t at, element_bytes;
  std::vector<Dimension> dimensions;
};

class ZeroCode {
 public:
  ZeroCode() = default;
  // For instruction memory index `base` on.
  ZeroCode(const Preset& preset, int base);

  const std::vector<uint64_t>& words() const { return words_; }
  // Appends the runs that fill the box.
  void Clear(KernelBuilder& builder, const ZeroBox& box) const;

 private:
  std::vector<uint64_t> words_;
  int64_t lanes_ = 1;
  int words_pc_ = 0, halves_pc_ = 0;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_ZERO_CODE_H_
