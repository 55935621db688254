// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/repeated_loads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/access.h"

namespace systole::lanes {
namespace {

using compiler::Access;
using compiler::Space;

// From the first byte of an access to the one behind the last.
struct Range {
  Space space;
  int64_t begin, end;

  bool Overlaps(const Range& other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

Range RangeOf(const Access& access) {
  Range range = {access.space, access.base, access.base + access.len};
  for (int i = 0; i < 3; ++i) {
    const int64_t far = (access.count[i] - 1) * access.stride[i];
    (far < 0 ? range.begin : range.end) += far;
  }
  return range;
}

// What is in the unified buffer since a load.
struct Loaded {
  isa::Load load;
  std::vector<Range> ranges;  // on both sides
};

bool IsSame(const isa::Load& a, const isa::Load& b) {
  isa::Descriptor one = a.Encode(), other = b.Encode();
  // The header, with tag and flags, is no part of what is moved.
  one[0] = other[0] = 0;
  isa::PutBits(one, 64, 32, 0);
  isa::PutBits(other, 64, 32, 0);
  return one == other;
}

}  // namespace

int64_t RemoveRepeatedLoads(compiler::Sequence& sequence) {
  int64_t bytes = 0;
  std::vector<Loaded> there;
  std::vector<compiler::Step> steps;
  for (compiler::Step& step : sequence.steps) {
    const bool loads =
        compiler::OpcodeOf(step.descriptor) == isa::Opcode::kLoad;
    const isa::Load load = isa::Load::Decode(step.descriptor);
    const bool may_repeat =
        loads && (load.header.flags & isa::Load::kIndexed) == 0;
    if (may_repeat &&
        std::any_of(there.begin(), there.end(), [&](const Loaded& loaded) {
          return IsSame(loaded.load, load);
        })) {
      bytes += int64_t{load.len} * load.n1 * load.n2;
      continue;
    }
    std::vector<Access> accesses =
        compiler::AccessesOf(step.descriptor, *sequence.preset);
    accesses.insert(accesses.end(), step.touches.begin(), step.touches.end());
    std::vector<Range> ranges;
    for (const Access& access : accesses) {
      const Range range = RangeOf(access);
      ranges.push_back(range);
      if (!access.write) continue;
      there.erase(std::remove_if(there.begin(), there.end(),
                                 [&](const Loaded& loaded) {
                                   return std::any_of(
                                       loaded.ranges.begin(),
                                       loaded.ranges.end(),
                                       [&](const Range& other) {
                                         return range.Overlaps(other);
                                       });
                                 }),
                  there.end());
    }
    if (may_repeat) there.push_back({load, std::move(ranges)});
    steps.push_back(std::move(step));
  }
  sequence.steps = std::move(steps);
  return bytes;
}

}  // namespace systole::lanes
