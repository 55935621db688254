// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/product_walk.h"

#include <algorithm>

#include "host/compiler/bank_conflicts.h"
#include "host/compiler/cost_model.h"
#include "host/compiler/geometry.h"
#include "host/compiler/pass_plan.h"
#include "host/ir/hlo/products.h"

namespace systole::lanes {
namespace {

// Limits of the descriptor's fields, in bytes and counts.
constexpr int64_t kMostStep[3] = {1 << 24, 1 << 19, 1 << 17};
constexpr int64_t kMostCount[3] = {1 << 9, 1 << 13, 1 << 13};
constexpr int64_t kMostOffset = 1 << 17;
constexpr int64_t kMostLine = 1 << 19;
constexpr int64_t kElementBytes = 2;
constexpr int64_t kSampledPositions = 32;

// Whether the next run is too far from the first one for the descriptor's
// field.
bool BeyondField(const std::vector<compiler::Segment>& pass,
                 const compiler::Segment& next) {
  return next.byte < pass[0].byte || next.byte - pass[0].byte >= kMostOffset;
}

}  // namespace

ProductWalk::ProductWalk(const ir::HloMatrixProductAttributes& attributes,
                         int64_t m, int64_t k, const Preset& preset)
    : a_(attributes), preset_(preset), m_(m), k_(k) {
  const auto middle = static_cast<size_t>(1 + a_.lines);
  rows_ = Merged(1, middle);
  SetDepths(Merged(middle, a_.sizes.size()));
}

std::vector<ProductWalk::Dimension> ProductWalk::Merged(size_t begin,
                                                        size_t end) const {
  std::vector<Dimension> merged;
  for (size_t i = begin; i < end; ++i) {
    const Dimension d = {a_.sizes[i], a_.strides[i]};
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().step == d.step * d.size) {
      merged.back() = {merged.back().size * d.size, d.step};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

void ProductWalk::SetDepths(std::vector<Dimension> dimensions) {
  Dimension run = {1, 1};
  if (!dimensions.empty() && dimensions.back().step == 1) {
    run = dimensions.back();
    dimensions.pop_back();
  }
  std::vector<std::vector<compiler::Segment>> sections(
      compiler::CeilDiv(k_, ir::kSectionTerms));
  std::vector<int64_t> index(dimensions.size(), 0);
  for (int64_t k = 0; k < k_; k += run.size) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d)
      offset += index[d] * dimensions[d].step;
    for (int64_t first = k; first < k + run.size;) {
      const int64_t section = first / ir::kSectionTerms;
      const int64_t end =
          std::min(k + run.size, (section + 1) * ir::kSectionTerms);
      sections[section].push_back(
          {0, kElementBytes * (offset + first - k), end - first, first, 0});
      first = end;
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < dimensions[d].size) break;
      index[d] = 0;
    }
  }
  for (const std::vector<compiler::Segment>& runs : sections) {
    const size_t first = depths_.size();
    for (const std::vector<compiler::Segment>& pass :
         compiler::CutContraction(runs, preset_.rows, preset_.segments,
                                  kElementBytes, BeyondField)) {
      Depth& depth = depths_.emplace_back();
      depth.k = pass[0].weight;
      depth.size = compiler::RowsOf(pass);
      for (const compiler::Segment& s : pass)
        depth.runs.push_back({s.byte / kElementBytes, s.len});
    }
    sections_.emplace_back(first, depths_.size());
  }
}

std::vector<Lines> ProductWalk::LinesOf(int64_t first, int64_t end,
                                        int64_t most) const {
  std::vector<Lines> all;
  const int64_t batch = first / m_;
  for (int64_t line = first; line < end;) {
    Lines lines = {line, batch * a_.strides[0], {1, 1, 1}, {0, 0, 0}};
    int64_t rest = line - batch * m_;
    std::vector<int64_t> index(rows_.size());
    for (size_t d = rows_.size(); d-- > 0;) {
      index[d] = rest % rows_[d].size;
      rest /= rows_[d].size;
      lines.offset += index[d] * rows_[d].step;
    }
    // Assigns dimensions, from the innermost one on, to the first loop that can
    // hold them. The next dimension follows only if this one is covered
    // completely.
    int64_t left = std::min(end - line, most);
    int place = 2;
    for (size_t d = rows_.size(); d-- > 0 && place >= 0;) {
      while (place > 0 && 2 * rows_[d].step >= kMostStep[place]) --place;
      const int64_t count = std::min(
          {rows_[d].size - index[d], left, kMostCount[place],
           place == 2 ? kMostLine / (2 * rows_[d].step + 1) + 1 : left});
      if (count == 0) break;
      lines.n[place] = count;
      lines.step[place] = rows_[d].step;
      --place;
      if (count < rows_[d].size) break;
      left /= count;
    }
    line += lines.count();
    all.push_back(lines);
  }
  return all;
}

int64_t ProductWalk::InnerLines(int64_t most) const {
  int64_t lines = 1;
  for (size_t d = rows_.size(); d-- > 0 && lines * rows_[d].size <= most;)
    lines *= rows_[d].size;
  return lines;
}

int64_t ProductWalk::Stalls() const {
  if (rows_.empty()) return 0;
  const Dimension& inner = rows_.back();
  const int64_t positions = std::min(inner.size, kSampledPositions);
  int64_t stalls = 0;
  for (const Depth& depth : depths_) {
    if (depth.runs.size() < 2) continue;
    for (int64_t x = 0; x < positions; ++x) {
      std::vector<compiler::WindowRead> reads;
      for (const Run& run : depth.runs)
        reads.push_back({kElementBytes * (run.offset + x * inner.step),
                         kElementBytes * run.size});
      stalls += compiler::WindowCycles(reads, preset_) - 1;
    }
  }
  return stalls * a_.sizes[0] * m_ / positions;
}

bool ProductWalk::Contiguous() const {
  for (const Depth& depth : depths_)
    if (depth.runs.size() != 1 || depth.runs[0].offset != depth.k) return false;
  if (a_.sizes[0] > 1 && a_.strides[0] != m_ * k_) return false;
  return m_ == 1 || (rows_.size() == 1 && rows_[0].step == k_);
}

Run ProductWalk::Needed(int64_t first, int64_t end, int64_t most) const {
  int64_t begin = INT64_MAX, last = 0;
  for (int64_t line = first; line < end;) {
    const int64_t stop = std::min(end, (line / m_ + 1) * m_);
    for (const Lines& lines : LinesOf(line, stop, most)) {
      begin = std::min(begin, lines.offset);
      last = std::max(last, lines.last());
    }
    line = stop;
  }
  int64_t deepest = 0;
  for (const Depth& depth : depths_)
    for (const Run& run : depth.runs)
      deepest = std::max(deepest, run.offset + run.size);
  return {begin, last + deepest - begin};
}

}  // namespace systole::lanes
