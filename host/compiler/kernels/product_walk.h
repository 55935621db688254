// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the array's data setup walks over the left matrices of a product where
// they lie: in passes of what is contracted, and in lines.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_

#include <cstdint>
#include <vector>

#include "host/ir/hlo/attributes.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Numbers of a line that lie one behind the other.
struct Run {
  int64_t offset, size;
};

// Of a pass through the array: what it contracts, from number k on.
struct Depth {
  int64_t k = 0, size = 0;
  std::vector<Run> runs;
};

// Lines of one batch that one descriptor sends through the array: offsets of
// the first and distances in elements.
struct Lines {
  int64_t line, offset;   // of the product, in the left operand
  int64_t n[3], step[3];  // images, lines, positions of the data setup

  int64_t count() const { return n[0] * n[1] * n[2]; }
  int64_t last() const {
    int64_t at = offset;
    for (int i = 0; i < 3; ++i) at += (n[i] - 1) * step[i];
    return at;
  }
};

class ProductWalk {
 public:
  // `m` lines of `k` numbers a batch; the attributes must outlive it.
  ProductWalk(const ir::HloMatrixProductAttributes& attributes, int64_t m,
              int64_t k, const Preset& preset);

  // Passes, in order: as many numbers and segments each as the array takes.
  const std::vector<Depth>& depths() const { return depths_; }
  // Lines first..end-1 of the product, all of one batch, at most `most` a
  // descriptor.
  std::vector<Lines> LinesOf(int64_t first, int64_t end, int64_t most) const;
  // Elements of the left operand, from the first to the last, that those lines
  // need, which may be of several batches.
  Run Needed(int64_t first, int64_t end, int64_t most) const;

 private:
  struct Dimension {
    int64_t size, step;
  };

  // Dimensions of which neighbours lie one behind the other are one.
  std::vector<Dimension> Merged(size_t begin, size_t end) const;
  std::vector<Depth> DepthsOf(std::vector<Dimension> dimensions) const;

  const ir::HloMatrixProductAttributes& a_;
  const Preset& preset_;
  const int64_t m_, k_;
  std::vector<Dimension> rows_;
  std::vector<Depth> depths_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_
