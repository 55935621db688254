// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/program/repeats.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "host/program/header_bits.h"

namespace systole {
namespace {

constexpr size_t kMaxPeriod = 2048;
constexpr int64_t kStepBytes = 24, kLoopBytes = 24;
constexpr int64_t kLeastSaved = 4 * isa::kDescriptorBytes;

std::vector<GrowingField> FieldsOf(const isa::OpInfo& op) {
  std::vector<GrowingField> fields;
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

struct Candidate {
  size_t at = 0, period = 0, passes = 0;
  int64_t saved = 0;              // bytes
  size_t stepped = 0, steps = 0;  // as Counts
};

// Descriptors that grow, those of them that did not yet, fields that do.
struct Counts {
  size_t all = 0, stepped = 0, steps = 0;
};

class Finder {
 public:
  Finder(const std::vector<isa::Descriptor>& list,
         const std::vector<int>& groups, const RepeatLimits& limits)
      : list_(list),
        limits_(limits),
        kinds_(list.size()),
        grows_(list.size(), false) {
    for (size_t i = 0; i < list.size(); ++i) {
      isa::Descriptor rest = list[i];
      for (const GrowingField& f : GrowingFieldsOf(rest))
        isa::PutBits(rest, static_cast<int>(f.lsb), static_cast<int>(f.bits),
                     0);
      kinds_[i] = Number(
          std::string(reinterpret_cast<const char*>(rest.data()), sizeof rest) +
          std::to_string(groups[i]));
    }
  }

  std::vector<Repeat> Find(size_t begin, size_t end, uint32_t depth) {
    std::vector<Repeat> found;
    Add(begin, end, depth, &found);
    return found;
  }

 private:
  int Number(std::string key) {
    return names_.emplace(std::move(key), static_cast<int>(names_.size()))
        .first->second;
  }

  bool GoesOn(size_t i, size_t period) const {
    const isa::Descriptor &a = list_[i - period], &b = list_[i],
                          &c = list_[i + period];
    for (const GrowingField& f : GrowingFieldsOf(b)) {
      if (GrowthOf(a, b, f) != GrowthOf(b, c, f)) return false;
    }
    return true;
  }

  // A stretch is as long as it can be: each descriptor is of one kind with the
  // one `period` later. Those of less than a period are no repeats; any other
  // meets one of the places that are looked at.
  void Stretches(size_t begin, size_t end, size_t period, Candidate* best) {
    const auto same = [&](size_t i) { return kinds_[i] == kinds_[i + period]; };
    size_t done = begin, i = begin;
    while (i + period < end) {
      if (!same(i)) {
        i += period;
        continue;
      }
      size_t from = i, to = i + 1;
      while (from > done && same(from - 1)) --from;
      while (to + period < end && same(to)) ++to;
      if (Saved(period, to - from) > best->saved) Split(from, to, period, best);
      done = to;
      i = to + 1;
    }
  }

  // Bytes that repeats of so many descriptors save at most.
  static int64_t Saved(size_t period, size_t length) {
    return static_cast<int64_t>(length / period * period) *
               isa::kDescriptorBytes -
           kLoopBytes;
  }

  // Where the growth changes, another stretch begins.
  void Split(size_t from, size_t to, size_t period, Candidate* best) {
    Count(from, to, period);
    size_t at = from;
    for (size_t i = from; i < to; ++i) {
      if (i - at < period || GoesOn(i, period)) continue;
      Consider(at, i - at, at - from, period, best);
      at = i - period + 1;
    }
    Consider(at, to - at, at - from, period, best);
  }

  // counts_[i]: of the first i of a stretch.
  void Count(size_t from, size_t to, size_t period) {
    Counts sum;
    counts_.assign(1, sum);
    for (size_t i = from; i < to; ++i) {
      const size_t before = sum.steps;
      for (const GrowingField& f : GrowingFieldsOf(list_[i]))
        if (GrowthOf(list_[i], list_[i + period], f) != 0) ++sum.steps;
      if (sum.steps != before) {
        ++sum.all;
        if (!grows_[i]) ++sum.stepped;
      }
      counts_.push_back(sum);
    }
  }

  // `offset`: of `at` in its stretch.
  void Consider(size_t at, size_t length, size_t offset, size_t period,
                Candidate* best) const {
    if (length < period) return;
    const Counts &a = counts_[offset], &b = counts_[offset + period];
    Candidate r;
    r.at = at;
    r.period = period;
    r.passes = length / period + 1;
    r.stepped = b.stepped - a.stepped;
    r.steps = b.steps - a.steps;
    r.saved =
        Saved(period, length) - kStepBytes * static_cast<int64_t>(r.steps);
    if (r.saved < kLeastSaved || r.stepped > limits_.stepped ||
        r.steps > limits_.steps ||
        period < limits_.pieces * (b.all - a.all + 1))
      return;
    if (r.saved > best->saved) *best = r;
  }

  Candidate Best(size_t begin, size_t end) {
    Candidate best;
    const size_t most = std::min(kMaxPeriod, (end - begin) / 2);
    for (size_t period = 1; period <= most; ++period)
      Stretches(begin, end, period, &best);
    return best;
  }

  // What grows in different ways is not of one kind.
  void Grow(const Repeat& r, uint32_t depth) {
    for (size_t i = r.at; i < r.at + r.period; ++i) {
      std::string key = std::to_string(kinds_[i]);
      for (const GrowingField& f : GrowingFieldsOf(list_[i])) {
        const int64_t by = GrowthOf(list_[i], list_[i + r.period], f);
        if (by == 0) continue;
        grows_[i] = true;
        for (const int64_t v : {int64_t{depth}, int64_t{f.lsb}, by})
          key += "," + std::to_string(v);
      }
      kinds_[i] = Number(std::move(key));
    }
  }

  void Add(size_t begin, size_t end, uint32_t depth,
           std::vector<Repeat>* found) {
    Candidate best;
    if (depth < limits_.depth && limits_.loops > 0) best = Best(begin, end);
    if (best.saved == 0) return;
    --limits_.loops;
    limits_.stepped -= best.stepped;
    limits_.steps -= best.steps;
    Repeat r;
    r.at = best.at;
    r.period = best.period;
    r.passes = best.passes;
    Add(begin, r.at, depth, found);
    Grow(r, depth);
    r.inner = Find(r.at, r.at + r.period, depth + 1);
    const size_t behind = r.end();
    found->push_back(std::move(r));
    Add(behind, end, depth, found);
  }

  const std::vector<isa::Descriptor>& list_;
  RepeatLimits limits_;     // what may still come
  std::vector<int> kinds_;  // all but what may grow, and how it did
  std::vector<bool> grows_;
  std::vector<Counts> counts_;  // of the stretch at hand
  std::map<std::string, int> names_;
};

}  // namespace

const std::vector<GrowingField>& GrowingFieldsOf(const isa::Descriptor& d) {
  static const auto& fields = *[] {
    auto* all = new std::array<std::vector<GrowingField>, 1 << kOpcodeBits>();
    for (const isa::OpInfo& op : isa::kOps)
      (*all)[static_cast<size_t>(op.opcode)] = FieldsOf(op);
    return all;
  }();
  return fields[isa::GetBits(d, 0, kOpcodeBits)];
}

int64_t GrowthOf(const isa::Descriptor& a, const isa::Descriptor& b,
                 const GrowingField& field) {
  const int lsb = static_cast<int>(field.lsb);
  const int bits = static_cast<int>(field.bits);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const uint64_t by =
      (isa::GetBits(b, lsb, bits) - isa::GetBits(a, lsb, bits)) & mask;
  return by > mask / 2
             ? static_cast<int64_t>(by) - static_cast<int64_t>(mask) - 1
             : static_cast<int64_t>(by);
}

std::vector<Repeat> FindRepeats(const std::vector<isa::Descriptor>& list,
                                const std::vector<int>& groups,
                                const RepeatLimits& limits) {
  return Finder(list, groups, limits).Find(0, list.size(), 0);
}

}  // namespace systole
