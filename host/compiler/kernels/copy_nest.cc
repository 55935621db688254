// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Scalar registers of a run: the two addresses, strides between rows, counters
// of the loops, constants, numbers of rows and lanes.
#include "host/compiler/kernels/copy_nest.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/lane_instructions.h"

namespace systole::lanes {
namespace {

using vpu::Op;

constexpr int kFrom = 1, kTo = 2, kFromStride = 4, kToStride = 5,
              kRowCounter = 6, kCounters = 7, kMask = 11, kRepeat = 12,
              kVl = 13, kNarrow = 14, kWide = 15;
static_assert(CopyNest::kMostLoops == kMask - kCounters);
// Vector registers: of loads, results, the cross unit.
constexpr int kLoaded = 0, kResult = 16, kCrossed = 32;

Op LoadOf(int64_t bytes) {
  return bytes == 4 ? Op::kLd32 : bytes == 2 ? Op::kLd16 : Op::kLd8;
}
Op StoreOf(int64_t bytes) {
  return bytes == 4 ? Op::kSt32 : bytes == 2 ? Op::kSt16h : Op::kSt8;
}

// Loads use both units in turns.
int LoadRegister(int64_t group) {
  return kLoaded + static_cast<int>(group % 2 * 8 + group / 2 % 8);
}

}  // namespace

absl::StatusOr<int> CopyNests::Add(const CopyNest& nest) {
  std::vector<int64_t> key = {nest.unit, nest.lanes, nest.spread};
  const auto add = [&](const Loop& loop) {
    key.insert(key.end(), {loop.count, loop.from, loop.to});
  };
  add(nest.rows);
  add(nest.columns);
  add(nest.times);
  for (const Loop& loop : nest.loops) add(loop);
  const auto [found, added] =
      known_.try_emplace(std::move(key), static_cast<int>(words_.size()));
  if (!added) return found->second;
  const bool block = nest.columns.count > 0;
  const int64_t neighbours = block ? 4 / nest.unit : 1;
  Put(Op::kLi, kFromStride, 0, 0, nest.rows.from);
  Put(Op::kLi, kToStride, 0, 0,
      block ? neighbours * nest.columns.to : nest.rows.to);
  Put(Op::kLi, kWide, 0, 0,
      block ? nest.rows.count * nest.times.count : nest.lanes);
  Put(Op::kLi, kNarrow, 0, 0,
      block ? DivideUp(nest.columns.count, neighbours) : 1);
  if (nest.spread == 1) {
    Put(Op::kLi, kMask, 0, 0, 0xFF);
    Put(Op::kLi, kRepeat, 0, 0, 0x01010101);
  }
  if (nest.spread == 2 || (block && nest.unit == 2))
    Put(Op::kLi, kMask, 0, 0, 16);
  if (!block && nest.spread == 0) Put(Op::kLanes, 0, kWide);
  vl_ = 0;
  EmitLoops(nest, 0);
  Put(Op::kHalt, 0);
  if (words_.size() > static_cast<size_t>(vpu::kImemWords))
    return absl::ResourceExhaustedError("the instruction memory is too small");
  return found->second;
}

void CopyNests::Put(Op op, int d, int a, int b, int64_t imm) {
  words_.push_back(Make(op, d, a, b, static_cast<int32_t>(imm)).Encode());
}

void CopyNests::PutScalar(Op op, int d, int a, int b) {
  vpu::Instr x = Make(op, d, a, b);
  x.bm = static_cast<uint8_t>(vpu::Mode::kScalar);
  words_.push_back(x.Encode());
}

void CopyNests::Move(Distance distance) {
  if (distance.from != 0) Put(Op::kAddi, kFrom, kFrom, 0, distance.from);
  if (distance.to != 0) Put(Op::kAddi, kTo, kTo, 0, distance.to);
}

void CopyNests::SetRows(int64_t rows) {
  if (vl_ == rows) return;
  vl_ = rows;
  Put(Op::kLi, kVl, 0, 0, rows);
  Put(Op::kVl, 0, kVl);
}

CopyNests::Distance CopyNests::EmitLoops(const CopyNest& nest, size_t level) {
  if (level == nest.loops.size())
    return nest.columns.count > 0 ? EmitBlock(nest) : EmitRows(nest);
  const Loop& loop = nest.loops[level];
  const int counter = kCounters + static_cast<int>(level);
  Put(Op::kLi, counter, 0, 0, loop.count);
  const auto start = static_cast<int64_t>(words_.size());
  vl_ = 0;  // as the last iteration leaves it
  const Distance moved = EmitLoops(nest, level + 1);
  Move({loop.from - moved.from, loop.to - moved.to});
  Put(Op::kAddi, counter, counter, 0, -1);
  Put(Op::kBlt, 0, 0, counter, start);
  return {loop.count * loop.from, loop.count * loop.to};
}

CopyNests::Distance CopyNests::EmitRows(const CopyNest& nest) {
  const Loop& rows = nest.rows;
  constexpr int64_t kTogether = 4;  // groups of an iteration
  int64_t groups = rows.count / kGroupRows;
  const int64_t rest = rows.count % kGroupRows;
  Distance moved = {0, 0};
  const auto group = [&](int64_t i) {
    EmitGroup(nest, i, i * kGroupRows * rows.from, i * kGroupRows * rows.to);
  };
  if (groups > 0) SetRows(kGroupRows);
  if (groups >= 2 * kTogether) {
    const int64_t iterations = groups / kTogether;
    Put(Op::kLi, kRowCounter, 0, 0, iterations);
    const auto start = static_cast<int64_t>(words_.size());
    for (int64_t i = 0; i < kTogether; ++i) group(i);
    const int64_t step = kTogether * kGroupRows;
    Move({step * rows.from, step * rows.to});
    Put(Op::kAddi, kRowCounter, kRowCounter, 0, -1);
    Put(Op::kBlt, 0, 0, kRowCounter, start);
    moved = {iterations * step * rows.from, iterations * step * rows.to};
    groups %= kTogether;
  }
  for (int64_t i = 0; i < groups; ++i) group(i);
  if (rest > 0) {
    SetRows(rest);
    group(groups);
  }
  return moved;
}

// Up to eight rows.
void CopyNests::EmitGroup(const CopyNest& nest, int64_t group, int64_t from,
                          int64_t to) {
  int reg = LoadRegister(group);
  const Op load = LoadOf(nest.spread > 0 ? nest.spread : nest.unit);
  if (nest.spread > 0) Put(Op::kLanes, 0, kNarrow);
  Put(load, reg, kFrom, kFromStride, from);
  if (nest.spread > 0) {
    Put(Op::kLanes, 0, kWide);
    const int all = kCrossed + static_cast<int>(group % 8);
    Put(Op::kBcl, all, reg);
    reg = all;
    if (nest.unit == 4 && nest.spread < 4) {
      // All bytes of the word become the element.
      const int first = kResult + static_cast<int>(group % 8),
                second = first + 8;
      if (nest.spread == 2) {
        PutScalar(Op::kShr, first, reg, kMask);
        Put(Op::kIor, second, first, reg);
      } else {
        PutScalar(Op::kIand, first, reg, kMask);
        PutScalar(Op::kImul, second, first, kRepeat);
      }
      reg = second;
    }
  }
  Put(StoreOf(nest.unit), reg, kTo, kToStride, to);
}

// A block through the transposer: rows.count rows of columns.count elements.
CopyNests::Distance CopyNests::EmitBlock(const CopyNest& nest) {
  const int64_t neighbours = 4 / nest.unit;  // elements of a word
  const int64_t words = DivideUp(nest.columns.count, neighbours);
  Put(Op::kLanes, 0, kNarrow);
  int64_t group = 0;
  for (int64_t time = 0; time < nest.times.count; ++time) {
    for (int64_t at = 0; at < nest.rows.count; at += kGroupRows) {
      SetRows(std::min(kGroupRows, nest.rows.count - at));
      const int reg = LoadRegister(group++);
      Put(Op::kLd32, reg, kFrom, kFromStride,
          time * nest.times.from + at * nest.rows.from);
      Put(Op::kTpush, 0, reg);
    }
  }
  Put(Op::kLanes, 0, kWide);
  for (int64_t at = 0; at < words; at += kGroupRows) {
    const int64_t rows = std::min(kGroupRows, words - at);
    const int popped = kCrossed + static_cast<int>(at / kGroupRows % 8);
    SetRows(rows);
    Put(Op::kTpop, popped);
    for (int64_t i = 0; i < neighbours; ++i) {
      // Of the last word, not all neighbours may be elements.
      const int64_t count =
          std::min(rows, DivideUp(nest.columns.count - i, neighbours) - at);
      if (count <= 0) break;
      int reg = popped;
      if (nest.unit == 2 && i == 0) {
        reg = kResult + static_cast<int>(at / kGroupRows % 16);
        PutScalar(Op::kShl, reg, popped, kMask);
      } else if (nest.unit == 1 && i > 0) {
        reg = kResult + static_cast<int>((3 * (at / kGroupRows) + i - 1) % 16);
        Put(Op::kLi, kRowCounter, 0, 0, 8 * i);
        PutScalar(Op::kShr, reg, popped, kRowCounter);
      }
      SetRows(count);
      Put(StoreOf(nest.unit), reg, kTo, kToStride,
          (at * neighbours + i) * nest.columns.to);
    }
  }
  return {0, 0};
}

}  // namespace systole::lanes
