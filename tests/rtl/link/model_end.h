// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A model of an end of a link, from docs/link.md. It checks what the
// other end may do: credits kept, numbers in order, no packet doubled.

#ifndef SYSTOLE_TESTS_RTL_LINK_MODEL_END_H_
#define SYSTOLE_TESTS_RTL_LINK_MODEL_END_H_

#include <array>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "tests/rtl/link/end.h"

namespace systole::link_test {

class ModelEnd : public End {
 public:
  ModelEnd(Width width, uint64_t seed) : width_(width), random_(seed) {
    Reset();
  }
  void Reset() override;
  Symbols out() const override { return out_; }
  void Step(const Symbols& in) override;
  bool up() const override { return phase_ == Phase::kUp && receiving_; }
  link::Cause down() const override { return down_; }
  int peer() const override { return peer_; }

  // What a test may make it do wrong, or leave undone.
  int buffer = 128;              // flits of a channel that it has room for
  bool silent_ack = false;       // accepts packets and never says so
  std::optional<int> wrong_ack;  // in the next CTRL packet only
  int nacks = 0;                 // so many times, of nothing
  int timeout = 3000, train_timeout = 20000;
  std::vector<int> lanes_used() const { return Lanes(send_lanes_); }

 private:
  enum class Phase { kPoll, kConfig, kUp };
  struct Sent {
    int seq;
    std::vector<Bytes> flits;
  };

  static std::vector<int> Lanes(int mask);
  static int Choose(int mask);
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }

  void StartTraining(bool own, bool drop);  // own: not the other end's
  void GiveUp(link::Cause cause);
  void Train();
  void ReceiveSets(const Symbols& in);
  void ReceiveFlits(const Symbols& in);
  void ReceiveFlit(link::Tag tag, const Bytes& flit, bool wrong);
  void Problem();
  void PacketArrived();
  void Drain();
  void NextSymbols();
  void NextFlit();
  Bytes Control();

  Width width_;
  std::mt19937_64 random_;
  Symbols out_ = {};
  link::Cause down_ = link::Cause::kNone;

  // Training.
  Phase phase_ = Phase::kPoll;
  int set_symbol_ = 0, settle_ = 0, since_ = 0, tries_ = 0;
  uint8_t set_info_ = 0;
  bool drop_ = false, peer_drop_ = false, clean_ = true, proof_ = false;
  bool errors_ = false, chosen_ = false, peer_clean_ = false;
  int receive_lanes_ = 1, send_lanes_ = 1, left_out_ = 0, quiet_ = 0;
  struct Lane {
    std::deque<Symbol> last;  // four symbols
    int sets = 0;             // in a row
    int64_t ended = -10;      // the last one
    uint8_t info = 0;
  };
  std::array<Lane, link::kLanes> lanes_;

  // Receiving.
  bool receiving_ = false;
  std::vector<Symbols> arriving_;  // symbols of a flit
  std::vector<Bytes> packet_;      // flits of a packet
  int follow_ = 0;                 // flits that are due
  bool spoilt_ = false;
  int expected_ = 0, nack_ = 0, peer_seen_ = 0, peer_ = -1;
  std::array<std::deque<Packet>, link::kVcs> buffered_;
  std::array<int64_t, link::kVcs> freed_ = {}, came_ = {};

  // Sending.
  std::deque<Sent> window_;  // not acknowledged
  size_t next_ = 0;          // place of the packet that is sent next or now
  size_t flit_ = 0;          // its flit that is due
  bool replay_due_ = false;
  int seq_ = 0, acted_ = 0, waited_ = 0, replays_ = 0;
  std::array<int64_t, link::kVcs> used_ = {};
  std::array<int, link::kVcs> limit_ = {};
  Bytes told_;
  int quiet_time_ = 0, packets_ = 0;
  bool again_ = false;
  std::deque<std::pair<link::Tag, Bytes>> symbols_;  // of the flit under way
};

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_MODEL_END_H_
