// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// HBM of a program during compilation: a bump allocator, and the bytes that
// must be in memory at the start.
#ifndef HOST_COMPILER_HBM_IMAGE_H_
#define HOST_COMPILER_HBM_IMAGE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "systole/gen/presets.h"
#include "systole/program.h"

namespace systole::compiler {

class HbmImage {
 public:
  explicit HbmImage(const Preset& preset)
      : align_(std::max<uint64_t>(kMemoryAlignment, preset.beat_bytes())) {}

  uint64_t Allocate(uint64_t bytes) {
    const uint64_t at = next_;
    next_ = (next_ + bytes + align_ - 1) / align_ * align_;
    return at;
  }
  uint64_t Add(std::string name, std::vector<uint8_t> data) {
    const uint64_t at = Allocate(data.size());
    segments_.push_back({std::move(name), at, std::move(data)});
    return at;
  }
  // Allocations from here on are for `use`.
  void Begin(MemoryUse use) { begins_.push_back({use, next_, 0}); }
  // Memory allocated for each use, without empty parts.
  std::vector<MemorySegment> Parts() const {
    std::vector<MemorySegment> parts;
    for (size_t i = 0; i < begins_.size(); ++i) {
      MemorySegment part = begins_[i];
      const bool last = i + 1 == begins_.size();
      part.bytes = (last ? next_ : begins_[i + 1].hbm_addr) - part.hbm_addr;
      if (part.bytes > 0) parts.push_back(part);
    }
    return parts;
  }
  uint64_t size() const { return next_; }
  std::vector<DataSegment> TakeSegments() { return std::move(segments_); }

 private:
  uint64_t align_;  // a multiple of the beat and of a descriptor
  uint64_t next_ = 0;
  std::vector<DataSegment> segments_;
  std::vector<MemorySegment> begins_;  // without sizes
};

}  // namespace systole::compiler

#endif  // HOST_COMPILER_HBM_IMAGE_H_
