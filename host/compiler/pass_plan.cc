// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/pass_plan.h"

#include <algorithm>
#include <map>

#include "host/compiler/bank_conflicts.h"
#include "host/compiler/cost_model.h"

namespace systole::compiler {
namespace {

// Limits of the descriptor fields.
constexpr int64_t kMaxT0 = (1 << 12) - 1, kMaxDx = (1 << 10) - 1,
                  kMaxT1 = (1 << 6) - 1, kMaxDy = (1 << 6) - 1;

using Pass = std::vector<Segment>;

// Runs of `depth` channels of each tap; with all channels, neighbouring taps
// make one run.
std::vector<Segment> Runs(const Geometry& g, const Taps& t, int64_t depth) {
  const bool contiguous = depth == g.c && g.dw == 1;
  std::vector<Segment> runs;
  if (g.in_group > 0) {  // runs of one tap
    for (int64_t c = 0; c < g.c; c += g.in_group)
      runs.push_back({0, c * g.w, g.in_group, c, 0});
    return runs;
  }
  for (int64_t ky = t.ky0; ky < t.ky1; ++ky) {
    if (contiguous || t.kx1 - t.kx0 == 1) {
      runs.push_back({ky * g.dh, t.kx0 * g.dw * g.c, (t.kx1 - t.kx0) * depth,
                      (ky * g.kw + t.kx0) * depth, 0});
      continue;
    }
    for (int64_t kx = t.kx0; kx < t.kx1; ++kx)
      runs.push_back(
          {ky * g.dh, kx * g.dw * g.c, depth, (ky * g.kw + kx) * depth, 0});
  }
  return runs;
}

std::vector<Pass> CutDensely(const std::vector<Segment>& runs,
                             const Preset& preset) {
  std::vector<Pass> passes =
      CutContraction(runs, preset.rows, preset.segments, /*element_bytes=*/1);
  // A short last pass may join the loop of the passes before it: the bytes
  // after the end of the run meet zero weights.
  if (passes.size() > 1) {
    const Pass& before = passes[passes.size() - 2];
    Pass& last = passes.back();
    const bool follows = last.size() == 1 && before.size() == 1 &&
                         before[0].len == preset.rows &&
                         before[0].line == last[0].line &&
                         before[0].byte + preset.rows == last[0].byte;
    if (follows) last[0].len = preset.rows;
  }
  return passes;
}

// What the passes of one descriptor have in common.
std::vector<int64_t> ShapeOf(const Pass& pass) {
  std::vector<int64_t> shape;
  for (const Segment& s : pass) {
    shape.insert(shape.end(),
                 {s.line - pass[0].line, s.byte - pass[0].byte, s.len});
  }
  return shape;
}

// Passes at a constant step along a line.
struct Row {
  std::vector<Pass> passes;
};

std::vector<Row> SplitRows(std::vector<Pass> passes, int64_t step) {
  std::stable_sort(passes.begin(), passes.end(),
                   [](const Pass& a, const Pass& b) {
                     return a[0].line != b[0].line ? a[0].line < b[0].line
                                                   : a[0].byte < b[0].byte;
                   });
  std::vector<Row> rows;
  for (Pass& pass : passes) {
    const bool extends =
        !rows.empty() && rows.back().passes[0][0].line == pass[0].line &&
        rows.back().passes.back()[0].byte + step == pass[0].byte &&
        static_cast<int64_t>(rows.back().passes.size()) < kMaxT0;
    if (!extends) rows.emplace_back();
    rows.back().passes.push_back(std::move(pass));
  }
  return rows;
}

PassGroup GroupOf(const std::vector<Row>& rows, int64_t dx, int64_t dy) {
  PassGroup group;
  group.segments = rows[0].passes[0];
  group.t0 = static_cast<int64_t>(rows[0].passes.size());
  group.t1 = static_cast<int64_t>(rows.size());
  group.dx = group.t0 > 1 ? dx : 0;
  group.dy = group.t1 > 1 ? dy : 0;
  for (const Row& row : rows)
    group.passes.insert(group.passes.end(), row.passes.begin(),
                        row.passes.end());
  return group;
}

// Stacks rows that start at the same byte, have the same number of passes, and
// are the same number of lines apart.
void StackRows(std::vector<Row> rows, int64_t dx,
               std::vector<PassGroup>& groups) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const Segment &s = a.passes[0][0], &t = b.passes[0][0];
    if (s.byte != t.byte) return s.byte < t.byte;
    if (a.passes.size() != b.passes.size())
      return a.passes.size() > b.passes.size();
    return s.line < t.line;
  });
  std::vector<Row> stack;
  int64_t dy = 0;
  for (Row& row : rows) {
    const Segment& s = row.passes[0][0];
    if (!stack.empty()) {
      const Segment& last = stack.back().passes[0][0];
      const int64_t step = s.line - last.line;
      const bool fits =
          s.byte == last.byte && row.passes.size() == stack[0].passes.size() &&
          step > 0 && step <= kMaxDy && (stack.size() == 1 || step == dy) &&
          static_cast<int64_t>(stack.size()) < kMaxT1;
      if (!fits) {
        groups.push_back(GroupOf(stack, dx, dy));
        stack.clear();
      } else if (stack.size() == 1) {
        dy = step;
      }
    }
    stack.push_back(std::move(row));
  }
  if (!stack.empty()) groups.push_back(GroupOf(stack, dx, dy));
}

