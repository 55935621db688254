// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/program/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "systole/gen/presets.h"
#include "systole/loops.h"

namespace systole {
namespace {

class Checker {
 public:
  Checker(const Program& program, const std::string& name)
      : program_(program), name_(name) {}

  absl::Status Run(absl::Span<const Section> more) {
    if (absl::Status s = CheckLayout(); !s.ok()) return s;
    for (const TensorInfo& t : program_.tensors) {
      if (absl::Status s = CheckTensor(t); !s.ok()) return s;
    }
    if (absl::Status s = CheckBuffers(); !s.ok()) return s;
    if (absl::Status s = CheckSections(more); !s.ok()) return s;
    for (const MemorySegment& part : program_.memory) {
      if (part.hbm_addr > program_.hbm_bytes ||
          part.bytes > program_.hbm_bytes - part.hbm_addr)
        return Bad("memory for ", MemoryUseName(part.use),
                   " ends above the program's ", program_.hbm_bytes,
                   " bytes of HBM");
    }
    if (absl::Status s = CheckRelocations(program_); !s.ok())
      return Bad(s.message());
    return absl::OkStatus();
  }

 private:
  template <typename... Args>
  absl::Status Bad(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", args...));
  }

  // Where descriptors and data go in HBM.
  absl::Status CheckLayout() {
    const Program& p = program_;
    preset_ = FindPreset(p.preset);
    if (preset_ == nullptr) {
      std::vector<std::string> names;
      for (const Preset& known : kPresets) names.emplace_back(known.name);
      return Bad("unknown preset '", p.preset, "'; there are ",
                 absl::StrJoin(names, ", "));
    }
    const uint64_t capacity = preset_->reach_bytes();
    if (p.hbm_bytes > capacity)
      return Bad("wants ", p.hbm_bytes, " bytes of HBM; ", p.preset, " has ",
                 capacity);
    if (p.prog_addr % 128 != 0)
      return Bad("program address ", p.prog_addr, " is not a multiple of 128");
    if (p.descriptors.empty() ||
        isa::GetBits(p.descriptors.back(), 0, 8) !=
            static_cast<uint64_t>(isa::Opcode::kHalt)) {
      return Bad("the last descriptor is not a halt");
    }
    if (absl::Status s =
            CheckLoops({p.descriptors, p.loops, p.steps}, *preset_);
        !s.ok())
      return Bad(s.message());
    for (const Loop& loop : p.loops) {
      if (loop.conditional() && loop.word + 4 > p.hbm_bytes)
        return Bad("a condition at ", loop.word, " lies above the program's ",
                   p.hbm_bytes, " bytes of HBM");
    }

    struct Range {
      uint64_t begin, end;
      std::string what;
    };
    std::vector<Range> ranges;
    const auto add = [&](const std::string& what, uint64_t begin,
                         uint64_t bytes) -> absl::Status {
      if (begin > p.hbm_bytes || bytes > p.hbm_bytes - begin) {
        return Bad(what, " at ", begin, ", ", bytes,
                   " bytes, ends above the program's ", p.hbm_bytes,
                   " bytes of HBM");
      }
      if (bytes > 0) ranges.push_back({begin, begin + bytes, what});
      return absl::OkStatus();
    };
    absl::Status s = add("list of descriptors", p.prog_addr,
                         p.descriptors.size() * isa::kDescriptorBytes);
    if (!s.ok()) return s;
    for (const DataSegment& segment : p.segments) {
      const std::string what =
          absl::StrCat("data segment '", segment.name, "'");
      if (segment.hbm_addr % preset_->beat_bytes() != 0) {
        return Bad(what, " at ", segment.hbm_addr, " is not at a multiple of ",
                   preset_->beat_bytes());
      }
      if (s = add(what, segment.hbm_addr, segment.data.size()); !s.ok())
        return s;
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].begin < ranges[i - 1].end)
        return Bad(ranges[i - 1].what, " and ", ranges[i].what, " overlap");
    }
    return absl::OkStatus();
  }

  absl::Status CheckTensor(const TensorInfo& t) {
    const std::string what = absl::StrCat("tensor '", t.name, "'");
    if (t.name.empty()) return Bad("a tensor has no name");
    if (!tensor_names_.insert(t.name).second)
      return Bad(what, " is there twice");
    if (t.hbm_addr % preset_->beat_bytes() != 0) {
      return Bad(what, " at ", t.hbm_addr, " is not at a multiple of ",
                 preset_->beat_bytes());
    }
    if (!std::isfinite(t.scale) || t.scale <= 0)
      return Bad(what, " has the scale ", t.scale);
    if (t.type == ElementType::kInt8 &&
        (t.zero_point < -128 || t.zero_point > 127)) {
      return Bad(what, " has the zero point ", t.zero_point);
    }
    // All below stays under 2^62 because sizes are limited one by one.
    constexpr int64_t kMaxSize = int64_t{1} << 36;
    int64_t elements = 1;
    for (int64_t size : {t.n, t.h, t.w, t.channels}) {
      if (size < 1 || size > kMaxSize || elements > kMaxSize / size)
        return Bad(what, " has an impossible shape");
      elements *= size;
    }
    if (t.pitch < 0 || t.pitch > kMaxSize || t.img_pitch < 0 ||
        t.img_pitch > kMaxSize) {
      return Bad(what, " has an impossible pitch");
    }
    if (t.h > 1 && t.pitch < t.line_bytes())
      return Bad(what, " has lines that overlap");
    if (t.h > 1 && t.pitch > kMaxSize / (t.h - 1))
      return Bad(what, " has an impossible pitch");
    const int64_t image_bytes = (t.h - 1) * t.pitch + t.line_bytes();
    if (t.n > 1 && t.img_pitch < image_bytes)
      return Bad(what, " has images that overlap");
    if (t.n > 1 && t.img_pitch > kMaxSize / (t.n - 1))
      return Bad(what, " has an impossible pitch");
    const uint64_t bytes =
        static_cast<uint64_t>((t.n - 1) * t.img_pitch + image_bytes);
    if (t.hbm_addr > program_.hbm_bytes ||
        bytes > program_.hbm_bytes - t.hbm_addr) {
      return Bad(what, " ends above the program's ", program_.hbm_bytes,
                 " bytes of HBM");
    }
    return absl::OkStatus();
  }

  absl::Status CheckBuffers() const {
    const uint64_t size = static_cast<uint64_t>(preset_->ub_bytes);
    for (const BufferInfo& b : program_.buffers) {
      if (b.ub_addr > size || b.bytes > size - b.ub_addr) {
        return Bad("buffer '", b.name, "' ends above the unified buffer's ",
                   size, " bytes");
      }
      if (b.first_layer > b.last_layer ||
          b.last_layer >= program_.layers.size()) {
        return Bad("buffer '", b.name, "' lives in layers that are not there");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckSections(absl::Span<const Section> more) const {
    std::set<std::string> names;
    for (const absl::Span<const Section> sections :
         {absl::MakeConstSpan(program_.sections), more}) {
      for (const Section& s : sections) {
        if (!names.insert(s.name).second)
          return Bad("section '", s.name, "' is there twice");
      }
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const std::string& name_;
  const Preset* preset_ = nullptr;
  std::set<std::string> tensor_names_;
};

}  // namespace

absl::Status CheckProgram(const Program& program,
                          absl::Span<const Section> more,
                          const std::string& name) {
  return Checker(program, name).Run(more);
}

}  // namespace systole
