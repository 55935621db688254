// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/fused_layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "host/compiler/geometry.h"
#include "host/ir/hlo/tree.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using compiler::CeilDiv;
using compiler::RoundUp;

constexpr int64_t kLeastGroups = 16;  // of eight rows of lanes in a block
// Values up to this part of the unified buffer lie there with all rows.
constexpr int64_t kSmallValue = 256;

// Of what becomes one element, or [inner] ones; 0: of less than that.
int64_t LineBytes(const FusedSpec::Reduce& reduce) {
  if (reduce.left != 0) return 0;
  const ir::Type& type = reduce.node->operands[0].type();
  const ir::TreeShape tree = ir::TreeShapeOf(
      type.shape, reduce.node->attr<ir::HloDimensionsAttributes>().dimensions);
  return tree.count * tree.inner * ir::ElementBytes(type.element);
}

}  // namespace

std::vector<int> OperandsOf(const FusedSpec::Stage& stage) {
  if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage))
    return {reduce->operand, reduce->first};
  if (const auto* copy = std::get_if<FusedSpec::Copy>(&stage))
    return copy->operands;
  if (std::holds_alternative<FusedSpec::Product>(stage)) return {};
  std::vector<int> operands;
  const auto& lanes = std::get<FusedSpec::Lanes>(stage);
  for (const auto& operand : lanes.operands) operands.push_back(operand.value);
  for (const auto& fold : lanes.folds)
    if (!fold.columns) operands.push_back(fold.first);
  return operands;
}

std::vector<int> ResultsOf(const FusedSpec::Stage& stage) {
  if (const auto* reduce = std::get_if<FusedSpec::Reduce>(&stage))
    return {reduce->result};
  if (const auto* copy = std::get_if<FusedSpec::Copy>(&stage))
    return {copy->result};
  if (const auto* product = std::get_if<FusedSpec::Product>(&stage))
    return {product->result};
  const auto& lanes = std::get<FusedSpec::Lanes>(stage);
  std::vector<int> results = lanes.results;
  for (const auto& fold : lanes.folds) results.push_back(fold.result);
  return results;
}

void RemoveUnreadCopies(FusedSpec& spec) {
  std::vector<bool> read(spec.values.size());
  for (const FusedSpec::Stage& stage : spec.stages) {
    for (const int value : OperandsOf(stage)) read[value] = true;
  }
  const auto unread = [&](const FusedSpec::Stage& stage) {
    const auto* const copy = std::get_if<FusedSpec::Copy>(&stage);
    return copy != nullptr && !read[copy->result] &&
           !spec.values[copy->result].stored;
  };
  spec.stages.erase(
      std::remove_if(spec.stages.begin(), spec.stages.end(), unread),
      spec.stages.end());
}

bool IsOnce(const FusedSpec& spec, const FusedSpec::Stage& stage) {
  const auto* const lanes = std::get_if<FusedSpec::Lanes>(&stage);
  if (spec.rows == 1 || (lanes != nullptr && !lanes->folds.empty()) ||
      std::holds_alternative<FusedSpec::Reduce>(stage) ||
      std::holds_alternative<FusedSpec::Product>(stage))
    return false;
  const std::vector<int> operands = OperandsOf(stage);
  const std::vector<int> results = ResultsOf(stage);
  return std::none_of(operands.begin(), operands.end(),
                      [&](int value) { return spec.values[value].by_rows; }) &&
         std::none_of(results.begin(), results.end(),
                      [&](int value) { return spec.values[value].stored; });
}

int64_t UsefulBlocks(const FusedSpec& spec, const Preset& preset) {
  int64_t most = 1;  // bytes of a row
  for (const FusedSpec::Value& value : spec.values)
    if (value.by_rows) most = std::max(most, value.bytes / spec.rows);
  const int64_t group = vpu::kVectorSteps * preset.cols * 4;
  const int64_t groups = CeilDiv(spec.rows * most, group);
  return groups / (kLeastGroups * static_cast<int64_t>(spec.stages.size()));
}

