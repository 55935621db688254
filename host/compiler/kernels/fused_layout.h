// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where the values of a fused kernel lie in the unified buffer.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_FUSED_LAYOUT_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_FUSED_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/product_blocks.h"

namespace systole::lanes {

class FusedLayout {
 public:
  using Bytes = KernelBuilder::Bytes;

  // How the address of a value depends on the block.
  enum class Kind : uint8_t {
    kFixed,  // it does not
    kSlot,   // two blocks take turns
    kRows,   // all rows lie one after the other
  };

  // product: of the stage, if there is one.
  FusedLayout(const FusedSpec& spec, const Preset& preset,
              const ProductBlocks* product);

  // Chooses how many rows a block has and places all values. The layout can
  // then be made smaller, until no smaller one is left.
  absl::Status Place(KernelBuilder& builder);
  bool Shrink();
  // Lets blocks take turns in all values, so that fewer kinds are left.
  bool TakeTurns();

  // Whether a stage whose result is the same for all rows runs for a block.
  bool RunsOnce(int value, int64_t block) const {
    return KindOf(value) == Kind::kSlot ? block < slots_ : block == 0;
  }

  int64_t block_rows() const { return block_rows_; }
  int64_t blocks() const;
  int64_t FirstRow(int64_t block) const;
  int64_t RowsOf(int64_t block) const;
  // Each block has a multiple of so many rows.
  int64_t MultipleOfRows() const;

  // Whether it is loaded and stored block by block.
  bool InBlocks(int value) const { return IsLarge(value) && blocks() > 1; }
  // Whether nothing else needs the value's bytes behind a stage.
  bool EndsIn(int value, int stage) const {
    const FusedSpec::Value& v = spec_.values[value];
    return last_[value] == stage && !v.stored && reused_[value] &&
           (!v.loaded || InBlocks(value) || blocks() == 1);
  }
  Kind KindOf(int value) const { return places_[value].kind; }
  // How a value lies there: in lines of so many bytes with a gap behind each,
  // so that equal parts of neighbouring lines lie in different banks. Without a
  // gap it lies in one piece.
  struct Lines {
    int64_t bytes = 0, gap = 0;
  };
  Lines LinesOf(int value) const { return lines_[value]; }
  // Bytes that the block adds to the address of a value of that kind, whose
  // rows begin so many bytes after each other.
  int64_t Shift(Kind kind, int64_t block, int64_t row_pitch) const;
  // The value's bytes for the first block.
  Bytes First(int value) const { return places_[value].first; }
  // Those of a block; of all rows, if the value is not cut.
  Bytes Of(int value, int64_t block) const;
  int64_t RowBytes(int value) const;
  // With the gaps.
  int64_t RowPitch(int value) const;

 private:
  struct ValuePlace {
    Kind kind = Kind::kFixed;
    Bytes first = {0, 0};
  };
  bool IsLarge(int value) const;
  // Stages may read a row of lanes behind a value.
  int64_t Room(int64_t bytes) const { return bytes + preset_.word_bytes(); }
  void FindUses();
  void FindLines();
  void ChooseRows();
  // Whether what is made of it once is the same for the rows of all blocks: no
  // other block may have more of them.
  bool FirstBlockServesAll() const;
  using PlaceBytes = std::function<int64_t(int64_t bytes)>;
  void PlaceBetween(const PlaceBytes& place);

  const FusedSpec& spec_;
  const Preset& preset_;
  const ProductBlocks* const product_;
  std::vector<ValuePlace> places_;
  std::vector<int> last_;     // stage that needs the value
  std::vector<bool> reused_;  // its bytes may serve another value after that
  std::vector<Lines> lines_;
  int64_t align_ = 0;  // of parts of the unified buffer
  int64_t step_ = 1;
  int64_t block_rows_ = 1, slots_ = 2, slot_bytes_ = 0;
  bool in_turns_ = false;
  Halves halves_ = Halves::kNone;
};

// Blocks of which each has enough rows for each stage.
int64_t UsefulBlocks(const FusedSpec& spec, const Preset& preset);

// The operands of a stage and its results, by value.
std::vector<int> OperandsOf(const FusedSpec::Stage& stage);
std::vector<int> ResultsOf(const FusedSpec::Stage& stage);
// Removes copies that no stage reads and that are not stored.
void RemoveUnreadCopies(FusedSpec& spec);
// Whether a stage's results are the same for all rows, so that it runs once.
bool IsOnce(const FusedSpec& spec, const FusedSpec::Stage& stage);

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_FUSED_LAYOUT_H_
