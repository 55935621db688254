// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/collective_spec.h"

#include <algorithm>
#include <numeric>

#include "host/compiler/collectives/exchange_member.h"
#include "host/compiler/collectives/reduction_member.h"
#include "host/compiler/collectives/reduction_sizes.h"

namespace systole::compiler {
namespace {

// Of each round, or hop, beyond the bytes.
constexpr int64_t kHopCycles = 400;

bool OnChip(const std::vector<int>& group, int a, int b, const Preset& preset) {
  const auto cores = static_cast<int>(preset.chip.cores);
  return group[a] / cores == group[b] / cores;
}

int LevelsOf(const std::vector<int>& group) {
  int levels = 0;
  while (size_t{1} << levels < group.size()) ++levels;
  return levels;
}

// Half of what a core gives to links goes each way, with its heads.
int64_t LinkCycles(int64_t bytes, const Preset& preset) {
  return preset.chip.link_bytes == 0
             ? 0
             : bytes * 17 / (2 * 16 * preset.chip.link_bytes);
}

// Every core gives what other chips need to its links once in each phase, which
// they take one after the other; on one chip, the memory takes each byte about
// four times. A short vector goes whole to a partner on each level.
int64_t CyclesOf(const AllReduceSpec& spec, const Preset& preset) {
  const auto size = static_cast<int64_t>(spec.group.size());
  const bool whole = ReductionLayout(spec, preset).way == Exchange::Way::kWhole;
  const int64_t phases =
      spec.phase == AllReduceSpec::Phase::kAllReduce && !whole ? 2 : 1;
  int64_t bytes = 0, near = 0;
  for (const int64_t elements : spec.elements)
    bytes += elements * ElementBytes(spec.type);
  for (int p = 0; p < static_cast<int>(size); ++p)
    near += OnChip(spec.group, 0, p, preset) ? 1 : 0;
  const int64_t memory = 2 * phases * bytes / preset.beat_bytes();
  const int64_t links =
      LinkCycles(whole ? bytes * LevelsOf(spec.group)
                       : phases * bytes * (size - near) / size,
                 preset);
  return std::max(memory, links) + phases * LevelsOf(spec.group) * kHopCycles;
}

// Of the position with most to do. The memory takes what is loaded, what is
// stored, and what others bring.
int64_t CyclesOf(const Routes& routes, const std::vector<int>& group,
                 const Preset& preset) {
  std::vector<int64_t> memory(group.size()), links(group.size());
  for (int p = 0; p < static_cast<int>(group.size()); ++p) {
    for (const Routes::Handling& handling : routes.DutyOf(p).handlings) {
      const Routes::Parcel& parcel = routes.parcels()[handling.parcel];
      const int64_t bytes = parcel.bytes * parcel.lines;
      memory[p] += bytes;
      for (const Routes::Hop& hop : handling.hops) {
        memory[hop.to] += bytes;
        if (!OnChip(group, p, hop.to, preset)) links[p] += bytes;
      }
    }
  }
  const int64_t most = *std::max_element(links.begin(), links.end());
  return std::max(*std::max_element(memory.begin(), memory.end()) /
                      preset.beat_bytes(),
                  LinkCycles(most, preset)) +
         LevelsOf(group) * kHopCycles;
}

absl::Status CheckPart(const CollectiveSpec& spec, const Preset& preset) {
  if (const auto* sum = std::get_if<AllReduceSpec>(&spec))
    return CheckAllReduce(*sum, preset);
  const auto& exchange = std::get<ExchangeSpec>(spec);
  if (absl::Status s = CheckExchange(exchange, preset); !s.ok()) return s;
  return CheckLevels(exchange.group, preset);
}

}  // namespace

const std::vector<int>& GroupOf(const CollectiveSpec& spec) {
  return std::visit(
      [](const auto& own) -> const std::vector<int>& { return own.group; },
      spec);
}

void SetGroup(CollectiveSpec& spec, std::vector<int> group, int columns) {
  std::visit(
      [&](auto& own) {
        own.group = std::move(group);
        own.columns = columns;
      },
      spec);
}

CollectivePart::CollectivePart(CollectiveSpec spec, const Preset& preset)
    : spec_(std::move(spec)),
      preset_(preset),
      check_(CheckPart(spec_, preset)) {
  const auto* exchange = std::get_if<ExchangeSpec>(&spec_);
  if (exchange != nullptr && check_.ok())
    routes_.emplace(*exchange, preset, Routes::Way::kByBits);
}

std::vector<int64_t> CollectivePart::in_bytes() const {
  if (const auto* exchange = std::get_if<ExchangeSpec>(&spec_))
    return exchange->in_bytes;
  std::vector<int64_t> bytes = out_bytes();
  if (std::get<AllReduceSpec>(spec_).phase != AllReduceSpec::Phase::kAllGather)
    return bytes;
  for (int64_t& own : bytes) own /= static_cast<int64_t>(group().size());
  return bytes;
}

std::vector<int64_t> CollectivePart::out_bytes() const {
  if (const auto* exchange = std::get_if<ExchangeSpec>(&spec_))
    return exchange->out_bytes;
  const auto& sum = std::get<AllReduceSpec>(spec_);
  std::vector<int64_t> bytes;
  for (const int64_t elements : sum.elements)
    bytes.push_back(elements * ElementBytes(sum.type));
  return bytes;
}

int64_t CollectivePart::scratch_bytes() const {
  return routes_ ? routes_->scratch_bytes()
                 : ScratchBytes(std::get<AllReduceSpec>(spec_), preset_);
}

std::set<std::pair<int, int>> CollectivePart::pairs() const {
  std::set<std::pair<int, int>> pairs;
  const auto size = static_cast<int>(group().size());
  for (int p = 0; p < size; ++p) {
    if (!routes_) {
      for (int bit = 1; bit < size; bit *= 2)
        pairs.insert(std::minmax(p, p ^ bit));
      continue;
    }
    for (const Routes::Handling& handling : routes_->DutyOf(p).handlings) {
      for (const Routes::Hop& hop : handling.hops)
        if (hop.to != p) pairs.insert(std::minmax(p, hop.to));
    }
  }
  return pairs;
}

std::optional<bool> CollectivePart::cores_meet_first() const {
  if (routes_) return std::nullopt;
  for (int bit = 1; bit < static_cast<int>(group().size()); bit *= 2)
    if (OnChip(group(), 0, bit, preset_)) return bit == 1;
  return std::nullopt;
}

int64_t CollectivePart::steps() const {
  // Zeros come with the first one, also where nobody gives anything.
  if (routes_) return std::max<int64_t>(1, routes_->slots());
  const std::vector<int64_t> columns =
      ReductionLayout(std::get<AllReduceSpec>(spec_), preset_).columns;
  return std::accumulate(columns.begin(), columns.end(), int64_t{0});
}

int64_t CollectivePart::cycles() const {
  return routes_ ? CyclesOf(*routes_, group(), preset_)
                 : CyclesOf(std::get<AllReduceSpec>(spec_), preset_);
}

absl::StatusOr<MemberPart> CollectivePart::Compile(
    std::vector<MemberMemory> memory, int position,
    const MemberRoom& room) const {
  CollectiveSpec placed = spec_;
  std::visit([&](auto& own) { own.memory = std::move(memory); }, placed);
  if (!routes_) {
    return ReductionMember(std::get<AllReduceSpec>(placed), preset_, position,
                           &room)
        .CompilePart();
  }
  return ExchangeMember(std::get<ExchangeSpec>(placed), *routes_, preset_,
                        position, &room)
      .CompilePart();
}

}  // namespace systole::compiler
