// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of matrices on the array, block by block, for a kernel that does
// more with them.
//
//   ProductBlocks product(node, preset, builder);
//   product.Place(lines);  // what the builder has room for
//   product.AddCode(words);
//   product.Block(first, end, at);  // f32 sums of these lines, one behind the
//                                   // other
//
// Lines of the left matrices are loaded in blocks; the lines of all batches are
// contiguous. Right matrices are loaded in strips: the rows of a tile or, where
// the matrices are given as columns, the columns of a tile; both are
// contiguous. A strip stays in the unified buffer until another one needs its
// slot.
//
// The sums of a part, a section of the contraction of lines and column tiles of
// a batch, are chains over its passes: a pass starts from what the one before
// has left, which takes the way through the array. Parts of few vectors take
// turns, so that the others hide that time. The sums of later sections are
// added to those of the first one as they leave the accumulators.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_BLOCKS_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_BLOCKS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/product_walk.h"
#include "host/ir/module.h"
#include "host/kernels/kernels.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// Blocks of half as many rows: none, the last two, or the first and the last.
enum class Halves { kNone, kLast, kBoth };

class ProductBlocks {
 public:
  // The node, a matrix_product, and the builder must outlive the object.
  // `columns`: of a band of the result's columns, a multiple of those of the
  // array; 0: there is one band of all.
  ProductBlocks(const ir::Node& node, const Preset& preset,
                KernelBuilder& builder, int64_t columns = 0);

  int64_t lines() const { return lines_; }  // of all batches
  // Lines of a block that keep the array busy; multiples of `step`.
  int64_t BlockLines(int64_t step) const;
  // Which of the blocks may have half as many lines, so that less is loaded
  // before the first pass and stored behind the last one. The first one only if
  // it is long enough to load the right matrix meanwhile.
  Halves HalvesOf(int64_t block) const;

  // Places buffers for blocks of so many lines, in all the room that is left.
  // ResourceExhausted: it is too small.
  absl::Status Place(int64_t block);
  // Appends its code to that of the instruction memory. Errors: those of the
  // assembler.
  absl::Status AddCode(std::vector<uint64_t>& words);
  // Numbers of the operands in the program.
  void SetOperands(int left, int right) {
    left_ = left;
    right_ = right;
  }
  // The band that the next blocks are of begins at this column.
  void BeginBand(int64_t first);
  int64_t columns() const { return n_; }  // of the band
  // Multiplies lines first to end - 1, a block; their sums are at `to`.
  void Block(int64_t first, int64_t end, int64_t to);

 private:
  // A load starts at the multiple of the unit before its data.
  int64_t Room(int64_t bytes) const { return builder_.Align(bytes + unit_); }
  int64_t LoadedBy(int64_t block) const;
  int64_t LinePitch(int64_t block) const;
  int64_t LinesOf(int64_t count, int64_t bytes) const;
  int64_t Load(int operand, int64_t offset, int64_t bytes, int64_t at);
  struct Part {  // column tiles begin to end - 1 of lines, one section
    Lines lines;
    int64_t begin, end;
    size_t section;
    int64_t from, to;  // addresses of the lines and of result line 0
    int64_t sums = 0;  // accumulator row

    int64_t rows() const { return (end - begin) * lines.count(); }
  };
  void Batch(int64_t first, int64_t end, int64_t a, int64_t c,
             std::vector<Part>& parts) const;
  // Parts wait until they hide their chains, and so do those that are left of
  // the block, in so many cycles; or until a bank is full.
  void Add(Part part, int64_t left);
  int64_t CyclesOf(const Part& part) const;
  bool Hide(int64_t cycles) const;
  bool StripsStayFor(const Part& part) const;
  void MultiplyParts();
  void PushAndMultiply(const Part& part, size_t i);
  int64_t PitchOf(int64_t bytes) const;
  int64_t StripPitch() const;
  int64_t StripBytes() const;
  int64_t Strip(int64_t batch, int64_t strip, int64_t row, int64_t rows,
                int64_t panel);
  void PushRows(int64_t batch, size_t i, int64_t first, int64_t last);
  void PushColumns(int64_t batch, int64_t tile, const Depth& depth);
  void Multiply(const Lines& lines, const Depth& depth, bool accumulate,
                int64_t from, int64_t sums);
  void Drain(int which, int64_t sums, int64_t count, int64_t to, int64_t cols);

  const Preset& preset_;
  KernelBuilder& builder_;
  const kernels::Image* image_ = nullptr;
  int64_t moved_[2] = {0, 0};  // by how much its code
  const bool transposed_;
  const int64_t m_, k_, lines_;  // lines of all batches
  const int64_t all_columns_, band_columns_;
  int64_t first_column_ = 0, n_;  // of the band
  const int64_t unit_, bank_rows_;
  int64_t n_tiles_;
  const ProductWalk walk_;
  int64_t strips_ = 1, strip_bytes_ = 0;      // per batch
  int64_t right_rows_ = 1, right_width_ = 1;  // of a right matrix in HBM
  int64_t pitch_ = 0;                         // of the rows of a strip, bytes
  int64_t block_ = 1;                         // lines per block
  int64_t blocks_ = 0;                        // multiplied so far
  int64_t panel_ = 1;                         // column tiles of a strip
  int64_t a_at_ = 0, a_bytes_ = 0;
  int64_t a_pitch_ = 0;  // of its lines, bytes; 0: as they lie in HBM
  int64_t strips_at_ = 0, slots_ = 2, next_slot_ = 0;
  // Batch; number of strip and panel.
  std::vector<std::pair<int64_t, int64_t>> held_;
  std::vector<Part> parts_;
  int64_t bank_ = 0, rows_ = 0;  // of the parts; rows_: used
  int left_ = 0, right_ = 1;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_BLOCKS_H_
