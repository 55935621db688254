// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/move_cut.h"

#include <algorithm>
#include <numeric>

#include "host/ir/index.h"

namespace systole::lanes {

MoveCut::MoveCut(const ir::Type& type, size_t dimension, int64_t beat)
    : type_(type),
      strides_(ir::StridesOf(type.shape)),
      size_(ir::ElementBytes(type.element)),
      beat_(beat),
      dimension_(dimension) {
  if (dimension < type.shape.size()) {
    count_ = type.shape[dimension];
    slab_ = strides_[dimension];
  }
  outer_ = type.elements() / (count_ * slab_);
  least_ = beat_ / std::gcd(beat_, slab_ * size_);
}

bool MoveCut::IsPossible() const {
  return (count_ > 1 || dimension_ + 1 >= type_.shape.size()) &&
         outer_ <= kMostRanges &&
         (outer_ == 1 || count_ * slab_ * size_ % beat_ == 0);
}

std::vector<MoveCut::Range> MoveCut::RangesOf(int64_t rows, bool all) const {
  std::vector<Range> ranges;
  for (int64_t outer = all ? kAll : 0; outer < (all ? 0 : outer_); ++outer) {
    for (int64_t at = 0; at < count_; at += rows)
      ranges.push_back({outer, at, std::min(count_, at + rows)});
  }
  return ranges;
}

int64_t MoveCut::RowsOf(int64_t parts) const {
  const int64_t rows = (count_ + parts - 1) / parts;
  return std::min(count_, (rows + least_ - 1) / least_ * least_);
}

int64_t MoveCut::Below(int64_t rows, int64_t step) {
  return std::max(step, (rows / 2 + step - 1) / step * step);
}

MoveCut::Part MoveCut::PartOf(Piece piece, const Range& range) const {
  const int64_t whole = count_ * slab_;
  const int64_t before = piece.to / whole;  // indices, spread
  int64_t outer = range.outer * whole;
  for (size_t d = 0; d < dimension_ && range.outer != kAll; ++d) {
    const int64_t index = outer / strides_[d];
    outer %= strides_[d];
    if (!piece.Restrict(d, strides_[d], index, index + 1)) return {};
  }
  if (range.outer == kAll) piece.to %= whole;
  if (dimension_ < type_.shape.size() &&
      !piece.Restrict(dimension_, slab_, range.begin, range.end))
    return {};
  if (range.outer == kAll) {
    const int64_t part = (range.end - range.begin) * slab_;
    piece.to += before * part;
    for (size_t d = 0; d < dimension_; ++d)
      piece.dimensions[d].to = piece.dimensions[d].to / whole * part;
  }
  int64_t low = piece.from, high = piece.from + 1;
  for (const CopyDimension& d : piece.dimensions) {
    low += std::min<int64_t>(0, (d.size - 1) * d.from);
    high += std::max<int64_t>(0, (d.size - 1) * d.from);
  }
  return {piece, low * size_ / beat_ * beat_, high * size_};
}

}  // namespace systole::lanes
