// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/copy_code.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

constexpr int64_t kMostSteps = 1 << 14;
// Cycles of an iteration of a loop, and of a block, beyond their rows.
constexpr int64_t kLoopCycles = 8, kBlockCycles = 24;

}  // namespace

std::vector<CopyDimension> MergedDimensions(
    const std::vector<CopyDimension>& dimensions) {
  std::vector<CopyDimension> merged;
  for (const CopyDimension& d : dimensions) {
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().from == d.from * d.size &&
        merged.back().to == d.to * d.size) {
      merged.back() = {merged.back().size * d.size, d.from, d.to};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

absl::StatusOr<CopySteps> CopyCode::Add(
    int64_t element_bytes, const std::vector<CopyDimension>& dimensions) {
  CopySteps steps;
  for (const CopyDimension& d : dimensions) {
    if (d.size == 0) return steps;
  }
  Box box{element_bytes,
          dimensions,
          CopyStep::Place::kFrom,
          CopyStep::Place::kTo,
          {0, 0}};
  if (element_bytes == 8) {
    box.bytes = 4;
    for (CopyDimension& d : box.dimensions) d = {d.size, 2 * d.from, 2 * d.to};
    box.dimensions.push_back({2, 1, 1});
  }
  if (absl::Status s = Copy(std::move(box), steps); !s.ok()) return s;
  return steps;
}

double CopyCode::RowsCost(const Box& box, std::optional<size_t> along) const {
  double rows = 1;
  int64_t longest = 1;
  for (size_t i = 0; i < box.dimensions.size(); ++i) {
    const int64_t size = box.dimensions[i].size;
    const int64_t here = along == i
                             ? std::min(DivideUp(size * box.bytes, 4 * lanes_) +
                                            (size * box.bytes % 4 != 0 ? 1 : 0),
                                        DivideUp(size, lanes_))
                             : size;
    rows *= static_cast<double>(here);
    longest = std::max(longest, here);
  }
  const auto count = static_cast<double>(longest);
  const double groups =
      static_cast<double>(DivideUp(longest, kGroupRows) * kGroupRows);
  return rows / count * (std::max(count, groups / 2) + kLoopCycles);
}

// A row a cycle in, a row of words out; neighbours in a word are rows of their
// own when they are stored.
double CopyCode::BlocksCost(int64_t bytes, int64_t nx, int64_t ny) const {
  const int64_t words = DivideUp(ny * bytes, 4);
  const int64_t across = DivideUp(nx, lanes_), down = DivideUp(words, lanes_);
  return static_cast<double>(std::max(down * nx + across * words, across * ny) +
                             across * down * kBlockCycles);
}

absl::Status CopyCode::Copy(Box box, CopySteps& steps) {
  box.dimensions = MergedDimensions(box.dimensions);
  const Dimensions& all = box.dimensions;
  enum { kRowWise, kTransposed, kThrough, kCut, kRepeated } best = kRowWise;
  std::optional<size_t> along;
  size_t one = 0, other = 0;
  std::optional<size_t> more;
  double cost = RowsCost(box, std::nullopt), elements = 1;
  for (const CopyDimension& d : all) elements *= static_cast<double>(d.size);
  const auto consider = [&](double found) {
    const bool better = found < cost;
    if (better) cost = found;
    return better;
  };
  for (size_t x = 0; x < all.size(); ++x) {
    if (all[x].to != 1) continue;
    const double rest = elements / static_cast<double>(all[x].size);
    if (all[x].from == 0 || all[x].from == 1) {
      if (consider(RowsCost(box, x))) {
        best = kRowWise;
        along = x;
      }
      for (size_t z = 0; all[x].from == 1 && z < all.size(); ++z) {
        const int64_t copies = CopiesOf(box, x, z);
        if (copies > 1 &&
            consider(rest / static_cast<double>(all[z].size) *
                     static_cast<double>(copies + all[z].size / copies + 1))) {
          best = kRepeated;
          one = x;
          other = z;
        }
      }
      if (all[x].from == 1) continue;
    }
    for (size_t y = 0; y < all.size(); ++y) {
      if (y == x) continue;
      const double others = rest / static_cast<double>(all[y].size);
      if (all[y].from == 1) {
        const auto take = [&](double found, std::optional<size_t> then) {
          if (!consider(found)) return;
          best = kTransposed;
          one = x;
          other = y;
          more = then;
        };
        take(others * BlocksCost(box.bytes, all[x].size, all[y].size),
             std::nullopt);
        for (size_t z = 0; z < all.size(); ++z) {
          if (z == x || z == y || all[z].to != all[x].size) continue;
          const int64_t times = lanes_ / all[x].size;
          if (times < 2) continue;
          take(others / static_cast<double>(all[z].size) *
                   static_cast<double>(DivideUp(all[z].size, times)) *
                   BlocksCost(box.bytes,
                              all[x].size * std::min(times, all[z].size),
                              all[y].size),
               z);
        }
      } else if (all[x].from != 0) {
        const int64_t span = (all[x].size - 1) * std::abs(all[x].from) + 1;
        if (consider(others *
                     (BlocksCost(box.bytes, all[y].size, span) +
                      BlocksCost(box.bytes, all[x].size, all[y].size)))) {
          best = kThrough;
          one = x;
          other = y;
        }
      }
    }
    // A long line on its own becomes lines of L elements.
    if (all[x].from != 0 && all[x].size >= 2 * lanes_ && rest < 8 &&
        consider(rest * 2 *
                 BlocksCost(box.bytes, lanes_,
                            all[x].size / lanes_ * std::abs(all[x].from)))) {
      best = kCut;
      one = x;
    }
  }
  switch (best) {
    case kTransposed:
      return Transpose(box, one, other, more, steps);
    case kThrough:
      return Twice(box, one, other, steps);
    case kRepeated:
      return Repeat(box, one, other, steps);
    case kCut:
      return Split(std::move(box), one, steps);
    default:
      return Rows(box, along, steps);
  }
}

absl::Status CopyCode::Rows(const Box& box, std::optional<size_t> along,
                            CopySteps& steps) {
  Dimensions others = box.dimensions;
  CopyDimension line{1, 1, 1};
  if (along) {
    line = others[*along];
    others.erase(others.begin() + static_cast<int64_t>(*along));
  }
  const bool spread = along && line.from == 0;
  // Parts of a line: `count` times `lanes` units, then the rest.
  struct Segment {
    int64_t unit, at, count, lanes;
  };
  std::vector<Segment> segments;
  const auto add = [&](int64_t unit, int64_t at, int64_t lanes) {
    if (lanes >= lanes_) segments.push_back({unit, at, lanes / lanes_, lanes_});
    if (lanes % lanes_ > 0) {
      segments.push_back(
          {unit, at + lanes / lanes_ * lanes_ * unit, 1, lanes % lanes_});
    }
  };
  const int64_t bytes = line.size * box.bytes;
  const int64_t words = bytes / 4, rest = bytes % 4;
  if (DivideUp(line.size, lanes_) <
      DivideUp(words, lanes_) + (rest > 0 ? 1 : 0)) {
    add(box.bytes, 0, line.size);
  } else {
    add(4, 0, words);
    add(box.bytes, 4 * words, rest / box.bytes);
  }
  for (const Segment& segment : segments) {
    CopyNest nest;
    nest.unit = segment.unit;
    nest.lanes = segment.lanes;
    nest.spread = spread ? box.bytes : 0;
    for (const CopyDimension& d : others)
      nest.loops.push_back({d.size, d.from * box.bytes, d.to * box.bytes});
    const int64_t chunk = segment.unit * segment.lanes;
    nest.loops.push_back({segment.count, spread ? 0 : chunk, chunk});
    const auto longest = std::max_element(
        nest.loops.begin(), nest.loops.end(),
        [](const Loop& a, const Loop& b) { return a.count < b.count; });
    nest.rows = *longest;
    nest.loops.erase(longest);
    const Distance at = {spread ? 0 : segment.at, segment.at};
    if (absl::Status s = AddNest(box, std::move(nest), at, steps); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

absl::Status CopyCode::Transpose(const Box& box, size_t x, size_t y,
                                 std::optional<size_t> more, CopySteps& steps) {
  const int64_t bytes = box.bytes;
  const CopyDimension dx = box.dimensions[x], dy = box.dimensions[y];
  const CopyDimension dz =
      more ? box.dimensions[*more] : CopyDimension{1, 0, 0};
  std::vector<Loop> others;
  for (size_t i = 0; i < box.dimensions.size(); ++i) {
    const CopyDimension& d = box.dimensions[i];
    if (i != x && i != y && i != more)
      others.push_back({d.size, d.from * bytes, d.to * bytes});
  }
  // Whole blocks, then what remains in each direction.
  struct Part {
    int64_t at, count, size;
  };
  const auto parts = [](int64_t size, int64_t most) {
    std::vector<Part> list;
    if (size >= most) list.push_back({0, size / most, most});
    if (size % most > 0) list.push_back({size / most * most, 1, size % most});
    return list;
  };
  const auto add = [&](const Part& px, const Part& py, const Part& pz) {
    CopyNest nest;
    nest.unit = bytes;
    nest.loops = others;
    nest.loops.push_back(
        {px.count, px.size * dx.from * bytes, px.size * bytes});
    nest.loops.push_back({py.count, py.size * bytes, py.size * dy.to * bytes});
    nest.loops.push_back(
        {pz.count, pz.size * dz.from * bytes, pz.size * dz.to * bytes});
    nest.rows = {px.size, dx.from * bytes, bytes};
    nest.columns = {py.size, bytes, dy.to * bytes};
    nest.times = {pz.size, dz.from * bytes, 0};
    const Distance at = {(px.at * dx.from + py.at + pz.at * dz.from) * bytes,
                         (px.at + py.at * dy.to + pz.at * dz.to) * bytes};
    return AddNest(box, std::move(nest), at, steps);
  };
  const int64_t times = more ? std::max<int64_t>(1, lanes_ / dx.size) : 1;
  for (const Part& px : parts(dx.size, lanes_)) {
    for (const Part& py : parts(dy.size, 4 * lanes_ / bytes)) {
      for (const Part& pz : parts(dz.size, times)) {
        if (absl::Status s = add(px, py, pz); !s.ok()) return s;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CopyCode::AddNest(const Box& box, CopyNest nest, Distance at,
                               CopySteps& steps) {
  std::vector<Loop>& loops = nest.loops;
  loops.erase(std::remove_if(loops.begin(), loops.end(),
                             [](const Loop& loop) { return loop.count == 1; }),
              loops.end());
  std::vector<Loop> outside;
  while (loops.size() > CopyNest::kMostLoops) {
    const auto shortest = std::min_element(
        loops.begin(), loops.end(),
        [](const Loop& a, const Loop& b) { return a.count < b.count; });
    outside.push_back(*shortest);
    loops.erase(shortest);
  }
  int64_t cycles = nest.columns.count > 0
                       ? static_cast<int64_t>(BlocksCost(
                             nest.unit, nest.rows.count * nest.times.count,
                             nest.columns.count))
                       : nest.rows.count + kLoopCycles;
  for (const Loop& loop : loops) cycles *= loop.count;
  const absl::StatusOr<int> pc = nests_.Add(nest);
  if (!pc.ok()) return pc.status();
  int64_t runs = 1;
  for (const Loop& loop : outside) runs *= loop.count;
  if (runs + static_cast<int64_t>(steps.steps.size()) > kMostSteps)
    return absl::ResourceExhaustedError(absl::StrCat(runs, " runs to copy"));
  for (int64_t i = 0; i < runs; ++i) {
    CopyStep step{*pc,
                  box.source,
                  box.target,
                  box.at.from + at.from,
                  box.at.to + at.to,
                  cycles + 2 * kBlockCycles};
    int64_t index = i;
    for (const Loop& loop : outside) {
      step.from += index % loop.count * loop.from;
      step.to += index % loop.count * loop.to;
      index /= loop.count;
    }
    steps.cycles += step.cycles;
    steps.steps.push_back(step);
  }
  return absl::OkStatus();
}

}  // namespace systole::lanes
