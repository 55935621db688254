// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loads move up, by several distances, of which the model says the best.
// `lanes` are no instructions here but belong to the loads and stores behind
// them.
#include "host/compiler/kernels/lane_schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "host/compiler/kernels/lane_cost.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using vpu::Class;
using vpu::Kind;
using vpu::Op;

// Instructions by which loads come earlier.
constexpr int kAhead[] = {8, 24, 60};

// What instructions read and write: vector registers, then scalar ones, then
// the number of rows, the order of the transposer, memory.
constexpr int kScalars = vpu::kVectorRegs;
constexpr int kRows = kScalars + vpu::kScalarRegs, kTransposer = kRows + 1;
constexpr int kMemory = kTransposer + 1, kResources = kMemory + 1;

struct Uses {
  std::vector<int> reads, writes;
};

struct Move {
  vpu::Instr x;
  int lanes = -1;  // of loads and stores: the scalar register with their number
  int value = -1;  // which of the values that the register has
};

const vpu::OpInfo& InfoOf(const vpu::Instr& x) {
  return *vpu::FindOp(static_cast<uint8_t>(x.op));
}
bool IsLoad(const vpu::Instr& x) { return InfoOf(x).cls == Class::kLoad; }
bool IsStore(const vpu::Instr& x) { return InfoOf(x).cls == Class::kStore; }

// Whether it may move at all.
bool Moves(const vpu::Instr& x) {
  if (x.op == Op::kLds) return false;
  return InfoOf(x).cls != Class::kControl || x.op == Op::kLanes ||
         x.op == Op::kVl;
}

Uses UsesOf(const Move& move) {
  const vpu::Instr& x = move.x;
  const vpu::OpInfo& op = InfoOf(x);
  Uses uses;
  const auto add = [&](Kind kind, int reg, int mode) {
    const bool scalar =
        kind == Kind::kSsrc ||
        (kind == Kind::kVsrc && mode == static_cast<int>(vpu::Mode::kScalar));
    if (scalar) {
      if (reg != 0) uses.reads.push_back(kScalars + reg);
    } else if (kind == Kind::kSdst) {
      uses.writes.push_back(kScalars + reg);
    } else if (kind == Kind::kVfrom || kind == Kind::kVrow ||
               kind == Kind::kVsrc) {
      uses.reads.push_back(reg);
    } else if (kind != Kind::kNone) {
      uses.writes.push_back(reg);
    }
  };
  add(op.d, x.d, 0);
  add(op.a, x.a, x.am);
  add(op.b, x.b, x.bm);
  add(op.c, x.c, x.cm);
  if (x.op == Op::kVl) uses.writes.push_back(kRows);
  if (op.cls != Class::kScalar && op.cls != Class::kControl)
    uses.reads.push_back(kRows);
  if (move.lanes > 0) uses.reads.push_back(kScalars + move.lanes);
  // Loads pass each other and stores; stores pass nothing.
  if (IsLoad(x)) uses.reads.push_back(kMemory);
  if (IsStore(x)) uses.writes.push_back(kMemory);
  if (x.op == Op::kTpush || x.op == Op::kTpop)
    uses.writes.push_back(kTransposer);
  return uses;
}

// The code without `lanes`.
std::vector<Move> MovesOf(const std::vector<vpu::Instr>& code, int lanes) {
  std::vector<Move> moves;
  std::vector<int> values(vpu::kScalarRegs, -1);  // of each register
  int reg = lanes, value = -1;                    // of the lanes
  for (const vpu::Instr& x : code) {
    if (x.op == Op::kLanes) {
      reg = x.a;
      value = values[reg];
      continue;
    }
    if (InfoOf(x).d == Kind::kSdst)
      values[x.d] = static_cast<int>(moves.size());
    Move& move = moves.emplace_back();
    move.x = x;
    if (!IsLoad(x) && !IsStore(x)) continue;
    move.lanes = reg;
    move.value = value;
  }
  return moves;
}

