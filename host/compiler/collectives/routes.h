// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// How the parts of an exchange come to where they belong (docs/collectives.md).
// They are cut into parcels, and a parcel goes from holder to holder, each of
// which keeps it or gives it on, or both. All of it is a function of the
// transfers: every position computes it for itself and for the others, so that
// what one gives in some order the other one takes in that order.
#ifndef SYSTOLE_HOST_COMPILER_COLLECTIVES_ROUTES_H_
#define SYSTOLE_HOST_COMPILER_COLLECTIVES_ROUTES_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/compiler/collectives/exchange.h"
#include "systole/collective.h"
#include "systole/gen/presets.h"

namespace systole::compiler {

class Routes {
 public:
  enum class Way {
    // To the place, and there from one core of the chip to the other.
    kStraight,
    // From position to position, which differ in one bit: what leads to other
    // chips first. So each core gives to one core for each bit.
    kByBits,
  };
  enum class Space { kIn, kOut, kScratch };

  // Where a parcel's lines lie in a position's vector, or scratch.
  struct Place {
    Space space = Space::kIn;
    int64_t byte = 0, pitch = 0;
  };
  // A piece of what one position gives: whole lines, or a part of one.
  struct Parcel {
    int from = 0, vector = 0;
    int half = 0;      // there are two ways between chips
    int64_t slot = 0;  // those of one slot leave at about the same time
    int64_t bytes = 0, lines = 1;
    Place at;
    std::map<int, Place> places;  // by position
  };
  struct Hop {
    int to = 0, half = 0;
    Place at;
    bool ends = true;    // it goes no further from there
    bool posts = false;  // the receiver's flag
  };
  // What a position does with a parcel: it waits for who brings it, takes it
  // from `at`, and gives it to itself or others.
  struct Handling {
    int64_t slot = 0;
    int parcel = 0;
    int bringer = -1, half = 0;  // -1: none, it is its own
    Place at;
    std::vector<Hop> hops;
  };
  // The last post of another position, which follows all that this one gives.
  struct End {
    int from = 0, half = 0;
  };
  struct Arrival {
    int parcel = 0;
    Place at;
  };
  // What a position does, in order, and what it has to wait for at the end:
  // that comes to it and stays there.
  struct Duty {
    std::vector<Handling> handlings;
    std::vector<End> ends;
    std::vector<Arrival> arrivals;
  };

  // spec: has passed its check; of the places in memory nothing is used.
  Routes(const ExchangeSpec& spec, const Preset& preset, Way way);

  int64_t slots() const { return slots_; }
  const std::vector<Parcel>& parcels() const { return parcels_; }
  // Of the parcels that leave in the slots of a stretch.
  Duty DutyOf(int position, const Stretch& stretch = {}) const;
  int64_t scratch_bytes() const { return scratch_bytes_; }  // of any position

 private:
  bool OnChip(int a, int b) const {
    return group_[a] / cores_ == group_[b] / cores_;
  }
  int size() const { return static_cast<int>(group_.size()); }
  void Cut(const std::vector<Transfer>& transfers, int64_t piece_bytes);
  // The bits in the order in which a half takes them.
  std::vector<int> BitsOf(int half) const;
  // Who gets a parcel from its holder, and for whom.
  std::vector<std::pair<int, std::set<int>>> Next(
      const Parcel& parcel, int holder, const std::set<int>& wanted) const;
  // Adds what the holder does, which is given so far, and all that comes after
  // it. Returns whether it gives the parcel on.
  bool Handle(Handling handling, int holder, const std::set<int>& wanted);
  // Of the handlings in a stretch, the last hop to each receiver and half.
  using Streams = std::map<std::pair<int, int>, const Hop*>;
  Streams LastOf(int position, const Stretch& stretch) const;
  bool In(const Handling& handling, const Stretch& stretch) const {
    const int64_t slot = parcels_[handling.parcel].slot;
    return stretch.begin <= slot && slot < stretch.end;
  }

  const std::vector<int> group_;
  const int cores_;  // of a chip
  const int64_t beat_;
  const Way way_;
  int64_t slots_ = 0, scratch_bytes_ = 0;
  std::vector<Parcel> parcels_;
  std::vector<std::vector<Handling>> handlings_;  // by position, in order
  std::vector<int64_t> landed_;  // bytes of each position's scratch
};

}  // namespace systole::compiler

#endif  // SYSTOLE_HOST_COMPILER_COLLECTIVES_ROUTES_H_