FusedLayout::FusedLayout(const FusedSpec& spec, const Preset& preset,
                         const ProductBlocks* product)
    : spec_(spec),
      preset_(preset),
      product_(product),
      places_(spec.values.size()) {
  FindUses();
}

int64_t FusedLayout::blocks() const {
  return CeilDiv(spec_.rows, block_rows_) + (halves_ == Halves::kNone ? 0 : 1);
}

int64_t FusedLayout::FirstRow(int64_t block) const {
  const int64_t first = block * block_rows_;
  const bool late = halves_ == Halves::kBoth
                        ? block > 0
                        : halves_ == Halves::kLast && first == spec_.rows;
  return late ? first - block_rows_ / 2 : first;
}

int64_t FusedLayout::RowsOf(int64_t block) const {
  const int64_t end = block + 1 < blocks() ? FirstRow(block + 1) : spec_.rows;
  return end - FirstRow(block);
}

int64_t FusedLayout::MultipleOfRows() const {
  if (halves_ != Halves::kNone) return block_rows_ / 2;
  return spec_.rows % block_rows_ == 0 ? block_rows_ : 1;
}

int64_t FusedLayout::RowBytes(int value) const {
  const FusedSpec::Value& v = spec_.values[value];
  return v.by_rows ? v.bytes / spec_.rows : v.bytes;
}

int64_t FusedLayout::RowPitch(int value) const {
  const int64_t row = RowBytes(value);
  const Lines& lines = lines_[value];
  return lines.gap == 0 ? row : row + row / lines.bytes * lines.gap;
}

int64_t FusedLayout::Shift(Kind kind, int64_t block, int64_t row_pitch) const {
  switch (kind) {
    case Kind::kFixed:
      return 0;
    case Kind::kSlot:
      return block % slots_ * slot_bytes_;
    case Kind::kRows:
      return FirstRow(block) * row_pitch;
  }
  return 0;
}

FusedLayout::Bytes FusedLayout::Of(int value, int64_t block) const {
  const ValuePlace& place = places_[value];
  const int64_t row = RowPitch(value);
  return {place.first.at + Shift(place.kind, block, row),
          spec_.values[value].by_rows ? RowsOf(block) * row : row};
}

// Whether it is loaded or stored, and too large to lie there whole.
bool FusedLayout::IsLarge(int value) const {
  const FusedSpec::Value& v = spec_.values[value];
  return v.by_rows && (v.loaded || v.stored) &&
         v.bytes * kSmallValue > preset_.ub_bytes;
}

void FusedLayout::FindUses() {
  last_.assign(spec_.values.size(), -1);
  reused_.assign(spec_.values.size(), true);
  for (size_t i = 0; i < spec_.stages.size(); ++i) {
    for (const auto& list :
         {OperandsOf(spec_.stages[i]), ResultsOf(spec_.stages[i])}) {
      for (const int value : list) last_[value] = static_cast<int>(i);
    }
    if (IsOnce(spec_, spec_.stages[i])) {
      for (const int value : ResultsOf(spec_.stages[i])) reused_[value] = false;
    }
  }
}

