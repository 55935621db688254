// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/cost_model.h"

#include <algorithm>
#include <limits>

#include "host/compiler/access.h"
#include "host/compiler/bank_conflicts.h"
#include "host/compiler/expected_posts.h"
#include "host/compiler/geometry.h"
#include "host/compiler/sum_chains.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

// From the request to the first data, for an open or a closed row.
constexpr int64_t kHbmLatency = 60;
// To the first row of an indexed load or store.
constexpr int64_t kTableLatency = 8;
// From the end of a send or store to the wait for its flag in another core.
constexpr int64_t kPostLatency = 60;
// What a stream of weights that has paused loses when it goes on: banks that it
// reaches are closed or in refresh.
constexpr int64_t kResume = 80;
// From the doorbell to the first descriptor at its unit.
constexpr int64_t kStartup = 90;
// Of the weights' way from the memory, while a descriptor is fetched: a beat,
// from a row that has to be opened.
constexpr double kFetch = 4;
// Requantise pipeline, with reads of accumulators and buffer.
constexpr int64_t kVectorLatency = 16;
constexpr int64_t kVectorGap = 4;         // between descriptors
constexpr int64_t kTableWordLatency = 4;  // to read a word of a table
constexpr int64_t kResidualLatency = 16;  // addition after a requantise
constexpr int64_t kSumsLatency = 3;       // around the array's own

int64_t Beats(int64_t len, int64_t runs, const Preset& preset) {
  return (len + preset.beat_bytes() - 1) / preset.beat_bytes() * runs;
}

}  // namespace

int64_t ShortestPass(const Preset& preset) {
  return preset.rows / preset.load_buses;
}

int64_t ArrayLatency(const Preset& preset) {
  // From row to row a sum passes all stages but the first, which works ahead.
  return preset.rows * std::max<int64_t>(1, preset.cell_stages - 1) +
         preset.cols + 8;
}

