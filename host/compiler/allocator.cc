// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/allocator.h"

#include <algorithm>
#include <utility>

namespace systole::compiler {

std::optional<int64_t> UbAllocator::FirstFit(int64_t bytes, int first,
                                             int last) const {
  std::vector<Buffer> busy;
  for (const Buffer& b : buffers_) {
    if (b.first <= last && first <= b.last) busy.push_back(b);
  }
  std::sort(busy.begin(), busy.end(),
            [](const Buffer& a, const Buffer& b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const Buffer& b : busy) {
    if (b.begin - at >= bytes) break;
    at = std::max(at, b.end);
  }
  if (at + bytes > bytes_) return std::nullopt;
  return at;
}

std::optional<int64_t> UbAllocator::Allocate(int64_t bytes, int first, int last,
                                             std::string name) {
  bytes = (bytes + align_ - 1) / align_ * align_;
  std::optional<int64_t> at = FirstFit(bytes, first - 1, last);
  if (!at) at = FirstFit(bytes, first, last);
  if (at) buffers_.push_back({*at, *at + bytes, first, last, std::move(name)});
  return at;
}

std::vector<BufferInfo> UbAllocator::Buffers() const {
  std::vector<BufferInfo> all;
  for (const Buffer& b : buffers_) {
    all.push_back({b.name, static_cast<uint64_t>(b.begin),
                   static_cast<uint64_t>(b.end - b.begin),
                   static_cast<uint32_t>(b.first),
                   static_cast<uint32_t>(b.last)});
  }
  return all;
}

int64_t UbAllocator::Used(int first, int last) const {
  int64_t used = 0;
  for (const Buffer& b : buffers_) {
    if (b.first <= last && first <= b.last) used += b.end - b.begin;
  }
  return used;
}

}  // namespace systole::compiler