class List {
 public:
  // `lanes`: the register before and after.
  List(const std::vector<vpu::Instr>& code, int lanes)
      : lanes_(lanes),
        moves_(MovesOf(code, lanes)),
        before_(moves_.size()),
        after_(moves_.size()) {
    std::vector<int> writer(kResources, -1);
    std::vector<std::vector<int>> readers(kResources);
    for (int i = 0; i < static_cast<int>(moves_.size()); ++i) {
      const Uses uses = UsesOf(moves_[i]);
      for (const int r : uses.reads) {
        // A load needs no store before it.
        if (r != kMemory) Follow(writer[r], i);
        readers[r].push_back(i);
      }
      for (const int r : uses.writes) {
        Follow(writer[r], i);
        for (const int reader : readers[r]) Follow(reader, i);
        readers[r].clear();
        writer[r] = i;
      }
    }
  }

  // Loads, and the addresses that they need, come up to `ahead` instructions
  // before their place, the others where they are.
  std::vector<uint64_t> Order(int ahead) const {
    const auto count = static_cast<int>(moves_.size());
    std::vector<int> place(count);
    for (int i = count - 1; i >= 0; --i) {
      place[i] = IsLoad(moves_[i].x) ? i - ahead : i;
      if (InfoOf(moves_[i].x).cls != Class::kScalar) continue;
      for (const int next : after_[i])
        place[i] = std::min(place[i], place[next]);
    }
    using Entry = std::pair<int, int>;  // place, instruction
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    std::vector<int> before = before_;
    for (int i = 0; i < count; ++i)
      if (before[i] == 0) ready.emplace(place[i], i);
    std::vector<uint64_t> ordered;
    int reg = lanes_, value = -1;
    const auto set_lanes = [&](int to, int to_value) {
      if (to < 0 || (to == reg && to_value == value)) return;
      reg = to;
      value = to_value;
      vpu::Instr x;
      x.op = Op::kLanes;
      x.a = static_cast<uint8_t>(to);
      ordered.push_back(x.Encode());
    };
    while (!ready.empty()) {
      const int next = ready.top().second;
      ready.pop();
      set_lanes(moves_[next].lanes, moves_[next].value);
      ordered.push_back(moves_[next].x.Encode());
      for (const int i : after_[next])
        if (--before[i] == 0) ready.emplace(place[i], i);
    }
    set_lanes(lanes_, -1);
    return ordered;
  }

 private:
  void Follow(int first, int second) {
    if (first < 0 || first == second) return;
    std::vector<int>& after = after_[first];
    if (!after.empty() && after.back() == second) return;
    after.push_back(second);
    ++before_[second];
  }

  const int lanes_;
  const std::vector<Move> moves_;
  std::vector<int> before_;  // how many have to come first
  std::vector<std::vector<int>> after_;
};

}  // namespace

void Schedule(std::vector<uint64_t>& words, size_t first, int lanes,
              const Preset& preset) {
  std::vector<vpu::Instr> code;
  for (size_t i = first; i < words.size(); ++i) {
    code.push_back(vpu::Instr::Decode(words[i]));
    if (!Moves(code.back())) return;
  }
  const int64_t rows = preset.vector_rows();
  std::vector<uint64_t> best(words.begin() + static_cast<int64_t>(first),
                             words.end());
  const auto cycles_of = [&](const std::vector<uint64_t>& body) {
    return IterationCycles(body, rows, preset, /*before=*/1, /*measured=*/2);
  };
  double least = cycles_of(best);
  const List list(code, lanes);
  for (const int ahead : kAhead) {
    std::vector<uint64_t> ordered = list.Order(ahead);
    const double cycles = cycles_of(ordered);
    if (cycles >= least) continue;
    least = cycles;
    best = std::move(ordered);
  }
  words.resize(first);
  words.insert(words.end(), best.begin(), best.end());
}

}  // namespace systole::lanes