Cost CostOf(const isa::Descriptor& d, const Preset& preset) {
  Cost cost;
  switch (OpcodeOf(d)) {
    case isa::Opcode::kLoad:
    case isa::Opcode::kStore: {  // of the same fields
      const isa::Load op = isa::Load::Decode(d);
      cost.beats = Beats(op.len, int64_t{op.n1} * op.n2, preset);
      cost.latency =
          OpcodeOf(d) == isa::Opcode::kLoad ? kHbmLatency : kHbmLatency / 4;
      if (op.header.flags & isa::Load::kIndexed) cost.latency += kTableLatency;
      break;
    }
    case isa::Opcode::kSend: {  // a packet after the other, on one link
      const isa::Send op = isa::Send::Decode(d);
      cost.issue = Beats(op.len, int64_t{op.n1} * op.n2, preset) * 8 * 17 / 16;
      break;
    }
    case isa::Opcode::kWeights: {
      const isa::Weights op = isa::Weights::Decode(d);
      cost.tiles = op.tiles;
      cost.beats = op.tiles * preset.tile_bytes() / preset.beat_bytes();
      cost.latency = kHbmLatency;
      break;
    }
    case isa::Opcode::kMatmul: {
      const isa::Matmul op = isa::Matmul::Decode(d);
      const int64_t passes = int64_t{op.t0} * op.t1;
      const bool transpose = op.header.flags & isa::Matmul::kTranspose;
      const int64_t vectors =
          transpose ? preset.rows : int64_t{op.n} * op.ny * op.nx;
      cost.tiles = (transpose ? 1 : passes) -
                   ((op.header.flags & isa::Matmul::kKeepWeights) ? 1 : 0);
      cost.last = vectors + StallsOf(op, preset);
      const int64_t pass = std::max(
          cost.last, cost.tiles > 0 ? ShortestPass(preset) : int64_t{0});
      // Vectors that start from sums wait for each other, so the last pass
      // costs as much as the others.
      if (!Target(preset).quantised_networks()) cost.last = pass;
      cost.issue = (passes - 1) * pass + cost.last;
      cost.denies = DeniesOf(op, preset);
      cost.latency = ArrayLatency(preset) + (transpose ? preset.rows : 0);
      break;
    }
    case isa::Opcode::kRequant: {
      const isa::Requant op = isa::Requant::Decode(d);
      const int64_t words = (op.header.flags & isa::Requant::kRaw) ? 4 : 1;
      cost.issue = int64_t{op.n} * op.ny * op.nx * words + kVectorGap;
      cost.latency = kVectorLatency;
      if (op.header.flags & isa::Requant::kResidual) {
        // It starts when all earlier results are written.
        cost.issue += kVectorLatency + kResidualLatency;
        cost.latency += kResidualLatency;
        cost.reads = true;
      }
      break;
    }
    case isa::Opcode::kPool: {
      const isa::Pool op = isa::Pool::Decode(d);
      cost.issue = int64_t{op.n} * op.ny * op.nx * op.kh * op.kw + kVectorGap;
      cost.reads = true;
      cost.latency = kVectorLatency;
      break;
    }
    case isa::Opcode::kAdd: {
      const isa::Add op = isa::Add::Decode(d);
      cost.issue = int64_t{op.ny} *
                       ((op.line_bytes + preset.cols - 1) / preset.cols) * 3 +
                   kVectorGap;
      cost.reads = true;
      cost.latency = kVectorLatency;
      break;
    }
    case isa::Opcode::kMul: {
      const isa::Mul op = isa::Mul::Decode(d);
      cost.issue = int64_t{op.n} * op.ny * op.nx * 2 + kVectorGap;
      cost.reads = true;
      cost.latency = kVectorLatency;
      break;
    }
    case isa::Opcode::kTable:
      // It starts when all earlier results are written; then four bytes per
      // cycle.
      cost.issue = kVectorLatency + 256 / 4 +
                   256 / preset.word_bytes() * kTableWordLatency;
      cost.latency = kVectorGap;
      break;
    case isa::Opcode::kTiles: {
      const isa::Tiles op = isa::Tiles::Decode(d);
      cost.tiles = op.tiles;
      cost.issue = op.tiles * preset.tile_bytes() / preset.beat_bytes();
      cost.latency = kVectorLatency;
      break;
    }
    case isa::Opcode::kVload: {
      const isa::Vload op = isa::Vload::Decode(d);
      cost.issue = int64_t{op.count} + kVectorGap;
      cost.latency = kVectorLatency;
      break;
    }
    case isa::Opcode::kVrun:
      cost.issue = kVectorGap;
      cost.latency = kVectorLatency;
      break;
    case isa::Opcode::kHalt:
      break;
  }
  return cost;
}

