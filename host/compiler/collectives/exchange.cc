// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/exchange.h"

#include <algorithm>

namespace systole::compiler {
namespace {

// First a, then b, then a again.
std::vector<Share> Alternate(const std::vector<Share>& a,
                             const std::vector<Share>& b) {
  std::vector<Share> both;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) both.push_back(a[i]);
    if (i < b.size()) both.push_back(b[i]);
  }
  return both;
}

std::vector<Share> SharesFrom(const Piece& part, const std::vector<int>& order,
                              size_t round, int owner) {
  if (round == order.size()) return {{part, owner}};
  const int64_t middle = part.begin + (part.beats() + 1) / 2;
  return Alternate(SharesFrom({part.begin, middle}, order, round + 1, owner),
                   SharesFrom({middle, part.end}, order, round + 1,
                              owner | 1 << order[round]));
}

}  // namespace

std::vector<Share> EqualShares(const Piece& half,
                               const std::vector<int>& order) {
  return SharesFrom(half, order, 0, 0);
}

std::vector<Share> ConsecutiveShares(const Piece& half, const Piece& whole,
                                     int positions) {
  std::vector<Share> shares;
  const int64_t beats = whole.beats() / positions;
  for (int p = 0; p < positions; ++p) {
    const Piece part{std::max(half.begin, whole.begin + p * beats),
                     std::min(half.end, whole.begin + (p + 1) * beats)};
    if (part.begin < part.end) shares.push_back({part, p});
  }
  return shares;
}

std::vector<int64_t> ColumnsOf(
    const std::vector<std::vector<Share>> (&halves)[2], int64_t chunk) {
  std::vector<int64_t> columns(halves[0].size());
  for (const auto& half : halves) {
    for (size_t v = 0; v < columns.size(); ++v) {
      for (const Share& share : half[v])
        columns[v] =
            std::max(columns[v], (share.piece.beats() + chunk - 1) / chunk);
    }
  }
  return columns;
}

Exchange::Exchange(const std::vector<std::vector<Share>>& halves,
                   std::vector<int> order, int64_t chunk, int64_t lag, Way way,
                   const std::vector<int64_t>& columns, const Stretch& stretch)
    : order_(std::move(order)), lag_(lag), way_(way) {
  int64_t before = 0;  // columns of the vectors before
  for (size_t v = 0; v < halves.size(); before += columns[v++]) {
    const int64_t first = std::max<int64_t>(0, stretch.begin - before);
    const int64_t end = std::min(columns[v], stretch.end - before);
    for (int64_t column = first; column < end; ++column) {
      for (const Share& share : halves[v]) {
        const int64_t begin = share.piece.begin + column * chunk;
        const Piece piece{begin, std::min(begin + chunk, share.piece.end)};
        if (piece.begin >= piece.end) continue;
        pieces_.push_back(piece);
        owners_[piece.begin] = share.owner;
      }
    }
  }
}

bool Exchange::Sends(int position, int round, const Piece& piece) const {
  return way_ == Way::kWhole ||
         ((owners_.at(piece.begin) ^ position) >> order_[round] & 1) != 0;
}

std::vector<Exchange::Event> Exchange::All() const {
  std::vector<Event> events;
  for (const Piece& piece : pieces_)
    events.push_back({piece, static_cast<int64_t>(events.size())});
  return events;
}

std::vector<Exchange::Event> Exchange::FirstSent(int position) const {
  std::vector<Event> events;
  for (const Piece& piece : pieces_) {
    if (Sends(position, 0, piece))
      events.push_back({piece, static_cast<int64_t>(events.size())});
  }
  return events;
}

// Events are taken in the order in which they were sent.
std::vector<Exchange::Event> Exchange::InSlots(
    const std::vector<Event>& sent) const {
  std::vector<Event> events;
  int64_t slot = 0;
  for (const Event& event : sent) {
    slot = std::max(slot, event.slot + lag_);
    events.push_back({event.piece, slot});
  }
  return events;
}

std::vector<Exchange::Event> Exchange::Combined(int position, int round) const {
  const int partner = PartnerOf(position, round);
  if (round == 0) return InSlots(FirstSent(partner));
  std::map<int64_t, int64_t> own;  // by begin: slot of what it has itself
  for (const Event& event : Combined(position, round - 1))
    own[event.piece.begin] = event.slot;
  std::vector<Event> sent;
  for (const Event& event : Combined(partner, round - 1)) {
    if (!Sends(partner, round, event.piece)) continue;
    const int64_t mine = own.at(event.piece.begin) + 1 - lag_;
    sent.push_back({event.piece, std::max(event.slot, mine)});
  }
  return InSlots(sent);
}

// Each goes to several others. Measured on four chips: with fewer slots what is
// taken waits, with more of them the links do.
std::vector<Exchange::Event> Exchange::Own(int position) const {
  constexpr int64_t kOwnSlots = 2;
  std::vector<Event> events;
  for (const Piece& piece : pieces_) {
    if (owners_.at(piece.begin) == position)
      events.push_back(
          {piece, static_cast<int64_t>(events.size()) * kOwnSlots});
  }
  return events;
}

std::vector<Exchange::Event> Exchange::Given(int position, int round) const {
  std::vector<Event> events =
      way_ == Way::kDoubling ? Own(position) : Combined(position, rounds() - 1);
  for (int later = rounds() - 1; later > round; --later) {
    const std::vector<Event> taken = Taken(position, later);
    events.insert(events.end(), taken.begin(), taken.end());
  }
  std::stable_sort(
      events.begin(), events.end(),
      [](const Event& a, const Event& b) { return a.slot < b.slot; });
  return events;
}

std::vector<Exchange::Event> Exchange::Taken(int position, int round) const {
  return InSlots(Given(PartnerOf(position, round), round));
}

}  // namespace systole::compiler
