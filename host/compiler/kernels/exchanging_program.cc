// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/exchanging_program.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/compiler/collectives/collective_spec.h"
#include "host/compiler/kernels/collective_kernel.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {
namespace {

using compiler::CollectivePart;
using compiler::CollectiveSpec;

// Of a stretch: others that are needed first wait for its end.
constexpr int64_t kStretchCycles = 6000;
// Cores come apart while they compute: longer collectives do not wait for each
// piece of others as soon as it can be there.
constexpr int64_t kLongCycles = 10000, kSlack = 1000;
// Beside kernels a longer one takes about so many times as long as alone.
constexpr int64_t kBeside = 2;

int64_t CyclesBeside(const CollectivePart& collective) {
  const int64_t alone = collective.cycles();
  return alone > kLongCycles ? kBeside * alone : alone;
}

bool Has(const std::vector<int>& slots, int slot) {
  return std::count(slots.begin(), slots.end(), slot) > 0;
}
bool Share(const std::vector<int>& a, const std::vector<int>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

using Parts = std::vector<ExchangingProgram::Part>;

// Puts parts in the order in which they can start: kernels one after the other,
// and longer collectives. What comes first in the list goes first if it can.
class PartOrder {
 public:
  PartOrder(const Parts& parts, const Exchanges& exchanges,
            const Preset& preset)
      : parts_(parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const PlanStep& step = parts[i].step;
      if (i > 0 && step.kernel && step.beside) {
        units_.back().parts.push_back(i);
        continue;
      }
      Unit& unit = units_.emplace_back();
      unit.parts = {i};
      unit.computes = step.kernel != nullptr;
      unit.cycles = unit.computes
                        ? step.kernel->expected_cycles
                        : CyclesBeside(CollectivePart(
                              exchanges.Of(*step.node, 0)->spec, preset));
    }
    for (size_t u = 0; u < units_.size(); ++u) {
      for (size_t v = 0; v < u; ++v)
        if (Depends(units_[u], units_[v])) units_[u].after.push_back(v);
    }
  }

  // Numbers of parts.
  std::vector<size_t> Run() {
    std::vector<std::pair<int64_t, size_t>> starts;
    int64_t compute = 0, links = 0;
    while (starts.size() < units_.size()) {
      size_t next = units_.size();
      int64_t at = 0;
      for (size_t u = 0; u < units_.size(); ++u) {
        if (units_[u].end >= 0) continue;
        int64_t start = ReadyAt(units_[u]);
        if (start < 0) continue;
        if (units_[u].computes) start = std::max(start, compute);
        if (Occupies(units_[u])) start = std::max(start, links);
        if (next < units_.size() && start >= at) continue;
        next = u;
        at = start;
      }
      Unit& unit = units_[next];
      unit.end = at + unit.cycles;
      if (unit.computes) compute = unit.end;
      if (Occupies(unit)) links = unit.end;
      starts.emplace_back(at, next);
    }
    std::stable_sort(
        starts.begin(), starts.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<size_t> order;
    for (const auto& [start, u] : starts)
      order.insert(order.end(), units_[u].parts.begin(), units_[u].parts.end());
    return order;
  }

 private:
  // A kernel with those beside it, or a collective.
  struct Unit {
    std::vector<size_t> parts, after;
    bool computes = false;
    int64_t cycles = 0, end = -1;
  };

  bool Depends(const Unit& later, const Unit& before) const {
    for (const size_t i : later.parts) {
      const PlanStep& a = parts_[i].step;
      for (const size_t j : before.parts) {
        const PlanStep& b = parts_[j].step;
        // What is changed in place was read before, and is read afterwards.
        if (!a.updates.empty() || !b.updates.empty() ||
            Share(a.inputs, b.outputs))
          return true;
      }
    }
    return false;
  }
  bool Occupies(const Unit& unit) const {
    return !unit.computes && unit.cycles > kLongCycles;
  }
  int64_t ReadyAt(const Unit& unit) const {
    int64_t at = 0;
    for (const size_t u : unit.after) {
      if (units_[u].end < 0) return -1;
      at = std::max(at, units_[u].end);
    }
    return at;
  }

  const Parts& parts_;
  std::vector<Unit> units_;
};

// Of processes, by each process's core.
CollectiveSpec OnCores(CollectiveSpec spec, const std::vector<int>& cores,
                       int columns) {
  std::vector<int> group = compiler::GroupOf(spec);
  for (int& member : group) member = cores[member];
  compiler::SetGroup(spec, std::move(group), columns);
  return spec;
}

Parts Ordered(Parts parts, const Exchanges& exchanges, const Preset& preset) {
  Parts ordered;
  for (const size_t i : PartOrder(parts, exchanges, preset).Run())
    ordered.push_back(std::move(parts[i]));
  return ordered;
}

}  // namespace

ExchangingProgram::ExchangingProgram(std::vector<Part> parts,
                                     std::vector<int64_t> bytes,
                                     const Exchanges& exchanges,
                                     const Preset& preset)
    : parts_(Ordered(std::move(parts), exchanges, preset)),
      bytes_(std::move(bytes)),
      exchanges_(exchanges),
      preset_(preset) {
  for (const Part& part : parts_) {
    if (part.step.kernel) continue;
    Collective& own = collectives_.emplace_back();
    own.node = part.step.node;
    own.member = *exchanges.Of(*own.node, 0);
    const CollectivePart collective(own.member.spec, preset);
    const size_t vectors = collective.in_bytes().size();
    own.in.assign(part.operands.begin(), part.operands.begin() + vectors);
    own.out.assign(part.operands.begin() + vectors, part.operands.end());
    own.scratch_bytes = collective.scratch_bytes();
    own.cycles = CyclesBeside(collective);
    own.scratch = static_cast<int>(bytes_.size());
    bytes_.push_back(own.scratch_bytes);
  }
  for (Collective& own : collectives_) {
    own.others = static_cast<int>(bytes_.size());
    for (size_t other = 1; other < compiler::GroupOf(own.member.spec).size();
         ++other) {
      for (const std::vector<int>* operands : {&own.in, &own.out}) {
        for (const int operand : *operands) bytes_.push_back(bytes_[operand]);
      }
      bytes_.push_back(own.scratch_bytes);
    }
  }
}

std::vector<std::vector<const ir::Node*>> ExchangingProgram::kernels() const {
  std::vector<std::vector<const ir::Node*>> all;
  for (const Part& part : parts_)
    if (part.step.kernel) all.push_back(part.step.kernels[0]);
  return all;
}

int64_t ExchangingProgram::OffsetOf(int operand, int process) const {
  for (const Collective& collective : collectives_) {
    for (size_t v = 0; v < collective.out.size(); ++v) {
      if (collective.out[v] == operand)
        return MemberOf(collective, process).position *
               collective.member.part_bytes[v];
    }
  }
  return 0;
}

absl::Status ExchangingProgram::Check() const {
  constexpr int64_t kWords = vpu::kImemWords - kCollectiveWords;
  int64_t before = 0;
  for (const Part& part : parts_) {
    if (!part.step.kernel) continue;
    const auto words = static_cast<int64_t>(part.step.kernel->words.size());
    before = words + (part.step.beside ? before : 0);
    if (before > kWords)
      return absl::FailedPreconditionError("a kernel has too much code");
    for (const auto& [input, output] : part.step.updates) {
      const int changed = part.step.inputs[input];
      for (const Part& other : parts_) {
        if (!other.step.kernel && Has(other.step.inputs, changed))
          return absl::FailedPreconditionError(
              "a kernel changes what others read");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ExchangingProgram::Partners> ExchangingProgram::PartnersOf(
    const std::vector<int>& cores) const {
  constexpr int kMost = isa::kNumLinkFlags / compiler::kFlagsOfLevel;
  const auto on_chip = static_cast<int>(preset_.chip.cores);
  Partners all;
  // Of reductions all groups, of each exchange its own.
  std::set<std::pair<const ir::Node*, std::vector<int>>> checked;
  std::set<bool> first;  // whether the cores of a chip meet first
  const auto connect = [&](int a, int b) {
    if (all[a].count(b) > 0) return true;
    std::set<int> taken;
    for (const int core : {a, b})
      for (const auto& [other, number] : all[core]) taken.insert(number);
    int number = 0;
    while (taken.count(number) > 0) ++number;
    all[a][b] = all[b][a] = number;
    return number < kMost;
  };
  for (const Collective& collective : collectives_) {
    for (int process = 0; process < exchanges_.processes(); ++process) {
      CollectiveSpec spec =
          OnCores(MemberOf(collective, process).spec, cores, 1);
      const bool sums = std::holds_alternative<compiler::AllReduceSpec>(spec);
      if (!checked
               .insert(
                   {sums ? nullptr : collective.node, compiler::GroupOf(spec)})
               .second)
        continue;
      const CollectivePart part(std::move(spec), preset_);
      if (!part.Check().ok()) return part.Check();
      if (const auto meet = part.cores_meet_first()) first.insert(*meet);
      for (const auto& [a, b] : part.pairs()) {
        const int one = part.group()[a], other = part.group()[b];
        if (one / on_chip != other / on_chip && !connect(one, other)) {
          return absl::FailedPreconditionError(
              "a core exchanges with too many of other chips");
        }
      }
    }
  }
  if (first.size() > 1)
    return absl::FailedPreconditionError(
        "the cores of a chip do not meet at the same time in all groups");
  return all;
}

// number: of each part, among kernels or collectives. stretches: of each part.
OrderedCollective ExchangingProgram::PlaceOf(
    size_t part, const std::vector<int>& number,
    const std::vector<std::vector<int>>& stretches) const {
  const PlanStep& own = parts_[part].step;
  OrderedCollective place;
  place.before = static_cast<int>(kernels().size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    const PlanStep& other = parts_[i].step;
    if (Share(own.inputs, other.outputs)) {
      if (other.kernel) place.after = std::max(place.after, number[i]);
      if (!other.kernel)
        place.needs.insert(place.needs.end(), stretches[i].begin(),
                           stretches[i].end());
    }
    if (other.kernel && Share(own.outputs, other.inputs))
      place.before = std::min(place.before, number[i]);
  }
  return place;
}

std::vector<ExchangingProgram::Turn> ExchangingProgram::TurnsOf(
    const std::vector<int>& number, const std::vector<CollectivePart>& members,
    std::vector<LinkedKernel>& kernels) const {
  std::vector<Turn> stretches;
  std::vector<OrderedCollective> places;
  std::vector<int> of;  // the part of each stretch
  std::vector<std::vector<int>> of_part(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].step.kernel) continue;
    const int64_t cycles = std::max<int64_t>(1, collectives_[number[i]].cycles);
    const int64_t count = members[number[i]].steps();
    const int64_t step = std::max<int64_t>(1, count * kStretchCycles / cycles);
    const OrderedCollective place = PlaceOf(i, number, of_part);
    for (int64_t at = 0; at < count; at += step) {
      const int64_t end = std::min(at + step, count);
      of_part[i].push_back(static_cast<int>(places.size()));
      of.push_back(static_cast<int>(i));
      places.push_back(place);
      places.back().cycles = std::max<int64_t>(1, cycles * (end - at) / count);
      stretches.push_back({i, {at, end}, {}});
    }
  }
  std::vector<int64_t> cycles;
  for (const LinkedKernel& kernel : kernels)
    cycles.push_back(kernel.beside ? 0 : kernel.kernel->expected_cycles);
  const CollectiveOrder order = OrderCollectives(cycles, places);
  for (size_t k = 0; k < kernels.size(); ++k)
    kernels[k].start = order.kernels[k];
  std::vector<Turn> turns;
  for (const std::vector<int>& joined : lanes::TurnsOf(order, of)) {
    const OrderedCollective& place = places[joined.front()];
    Turn& turn = turns.emplace_back(stretches[joined.front()]);
    turn.stretch.end = stretches[joined.back()].stretch.end;
    turn.linked.after = place.after;
    turn.linked.before = place.before;
    turn.linked.start = order.starts[joined.front()];
    if (collectives_[number[turn.part]].cycles <= kLongCycles) continue;
    for (const int s : joined) turn.linked.cycles += places[s].cycles;
  }
  return turns;
}

absl::StatusOr<KernelProgram> ExchangingProgram::For(
    int process, const std::vector<int>& cores, int columns) const {
  if (absl::Status s = Check(); !s.ok()) return s;
  absl::StatusOr<Partners> partners = PartnersOf(cores);
  if (!partners.ok()) return partners.status();
  std::vector<LinkedKernel> kernels;
  std::vector<OperandPart> operand_parts;
  std::vector<int> number(parts_.size());
  // Values that are parts of vectors, by operand.
  std::vector<int> value_of(bytes_.size());
  std::iota(value_of.begin(), value_of.end(), 0);
  std::vector<CollectivePart> members;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].step.kernel) continue;
    const Collective& own =
        collectives_[number[i] = static_cast<int>(members.size())];
    const Exchanges::Member member = MemberOf(own, process);
    members.emplace_back(OnCores(member.spec, cores, columns), preset_);
    for (size_t v = 0; v < own.out.size(); ++v) {
      const int64_t offset = member.position * member.part_bytes[v];
      if (offset == 0) continue;
      const auto made = static_cast<int>(bytes_.size() + operand_parts.size());
      operand_parts.push_back({made, own.out[v], offset});
      value_of[own.out[v]] = made;
    }
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const PlanStep& step = parts_[i].step;
    if (!step.kernel) continue;
    number[i] = static_cast<int>(kernels.size());
    LinkedKernel& kernel = kernels.emplace_back();
    kernel.kernel = &*step.kernel;
    kernel.beside = step.beside;
    for (const int operand : parts_[i].operands)
      kernel.operands.push_back(value_of[operand]);
  }
  std::vector<KernelProgram> programs;
  std::vector<LinkedCollective> linked;
  for (const Turn& turn : TurnsOf(number, members, kernels)) {
    const int n = number[turn.part];
    const Collective& own = collectives_[n];
    auto program =
        CompileCollective(members[n], MemberOf(own, process).position,
                          (*partners)[cores[process]], turn.stretch,
                          own.cycles > kLongCycles ? kSlack : 0, preset_);
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
    LinkedCollective& part = linked.emplace_back(turn.linked);
    part.tag = static_cast<int>(kernels.size()) + n;
    for (const int operand : own.in) part.operands.push_back(value_of[operand]);
    part.operands.insert(part.operands.end(), own.out.begin(), own.out.end());
    part.operands.push_back(own.scratch);
    const size_t each = part.operands.size();
    for (size_t k = 0; k < each * (members[n].group().size() - 1); ++k)
      part.operands.push_back(own.others + static_cast<int>(k));
  }
  for (size_t c = 0; c < linked.size(); ++c) linked[c].kernel = &programs[c];
  return Link(kernels, bytes_, preset_, linked, operand_parts);
}

}  // namespace systole::lanes