// A register has the same row of lanes of several lines. If the lines are
// multiples of what all banks have side by side, these rows lie in one bank,
// for which everything else waits meanwhile.
void FusedLayout::FindLines() {
  std::map<int, int64_t> line;  // of values: bytes; 0: a stage needs one piece
  const auto use = [&](int value, int64_t bytes) {
    const auto [at, added] = line.emplace(value, bytes);
    if (at->second != bytes) at->second = 0;
  };
  for (const FusedSpec::Stage& stage : spec_.stages) {
    const auto* const reduce = std::get_if<FusedSpec::Reduce>(&stage);
    if (reduce != nullptr) {
      use(reduce->operand, LineBytes(*reduce));
      use(reduce->first, 0);
      use(reduce->result, 0);
      continue;
    }
    const auto* const lanes = std::get_if<FusedSpec::Lanes>(&stage);
    if (lanes == nullptr) {
      for (const auto& list : {OperandsOf(stage), ResultsOf(stage)})
        for (const int value : list) use(value, 0);
      continue;
    }
    for (const FusedSpec::Lanes::Operand& operand : lanes->operands) {
      const bool whole = operand.pattern == Pattern::kStream &&
                         !operand.of_line && !operand.once && !operand.is_line;
      use(operand.value,
          whole ? lanes->line * StorageBytes(operand.storage) : 0);
    }
    for (size_t i = 0; i < lanes->results.size(); ++i)
      use(lanes->results[i],
          lanes->line * StorageBytes(lanes->stores[i].storage));
    for (const FusedSpec::Lanes::Fold& fold : lanes->folds) {
      if (!fold.columns) use(fold.first, 0);
      use(fold.result, 0);
    }
  }
  lines_.assign(spec_.values.size(), {});
  for (const auto& [value, bytes] : line) {
    if (bytes == 0 || !spec_.values[value].by_rows ||
        RowBytes(value) % bytes != 0 ||
        bytes % (preset_.ub_banks * preset_.word_bytes()) != 0)
      continue;
    lines_[value] = {bytes, align_};
  }
}

// Blocks begin at whole beats of all values that are loaded or stored, and
// where that is possible they fill the lanes.
void FusedLayout::ChooseRows() {
  step_ = 1;
  for (size_t i = 0; i < spec_.values.size(); ++i) {
    const int value = static_cast<int>(i);
    const int64_t row = RowBytes(value);
    if (!spec_.values[i].by_rows) continue;
    if (IsLarge(value)) step_ = std::lcm(step_, align_ / std::gcd(align_, row));
    if (step_ >= spec_.rows) break;
  }
  step_ = std::min(step_, spec_.rows);
  if (product_ != nullptr) {
    const int64_t lines = product_->lines() / spec_.rows;
    const int64_t block = product_->BlockLines(step_ * lines);
    block_rows_ = std::clamp(block / lines, step_, spec_.rows);
    // Less is loaded before the first pass and stored behind the last one.
    if (spec_.rows % block_rows_ != 0 || spec_.rows == block_rows_ ||
        block_rows_ % (2 * step_) != 0)
      return;
    halves_ = product_->HalvesOf(block_rows_ * lines);
    if (halves_ == Halves::kBoth && FirstBlockServesAll())
      halves_ = Halves::kLast;
    return;
  }
  const int64_t wanted =
      std::clamp<int64_t>(UsefulBlocks(spec_, preset_), 1, spec_.most_blocks);
  int64_t fill = step_;  // rows that fill the lanes
  for (const FusedSpec::Stage& stage : spec_.stages) {
    const auto* lanes = std::get_if<FusedSpec::Lanes>(&stage);
    if (lanes == nullptr || !spec_.values[ResultsOf(stage)[0]].by_rows)
      continue;
    // A register full of rows of lanes, or two of lines.
    const int64_t row = std::max(lanes->line, preset_.cols);
    const int64_t all =
        (lanes->line != 0 ? 2 : 1) * preset_.vector_rows() * row;
    const int64_t elements = lanes->elements / spec_.rows;
    const int64_t whole =
        std::lcm(fill, elements < all && lanes->line == 0
                           ? preset_.cols / std::gcd(preset_.cols, elements)
                           : all / std::gcd(all, elements));
    if (whole * wanted <= spec_.rows) fill = whole;
  }
  block_rows_ =
      std::min(spec_.rows, RoundUp(CeilDiv(spec_.rows, wanted), fill));
  const bool both = spec_.half_ends && spec_.rows % block_rows_ == 0 &&
                    spec_.rows > block_rows_ && block_rows_ % (2 * fill) == 0 &&
                    !FirstBlockServesAll();
  halves_ = both ? Halves::kBoth : Halves::kNone;
}

bool FusedLayout::FirstBlockServesAll() const {
  return std::any_of(spec_.stages.begin(), spec_.stages.end(),
                     [this](const FusedSpec::Stage& stage) {
                       const std::vector<int> results = ResultsOf(stage);
                       return IsOnce(spec_, stage) &&
                              std::any_of(results.begin(), results.end(),
                                          [this](int value) {
                                            return spec_.values[value].by_rows;
                                          });
                     });
}

