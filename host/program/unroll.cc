// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs without loops, or with those that a chip's firmware holds.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "systole/loops.h"
#include "systole/program.h"

namespace systole {
namespace {

constexpr uint64_t kProgramAlignment = 128;

uint64_t NextMultiple(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The program with some of its loops.
class Unroller {
 public:
  Unroller(const Program& program, const std::vector<bool>& keep)
      : from_(program),
        keep_(keep),
        passes_(program.loops.size()),
        kept_(program.loops.size()),
        out_(program) {
    out_.loops.clear();
    out_.steps.clear();
    out_.descriptors.clear();
    out_.relocations.clear();
  }

  // False: more than kMaxUnrolled descriptors.
  bool Run() {
    return Walk(0, static_cast<uint32_t>(from_.descriptors.size()), 0);
  }
  Program Take() { return std::move(out_); }

 private:
  bool Walk(uint32_t begin, uint32_t end, uint32_t loop) {
    uint32_t at = begin;
    while (at < end) {
      if (loop >= from_.loops.size() || from_.loops[loop].begin != at) {
        if (!Put(at++)) return false;
        continue;
      }
      const Loop& l = from_.loops[loop];
      if (keep_[loop]) {
        kept_[loop] = static_cast<uint32_t>(out_.loops.size());
        out_.loops.push_back(l);
        out_.loops.back().begin =
            static_cast<uint32_t>(out_.descriptors.size());
      }
      const uint32_t count = keep_[loop] ? 1 : l.count;
      for (uint32_t& pass = passes_[loop] = 0; pass < count; ++pass) {
        if (!Walk(l.begin, l.end, loop + 1)) return false;
      }
      passes_[loop] = 0;
      if (keep_[loop])
        out_.loops[kept_[loop]].end =
            static_cast<uint32_t>(out_.descriptors.size());
      at = l.end;
      while (loop < from_.loops.size() && from_.loops[loop].begin < at) ++loop;
    }
    return true;
  }

  bool Put(uint32_t i) {
    if (out_.descriptors.size() == kMaxUnrolled) return false;
    const auto index = static_cast<uint32_t>(out_.descriptors.size());
    const auto moved = std::lower_bound(
        from_.relocations.begin(), from_.relocations.end(), i,
        [](const Relocation& r, uint32_t at) { return r.descriptor < at; });
    if (moved != from_.relocations.end() && moved->descriptor == i)
      out_.relocations.push_back({index, moved->segment});
    // In the first pass of those that stay.
    out_.descriptors.push_back(
        AtPass(from_.descriptors[i], i, from_.steps, passes_));
    auto step = std::lower_bound(
        from_.steps.begin(), from_.steps.end(), i,
        [](const Step& s, uint32_t at) { return s.descriptor < at; });
    for (; step != from_.steps.end() && step->descriptor == i; ++step) {
      if (!keep_[step->loop]) continue;
      Step stays = *step;
      stays.descriptor = index;
      stays.loop = kept_[step->loop];
      out_.steps.push_back(stays);
    }
    return true;
  }

  const Program& from_;
  const std::vector<bool>& keep_;
  std::vector<uint32_t> passes_;
  std::vector<uint32_t> kept_;  // the numbers of those that stay
  Program out_;
};

absl::StatusOr<Program> Unroll(const Program& program,
                               const std::vector<bool>& keep) {
  for (size_t i = 0; i < keep.size(); ++i) {
    const Loop& loop = program.loops[i];
    if (!keep[i] && loop.conditional())
      return absl::FailedPreconditionError(absl::StrCat(
          "descriptors ", loop.begin, " to ", loop.end - 1,
          " are run or not by what a word of the memory says: only a chip with "
          "a scalar unit can do that"));
  }
  Unroller unroller(program, keep);
  if (!unroller.Run())
    return absl::ResourceExhaustedError(absl::StrCat(
        "unrolled, the loops are more than ", kMaxUnrolled, " descriptors"));
  Program flat = unroller.Take();
  const Preset& preset = *FindPreset(program.preset);
  const uint64_t bytes = flat.descriptors.size() * isa::kDescriptorBytes;
  const uint64_t at =
      NextMultiple(program.hbm_bytes,
                   std::max<uint64_t>({kProgramAlignment, kMemoryAlignment,
                                       uint64_t(preset.beat)}));
  if (at + bytes > preset.memory_bytes())
    return absl::ResourceExhaustedError(
        absl::StrFormat("unrolled, the program is %d descriptors, for which "
                        "the memory of %d bytes has no room",
                        flat.descriptors.size(), preset.memory_bytes()));
  for (MemorySegment& part : flat.memory) {
    if (part.hbm_addr <= program.prog_addr &&
        program.prog_addr < part.hbm_addr + part.bytes &&
        part.use == MemoryUse::kCode)
      part = {MemoryUse::kCode, at, bytes};
  }
  flat.prog_addr = at;
  flat.hbm_bytes = NextMultiple(at + bytes, kProgramAlignment);
  return flat;
}

// Whether the tables of all chapters have room; there are at most two for each
// that would be full.
bool TablesFit(const Program& program) {
  constexpr uint64_t kEntry = 24, kAlign = 64;
  const size_t loops = program.loops.size(), steps = program.steps.size();
  const uint64_t chapters = 2 * (loops / kMaxLoops + steps / kMaxSteps) + 1;
  return (loops + steps) * kEntry + chapters * 3 * kAlign <= kMaxTableBytes;
}

// What the firmware has to hold at a time, and how long the program is: numbers
// beyond all memories are none to be exact about.
struct Held {
  double loops = 0, steps = 0, descriptors = 0;

  bool fits() const { return loops <= kMaxLoops && steps <= kMaxSteps; }
  // Shares of what there is room for.
  double load() const {
    const auto over = [](double is, uint32_t most) {
      return std::max(0.0, is / most - 1);
    };
    return over(loops, kMaxLoops) + over(steps, kMaxSteps);
  }
};

// Gives loops up that the firmware cannot hold.
class Chooser {
 public:
  explicit Chooser(const Program& program)
      : p_(program),
        keep_(program.loops.size(), true),
        copies_(program.descriptors.size(), 1),
        steps_(program.descriptors.size() + 1) {
    for (size_t i = 0, s = 0; i < p_.descriptors.size(); ++i) {
      steps_[i] = s;
      while (s < p_.steps.size() && p_.steps[s].descriptor == i) ++s;
      steps_[i + 1] = s;
    }
  }

  // Those that stay, if each that is in no other one must fit.
  std::vector<bool> InChapters() {
    for (size_t l = 0; l < p_.loops.size(); l = End(l)) Fit(l);
    return keep_;
  }
  // If all together must; those that can go are none, if that is not enough.
  std::vector<bool> AtOnce() {
    Fit(0, p_.loops.size(), 0, static_cast<uint32_t>(p_.descriptors.size()));
    return keep_;
  }

 private:
  // A loop and those in it: what it gives up is in it, or it alone, so that
  // those in it are in no other one. Returns its descriptors then.
  double Fit(size_t l) {
    const Loop& loop = p_.loops[l];
    const double within = Fit(l, End(l), loop.begin, loop.end);
    if (loop.conditional() || Kept(l, End(l)) == End(l) - l) return within;
    const auto begin = keep_.begin() + static_cast<ptrdiff_t>(l);
    const auto end = keep_.begin() + static_cast<ptrdiff_t>(End(l));
    const std::vector<bool> inner(begin, end);
    std::fill(begin, end, true);
    *begin = false;
    double alone = loop.end - loop.begin;
    for (size_t k = l + 1; k < End(l); k = End(k))
      alone += Fit(k) - (p_.loops[k].end - p_.loops[k].begin);
    alone *= loop.count;
    if (alone < within) return alone;
    std::copy(inner.begin(), inner.end(), begin);
    return within;
  }

  // Loops [first, last), which are in descriptors [begin, end): gives up one
  // after the other, each with those in it, that which makes the program longer
  // by the least, for what it takes of the firmware's tables.
  double Fit(size_t first, size_t last, uint32_t begin, uint32_t end) {
    held_.loops = static_cast<double>(last - first);
    held_.steps = static_cast<double>(steps_[end] - steps_[begin]);
    held_.descriptors = end - begin;
    std::fill(copies_.begin() + begin, copies_.begin() + end, 1);
    while (!held_.fits()) {
      size_t least = last;
      double least_price = 0;
      for (size_t l = first; l < last; ++l) {
        if (!CanGo(l)) continue;
        const double price = Price(l);
        if (least < last && price >= least_price) continue;
        least = l;
        least_price = price;
      }
      if (least == last) {  // conditional ones alone
        std::fill(keep_.begin() + static_cast<ptrdiff_t>(first),
                  keep_.begin() + static_cast<ptrdiff_t>(last), false);
        return std::numeric_limits<double>::infinity();
      }
      held_ = Without(least);
      for (size_t k = least; k < End(least); ++k) {
        if (!keep_[k]) continue;
        keep_[k] = false;
        const Loop& loop = p_.loops[k];
        for (uint32_t i = loop.begin; i < loop.end; ++i)
          copies_[i] *= loop.count;
      }
    }
    return held_.descriptors;
  }

  size_t Kept(size_t first, size_t last) const {
    return static_cast<size_t>(
        std::count(keep_.begin() + static_cast<ptrdiff_t>(first),
                   keep_.begin() + static_cast<ptrdiff_t>(last), true));
  }

  // The first loop that is not in loop l.
  size_t End(size_t l) const {
    size_t k = l + 1;
    while (k < p_.loops.size() && p_.loops[k].begin < p_.loops[l].end) ++k;
    return k;
  }

  bool CanGo(size_t l) const {
    if (!keep_[l]) return false;
    for (size_t k = l; k < End(l); ++k) {
      if (keep_[k] && p_.loops[k].conditional()) return false;
    }
    return true;
  }

  double Price(size_t l) const {
    const Held without = Without(l);
    const double saved = held_.load() - without.load();
    const double longer = without.descriptors - held_.descriptors;
    // Outer loops may have more steps then.
    return saved > 0 ? longer / saved : longer * 1e9;
  }

  Held Without(size_t l) const {
    Held held = held_;
    const Loop& loop = p_.loops[l];
    const size_t end = End(l);
    std::vector<double> times(loop.end - loop.begin, 1);
    for (size_t k = l; k < end; ++k) {
      if (!keep_[k]) continue;
      held.loops -= 1;
      for (uint32_t i = p_.loops[k].begin; i < p_.loops[k].end; ++i)
        times[i - loop.begin] *= p_.loops[k].count;
    }
    for (uint32_t i = loop.begin; i < loop.end; ++i) {
      double own = 0, others = 0;
      for (size_t s = steps_[i]; s < steps_[i + 1]; ++s) {
        const size_t of = p_.steps[s].loop;
        if (!keep_[of]) continue;
        (of >= l && of < end ? own : others) += 1;
      }
      const double is = copies_[i], then = is * times[i - loop.begin];
      held.descriptors += then - is;
      held.steps += then * others - is * (own + others);
    }
    return held;
  }

  const Program& p_;
  std::vector<bool> keep_;
  std::vector<double> copies_;  // of each descriptor
  std::vector<size_t> steps_;   // the first of each descriptor
  Held held_;
};

}  // namespace

absl::StatusOr<Program> UnrollLoops(const Program& program) {
  if (program.loops.empty()) return program;
  return Unroll(program, std::vector<bool>(program.loops.size(), false));
}

absl::StatusOr<Program> ForChip(Program program) {
  if (program.loops.empty()) return program;
  const Preset& preset = *FindPreset(program.preset);
  std::vector<bool> keep(program.loops.size(), false);
  const bool runs = preset.chip.smem_bytes != 0 &&
                    isa::kDescriptorBytes % preset.beat_bytes() == 0;
  if (runs) keep = Chooser(program).InChapters();
  const auto with = [&]() -> absl::StatusOr<Program> {
    if (std::find(keep.begin(), keep.end(), false) == keep.end())
      return program;
    return Unroll(program, keep);
  };
  absl::StatusOr<Program> made = with();
  if (runs && (absl::IsResourceExhausted(made.status()) ||
               (made.ok() && !TablesFit(*made)))) {
    keep = Chooser(program).AtOnce();
    made = with();
  }
  if (made.ok()) return made;
  return absl::Status(made.status().code(),
                      absl::StrCat("preset '", program.preset,
                                   runs ? "': too many loops for its firmware: "
                                        : "' has no scalar unit: ",
                                   made.status().message()));
}

}  // namespace systole
