// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Packets, numbers and credits of the model; model_lanes.cc has its lanes.

#include "tests/rtl/link/model_end.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace systole::link_test {
namespace {

constexpr int kSeqs = 1 << link::head::kSeq.bits;
constexpr int kNacks = 1 << link::control::kNack.bits;
constexpr int kTotals = 1 << link::control::kLimit0.bits;
constexpr int kWindow = 31;      // packets that are not acknowledged
constexpr int kKeepAlive = 100;  // flits between CTRL packets
constexpr int kCtrlPackets = 3;

int Modulo(int64_t value, int modulus) {
  return static_cast<int>((value % modulus + modulus) % modulus);
}

}  // namespace

void ModelEnd::Problem() {
  errors_ = true;
  if (peer_seen_ == nack_) nack_ = (nack_ + 1) % kNacks;
}

void ModelEnd::ReceiveFlit(link::Tag tag, const Bytes& flit, bool wrong) {
  if (tag == link::Tag::kStart) {
    if (follow_ > 0) Problem();
    packet_ = {flit};
    spoilt_ = wrong;
    follow_ = FlitsAfter(flit);
    if (follow_ < 0) {
      spoilt_ = true;
      follow_ = 0;
    }
  } else {
    if (follow_ == 0) return Problem();
    packet_.push_back(flit);
    spoilt_ |= wrong || tag != link::Tag::kData;
    --follow_;
  }
  if (follow_ == 0) PacketArrived();
}

void ModelEnd::PacketArrived() {
  if (spoilt_ || !Sealed(packet_)) {
    ++counters.crc_errors;
    return Problem();
  }
  const uint8_t* const head = packet_[0].data();
  if (static_cast<link::Kind>(GetField(head, link::head::kKind)) ==
      link::Kind::kCtrl) {
    const auto get = [&](link::Field f) {
      return static_cast<int>(GetField(head, f));
    };
    limit_ = {get(link::control::kLimit0), get(link::control::kLimit1)};
    peer_seen_ = get(link::control::kSeen);
    peer_ = get(link::control::kIdentity);
    const int acked =
        window_.empty()
            ? 0
            : Modulo(get(link::control::kAck) - window_.front().seq, kSeqs);
    if (acked > static_cast<int>(window_.size())) {
      errors.push_back("an ack of packets that were never sent");
    } else if (acked > 0) {
      // The packet under way is sent to its end.
      const int gone = flit_ > 0 ? std::min<int>(acked, next_) : acked;
      window_.erase(window_.begin(), window_.begin() + gone);
      next_ -= std::min<size_t>(gone, next_);
      waited_ = replays_ = tries_ = 0;
      proof_ = true;
    } else if (window_.empty()) {
      tries_ = 0;
    }
    const int nack = get(link::control::kNack);
    if (nack != acted_) {
      acted_ = nack;
      if (next_ > 0 || flit_ > 0) replay_due_ = true;
    }
    return;
  }
  const int seq = static_cast<int>(GetField(head, link::head::kSeq));
  const int ahead = Modulo(seq - expected_, kSeqs);
  if (ahead != 0) {
    if (ahead < kSeqs / 2) return Problem();
    again_ = true;
    return;
  }
  expected_ = (expected_ + 1) % kSeqs;
  clean_ = false;
  proof_ = true;
  tries_ = 0;
  Packet p = PacketOf(packet_);
  came_[p.vc] += static_cast<int64_t>(packet_.size());
  if (came_[p.vc] - freed_[p.vc] > buffer) {
    errors.push_back(absl::StrCat("more flits than credits, vc ", p.vc));
  }
  ++counters.packets_received;
  counters.bytes_received += static_cast<int64_t>(p.payload.size());
  buffered_[p.vc].push_back(std::move(p));
}

void ModelEnd::Drain() {
  for (int v = 0; v < link::kVcs; ++v) {
    if (buffered_[v].empty() || Chance(stalls.take)) continue;
    Packet p = std::move(buffered_[v].front());
    buffered_[v].pop_front();
    freed_[v] += p.FlitCount(width_.flit);
    received.push_back(std::move(p));
  }
}

