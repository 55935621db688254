// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Lanes and training of the model.

#include <algorithm>

#include "tests/rtl/link/model_end.h"

namespace systole::link_test {
namespace {

constexpr uint8_t InfoBit(link::Field field) {
  return static_cast<uint8_t>(1 << field.lsb);
}

// A training symbol says one byte; odd bytes of a lane are inverted.
bool Says(const Symbol& symbol, int bytes, uint8_t code) {
  for (int i = 0; i < bytes; ++i) {
    const uint8_t want = i % 2 ? static_cast<uint8_t>(~code) : code;
    if (symbol.bytes[i] != want) return false;
  }
  return symbol.tag == link::Tag::kTrain;
}

Symbol Saying(int bytes, uint8_t code) {
  Symbol symbol;
  symbol.tag = link::Tag::kTrain;
  for (int i = 0; i < bytes; ++i) {
    symbol.bytes[i] = i % 2 ? static_cast<uint8_t>(~code) : code;
  }
  return symbol;
}

}  // namespace

std::vector<int> ModelEnd::Lanes(int mask) {
  std::vector<int> lanes;
  for (int l = 0; l < link::kLanes; ++l) {
    if (mask >> l & 1) lanes.push_back(l);
  }
  return lanes;
}

int ModelEnd::Choose(int mask) {
  std::vector<int> lanes = Lanes(mask);
  if (lanes.size() == link::kLanes) return mask;
  if (lanes.size() > 2) lanes.resize(2);
  int chosen = 0;
  for (int l : lanes) chosen |= 1 << l;
  return chosen;
}

void ModelEnd::Reset() {
  peer_ = -1;
  const int kept_buffer = buffer;
  out_ = {};
  down_ = link::Cause::kNone;
  phase_ = Phase::kPoll;
  set_symbol_ = settle_ = since_ = tries_ = 0;
  drop_ = peer_drop_ = proof_ = errors_ = chosen_ = false;
  clean_ = true;
  receive_lanes_ = send_lanes_ = 1;
  left_out_ = quiet_ = 0;
  lanes_ = {};
  receiving_ = spoilt_ = replay_due_ = again_ = false;
  arriving_.clear();
  packet_.clear();
  symbols_.clear();
  window_.clear();
  told_.clear();
  buffered_ = {};
  freed_ = came_ = used_ = {};
  limit_ = {};
  follow_ = expected_ = nack_ = peer_seen_ = seq_ = acted_ = 0;
  waited_ = replays_ = quiet_time_ = packets_ = 0;
  next_ = flit_ = 0;
  buffer = kept_buffer;
}

void ModelEnd::StartTraining(bool own, bool drop) {
  if (own && !clean_) {
    if (tries_ == link::kMaxRetrains) return GiveUp(link::Cause::kNoProgress);
    ++tries_;
  }
  ++counters.retrains;
  phase_ = Phase::kPoll;
  drop_ |= drop;
  peer_drop_ = chosen_ = receiving_ = false;
  set_symbol_ = settle_ = since_ = quiet_ = 0;
  for (Lane& lane : lanes_) lane = {};
  // Packets are sent again from the oldest on.
  symbols_.clear();
  arriving_.clear();
  follow_ = 0;
  next_ = flit_ = 0;
  waited_ = replays_ = 0;
  replay_due_ = false;
  told_.clear();
}

void ModelEnd::GiveUp(link::Cause cause) {
  down_ = cause;
  out_ = {};
  for (const Sent& sent : window_) poisoned.push_back(PacketOf(sent.flits));
  window_.clear();
}

void ModelEnd::ReceiveSets(const Symbols& in) {
  for (int l = 0; l < link::kLanes; ++l) {
    Lane& lane = lanes_[l];
    lane.last.push_back(in[l]);
    if (lane.last.size() > 4) lane.last.pop_front();
    const bool due = cycle == lane.ended + 4;
    bool set = lane.last.size() == 4;
    if (set) {
      const uint8_t info = lane.last[1].bytes[0];
      const uint8_t says[] = {link::kComma, info, static_cast<uint8_t>(~info),
                              static_cast<uint8_t>(info ^ link::kMark)};
      for (int i = 0; i < 4; ++i) {
        set = set && Says(lane.last[i], width_.lane, says[i]);
      }
      set = set && (info & InfoBit(link::info::kOne)) &&
            (due || cycle > lane.ended + 4);
      if (set) {
        lane.sets = due ? lane.sets + 1 : 1;
        lane.ended = cycle;
        lane.info = info;
      }
    }
    if (!set && due) lane.sets = 0;
  }
}

void ModelEnd::Train() {
  int good = 0, some = -1;
  for (int l = link::kLanes - 1; l >= 0; --l) {
    if (lanes_[l].sets >= link::kTrainSets) good |= 1 << l;
    if (lanes_[l].sets >= 2) some = l;
  }
  const bool set_ends = phase_ != Phase::kUp && set_symbol_ == 0;
  const uint8_t any = some < 0 ? 0 : lanes_[some].info;
  ++since_;
  switch (phase_) {
    case Phase::kPoll:
      peer_drop_ |= any & InfoBit(link::info::kDrop);
      if (good == 0) settle_ = 0;
      if (good != 0 && set_ends && ++settle_ > link::kSettleSets) {
        if ((drop_ || peer_drop_) && errors_) {
          left_out_ |= receive_lanes_ & -receive_lanes_;
        }
        if ((good & ~left_out_) == 0) left_out_ = 0;
        receive_lanes_ = Choose(good & ~left_out_);
        phase_ = Phase::kConfig;
        settle_ = 0;
      }
      break;
    case Phase::kConfig: {
      const Lane& lane = lanes_[Lanes(receive_lanes_)[0]];
      if (!chosen_ && lane.sets >= 2 &&
          (lane.info & InfoBit(link::info::kChosen)) &&
          (lane.info & 0xF) != 0) {
        chosen_ = true;
        send_lanes_ = Choose(lane.info & 0xF);
        peer_clean_ = lane.info & InfoBit(link::info::kClean);
      }
      if (chosen_ && set_ends && ++settle_ > link::kSettleSets) {
        phase_ = Phase::kUp;
      }
      break;
    }
    case Phase::kUp:
      if (some >= 0 && !(any & InfoBit(link::info::kChosen))) {
        StartTraining(false, false);
        break;
      }
      if (!receiving_) break;
      since_ = 0;
      if (quiet_ >= link::kQuietCycles) {
        left_out_ = 0;
        StartTraining(true, false);
      } else if (replays_ >= link::kMaxReplays) {
        StartTraining(true, true);
      }
      break;
  }
  if (since_ > train_timeout) StartTraining(true, false);
}

void ModelEnd::ReceiveFlits(const Symbols& in) {
  const std::vector<int> lanes = Lanes(receive_lanes_);
  if (!receiving_) {
    const Lane& first = lanes_[lanes[0]];
    const Symbol& symbol = in[lanes[0]];
    const bool begins = symbol.tag == link::Tag::kData ||
                        symbol.tag == link::Tag::kStart ||
                        Says(symbol, width_.lane, link::kFill);
    if (!chosen_ || first.sets < 2 || cycle != first.ended + 1 || !begins) {
      return;
    }
    receiving_ = true;
    errors_ = false;
    drop_ = false;
    if (peer_clean_ && proof_) return GiveUp(link::Cause::kPeerReset);
  }
  quiet_ = std::all_of(lanes.begin(), lanes.end(),
                       [&](int l) { return in[l].tag == link::Tag::kQuiet; })
               ? quiet_ + 1
               : 0;
  arriving_.push_back(in);
  const int step = width_.lane * static_cast<int>(lanes.size());
  if (static_cast<int>(arriving_.size()) * step < width_.flit) return;
  const link::Tag tag = arriving_[0][lanes[0]].tag;
  bool wrong = tag == link::Tag::kQuiet, fill = true;
  Bytes flit;
  for (const Symbols& symbols : arriving_) {
    for (int l : lanes) {
      wrong |= symbols[l].tag != tag;
      fill = fill && Says(symbols[l], width_.lane, link::kFill);
      flit.insert(flit.end(), symbols[l].bytes.begin(),
                  symbols[l].bytes.begin() + width_.lane);
    }
  }
  arriving_.clear();
  if (!fill) ReceiveFlit(tag, flit, wrong);
}

void ModelEnd::NextSymbols() {
  if (down_ != link::Cause::kNone) return;
  out_ = {};
  if (phase_ != Phase::kUp) {
    // Sets on all lanes.
    uint8_t info = InfoBit(link::info::kOne);
    if (phase_ == Phase::kConfig) {
      info |= InfoBit(link::info::kChosen) | receive_lanes_;
    }
    if (drop_) info |= InfoBit(link::info::kDrop);
    if (clean_) info |= InfoBit(link::info::kClean);
    if (set_symbol_ == 0) set_info_ = info;
    const uint8_t says[] = {link::kComma, set_info_,
                            static_cast<uint8_t>(~set_info_),
                            static_cast<uint8_t>(set_info_ ^ link::kMark)};
    for (Symbol& symbol : out_) symbol = Saying(width_.lane, says[set_symbol_]);
    set_symbol_ = (set_symbol_ + 1) % 4;
    return;
  }
  if (symbols_.empty()) NextFlit();
  const std::vector<int> lanes = Lanes(send_lanes_);
  for (size_t i = 0; i < lanes.size(); ++i) {
    Symbol& symbol = out_[lanes[i]];
    symbol.tag = symbols_.front().first;
    std::copy_n(symbols_.front().second.begin() + i * width_.lane, width_.lane,
                symbol.bytes.begin());
  }
  symbols_.pop_front();
}

void ModelEnd::Step(const Symbols& in) {
  if (down_ == link::Cause::kNone) {
    if (phase_ != Phase::kPoll) ReceiveFlits(in);
    ReceiveSets(in);
    if (down_ == link::Cause::kNone) Train();
  }
  Drain();
  NextSymbols();
  ++cycle;
}

}  // namespace systole::link_test
