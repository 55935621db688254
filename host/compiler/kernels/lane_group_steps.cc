// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The instructions of a step: registers, loads, constants.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/compiler/kernels/lane_groups.h"
#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/lane_instructions.h"

namespace systole::lanes {

using vpu::Instr;
using vpu::Op;
using Bank = LaneRegisters::Bank;

// The values that a step needs, each once.
std::vector<Lane> LaneGroups::NeededBy(const LaneStep& step) const {
  if (step.store != LaneStep::kCompute) return {step.lane};
  std::vector<Lane> needed;
  for (const Lane source : SourcesOf(graph_.node(step.lane))) {
    if (source >= 0 &&
        std::find(needed.begin(), needed.end(), source) == needed.end())
      needed.push_back(source);
  }
  return needed;
}

absl::Status LaneGroups::Do(const Item& item) {
  switch (item.step.store) {
    case LaneStep::kLoad:
      return Load(item.group, item.step.lane).status();
    case LaneStep::kCompute:
      return Compute(item);
    case LaneStep::kGuard: {
      const int guards = kGuards[item.group % 2];
      const absl::StatusOr<int> reg = Register(item.group, item.step.lane);
      if (!reg.ok()) return reg.status();
      SetRows(false);
      Put(Make(Op::kIor, guards, guards, *reg));
      Use(item.group, item.step.lane);
      return absl::OkStatus();
    }
    default:
      return Store(item);
  }
}

void LaneGroups::Put(const Instr& x) {
  words_.push_back(x.Encode());
  timing_.Run(timing_.StepOf(x));
}

void LaneGroups::SetLanes(bool one) {
  if (one == one_lane_) return;
  Put(Make(Op::kLanes, 0, one ? Scalar(1) : ArgumentRegister(kLaneCount)));
  one_lane_ = one;
}

// The run has at least the rows of a group, or those that are left.
void LaneGroups::SetRows(bool one) {
  if (one == is_one_row_) return;
  Put(Make(Op::kVl, 0, ArgumentRegister(kRowCount), 0, one ? 1 : 0));
  is_one_row_ = one;
}

Instr LaneGroups::LoadOf(int group, Lane lane) const {
  const LaneLoad& load = graph_.node(lane).load;
  const LanePlaces::Operand& place = places_.operands[load.operand];
  if (load.pattern == Pattern::kSplat)
    return Make(Op::kLd32, 0, 0, 0, static_cast<int32_t>(place.row));
  return RowsOf(kLoadOps[static_cast<int>(load.storage)], place.stream, group);
}

Instr LaneGroups::RowsOf(Op op, const LanePlaces::Stream& stream,
                         int group) const {
  if (stream.walk == kNoWalk)
    return Make(op, 0, 0, 0, static_cast<int32_t>(stream.at));
  const bool own = second_[stream.walk] >= 0;
  const int64_t behind =
      own || group == 0 ? 0 : group * rows_ * places_.strides[stream.walk];
  return Make(op, 0, Address(own ? group : 0, stream.walk),
              ArgumentRegister(kStrides + stream.walk),
              static_cast<int32_t>(stream.at + behind));
}

void LaneGroups::Hold(int reg, int group, Lane lane) {
  held_[reg] = {group, lane};
  groups_[group].place[lane] = reg;
  pinned_[reg] = true;
}
void LaneGroups::Release(int reg) {
  groups_[held_[reg].group].place[held_[reg].lane] = -1;
  held_[reg] = {};
}
// A step has used the value.
void LaneGroups::Use(int group, Lane lane) {
  Group& of = groups_[group];
  if (--of.uses[lane] == 0 && of.place[lane] >= 0) Release(of.place[lane]);
}

LaneGroups::Place LaneGroups::Best(Bank bank, const Instr& x) const {
  Place best = {-1, kNever};
  LaneTiming::Step step = timing_.StepOf(x);
  for (int first = LaneRegisters::First(bank); first < LaneRegisters::End(bank);
       first += vpu::kBankRegs) {
    int reg = -1;
    for (int r = first; r < first + vpu::kBankRegs; ++r) {
      if (IsFree(r) && (reg < 0 || timing_.ReadyAt(r) < timing_.ReadyAt(reg)))
        reg = r;
    }
    if (reg < 0) continue;
    step.d = reg;
    step.unit = reg / vpu::kBankRegs;
    const int64_t start = timing_.Of(step).start;
    if (best.reg < 0 || start < best.start ||
        (start == best.start && timing_.FreeAt(reg) < timing_.FreeAt(best.reg)))
      best = {reg, start};
  }
  return best;
}

int LaneGroups::Free(Bank bank) const {
  int count = 0;
  for (int reg = LaneRegisters::First(bank); reg < LaneRegisters::End(bank);
       ++reg)
    count += IsFree(reg);
  return count;
}

// The first item that needs the value.
int LaneGroups::NextUse(const Holder& holder) const {
  for (size_t i = oldest_; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (item.done || item.group != holder.group ||
        item.step.store == LaneStep::kLoad)
      continue;
    const std::vector<Lane> needed = NeededBy(item.step);
    if (std::find(needed.begin(), needed.end(), holder.lane) != needed.end())
      return static_cast<int>(i);
  }
  return std::numeric_limits<int>::max();
}

int LaneGroups::Farthest(Bank bank) const {
  int best = -1, when = -1;
  for (int reg = LaneRegisters::First(bank); reg < LaneRegisters::End(bank);
       ++reg) {
    if (pinned_[reg] || held_[reg].lane < 0) continue;
    const int use = NextUse(held_[reg]);
    if (use <= when) continue;
    when = use;
    best = reg;
  }
  return best;
}

int LaneGroups::Scalar(uint32_t bits) {
  if (bits == 0) return 0;
  const LaneConstants::Use use = constants_.Of(bits);
  if (use.load) Put(Make(Op::kLi, use.reg, 0, 0, static_cast<int32_t>(bits)));
  return use.reg;
}

absl::StatusOr<int> LaneGroups::Load(int group, Lane lane) {
  if (groups_[group].place[lane] >= 0) return groups_[group].place[lane];
  SetLanes(graph_.node(lane).load.pattern == Pattern::kRow);
  Instr x = LoadOf(group, lane);
  int reg = Best(LaneRegisters::kLoads, x).reg;
  if (reg < 0) {
    reg = Farthest(LaneRegisters::kLoads);
    if (reg < 0) return absl::ResourceExhaustedError("registers of loads");
    Release(reg);
  }
  x.d = static_cast<uint8_t>(reg);
  SetRows(one_row_[lane]);
  Put(x);
  Hold(reg, group, lane);
  return reg;
}

// The register of a value; loads the value if necessary.
absl::StatusOr<int> LaneGroups::Register(int group, Lane lane) {
  const absl::StatusOr<int> reg = Load(group, lane);
  if (reg.ok()) pinned_[*reg] = true;
  return reg;
}

absl::Status LaneGroups::Compute(const Item& item) {
  const int group = item.group;
  const LaneNode& node = graph_.node(item.step.lane);
  Instr x = Make(node.op, 0);  // lane 0 of the bcl
  const std::array<Lane, 3> sources = SourcesOf(node);
  uint8_t* const fields[] = {&x.a, &x.b, &x.c};
  uint8_t* const modes[] = {&x.am, &x.bm, &x.cm};
  for (int i = 0; i < 3; ++i) {
    if (sources[i] < 0) continue;
    const LaneNode& source = graph_.node(sources[i]);
    if (source.kind == LaneNode::Kind::kConstant) {
      *fields[i] = static_cast<uint8_t>(Scalar(source.bits));
      *modes[i] = static_cast<uint8_t>(vpu::Mode::kScalar);
      continue;
    }
    const absl::StatusOr<int> reg = Register(group, sources[i]);
    if (!reg.ok()) return reg.status();
    *fields[i] = static_cast<uint8_t>(*reg);
    if (one_row_[sources[i]])
      *modes[i] = static_cast<uint8_t>(vpu::Mode::kRow0);
  }
  SetRows(false);
  // The register of a value that ends here may take the result.
  pinned_.fill(false);
  std::vector<int> read;
  for (const Lane source : NeededBy(item.step)) {
    const int reg = groups_[group].place[source];
    Use(group, source);
    if (reg >= 0) read.push_back(reg);
    if (reg >= 0 && held_[reg].lane >= 0) pinned_[reg] = true;
  }
  const bool function = IsCross(node.op);
  Bank bank = LaneRegisters::kAlus, other = LaneRegisters::kCross;
  if (function) std::swap(bank, other);
  int reg = Best(bank, x).reg;
  if (reg < 0) {  // a value moves to the other bank, before the step reads
    for (const int source : read) pinned_[source] = true;
    reg = Farthest(bank);
    const int to = reg < 0 ? -1
                           : Best(other, function ? Make(Op::kIor, 0, reg, reg)
                                                  : Make(Op::kMov, 0, reg))
                                 .reg;
    if (to < 0) return absl::ResourceExhaustedError("registers of results");
    const Holder moved = held_[reg];
    Put(function ? Make(Op::kIor, to, reg, reg) : Make(Op::kMov, to, reg));
    Release(reg);
    Hold(to, moved.group, moved.lane);
  }
  x.d = static_cast<uint8_t>(reg);
  Put(x);
  Hold(reg, group, item.step.lane);
  return absl::OkStatus();
}

absl::Status LaneGroups::Store(const Item& item) {
  const LaneStore& store = stores_[item.step.store];
  const LaneNode& node = graph_.node(item.step.lane);
  int from = -1;
  if (node.kind == LaneNode::Kind::kConstant) {
    Instr x = Make(Op::kMov, 0, Scalar(node.bits));
    x.am = static_cast<uint8_t>(vpu::Mode::kScalar);
    from = Best(LaneRegisters::kCross, x).reg;
    if (from < 0) return absl::ResourceExhaustedError("registers of results");
    x.d = static_cast<uint8_t>(from);
    SetRows(false);
    Put(x);
  } else {
    const absl::StatusOr<int> reg = Register(item.group, item.step.lane);
    if (!reg.ok()) return reg.status();
    from = *reg;
  }
  SetLanes(store.first_lane);
  SetRows(false);
  Instr x = RowsOf(
      store.bits ? Op::kSt16h : kStoreOps[static_cast<int>(store.storage)],
      places_.stores[item.step.store], item.group);
  x.d = static_cast<uint8_t>(from);
  Put(x);
  if (node.kind != LaneNode::Kind::kConstant) Use(item.group, item.step.lane);
  return absl::OkStatus();
}

}  // namespace systole::lanes
