// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/exchange.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace systole::compiler {
namespace {

// Where a part is cut for a round.
int64_t MiddleOf(const Piece& part) {
  return part.begin + (part.beats() + 1) / 2;
}

// First a, then b, then a again.
std::vector<Piece> Alternate(const std::vector<Piece>& a,
                             const std::vector<Piece>& b) {
  std::vector<Piece> both;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) both.push_back(a[i]);
    if (i < b.size()) both.push_back(b[i]);
  }
  return both;
}

}  // namespace

Piece Exchange::PartOf(const Piece& half, int position, int round) const {
  Piece part = half;
  for (int r = 0; r < round; ++r) {
    const int64_t middle = MiddleOf(part);
    if ((position >> order_[r] & 1) == 0) {
      part.end = middle;
    } else {
      part.begin = middle;
    }
  }
  return part;
}

std::vector<Piece> Exchange::PiecesOf(const Piece& part, int round) const {
  if (round < rounds()) {
    const int64_t middle = MiddleOf(part);
    return Alternate(PiecesOf({part.begin, middle}, round + 1),
                     PiecesOf({middle, part.end}, round + 1));
  }
  std::vector<Piece> pieces;
  for (int64_t at = part.begin; at < part.end; at += chunk_)
    pieces.push_back({at, std::min(part.end, at + chunk_)});
  return pieces;
}

bool Exchange::Sends(int position, int round, const Piece& piece) const {
  // Of the vector that the piece is of.
  const auto after = std::upper_bound(
      halves_.begin(), halves_.end(), piece.begin,
      [](int64_t at, const Piece& half) { return at < half.begin; });
  const Piece kept = PartOf(*std::prev(after), position, round + 1);
  return piece.begin < kept.begin || piece.begin >= kept.end;
}

std::vector<Exchange::Event> Exchange::All() const {
  std::vector<Event> events;
  for (const Piece& half : halves_) {
    for (const Piece& piece : PiecesOf(half, 0))
      events.push_back({piece, static_cast<int64_t>(events.size())});
  }
  return events;
}

std::vector<Exchange::Event> Exchange::FirstSent(int position) const {
  std::vector<Event> events;
  for (const Piece& half : halves_) {
    const Piece theirs = PartOf(half, PartnerOf(position, 0), 1);
    for (const Piece& piece : PiecesOf(theirs, 1))
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

std::vector<Exchange::Event> Exchange::Given(int position, int round) const {
  std::vector<Event> events = Combined(position, rounds() - 1);
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