// Removes and returns the last of the passes that fill the fewest rows, without
// the bytes that meet zero weights.
Pass TakeShortest(std::vector<Pass>& passes) {
  size_t shortest = 0;
  for (size_t p = 0; p < passes.size(); ++p) {
    for (Segment& s : passes[p]) s.len = s.used;
    if (RowsOf(passes[p]) <= RowsOf(passes[shortest])) shortest = p;
  }
  Pass taken = std::move(passes[shortest]);
  passes.erase(passes.begin() + static_cast<std::ptrdiff_t>(shortest));
  return taken;
}

// Number of positions of a line that the search looks at.
int64_t PitchPositions(const Geometry& g, const Preset& preset) {
  return std::min({g.ow, int64_t{32}, preset.word_bytes() * preset.ub_banks});
}

// Vector cycles of all passes at a line pitch, over the positions of a line.
int64_t PitchCost(const PassPlan& plan, const Geometry& g, int64_t pitch,
                  const Preset& preset) {
  const int64_t positions = PitchPositions(g, preset);
  int64_t cost = 0;
  for (const PassGroup& group : plan.groups) {
    for (int64_t p = 0; p < std::min<int64_t>(group.t0, 4); ++p) {
      if (group.passes[p].size() < 2) continue;
      for (int64_t x = 0; x < positions; ++x) {
        std::vector<WindowRead> reads;
        for (const Segment& s : group.passes[p]) {
          reads.push_back({s.line * pitch + s.byte +
                               (x * g.sw - g.pad_left) * g.position_bytes(),
                           s.len});
        }
        cost +=
            (WindowCycles(reads, preset) - 1) * group.t1 * CeilDiv(group.t0, 4);
      }
    }
  }
  return cost;
}

}  // namespace

std::vector<Pass> CutContraction(const std::vector<Segment>& runs, int64_t rows,
                                 int64_t segments, int64_t element_bytes,
                                 const PassClosed& closed) {
  std::vector<Pass> passes;
  int64_t room = 0;
  for (Segment run : runs) {
    while (run.len > 0) {
      if (room == 0 || static_cast<int64_t>(passes.back().size()) == segments ||
          (closed && closed(passes.back(), run))) {
        passes.emplace_back();
        room = rows;
      }
      Segment piece = run;
      piece.len = piece.used = std::min(run.len, room);
      passes.back().push_back(piece);
      room -= piece.len;
      run.byte += element_bytes * piece.len;
      run.weight += piece.len;
      run.len -= piece.len;
    }
  }
  return passes;
}

int64_t PassPlan::passes() const {
  int64_t total = 0;
  for (const PassGroup& group : groups)
    total += static_cast<int64_t>(group.passes.size());
  return total;
}

int64_t RowsOf(const std::vector<Segment>& pass) {
  int64_t rows = 0;
  for (const Segment& s : pass) rows += s.len;
  return rows;
}

PassPlan MakePassPlan(const Geometry& g, const Taps& taps, const Preset& preset,
                      bool shortest_last) {
  PassPlan plan;
  plan.taps = taps;
  std::vector<std::vector<int64_t>> shapes;  // in order of first use
  std::map<std::vector<int64_t>, std::vector<Pass>> by_shape;
  const int64_t depth = TileChannels(g, preset.cols);
  // Passes along a line: pieces of a run, or one tap after the other.
  int64_t step = depth == g.c ? preset.rows : g.dw * g.c;
  if (g.in_group > 0)
    step =
        std::min(preset.segments, preset.rows / g.in_group) * g.w * g.in_group;
  if (step > kMaxDx) step = 0;  // no passes share a descriptor
  std::vector<Pass> passes = CutDensely(Runs(g, taps, depth), preset);
  Pass last;
  if (shortest_last) last = TakeShortest(passes);
  for (Pass& pass : passes) {
    const std::vector<int64_t> shape = ShapeOf(pass);
    std::vector<Pass>& bucket = by_shape[shape];
    if (bucket.empty()) shapes.push_back(shape);
    bucket.push_back(std::move(pass));
  }
  for (const std::vector<int64_t>& shape : shapes) {
    StackRows(SplitRows(std::move(by_shape[shape]), step), step, plan.groups);
  }
  if (shortest_last) {
    Row row;
    row.passes.push_back(std::move(last));
    plan.groups.push_back(GroupOf({row}, 0, 0));
  }
  return plan;
}

int64_t ChoosePitch(const Geometry& g, int64_t line_bytes, const Preset& preset,
                    int64_t* stalls) {
  const int64_t beat = preset.beat_bytes();
  const int64_t smallest = RoundUp(line_bytes, beat);
  const PassPlan plan = MakePassPlan(g, {0, g.kh, 0, g.kw}, preset);
  int64_t best = smallest, best_cost = -1;
  for (int64_t pitch = smallest;
       pitch < smallest + preset.word_bytes() * preset.ub_banks;
       pitch += beat) {
    const int64_t cost = PitchCost(plan, g, pitch, preset);
    if (best_cost < 0 || cost < best_cost) {
      best = pitch;
      best_cost = cost;
    }
    if (cost == 0) break;
  }
  if (stalls != nullptr) *stalls = best_cost * g.ow / PitchPositions(g, preset);
  return best;
}

}  // namespace systole::compiler