Bytes ModelEnd::Control() {
  Bytes flit(width_.flit);
  uint8_t* const head = flit.data();
  SetField(head, link::control::kKind,
           static_cast<uint64_t>(link::Kind::kCtrl));
  SetField(head, link::control::kAck, silent_ack ? 0 : expected_);
  if (wrong_ack) SetField(head, link::control::kAck, *wrong_ack);
  SetField(head, link::control::kNack, nack_);
  SetField(head, link::control::kSeen, acted_);
  SetField(head, link::control::kIdentity, identity);
  SetField(head, link::control::kLimit0, Modulo(freed_[0] + buffer, kTotals));
  SetField(head, link::control::kLimit1, Modulo(freed_[1] + buffer, kTotals));
  return flit;
}

// Puts the symbols of the next flit, or of a fill, in symbols_.
void ModelEnd::NextFlit() {
  // A new packet, if it has credits for all of it.
  if (!offered.empty() && window_.size() < kWindow) {
    const Packet& p = offered.front();
    const int flits = p.FlitCount(width_.flit);
    if (Modulo(limit_[p.vc] - used_[p.vc], kTotals) >= flits) {
      used_[p.vc] += flits;
      window_.push_back({seq_, FlitsOf(p, width_.flit)});
      seq_ = (seq_ + 1) % kSeqs;
      given.push_back(p);
      offered.pop_front();
    }
  }
  link::Tag tag = link::Tag::kTrain;
  Bytes flit;
  ++quiet_time_;
  const auto seal = [](Bytes alone) {
    std::vector<Bytes> flits = {std::move(alone)};
    Seal(&flits);
    return flits[0];
  };
  if (flit_ == 0) {
    if (replay_due_) {
      replay_due_ = false;
      ++replays_;
      ++counters.replays;
      next_ = 0;
    }
    const Bytes control = Control();
    const bool waits = next_ < window_.size();
    const bool urgent = told_.empty() ||
                        GetField(told_.data(), link::control::kNack) !=
                            GetField(control.data(), link::control::kNack) ||
                        GetField(told_.data(), link::control::kSeen) !=
                            GetField(control.data(), link::control::kSeen);
    const bool news = control != told_ || again_;
    if (nacks > 0 && peer_seen_ == nack_) {
      --nacks;
      nack_ = (nack_ + 1) % kNacks;
    }
    if (urgent || quiet_time_ > kKeepAlive ||
        (news && (!waits || packets_ >= kCtrlPackets || Chance(20)))) {
      told_ = control;
      wrong_ack.reset();
      again_ = false;
      quiet_time_ = packets_ = 0;
      tag = link::Tag::kStart;
      flit = seal(control);
    } else if (waits) {
      ++packets_;
      clean_ = false;
      std::vector<Bytes>& flits = window_[next_].flits;
      SetField(flits[0].data(), link::head::kSeq, window_[next_].seq);
      Seal(&flits);
      tag = link::Tag::kStart;
      flit = flits[0];
      flit_ = 1;
      ++counters.packets_sent;
    }
  } else if (!Chance(stalls.give)) {
    tag = link::Tag::kData;
    flit = window_[next_].flits[flit_++];
  }
  if (flit_ > 0 && flit_ == window_[next_].flits.size()) {
    flit_ = 0;
    ++next_;
  }
  if (!window_.empty() && ++waited_ > timeout) {
    waited_ = 0;
    replay_due_ = true;
  }
  if (flit.empty()) {
    flit.resize(width_.flit);
    for (int i = 0; i < width_.flit; ++i) {
      const uint8_t inverted = ~link::kFill;
      flit[i] = i % width_.lane % 2 ? inverted : link::kFill;
    }
  }
  const int step = width_.lane * static_cast<int>(Lanes(send_lanes_).size());
  for (int i = 0; i < width_.flit; i += step) {
    symbols_.emplace_back(tag,
                          Bytes(flit.begin() + i, flit.begin() + i + step));
  }
}

}  // namespace systole::link_test
