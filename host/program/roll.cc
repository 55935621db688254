// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Finds loops in a straight program. A repetition is P descriptors that come R
// times one after the other, each time with fields that grow by the same. The
// one that saves most is taken first, then what stands before and behind it and
// what is repeated are looked at in the same way.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "host/program/header_bits.h"
#include "systole/loops.h"
#include "systole/program.h"

namespace systole {
namespace {

constexpr size_t kMaxPeriod = 2048;
constexpr int64_t kStepBytes = 24, kLoopBytes = 24;
// Descriptors for one that the firmware has to make: it takes about as long for
// that as the core for so many.
constexpr size_t kPieces = 4;
constexpr int64_t kLeastSaved = 4 * isa::kDescriptorBytes;

struct Field {
  uint32_t lsb, bits;
};

// What a pass may add to, of an operation: of transfers their addresses, of
// others all that a scalar unit can change.
std::vector<Field> FieldsOf(const isa::OpInfo& op) {
  std::vector<Field> fields;
  const bool moves = op.opcode == isa::Opcode::kLoad ||
                     op.opcode == isa::Opcode::kStore ||
                     op.opcode == isa::Opcode::kWeights;
  for (int i = 0; i < op.num_fields; ++i) {
    const isa::FieldInfo& f = op.fields[i];
    if (moves && f.name != "hbm_addr" && f.name != "ub_addr") continue;
    for (int n = 0; n < f.count; ++n) {
      const auto lsb = static_cast<uint32_t>(f.lsb + n * f.bits);
      const auto bits = static_cast<uint32_t>(f.bits);
      if (lsb % 32 + bits <= 64) fields.push_back({lsb, bits});
    }
  }
  return fields;
}

// A step whose loop is known by its depth alone.
struct Growth {
  uint32_t depth, lsb, bits;
  int64_t add;
};

struct Leaf {
  isa::Descriptor d;
  int64_t segment;  // of its relocation, or -1
  std::vector<Growth> growths;
  int kind;  // leaves of one kind may be passes of one descriptor
};

struct Repetition {
  size_t at = 0, period = 0, passes = 0;
  int64_t saved = 0;  // bytes
  // Descriptors that get steps, those of them that had none, steps.
  size_t all = 0, stepped = 0, steps = 0;
};

class Roller {
 public:
  Roller(const Program& program, uint32_t stepped)
      : program_(program),
        stepped_(stepped),
        steps_(2 * size_t{stepped}),
        loops_(stepped / 2),
        limited_(stepped <= kMaxStepped) {
    for (const isa::OpInfo& op : isa::kOps)
      fields_[static_cast<uint8_t>(op.opcode)] = FieldsOf(op);
  }

  Program Run() {
    std::vector<Leaf> leaves;
    size_t next = 0;
    for (uint32_t i = 0; i < program_.descriptors.size(); ++i) {
      Leaf leaf = {program_.descriptors[i], -1, {}, 0};
      if (next < program_.relocations.size() &&
          program_.relocations[next].descriptor == i)
        leaf.segment = program_.relocations[next++].segment;
      leaves.push_back(std::move(leaf));
    }
    // The halt stands behind all loops.
    const Leaf halt = leaves.back();
    leaves.pop_back();
    out_ = program_;
    out_.descriptors.clear();
    out_.relocations.clear();
    Roll(std::move(leaves), 0);
    Put(halt);
    std::sort(out_.steps.begin(), out_.steps.end(),
              [](const Step& a, const Step& b) {
                return std::tie(a.descriptor, a.lsb, a.loop) <
                       std::tie(b.descriptor, b.lsb, b.loop);
              });
    for (MemorySegment& part : out_.memory) {
      if (part.use == MemoryUse::kCode && part.hbm_addr == out_.prog_addr)
        part.bytes = std::min<uint64_t>(
            part.bytes, out_.descriptors.size() * isa::kDescriptorBytes);
    }
    return std::move(out_);
  }

 private:
  const std::vector<Field>& FieldsOfLeaf(const Leaf& leaf) {
    return fields_[static_cast<uint8_t>(isa::GetBits(leaf.d, 0, kOpcodeBits))];
  }

  // Everything but the fields that may grow.
  int KindOf(const Leaf& leaf) {
    isa::Descriptor rest = leaf.d;
    for (const Field& f : FieldsOfLeaf(leaf))
      isa::PutBits(rest, static_cast<int>(f.lsb), static_cast<int>(f.bits), 0);
    std::string key(reinterpret_cast<const char*>(rest.data()), sizeof rest);
    key += std::to_string(leaf.segment);
    for (const Growth& g : leaf.growths) {
      for (const int64_t v : {int64_t{g.depth}, int64_t{g.lsb}, g.add})
        key += "," + std::to_string(v);
    }
    return kinds_.emplace(std::move(key), static_cast<int>(kinds_.size()))
        .first->second;
  }

  // From a to b, modulo the field's size, as the smaller of both numbers.
  static int64_t Difference(const Leaf& a, const Leaf& b, const Field& f) {
    const int lsb = static_cast<int>(f.lsb), bits = static_cast<int>(f.bits);
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    const uint64_t by =
        (isa::GetBits(b.d, lsb, bits) - isa::GetBits(a.d, lsb, bits)) & mask;
    return by > mask / 2
               ? static_cast<int64_t>(by) - static_cast<int64_t>(mask) - 1
               : static_cast<int64_t>(by);
  }
  bool SameGrowth(const Leaf& a, const Leaf& b, const Leaf& c) {
    for (const Field& f : FieldsOfLeaf(a)) {
      if (Difference(a, b, f) != Difference(b, c, f)) return false;
    }
    return true;
  }

