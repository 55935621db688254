// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/code_placement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "host/compiler/access.h"

namespace systole::lanes {
namespace {

constexpr int64_t kNotAgain = std::numeric_limits<int64_t>::max();

// A kernel with those that run along with it.
struct CodeUnit {
  size_t first, kernels;
  int64_t size = 0;          // instructions
  int code = 0;              // number of what it consists of
  int64_t next = kNotAgain;  // the next unit with the same code
};

std::vector<CodeUnit> UnitsOf(const std::vector<LinkedKernel>& kernels) {
  std::vector<CodeUnit> units;
  std::map<std::vector<uint64_t>, int> numbers;
  for (size_t k = 0; k < kernels.size();) {
    CodeUnit unit{k, 1};
    while (k + unit.kernels < kernels.size() &&
           kernels[k + unit.kernels].beside)
      ++unit.kernels;
    std::vector<uint64_t> code;
    for (size_t i = k; i < k + unit.kernels; ++i) {
      const KernelProgram& kernel = *kernels[i].kernel;
      const CodeSteps steps = CodeOf(kernel);
      if (steps.count == 0) continue;
      const isa::Vload vload =
          isa::Vload::Decode(kernel.steps[steps.vload].descriptor);
      unit.size = std::max<int64_t>(unit.size, vload.addr + vload.count);
      code.push_back(vload.addr);
      code.push_back(vload.count);
      code.insert(code.end(), kernel.words.begin(),
                  kernel.words.begin() + steps.count);
    }
    unit.code =
        numbers.emplace(std::move(code), static_cast<int>(numbers.size()))
            .first->second;
    units.push_back(unit);
    k += unit.kernels;
  }
  std::map<int, int64_t> next;  // by code
  for (size_t i = units.size(); i-- > 0;) {
    const auto [place, added] =
        next.emplace(units[i].code, static_cast<int64_t>(i));
    if (added) continue;
    units[i].next = std::exchange(place->second, static_cast<int64_t>(i));
  }
  return units;
}

class InstructionMemory {
 public:
  explicit InstructionMemory(int64_t end) : end_(end) {}

  CodePlace Place(const CodeUnit& unit) {
    const auto there = std::find_if(
        parts_.begin(), parts_.end(),
        [&](const auto& part) { return part.second.code == unit.code; });
    if (there != parts_.end()) {
      there->second.next = unit.next;
      return {there->first, true};
    }
    const int64_t at = PlaceFor(unit.size);
    for (auto part = parts_.begin(); part != parts_.end();)
      part = Overlaps(*part, at, unit.size) ? parts_.erase(part) : ++part;
    parts_[at] = unit;
    last_ = at + unit.size;
    return {at, false};
  }

 private:
  using Part = std::pair<const int64_t, CodeUnit>;

  static bool Overlaps(const Part& part, int64_t at, int64_t size) {
    return part.first < at + size && at < part.first + part.second.size;
  }

  // Where what goes is needed latest; of several such places the first one
  // behind the code that came last.
  int64_t PlaceFor(int64_t size) const {
    std::vector<int64_t> places = {0};
    for (const auto& [at, unit] : parts_) places.push_back(at + unit.size);
    std::sort(places.begin(), places.end());
    std::rotate(places.begin(),
                std::lower_bound(places.begin(), places.end(), last_),
                places.end());
    int64_t best = 0, latest = -1;
    for (const int64_t at : places) {
      if (at + size > end_) continue;
      int64_t next = kNotAgain;
      for (const Part& part : parts_)
        if (Overlaps(part, at, size)) next = std::min(next, part.second.next);
      if (next <= latest) continue;
      latest = next;
      best = at;
    }
    return best;
  }

  const int64_t end_;
  std::map<int64_t, CodeUnit> parts_;  // by their places
  int64_t last_ = 0;                   // end of the code that came last
};

}  // namespace

CodeSteps CodeOf(const KernelProgram& kernel) {
  CodeSteps code;
  for (size_t i = 0; i < kernel.steps.size(); ++i) {
    const isa::Descriptor& d = kernel.steps[i].descriptor;
    if (compiler::OpcodeOf(d) != isa::Opcode::kVload) continue;
    code.vload = i;
    code.count = isa::Vload::Decode(d).count;
    break;
  }
  if (code.vload == CodeSteps::kNone) return code;
  for (const KernelProgram::Patch& patch : kernel.patches) {
    if (patch.operand < 0 && patch.offset == 0)
      code.load = static_cast<size_t>(patch.descriptor);
  }
  return code;
}

std::vector<CodePlace> PlaceCode(const std::vector<LinkedKernel>& kernels,
                                 int64_t end) {
  InstructionMemory memory(end);
  std::vector<CodePlace> places(kernels.size());
  for (const CodeUnit& unit : UnitsOf(kernels)) {
    if (unit.size == 0) continue;
    const CodePlace place = memory.Place(unit);
    std::fill_n(places.begin() + static_cast<int64_t>(unit.first), unit.kernels,
                place);
  }
  return places;
}

}  // namespace systole::lanes
