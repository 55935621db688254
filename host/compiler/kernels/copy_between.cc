// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Copies through a buffer in between.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host/compiler/kernels/copy_code.h"

namespace systole::lanes {

// The other dimensions are the buffer's outer ones, `inner` elements apart.
std::pair<CopyCode::Box, CopyCode::Box> CopyCode::Between(const Box& box,
                                                          size_t x, size_t z,
                                                          int64_t inner,
                                                          CopySteps& steps) {
  Box in = box, out = box;
  in.target = out.source = CopyStep::Place::kBetween;
  in.at.to = out.at.from = 0;
  in.dimensions.clear();
  out.dimensions.clear();
  for (size_t i = box.dimensions.size(); i-- > 0;) {
    const CopyDimension& d = box.dimensions[i];
    if (i == x || i == z) continue;
    in.dimensions.push_back({d.size, d.from, inner});
    out.dimensions.push_back({d.size, inner, d.to});
    inner *= d.size;
  }
  // A copy may read up to 3 bytes behind its source.
  steps.between = std::max(steps.between, inner * box.bytes + 4);
  return {in, out};
}

// The buffer in between holds, for each element of the other dimensions, a line
// along z for each element between the ends of x.
absl::Status CopyCode::Twice(const Box& box, size_t x, size_t z,
                             CopySteps& steps) {
  const CopyDimension dx = box.dimensions[x], dz = box.dimensions[z];
  const int64_t span = (dx.size - 1) * std::abs(dx.from) + 1;
  auto [in, out] = Between(box, x, z, span * dz.size, steps);
  in.dimensions.push_back({span, 1, dz.size});
  in.dimensions.push_back({dz.size, dz.from, 1});
  out.dimensions.push_back({dx.size, dx.from * dz.size, 1});
  out.dimensions.push_back({dz.size, 1, dz.to});
  if (dx.from < 0) in.at.from += (dx.size - 1) * dx.from * box.bytes;
  if (dx.from < 0) out.at.from = (span - 1) * dz.size * box.bytes;
  const size_t last = in.dimensions.size() - 1;
  if (absl::Status s = Transpose(in, last, last - 1, {}, steps); !s.ok())
    return s;
  return Transpose(out, last - 1, last, {}, steps);
}

absl::Status CopyCode::Split(Box box, size_t x, CopySteps& steps) {
  const CopyDimension d = box.dimensions[x];
  const int64_t lines = d.size / lanes_, rest = d.size % lanes_;
  Box end = box;
  box.dimensions[x] = {lines, d.from * lanes_, d.to * lanes_};
  box.dimensions.push_back({lanes_, d.from, d.to});
  size_t line = box.dimensions.size() - 1;
  if (absl::Status s = Twice(box, line, x, steps); !s.ok() || rest == 0)
    return s;
  end.dimensions[x].size = rest;
  end.at.from += lines * lanes_ * d.from * box.bytes;
  end.at.to += lines * lanes_ * d.to * box.bytes;
  return Copy(std::move(end), steps);
}

int64_t CopyCode::CopiesOf(const Box& box, size_t x, size_t z) const {
  const CopyDimension dx = box.dimensions[x], dz = box.dimensions[z];
  const bool whole = box.source == CopyStep::Place::kFrom &&
                     box.target == CopyStep::Place::kTo;
  if (!whole || dz.from != 0 || dz.to != dx.size) return 1;
  return std::min(dz.size / 2, 4 * lanes_ / (dx.size * box.bytes));
}

absl::Status CopyCode::Repeat(const Box& box, size_t x, size_t z,
                              CopySteps& steps) {
  const int64_t copies = CopiesOf(box, x, z);
  const CopyDimension dx = box.dimensions[x], dz = box.dimensions[z];
  const int64_t line = copies * dx.size, rest = dz.size % copies;
  auto [in, out] = Between(box, x, z, line, steps);
  Box end = out;
  in.dimensions.push_back({copies, 0, dx.size});
  in.dimensions.push_back({dx.size, 1, 1});
  out.dimensions.push_back({dz.size / copies, 0, line});
  out.dimensions.push_back({line, 1, 1});
  end.dimensions.push_back({rest * dx.size, 1, 1});
  end.at.to += (dz.size - rest) * dx.size * box.bytes;
  if (absl::Status s = Copy(std::move(in), steps); !s.ok()) return s;
  if (absl::Status s = Copy(std::move(out), steps); !s.ok()) return s;
  return rest > 0 ? Copy(std::move(end), steps) : absl::OkStatus();
}

}  // namespace systole::lanes
