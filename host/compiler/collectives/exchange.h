// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Who sends which part of a vector to whom, and when, in an all-reduce by
// recursive halving and doubling (docs/collectives.md). Each vector has two
// halves, which take the levels of the group in different orders. All of it is
// a function of the group's size and the vectors': every position computes it
// for itself and for its partners, so that what one sends in some order the
// other one takes in that order.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace systole::compiler {

// Beats: [begin, end). The vectors are counted one after the other.
struct Piece {
  int64_t begin = 0, end = 0;
  int64_t beats() const { return end - begin; }
};

// The rounds of one half of each vector. In round r a position and its partner
// exchange.
class Exchange {
 public:
  // A piece, and the time slot in which a position handles it.
  struct Event {
    Piece piece;
    int64_t slot = 0;
  };

  // order: levels, one a round; level l pairs positions that differ in bit l.
  // chunk: beats of a piece at most. lag: slots from sending a piece to taking
  // it.
  Exchange(std::vector<Piece> halves, std::vector<int> order, int64_t chunk,
           int64_t lag)
      : halves_(std::move(halves)),
        order_(std::move(order)),
        chunk_(chunk),
        lag_(lag) {}

  int rounds() const { return static_cast<int>(order_.size()); }
  int PartnerOf(int position, int round) const {
    return position ^ (1 << order_[round]);
  }

  // All of the halves, in pieces.
  std::vector<Event> All() const;
  // Halving. What a position sends to its first partner as it is.
  std::vector<Event> FirstSent(int position) const;
  // What it combines in a round: what its partner of the round sends, with what
  // it has itself. Of the result it keeps what the next round leaves it, and
  // sends the rest to the next partner; after the last round it is final.
  std::vector<Event> Combined(int position, int round) const;
  // Whether it sends that piece to the partner of the round, rather than keep
  // it.
  bool Sends(int position, int round, const Piece& piece) const;

  // Doubling, rounds in reverse. What it takes from its partner of a round,
  // and what it sends to that partner: final pieces, its own and those that it
  // has taken in later rounds.
  std::vector<Event> Taken(int position, int round) const;
  std::vector<Event> Given(int position, int round) const;

 private:
  // What a position has left of a half before a round.
  Piece PartOf(const Piece& half, int position, int round) const;
  // The pieces of a part, which later rounds cut further, in the order in which
  // everyone handles them.
  std::vector<Piece> PiecesOf(const Piece& part, int round) const;
  std::vector<Event> InSlots(const std::vector<Event>& sent) const;

  std::vector<Piece> halves_;  // in ascending order
  std::vector<int> order_;
  int64_t chunk_, lag_;
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_EXCHANGE_H_