// Event-driven simulation. Events: a unit becomes free, a descriptor completes,
// a transfer ends. Between two events, the transfers in flight share the HBM
// evenly. A weights descriptor consists of feeds, one for each sum that takes
// tiles of it; a feed may start when no more than a FIFO's worth of the tiles
// before it is left. A matmul may start when its first tile has arrived and the
// tile before it has been in use for long enough; it ends at least one pass
// after its last tile.
Timeline Simulate(const Sequence& sequence) {
  const Preset& preset = *sequence.preset;
  const std::vector<Step>& steps = sequence.steps;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
  const int count = sequence.size();
  Timeline t;
  t.start.assign(count, kNever);
  t.end.assign(count, kNever);
  std::vector<int> queue_of(count), feeder(count, -1), taker(count, -1);
  // Tiles taken from the same feeder before this step.
  std::vector<int64_t> taken(count, 0);
  std::array<std::vector<int>, isa::kNumQueues> queues;
  std::vector<Cost> costs;
  int weights = -1;
  int64_t taken_of_it = 0;
  // Second and further feeds are steps after all others.
  std::vector<int> feed_of;  // the step, of each of these
  const bool quantised = Target(preset).quantised_networks();
  const std::vector<std::vector<int>> like = ExpectedPosts(steps);
  const std::vector<int> chain = SumChains(steps);
  for (int i = 0; i < count; ++i)
    costs.push_back(CostOf(steps[i].descriptor, preset));
  // The rest of the tiles of feed `weights` goes to a feed of its own.
  const auto split = [&] {
    const int step = weights < count ? weights : feed_of[weights - count];
    Cost rest = costs[weights];
    rest.tiles -= taken_of_it;
    rest.beats = rest.tiles * preset.tile_bytes() / preset.beat_bytes();
    costs[weights].tiles = taken_of_it;
    costs[weights].beats -= rest.beats;
    weights = count + static_cast<int>(feed_of.size());
    taken_of_it = 0;
    feed_of.push_back(step);
    costs.push_back(rest);
    queue_of.push_back(static_cast<int>(isa::Queue::kWeight));
    queues[queue_of.back()].push_back(weights);
    for (auto* times : {&t.start, &t.end}) times->push_back(kNever);
    taker.push_back(-1);
    feeder.push_back(-1);
    taken.push_back(0);
  };
  for (int i = 0; i < count; ++i) {
    costs[i].issue += steps[i].cycles;
    queue_of[i] = static_cast<int>(steps[i].queue());
    queues[queue_of[i]].push_back(i);
    if (steps[i].queue() == isa::Queue::kWeight) {
      weights = i;
      taken_of_it = 0;
    }
    if (steps[i].queue() == isa::Queue::kMxu && costs[i].tiles > 0) {
      const bool begins = (isa::GetBits(steps[i].descriptor, 8, 8) &
                           isa::Matmul::kAccumulate) == 0;
      if (quantised && begins && weights >= 0 && taken_of_it > 0 &&
          taken_of_it < costs[weights].tiles)
        split();
      feeder[i] = weights;
      taken[i] = taken_of_it;
      taken_of_it += costs[i].tiles;
      if (weights >= 0) taker[weights] = i;  // the last one
    }
  }
  std::array<size_t, isa::kNumQueues> head = {};
  std::array<int, isa::kNumQueues> active;  // step that occupies the unit
  // Beats that it still has to move.
  std::array<double, isa::kNumQueues> to_move;
  std::array<int64_t, isa::kNumQueues> unit_free;
  active.fill(-1);
  unit_free.fill(kStartup);
  to_move.fill(0);

  int64_t now = kStartup;
  const int wq = static_cast<int>(isa::Queue::kWeight),
            mq = static_cast<int>(isa::Queue::kMxu);
  const int64_t per_beat = Target(preset).cycles_per_beat();
  const int64_t tile_cycles =
      preset.tile_bytes() / preset.beat_bytes() * per_beat;
  const int64_t shortest = ShortestPass(preset);
  int64_t next_tile = 0;        // cycle in which the array can take a tile
  auto ready_at = [&](int i) {  // kNever: something it needs has no end yet
    int64_t at = 0;
    if (i < count) {
      for (const int d : steps[i].after) {
        if (d >= 0) at = std::max(at, t.end[d]);
      }
      for (const int d : like[i]) {
        at = std::max(at, t.end[d] == kNever
                              ? kNever
                              : t.end[d] + kPostLatency + steps[i].slack);
      }
    }
    if (i < count && chain[i] >= 0 && !quantised)
      at =
          std::max(at, t.start[chain[i]] + ArrayLatency(preset) + kSumsLatency);
    if (queue_of[i] == mq && feeder[i] >= 0) {
      const int64_t begun = t.start[feeder[i]];
      at = std::max(at, begun == kNever
                            ? kNever
                            : begun + kHbmLatency +
                                  (quantised ? taken[i] + 1 : 1) * tile_cycles);
      at = std::max(at, next_tile);
    }
    if (queue_of[i] == wq && costs[i].tiles > 0) {
      // Its first tile needs the place of the tile that is a FIFO's worth of
      // tiles before it.
      int64_t ahead = 0;
      for (size_t j = head[wq]; j-- > 0;) {
        const int w = queues[wq][j];
        if (taker[w] < 0) continue;
        ahead += costs[w].tiles;
        if (ahead >= preset.wfifo_tiles) {
          const int m = taker[w];
          if (t.start[m] == kNever) return kNever;
          const int64_t busy = t.end[m] - costs[m].latency - t.start[m];
          at = std::max(at, t.start[m] + busy * (ahead - preset.wfifo_tiles) /
                                             costs[w].tiles);
          break;
        }
      }
    }
    return at;
  };

  // Estimated cycle in which all tiles of a started weights descriptor have
  // arrived.
  auto fed_at = [&](int i) {
    if (t.end[i] != kNever) return t.end[i];
    double cycles = 0;  // includes what others move in that time
    for (int q = 0; q < isa::kNumQueues; ++q) {
      if (active[q] >= 0) cycles += std::min(to_move[q], to_move[wq]);
    }
    return now + static_cast<int64_t>(cycles) + kHbmLatency;
  };

  // While both units are busy, a descriptor of the vector unit takes longer.
  const int vq = static_cast<int>(isa::Queue::kVector);
  std::array<int, isa::kNumQueues> latest;  // step that started last
  latest.fill(-1);
  auto contend = [&] {
    const int v = latest[vq], m = latest[mq];
    if (v < 0 || m < 0 || !costs[v].reads || costs[m].denies == 0) return;
    const int64_t both = std::min(unit_free[vq], unit_free[mq]) - now;
    if (both <= 0) return;
    // Reads are slower while the array is active, and slower reads see more of
    // that time.
    const double slower = 1 + costs[m].denies;
    const double walks =
        std::min(static_cast<double>(unit_free[mq] - now),
                 static_cast<double>(unit_free[vq] - now) * slower);
    const auto more = static_cast<int64_t>(walks * (1 - 1 / slower));
    unit_free[vq] += more;
    t.end[v] += more;
  };

  const int all = count + static_cast<int>(feed_of.size());
  for (int finished = 0; finished < all;) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int q = 0; q < isa::kNumQueues; ++q) {
        if (active[q] >= 0 || head[q] >= queues[q].size() || unit_free[q] > now)
          continue;
        const int i = queues[q][head[q]];
        if (ready_at(i) > now) continue;
        t.start[i] = now;
        ++head[q];
        moved = true;
        if (active[wq] >= 0 && quantised && i < count) to_move[wq] += kFetch;
        if (costs[i].beats > 0) {
          active[q] = i;
          const bool resumes = q == wq && now > unit_free[q] && quantised;
          to_move[q] = static_cast<double>(costs[i].beats * per_beat +
                                           (resumes ? kResume : 0));
        } else {
          int64_t busy = costs[i].issue;
          if (feeder[i] >= 0 && costs[feeder[i]].beats > 0 && quantised) {
            const int64_t left =
                costs[feeder[i]].tiles - taken[i] - costs[i].tiles;
            busy = std::max(busy, fed_at(feeder[i]) - left * tile_cycles - now +
                                      costs[i].last);
            next_tile = now + busy - costs[i].last + shortest;
          } else if (feeder[i] >= 0 && t.end[feeder[i]] != kNever) {
            busy = std::max(busy, t.end[feeder[i]] - now);
          }
          unit_free[q] = now + busy;
          t.end[i] = unit_free[q] + costs[i].latency;
          ++finished;
          latest[q] = i;
          if (quantised && (q == vq || q == mq)) contend();
        }
      }
    }
    // Advance to the next event.
    int64_t next = kNever;
    int sharing = 0;
    for (int q = 0; q < isa::kNumQueues; ++q) sharing += active[q] >= 0;
    for (int q = 0; q < isa::kNumQueues; ++q) {
      if (active[q] >= 0) {
        next = std::min(
            next,
            now + std::max<int64_t>(
                      1, static_cast<int64_t>(to_move[q] * sharing + 0.999)));
      } else if (head[q] < queues[q].size()) {
        const int64_t at = std::max(unit_free[q], ready_at(queues[q][head[q]]));
        if (at > now) next = std::min(next, at);
      }
    }
    if (next == kNever) break;
    for (int q = 0; q < isa::kNumQueues; ++q) {
      if (active[q] < 0) continue;
      to_move[q] -= static_cast<double>(next - now) / sharing;
      if (to_move[q] > 0.001) continue;
      const int i = active[q];
      active[q] = -1;
      unit_free[q] = next;
      t.end[i] = next + costs[i].latency;
      ++finished;
    }
    now = next;
  }
  for (size_t f = 0; f < feed_of.size(); ++f) {  // the last one stays
    t.end[feed_of[f]] = t.end[count + f];
  }
  t.start.resize(count);
  t.end.resize(count);
  for (const int64_t end : t.end)
    t.total = std::max(t.total, end == kNever ? 0 : end);
  return t;
}

}  // namespace systole::compiler
