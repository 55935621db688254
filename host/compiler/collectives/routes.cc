// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/routes.h"

#include <algorithm>
#include <tuple>

#include "host/compiler/collectives/member_program.h"

namespace systole::compiler {
namespace {

// From giving a parcel to giving it on, in slots. Each position's waits are for
// what was given in earlier slots, so none waits for itself.
constexpr int64_t kGiveLag = 3;

}  // namespace

Routes::Routes(const ExchangeSpec& spec, const Preset& preset, Way way)
    : group_(spec.group),
      cores_(static_cast<int>(preset.chip.cores)),
      beat_(preset.beat_bytes()),
      way_(way),
      handlings_(spec.group.size()),
      landed_(spec.group.size()) {
  Cut(spec.transfers, PieceBytes(preset));
  for (size_t i = 0; i < parcels_.size(); ++i) {
    const Parcel& parcel = parcels_[i];
    slots_ = std::max(slots_, parcel.slot + 1);
    std::set<int> wanted;
    for (const auto& [to, place] : parcel.places) wanted.insert(to);
    Handling first;
    first.parcel = static_cast<int>(i);
    first.slot = parcel.slot;
    first.at = parcel.at;
    Handle(std::move(first), parcel.from, wanted);
  }
  for (auto& own : handlings_) {
    std::sort(own.begin(), own.end(), [](const Handling& a, const Handling& b) {
      return std::tie(a.slot, a.parcel) < std::tie(b.slot, b.parcel);
    });
  }
  scratch_bytes_ = *std::max_element(landed_.begin(), landed_.end());
}

void Routes::Cut(const std::vector<Transfer>& transfers, int64_t piece_bytes) {
  // What one position gives to several is one part.
  using Part = std::tuple<int, int, int64_t, int64_t, int64_t, int64_t>;
  std::map<Part, std::map<int, Place>> parts;
  for (const Transfer& t : transfers) {
    const Part part{t.from,  t.vector, t.from_byte,
                    t.bytes, t.lines,  t.from_pitch};
    parts[part][t.to] = {Space::kOut, t.to_byte, t.to_pitch};
  }
  std::map<std::pair<int, int64_t>, int> given;  // by position and slot
  for (const auto& [part, places] : parts) {
    const auto [from, vector, byte, bytes, lines, pitch] = part;
    const int64_t together = std::max<int64_t>(1, piece_bytes / bytes);
    int64_t slot = 0;
    for (int64_t line = 0; line < lines; line += together) {
      for (int64_t at = 0; at < bytes; at += piece_bytes, ++slot) {
        Parcel& parcel = parcels_.emplace_back();
        parcel.from = from;
        parcel.vector = vector;
        parcel.half = static_cast<int>((slot + given[{from, slot}]++) % 2);
        parcel.slot = slot;
        parcel.bytes = std::min(piece_bytes, bytes - at);
        parcel.lines = std::min(together, lines - line);
        parcel.at = {Space::kIn, byte + line * pitch + at, pitch};
        parcel.places = places;
        for (auto& [to, place] : parcel.places)
          place.byte += line * place.pitch + at;
      }
    }
  }
}

std::vector<int> Routes::BitsOf(int half) const {
  std::vector<int> far, near;
  for (int bit = 1; bit < size(); bit *= 2)
    (OnChip(0, bit) ? near : far).push_back(bit);
  if (half != 0) std::reverse(far.begin(), far.end());
  far.insert(far.end(), near.begin(), near.end());
  return far;
}

std::vector<std::pair<int, std::set<int>>> Routes::Next(
    const Parcel& parcel, int holder, const std::set<int>& wanted) const {
  std::vector<std::pair<int, std::set<int>>> next;
  std::set<int> left = wanted;
  left.erase(holder);
  if (way_ == Way::kByBits) {
    for (const int bit : BitsOf(parcel.half)) {
      std::set<int> there;
      for (const int to : left)
        if (((to ^ holder) & bit) != 0) there.insert(to);
      if (there.empty()) continue;
      for (const int to : there) left.erase(to);
      next.emplace_back(holder ^ bit, std::move(there));
    }
    return next;
  }
  // The core with the holder's own number on its chip takes it for both.
  const auto passes = [&](int to) {
    return !OnChip(holder, to) &&
           group_[holder] % cores_ == group_[to] % cores_;
  };
  for (const int to : wanted) {
    if (left.count(to) == 0 || !passes(to)) continue;
    std::set<int> there;
    for (const int other : left)
      if (OnChip(to, other)) there.insert(other);
    for (const int other : there) left.erase(other);
    next.emplace_back(to, std::move(there));
  }
  for (const int to : left) next.emplace_back(to, std::set<int>{to});
  return next;
}

bool Routes::Handle(Handling handling, int holder,
                    const std::set<int>& wanted) {
  const Parcel& parcel = parcels_[handling.parcel];
  const bool own = handling.bringer < 0;
  if (own && wanted.count(holder) > 0) {
    handling.hops.push_back(
        {holder, parcel.half, parcel.places.at(holder), true, false});
  }
  const auto next = Next(parcel, holder, wanted);
  for (const auto& [to, there] : next) {
    Hop hop;
    hop.to = to;
    // Straight: all on one way to each receiver, whose flags are by sender.
    hop.half = way_ == Way::kByBits ? parcel.half : to / 2 % 2;
    if (there.count(to) > 0) {
      hop.at = parcel.places.at(to);
    } else {
      hop.at = {Space::kScratch, landed_[to], parcel.bytes};
      landed_[to] += (parcel.lines * parcel.bytes + beat_ - 1) / beat_ * beat_;
    }
    Handling after;
    after.parcel = handling.parcel;
    after.slot = handling.slot + kGiveLag;
    after.bringer = holder;
    after.half = hop.half;
    after.at = hop.at;
    hop.ends = !Handle(std::move(after), to, there);
    handling.hops.push_back(hop);
  }
  if (own || !next.empty()) handlings_[holder].push_back(std::move(handling));
  return !next.empty();
}

Routes::Streams Routes::LastOf(int position, const Stretch& stretch) const {
  Streams last;
  for (const Handling& handling : handlings_[position]) {
    if (!In(handling, stretch)) continue;
    for (const Hop& hop : handling.hops)
      if (hop.to != position) last[{hop.to, hop.half}] = &hop;
  }
  return last;
}

Routes::Duty Routes::DutyOf(int position, const Stretch& stretch) const {
  Duty duty;
  const Streams own = LastOf(position, stretch);
  for (const Handling& handling : handlings_[position]) {
    if (!In(handling, stretch)) continue;
    Handling& copy = duty.handlings.emplace_back(handling);
    for (size_t h = 0; h < copy.hops.size(); ++h) {
      const auto last = own.find({copy.hops[h].to, copy.hops[h].half});
      copy.hops[h].posts =
          last != own.end() &&
          (!copy.hops[h].ends || last->second == &handling.hops[h]);
    }
  }
  for (int from = 0; from < size(); ++from) {
    if (from == position) continue;
    for (const auto& [stream, hop] : LastOf(from, stretch)) {
      if (stream.first == position && hop->ends)
        duty.ends.push_back({from, stream.second});
    }
    for (const Handling& handling : handlings_[from]) {
      if (!In(handling, stretch)) continue;
      for (const Hop& hop : handling.hops) {
        if (hop.to == position && hop.ends)
          duty.arrivals.push_back({handling.parcel, hop.at});
      }
    }
  }
  return duty;
}

}  // namespace systole::compiler