// Values that stages hand on. Where one is not needed any more, the next one
// may lie.
void FusedLayout::PlaceBetween(const PlaceBytes& place) {
  std::vector<Bytes> free;
  std::vector<bool> placed(places_.size(), false);
  for (size_t i = 0; i < spec_.stages.size(); ++i) {
    for (const int value : ResultsOf(spec_.stages[i])) {
      const FusedSpec::Value& v = spec_.values[value];
      if (v.loaded || v.stored) continue;
      const int64_t rows = v.by_rows ? block_rows_ : 1;
      const int64_t bytes = rows * RowPitch(value);
      const auto fits =
          std::find_if(free.begin(), free.end(),
                       [&](const Bytes& part) { return part.count == bytes; });
      if (fits != free.end() && reused_[value]) {
        places_[value].first = *fits;
        free.erase(fits);
      } else {
        places_[value].first = {place(bytes), bytes};
      }
      placed[value] = true;
    }
    for (size_t value = 0; value < places_.size(); ++value) {
      if (placed[value] && reused_[value] &&
          last_[value] == static_cast<int>(i))
        free.push_back(places_[value].first);
    }
  }
}

absl::Status FusedLayout::Place(KernelBuilder& builder) {
  if (align_ == 0) {
    align_ = builder.Align(1);
    FindLines();
    ChooseRows();
  }
  builder.ReleaseAll();
  const bool many = blocks() > 1;
  slots_ = std::min(slots_, blocks());
  slot_bytes_ = 0;
  const Kind in_slot = slots_ > 1 ? Kind::kSlot : Kind::kFixed;
  const auto in_turns = [&](int64_t bytes) {
    const int64_t at = slot_bytes_;
    slot_bytes_ += builder.Align(Room(bytes));
    return at;
  };
  std::vector<size_t> in_slots;
  for (size_t i = 0; i < places_.size(); ++i) {
    const FusedSpec::Value& v = spec_.values[i];
    ValuePlace& place = places_[i];
    if (v.by_stage) continue;
    if (!v.loaded && !v.stored) {
      place.kind = in_turns_ && v.by_rows ? in_slot : Kind::kFixed;
      if (in_turns_) in_slots.push_back(i);
      continue;
    }
    const int value = static_cast<int>(i);
    if (InBlocks(value)) {
      const int64_t bytes = block_rows_ * RowPitch(value);
      place = {in_slot, {in_turns(bytes), bytes}};
      in_slots.push_back(i);
    } else {
      place.kind = v.by_rows && many ? Kind::kRows : Kind::kFixed;
      const int64_t bytes = v.by_rows ? spec_.rows * RowPitch(value) : v.bytes;
      place.first = {builder.Place("values", Room(bytes)).at, bytes};
    }
  }
  if (in_turns_) PlaceBetween(in_turns);
  // Both blocks lie alike in the banks.
  slot_bytes_ = RoundUp(slot_bytes_, preset_.ub_banks * preset_.word_bytes());
  const int64_t at = builder.Place("blocks", slots_ * slot_bytes_).at;
  for (const size_t value : in_slots) places_[value].first.at += at;
  if (!in_turns_) {
    PlaceBetween([&](int64_t bytes) {
      return builder.Place("values in between", Room(bytes)).at;
    });
  }
  return builder.Fits();
}

bool FusedLayout::TakeTurns() {
  if (in_turns_ || blocks() == 1) return false;
  in_turns_ = true;
  return true;
}

bool FusedLayout::Shrink() {
  halves_ = Halves::kNone;
  if (block_rows_ <= step_) {
    if (slots_ == 1) return false;
    slots_ = 1;
    ChooseRows();
    return true;
  }
  block_rows_ = std::max(step_, RoundUp(block_rows_ / 2, step_));
  return true;
}

}  // namespace systole::lanes
