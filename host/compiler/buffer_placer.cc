// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/buffer_placer.h"

#include <algorithm>
#include <utility>

namespace systole::compiler {

// The first address where no buffer is alive between `first` and buffer.last.
std::optional<int64_t> BufferPlacer::FirstFit(int64_t begin, int64_t end,
                                              const PlanBuffer& buffer,
                                              int first) const {
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const PlanBuffer& b : buffers_) {
    if (b.alive(first, buffer.last)) busy.emplace_back(b.at, b.at + b.bytes);
  }
  std::sort(busy.begin(), busy.end());
  int64_t at = begin;
  for (const auto& [from, to] : busy) {
    if (from - at >= buffer.bytes) break;
    at = std::max(at, to);
  }
  if (at + buffer.bytes > end) return std::nullopt;
  return at;
}

std::optional<int64_t> BufferPlacer::InPlace(const PlanBuffer& buffer) const {
  for (const int over : buffer.over) {
    const PlanBuffer& old = buffers_[over];
    if (old.bytes != buffer.bytes) continue;
    const bool free = std::all_of(
        buffers_.begin(), buffers_.end(), [&](const PlanBuffer& other) {
          return &other == &old || !other.alive(buffer.first, buffer.last) ||
                 other.at >= old.at + old.bytes ||
                 old.at >= other.at + other.bytes;
        });
    if (free) return old.at;
  }
  return std::nullopt;
}

std::optional<int> BufferPlacer::PlaceIn(int64_t begin, int64_t end,
                                         PlanBuffer buffer) {
  buffer.bytes = RoundUp(buffer.bytes, align_);
  std::optional<int64_t> at = InPlace(buffer);
  buffer.anywhere = buffer.anywhere || anywhere_;
  if (!at && !buffer.anywhere)
    at = FirstFit(begin, end, buffer, buffer.first - 1);
  if (!at) at = FirstFit(begin, end, buffer, buffer.first);
  if (!at) return std::nullopt;
  buffer.at = *at;
  buffers_.push_back(std::move(buffer));
  return static_cast<int>(buffers_.size()) - 1;
}

int64_t BufferPlacer::Used(int first, int last) const {
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const PlanBuffer& b : buffers_) {
    if (b.alive(first, last)) busy.emplace_back(b.at, b.at + b.bytes);
  }
  std::sort(busy.begin(), busy.end());
  int64_t used = 0, upto = 0;
  for (const auto& [begin, end] : busy) {
    used += std::max<int64_t>(0, end - std::max(begin, upto));
    upto = std::max(upto, end);
  }
  return used;
}

}  // namespace systole::compiler
