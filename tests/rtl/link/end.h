// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// An end of a link, the RTL's or the model's, and the wires between two.

#ifndef SYSTOLE_TESTS_RTL_LINK_END_H_
#define SYSTOLE_TESTS_RTL_LINK_END_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/rtl/link/format.h"

namespace systole::link_test {

// Sums of the events.
struct Counters {
  int64_t packets_sent = 0, bytes_sent = 0, packets_received = 0,
          bytes_received = 0, replays = 0, crc_errors = 0, credit_stalls = 0,
          retrains = 0, poisons = 0;
};

// How a user treats an end: chances of 256 in a cycle that it does not take a
// flit, or does not give one in the middle of a packet.
struct Stalls {
  int take = 0, give = 0;
};

class End {
 public:
  virtual ~End() = default;
  virtual void Reset() = 0;
  // What is on the lanes in this cycle.
  virtual Symbols out() const = 0;
  // Ends the cycle, with what the lanes brought in it.
  virtual void Step(const Symbols& in) = 0;
  virtual bool up() const = 0;
  virtual link::Cause down() const = 0;
  // Who the other end says it is; -1: not known.
  virtual int peer() const = 0;

  std::deque<Packet> offered;    // to send, the oldest first
  std::vector<Packet> given;     // those of them that have left the queue
  std::vector<Packet> received;  // in the order of their last flits
  std::vector<Packet> poisoned;  // heads of those given up
  std::vector<std::string> errors;
  Counters counters;
  Stalls stalls;
  int identity = 0;  // what the other end is told
  int64_t cycle = 0;
};

// One direction of a link.
class Wire {
 public:
  explicit Wire(int delay) : symbols_(delay) {}
  // What was put in `delay` cycles ago, after it was spoilt.
  Symbols Pass(const Symbols& in, int lane_bytes) {
    symbols_.push_back(in);
    Symbols out = symbols_.front();
    symbols_.pop_front();
    if (spoil) spoil(&out, lane_bytes);
    return out;
  }
  std::function<void(Symbols*, int lane_bytes)> spoil;

 private:
  std::deque<Symbols> symbols_;
};

// Two ends and the wires between them.
struct Cable {
  Cable(std::unique_ptr<End> first, std::unique_ptr<End> second, Width w,
        int delay)
      : a(std::move(first)),
        b(std::move(second)),
        width(w),
        ab(delay),
        ba(delay) {}
  void Cycle() {
    const Symbols to_b = ab.Pass(a->out(), width.lane);
    const Symbols to_a = ba.Pass(b->out(), width.lane);
    a->Step(to_a);
    b->Step(to_b);
  }
  // Cycles until `done`, or -1.
  int64_t Until(const std::function<bool()>& done, int64_t limit) {
    for (int64_t i = 0; i < limit; ++i) {
      if (done()) return i;
      if (!a->errors.empty() || !b->errors.empty()) return -1;
      Cycle();
    }
    return done() ? limit : -1;
  }

  std::unique_ptr<End> a, b;
  Width width;
  Wire ab, ba;
};

// Flips bits; the number of flips so far counts up.
class Flipper {
 public:
  explicit Flipper(uint64_t seed) : random(seed) {}
  // A bit of a lane in use, tag included.
  void Flip(Symbols* s, int lane_bytes, bool tags = true) {
    Symbol* lane = &(*s)[random() % link::kLanes];
    const int bits = 8 * lane_bytes + (tags ? 2 : 0);
    const int bit = static_cast<int>(random() % bits);
    if (bit < 8 * lane_bytes) {
      lane->bytes[bit / 8] ^= 1 << bit % 8;
    } else {
      lane->tag = static_cast<link::Tag>(static_cast<int>(lane->tag) ^
                                         1 << (bit - 8 * lane_bytes));
    }
    ++flips;
  }
  std::mt19937_64 random;
  int64_t flips = 0;
};

Packet RandomPacket(std::mt19937_64* random, Width width);

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_END_H_