  // Calls each(at, length) for all stretches, as long as they can be, of which
  // each leaf goes on in the one `period` later as it came from the one before.
  template <typename Each>
  void ForEachStretch(const std::vector<Leaf>& leaves, size_t period,
                      const Each& each) {
    size_t at = 0;
    for (size_t i = 0; i + period < leaves.size(); ++i) {
      const bool same = leaves[i].kind == leaves[i + period].kind;
      if (same && (i - at < period || SameGrowth(leaves[i - period], leaves[i],
                                                 leaves[i + period])))
        continue;
      each(at, i - at);
      at = same ? i - period + 1 : i + 1;
    }
    if (at + period < leaves.size()) each(at, leaves.size() - period - at);
  }

  // Less what its steps take; not worth it, or too much for the firmware: 0.
  void CountSteps(const std::vector<Leaf>& leaves, Repetition* r) {
    for (size_t i = r->at; i < r->at + r->period; ++i) {
      bool steps = false;
      for (const Field& f : FieldsOfLeaf(leaves[i])) {
        if (Difference(leaves[i], leaves[i + r->period], f) == 0) continue;
        steps = true;
        ++r->steps;
      }
      if (!steps) continue;
      ++r->all;
      if (leaves[i].growths.empty()) ++r->stepped;
    }
    r->saved -= kStepBytes * static_cast<int64_t>(r->steps);
    if (r->saved < kLeastSaved || r->stepped > stepped_ || r->steps > steps_ ||
        (limited_ && r->period < kPieces * (r->all + 1)))
      r->saved = 0;
  }

  Repetition Best(const std::vector<Leaf>& leaves) {
    Repetition best;
    const size_t most = std::min(kMaxPeriod, leaves.size() / 2);
    for (size_t period = 1; period <= most; ++period) {
      ForEachStretch(leaves, period, [&](size_t at, size_t length) {
        Repetition r;
        r.at = at;
        r.period = period;
        r.passes = length / period + 1;
        if (r.passes < 2) return;
        r.saved = static_cast<int64_t>((r.passes - 1) * period) *
                      isa::kDescriptorBytes -
                  kLoopBytes;
        if (r.saved <= best.saved) return;
        CountSteps(leaves, &r);
        if (r.saved > best.saved) best = r;
      });
    }
    return best;
  }

  void Roll(std::vector<Leaf> leaves, uint32_t depth) {
    for (Leaf& leaf : leaves) leaf.kind = KindOf(leaf);
    RollPart(leaves, depth);
  }

  void RollPart(const std::vector<Leaf>& leaves, uint32_t depth) {
    Repetition best;
    if (depth < kMaxLoopDepth && loops_ > 0) best = Best(leaves);
    if (best.saved == 0) {
      for (const Leaf& leaf : leaves) Put(leaf);
      return;
    }
    --loops_;
    stepped_ -= best.stepped;
    steps_ -= best.steps;
    const auto from = leaves.begin() + static_cast<ptrdiff_t>(best.at);
    const auto period = static_cast<ptrdiff_t>(best.period);
    std::vector<Leaf> body(from, from + period);
    for (ptrdiff_t i = 0; i < period; ++i) {
      for (const Field& f : FieldsOfLeaf(body[i])) {
        const int64_t by = Difference(body[i], from[i + period], f);
        if (by != 0) body[i].growths.push_back({depth, f.lsb, f.bits, by});
      }
    }
    RollPart({leaves.begin(), from}, depth);
    const auto index = static_cast<uint32_t>(out_.loops.size());
    Loop loop;
    loop.begin = static_cast<uint32_t>(out_.descriptors.size());
    loop.count = static_cast<uint32_t>(best.passes);
    out_.loops.push_back(loop);
    open_.push_back(index);
    Roll(std::move(body), depth + 1);
    open_.pop_back();
    out_.loops[index].end = static_cast<uint32_t>(out_.descriptors.size());
    RollPart(
        {from + period * static_cast<ptrdiff_t>(best.passes), leaves.end()},
        depth);
  }

  void Put(const Leaf& leaf) {
    const auto index = static_cast<uint32_t>(out_.descriptors.size());
    if (leaf.segment >= 0)
      out_.relocations.push_back({index, static_cast<uint32_t>(leaf.segment)});
    for (const Growth& g : leaf.growths)
      out_.steps.push_back({index, open_[g.depth], g.lsb, g.bits, g.add});
    out_.descriptors.push_back(leaf.d);
  }

  const Program& program_;
  // How many may still come: descriptors with steps, steps, loops.
  size_t stepped_, steps_, loops_;
  bool limited_;  // by the firmware, which runs them
  std::map<uint8_t, std::vector<Field>> fields_;
  std::map<std::string, int> kinds_;
  Program out_;
  std::vector<uint32_t> open_;  // loops around the place at hand
};

}  // namespace

Program RollLoops(const Program& program, uint32_t stepped) {
  if (!program.loops.empty() || program.descriptors.size() < 2) return program;
  for (size_t i = 0; i + 1 < program.descriptors.size(); ++i) {
    if (isa::GetBits(program.descriptors[i], 0, kOpcodeBits) ==
        static_cast<uint64_t>(isa::Opcode::kHalt))
      return program;
  }
  return Roller(program, stepped).Run();
}

}  // namespace systole
