// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The walk of the array's data setup over the left matrices of a product, in
// place: passes along the contraction, and lines.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "host/ir/hlo/attributes.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Contiguous numbers of a line.
struct Run {
  int64_t offset, size;
};

// A pass through the array: the numbers that it contracts, from number k on,
// all of one section.
struct Depth {
  int64_t k = 0, size = 0;
  std::vector<Run> runs;
};

// Lines of one batch that one descriptor sends through the array: offsets of
// the first line and distances, in elements.
struct Lines {
  int64_t line, offset;   // line of the product; offset in the left operand
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
  // `m` lines of `k` numbers per batch. The attributes must outlive the object.
  ProductWalk(const ir::HloMatrixProductAttributes& attributes, int64_t m,
              int64_t k, const Preset& preset);

  // The passes in order; each takes as many numbers and segments as the array
  // allows.
  const std::vector<Depth>& depths() const { return depths_; }
  // The passes of each section of the contraction (docs/hlo.md, "Products"):
  // the first one, and the one behind the last.
  const std::vector<std::pair<size_t, size_t>>& sections() const {
    return sections_;
  }
  // Lines first to end - 1 of the product, all of one batch, at most `most` per
  // descriptor.
  std::vector<Lines> LinesOf(int64_t first, int64_t end, int64_t most) const;
  // Lines of the inner loops, as many of them as have at most `most` lines.
  int64_t InnerLines(int64_t most) const;
  // Cycles for which windows of a line wait for each other, as they meet in a
  // bank of the unified buffer: of all lines, about.
  int64_t Stalls() const;
  // Whether lines are contiguous, one behind the other, those of all batches.
  bool Contiguous() const;
  // The range of elements of the left operand that these lines need; they may
  // be of several batches.
  Run Needed(int64_t first, int64_t end, int64_t most) const;

 private:
  struct Dimension {
    int64_t size, step;
  };

  // Merges dimensions whose neighbours are contiguous.
  std::vector<Dimension> Merged(size_t begin, size_t end) const;
  void SetDepths(std::vector<Dimension> dimensions);

  const ir::HloMatrixProductAttributes& a_;
  const Preset& preset_;
  const int64_t m_, k_;
  std::vector<Dimension> rows_;
  std::vector<Depth> depths_;
  std::vector<std::pair<size_t, size_t>> sections_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_WALK_H_
