// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/buffer_placer.h"

#include <algorithm>
#include <utility>

namespace systole::compiler {

std::optional<int64_t> BufferPlacer::FirstFit(int64_t bytes, int first,
                                              int last) const {
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const PlanBuffer& b : buffers_) {
    if (b.alive(first, last)) busy.emplace_back(b.at, b.at + b.bytes);
  }
  std::sort(busy.begin(), busy.end());
  int64_t at = 0;
  for (const auto& [begin, end] : busy) {
    if (begin - at >= bytes) break;
    at = std::max(at, end);
  }
  if (at + bytes > bytes_) return std::nullopt;
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

std::optional<int> BufferPlacer::Place(PlanBuffer buffer) {
  buffer.bytes = RoundUp(buffer.bytes, align_);
  std::optional<int64_t> at = InPlace(buffer);
  if (!at) at = FirstFit(buffer.bytes, buffer.first - 1, buffer.last);
  if (!at) at = FirstFit(buffer.bytes, buffer.first, buffer.last);
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
