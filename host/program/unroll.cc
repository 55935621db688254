// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs without loops, or with as many as a chip's firmware holds.

#include <algorithm>
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

// What the firmware has to hold.
struct Held {
  uint64_t loops = 0, steps = 0, stepped = 0, descriptors = 0;

  bool fits() const {
    return loops <= kMaxLoops && steps <= kMaxSteps && stepped <= kMaxStepped;
  }
  // Shares of what there is room for.
  double load() const {
    const auto share = [](uint64_t is, uint32_t most) {
      return std::max(0.0, static_cast<double>(is) / most - 1);
    };
    return share(loops, kMaxLoops) + share(steps, kMaxSteps) +
           share(stepped, kMaxStepped);
  }
};

Held HeldOf(const Program& p, const std::vector<bool>& keep) {
  Held held;
  std::vector<uint64_t> copies(p.descriptors.size(), 1);
  for (size_t l = 0; l < p.loops.size(); ++l) {
    if (keep[l]) {
      ++held.loops;
      continue;
    }
    for (uint32_t i = p.loops[l].begin; i < p.loops[l].end; ++i)
      copies[i] *= p.loops[l].count;
  }
  for (const uint64_t c : copies) held.descriptors += c;
  uint32_t last = ~0u;
  for (const Step& s : p.steps) {
    if (!keep[s.loop]) continue;
    held.steps += copies[s.descriptor];
    if (s.descriptor != last) held.stepped += copies[s.descriptor];
    last = s.descriptor;
  }
  return held;
}

// Those loops that the firmware can hold: one after the other is given up, of
// the innermost that which makes the program longer by the least, for what it
// takes of the firmware's tables. None, if that does not suffice.
std::vector<bool> Kept(const Program& p) {
  std::vector<bool> keep(p.loops.size(), true);
  Held held = HeldOf(p, keep);
  while (!held.fits()) {
    size_t least = keep.size();
    double least_price = 0;
    Held then;
    for (size_t l = 0; l < keep.size(); ++l) {
      if (!keep[l] || p.loops[l].conditional()) continue;
      bool innermost = true;
      for (size_t k = l + 1;
           k < keep.size() && p.loops[k].begin < p.loops[l].end; ++k)
        innermost = innermost && !keep[k];
      if (!innermost) continue;
      keep[l] = false;
      const Held without = HeldOf(p, keep);
      keep[l] = true;
      const double saved = held.load() - without.load();
      const auto longer =
          static_cast<double>(without.descriptors - held.descriptors);
      // Outer loops may have more steps then.
      const double price = saved > 0 ? longer / saved : longer * 1e9;
      if (least < keep.size() && price >= least_price) continue;
      least = l;
      least_price = price;
      then = without;
    }
    if (least == keep.size()) {  // conditional ones alone
      keep.assign(keep.size(), false);
      break;
    }
    keep[least] = false;
    held = then;
  }
  return keep;
}

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
  if (runs) keep = Kept(program);
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return program;
  absl::StatusOr<Program> flat = Unroll(program, keep);
  if (flat.ok()) return flat;
  return absl::Status(flat.status().code(),
                      absl::StrCat("preset '", program.preset,
                                   runs ? "': too many loops for its firmware: "
                                        : "' has no scalar unit: ",
                                   flat.status().message()));
}

}  // namespace systole
