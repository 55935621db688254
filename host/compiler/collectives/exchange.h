// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Who sends which part of a vector to whom, and when, in an all-reduce,
// reduce-scatter or all-gather by recursive halving and doubling, or in a short
// all-reduce in which partners send each other all that they have
// (docs/collectives.md). Each vector has two halves, which take the levels of
// the group in different orders. All of it is a function of the group's size
// and the vectors': every position computes it for itself and for its partners,
// so that what one sends in some order the other one takes in that order.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace systole::compiler {

// Beats: [begin, end). The vectors are counted one after the other.
struct Piece {
  int64_t begin = 0, end = 0;
  int64_t beats() const { return end - begin; }
};

// A part of a vector, and the position that has its result first.
struct Share {
  Piece piece;
  int owner = 0;
};

// Of a half, as many shares as positions, as equal as they can be. order: as
// below; of round r, the owner's bit order[r] says which half of what is left
// it is in. Neighbours in the list lie far from each other.
std::vector<Share> EqualShares(const Piece& half,
                               const std::vector<int>& order);
// Of a half, what it has of the `positions` parts of [whole.begin, whole.end),
// of which each has the next one.
std::vector<Share> ConsecutiveShares(const Piece& half, const Piece& whole,
                                     int positions);

// A part of an exchange, of all shares alike. Columns are the pieces at one
// place of each share; those of a vector follow those of the one before.
struct Stretch {
  int64_t begin = 0, end = std::numeric_limits<int64_t>::max();
};
// Columns of each vector, whose shares are given for both halves. chunk: beats
// of a piece at most.
std::vector<int64_t> ColumnsOf(
    const std::vector<std::vector<Share>> (&halves)[2], int64_t chunk);

// The rounds of one half of each vector. In round r a position and its partner
// exchange.
class Exchange {
 public:
  // kHalving: what partners have is divided between them, and given back in
  // the doubling. kDoubling: that alone; each position has its own shares from
  // the start. kWhole: partners send each other all, and no owner counts.
  enum class Way { kHalving, kDoubling, kWhole };

  // A piece, and the time slot in which a position handles it.
  struct Event {
    Piece piece;
    int64_t slot = 0;
  };

  // halves: the shares of each vector's. order: levels, one a round; level l
  // pairs positions that differ in bit l. chunk: beats of a piece at most. lag:
  // slots from sending a piece to taking it. columns: of each vector; those of
  // the stretch are exchanged.
  Exchange(const std::vector<std::vector<Share>>& halves,
           std::vector<int> order, int64_t chunk, int64_t lag, Way way,
           const std::vector<int64_t>& columns, const Stretch& stretch);

  int rounds() const { return static_cast<int>(order_.size()); }
  int PartnerOf(int position, int round) const {
    return position ^ (1 << order_[round]);
  }

  // All of the halves, in pieces.
  std::vector<Event> All() const;
  // Halving, or all. What a position sends to its first partner as it is.
  std::vector<Event> FirstSent(int position) const;
  // What it combines in a round: what its partner of the round sends, with what
  // it has itself. Of the result it keeps what the next round leaves it, and
  // sends the rest to the next partner; after the last round it is final.
  std::vector<Event> Combined(int position, int round) const;
  // Whether it sends that piece to the partner of the round, and whether it
  // combines it in that round itself.
  bool Sends(int position, int round, const Piece& piece) const;
  bool Keeps(int position, int round, const Piece& piece) const {
    return way_ == Way::kWhole || !Sends(position, round, piece);
  }

  // Of doubling alone, what it has from the start.
  std::vector<Event> Own(int position) const;
  // Doubling, rounds in reverse. What it takes from its partner of a round,
  // and what it sends to that partner: final pieces, its own and those that it
  // has taken in later rounds.
  std::vector<Event> Taken(int position, int round) const;
  std::vector<Event> Given(int position, int round) const;

 private:
  std::vector<Event> InSlots(const std::vector<Event>& sent) const;

  std::vector<Piece> pieces_;      // in the order in which everyone sends them
  std::map<int64_t, int> owners_;  // of pieces, by begin
  std::vector<int> order_;
  int64_t lag_;
  Way way_;
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_
