// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/lane_groups.h"

#include <algorithm>
#include <utility>

#include "host/compiler/kernels/lane_guard.h"
#include "host/compiler/kernels/lane_instructions.h"
#include "host/compiler/kernels/lane_uses.h"

namespace systole::lanes {
namespace {

using vpu::Instr;
using vpu::Op;
using Bank = LaneRegisters::Bank;

// Steps, and loads, among which the next one is chosen.
constexpr int kWindows[] = {32, 12, 4};
// How far they are looked for.
constexpr size_t kFarthest = 160;
// Registers that the oldest step may still have when a later one takes its.
constexpr int kLeft[] = {0, 2, 1};  // of each bank
constexpr int kManyIterations = 8;

}  // namespace

LaneTiming::Strides StridesOf(const LanePlaces& places) {
  LaneTiming::Strides strides = LaneTiming::NoStrides();
  for (int walk = 0; walk < kWalks; ++walk)
    strides[ArgumentRegister(kStrides + walk)] = places.strides[walk];
  return strides;
}

LaneGroups::LaneGroups(const LaneGraph& graph,
                       const std::vector<LaneStore>& stores,
                       const LanePlaces& places, const Preset& preset,
                       Loop loop, std::vector<uint64_t>& words)
    : graph_(graph),
      stores_(stores),
      places_(places),
      words_(words),
      rows_(preset.vector_rows()),
      steps_{OrderOf(graph, stores), OrderOf(graph, stores, true)},
      timing_(preset, rows_, StridesOf(places)),
      fresh_(timing_),
      one_row_(graph.size()) {
  if (loop == Loop::kRows) FindOneRow();
}

// Of a load whose rows are all the same one is loaded, if operations can read
// it for every row.
void LaneGroups::FindOneRow() {
  for (Lane lane = 0; lane < graph_.size(); ++lane) {
    const LaneNode& node = graph_.node(lane);
    if (node.kind != LaneNode::Kind::kLoad) continue;
    const LanePlaces::Stream& stream =
        places_.operands[node.load.operand].stream;
    one_row_[lane] = node.load.pattern == Pattern::kSplat ||
                     stream.walk == kNoWalk ||
                     places_.strides[stream.walk] == 0;
  }
  for (const LaneStep& step : steps_[0]) {
    if (step.store != LaneStep::kCompute) {
      one_row_[step.lane] = false;
      continue;
    }
    const LaneNode& node = graph_.node(step.lane);
    const vpu::OpInfo& op = *vpu::FindOp(static_cast<uint8_t>(node.op));
    const vpu::Kind kinds[] = {op.a, op.b, op.c};
    const std::array<Lane, 3> sources = SourcesOf(node);
    for (int i = 0; i < 3; ++i)
      if (sources[i] >= 0 && kinds[i] != vpu::Kind::kVsrc)
        one_row_[sources[i]] = false;
  }
}

void LaneGroups::TakeAddresses() {
  for (int walk = 0; walk < kWalks; ++walk)
    if (WalkIsUsed(walk)) second_[walk] = constants_.TakeLast();
}

bool LaneGroups::KnowsStrides() const {
  for (int walk = 0; walk < kWalks; ++walk)
    if (WalkIsUsed(walk) && places_.strides[walk] < 0) return false;
  return true;
}

void LaneGroups::HoldConstants() {
  const std::vector<uint32_t> bits = ConstantsOf(graph_, stores_, steps_[0]);
  all_constants_ = static_cast<int>(bits.size()) <= constants_.size();
  if (!all_constants_) return;
  for (const uint32_t value : bits) Scalar(value);
}

absl::Status LaneGroups::Emit(int groups) {
  const size_t start = words_.size();
  if (groups == 1) {
    timing_ = fresh_;
    window_ = kWindows[0];
    return EmitOnce(groups);
  }
  const int64_t of_run = places_.rows / (groups * rows_);
  const int iterations =
      of_run > 0 ? static_cast<int>(std::min<int64_t>(of_run, kManyIterations))
                 : kManyIterations;
  LaneTiming before = fresh_;
  if (iterations > 1) {  // behind one like it
    window_ = kWindows[0];
    timing_ = fresh_;
    if (absl::Status s = EmitOnce(groups); !s.ok()) return s;
    before = timing_;
    before.Branch();
  }
  std::vector<uint64_t> best;
  int64_t least = 0;
  for (const int window : kWindows) {
    window_ = window;
    timing_ = before;
    words_.resize(start);
    if (absl::Status s = EmitOnce(groups); !s.ok()) return s;
    const int64_t cycles = CyclesFrom(start, iterations);
    if (!best.empty() && cycles >= least) continue;
    least = cycles;
    best.assign(words_.begin() + static_cast<int64_t>(start), words_.end());
  }
  words_.resize(start);
  words_.insert(words_.end(), best.begin(), best.end());
  return absl::OkStatus();
}

// Of so many iterations of the code from there on, to the end of the last one.
int64_t LaneGroups::CyclesFrom(size_t start, int iterations) const {
  LaneTiming timing = fresh_;
  std::vector<LaneTiming::Step> steps;
  for (size_t i = start; i < words_.size(); ++i)
    steps.push_back(timing.StepOf(Instr::Decode(words_[i])));
  for (int i = 0; i < iterations; ++i) {
    for (const LaneTiming::Step& step : steps) timing.Run(step);
    timing.Branch();
  }
  timing.Run(Make(Op::kHalt, 0));
  return timing.now();
}

absl::Status LaneGroups::EmitOnce(int groups) {
  if (!all_constants_) constants_.Forget();
  held_.fill({});
  Arrange(groups);
  if (graph_.guarded())
    for (const int reg : kGuards) held_[reg] = {groups, -1};
  while (oldest_ < items_.size()) {
    Item& item = items_[Choose()];
    constants_.Unpin();
    pinned_.fill(false);
    if (absl::Status s = Do(item); !s.ok()) return s;
    item.done = true;
    while (oldest_ < items_.size() && items_[oldest_].done) ++oldest_;
    if (words_.size() > vpu::kImemWords) break;  // too long, whatever follows
  }
  SetLanes(false);
  SetRows(false);
  return absl::OkStatus();
}

// The steps of two groups side by side, then those of the next two; loads in
// front of what needs them.
void LaneGroups::Arrange(int groups) {
  items_.clear();
  oldest_ = 0;
  groups_.assign(groups, {std::vector<int>(graph_.size(), -1),
                          std::vector<int>(graph_.size())});
  std::vector<std::vector<bool>> is_loaded(groups);
  for (std::vector<bool>& of : is_loaded) of.resize(graph_.size());
  for (int pair = 0; pair < groups; pair += 2) {
    for (size_t i = 0; i < steps_[0].size(); ++i) {
      for (int group = pair; group < std::min(pair + 2, groups); ++group) {
        const LaneStep& step = steps_[group % 2][i];
        for (const Lane lane : NeededBy(step)) {
          ++groups_[group].uses[lane];
          if (graph_.node(lane).kind != LaneNode::Kind::kLoad ||
              is_loaded[group][lane])
            continue;
          is_loaded[group][lane] = true;
          items_.push_back({group, {lane, LaneStep::kLoad}});
        }
        items_.push_back({group, step});
      }
    }
  }
}

int LaneGroups::Choose() {
  int best = static_cast<int>(oldest_);
  int64_t least = StartOf(items_[best], /*oldest=*/true);
  int steps = 0, loads = 0;
  const size_t end = std::min(items_.size(), oldest_ + kFarthest);
  for (size_t i = oldest_ + 1; i < end && steps < window_; ++i) {
    const Item& item = items_[i];
    if (item.done) continue;
    if (item.step.store == LaneStep::kLoad ? ++loads > (window_ + 4) / 6
                                           : (++steps, false))
      continue;
    const int64_t start = StartOf(item, /*oldest=*/false);
    if (start >= least) continue;
    least = start;
    best = static_cast<int>(i);
  }
  return best;
}

// When an item would start; kNever: it has to wait for others, or may take a
// register that the oldest one needs.
int64_t LaneGroups::StartOf(const Item& item, bool oldest) const {
  const Group& group = groups_[item.group];
  const LaneNode& node = graph_.node(item.step.lane);
  const int kind = item.step.store;
  if (kind == LaneStep::kLoad) {
    return Best(LaneRegisters::kLoads, LoadOf(item.group, item.step.lane))
        .start;
  }
  if (kind != LaneStep::kCompute) {
    const int reg = group.place[item.step.lane];
    if (reg < 0) return kNever;
    const int guards = kGuards[item.group % 2];
    const Instr x =
        kind == LaneStep::kGuard
            ? Make(Op::kIor, guards, guards, reg)
            : Make(kStoreOps[static_cast<int>(stores_[kind].storage)], reg);
    return timing_.Of(timing_.StepOf(x)).start;
  }
  Instr x = Make(node.op, 0);
  const std::array<Lane, 3> sources = SourcesOf(node);
  uint8_t* const fields[] = {&x.a, &x.b, &x.c};
  uint8_t* const modes[] = {&x.am, &x.bm, &x.cm};
  const Bank bank =
      IsCross(node.op) ? LaneRegisters::kCross : LaneRegisters::kAlus;
  bool gives = false;  // a register of the bank
  int own = -1;
  for (int i = 0; i < 3; ++i) {
    const Lane source = sources[i];
    if (source < 0) continue;
    if (graph_.IsConstant(source)) {
      *modes[i] = static_cast<uint8_t>(vpu::Mode::kScalar);
      continue;
    }
    const int reg = group.place[source];
    if (reg < 0) return kNever;
    *fields[i] = static_cast<uint8_t>(reg);
    if (one_row_[source]) *modes[i] = static_cast<uint8_t>(vpu::Mode::kRow0);
    if (group.uses[source] == 1 && LaneRegisters::BankOf(reg) == bank) {
      gives = true;
      own = reg;
    }
  }
  if (!oldest && !gives && Free(bank) <= kLeft[bank]) return kNever;
  Place place = Best(bank, x);
  if (own >= 0) {
    x.d = static_cast<uint8_t>(own);
    const int64_t start = timing_.Of(timing_.StepOf(x)).start;
    if (place.reg < 0 || start < place.start) place = {own, start};
  }
  return place.reg < 0 ? kNever : place.start;
}

}  // namespace systole::lanes
