// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A Verilated systole_link as an end.

#ifndef SYSTOLE_TESTS_RTL_LINK_RTL_END_H_
#define SYSTOLE_TESTS_RTL_LINK_RTL_END_H_

#include <memory>
#include <random>
#include <vector>

#include "tests/rtl/link/end.h"
#include "tests/rtl/link/ports.h"
#include "verilated.h"

namespace systole::link_test {

template <typename Model>
class RtlEnd : public End {
 public:
  RtlEnd(Width width, uint64_t seed) : width_(width), random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed % 1000000) | 1);
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
    Reset();
  }
  ~RtlEnd() override {
    model_->final();
    Verilated::threadContextp(&context_);  // which the model leaves
  }

  void Reset() override { Restart(3, false); }
  // By a reset of so many clocks, or by `enable`; no signal meanwhile.
  void Restart(int clocks, bool by_enable) {
    Model& m = *model_;
    m.clk_i = m.push_i = m.ready_i = m.want_i = 0;
    m.rst_ni = by_enable;
    m.enable_i = !by_enable;
    SetLanes({});
    for (int i = 0; i < clocks; ++i) Clock();
    context_.gotError(false);
    m.rst_ni = m.enable_i = 1;
    flits_.clear();
    for (auto& assembled : assembled_) assembled.clear();
    m.eval();
  }

  Symbols out() const override {
    Symbols s;
    const int bits = 8 * width_.lane + 2;
    for (int l = 0; l < link::kLanes; ++l) {
      s[l].tag = static_cast<link::Tag>(
          GetBits(model_->lanes_o, l * bits + 8 * width_.lane, 2));
      for (int i = 0; i < width_.lane; ++i) {
        s[l].bytes[i] =
            static_cast<uint8_t>(GetBits(model_->lanes_o, l * bits + 8 * i, 8));
      }
    }
    return s;
  }

  void Step(const Symbols& in) override {
    Model& m = *model_;
    m.identity_i = identity;
    SetLanes(in);
    Give();
    m.ready_i = (Chance(stalls.take) ? 0 : 1) | (Chance(stalls.take) ? 0 : 2);
    m.eval();
    Take();
    Count();
    Clock();
    ++cycle;
    if (context_.gotError()) {
      context_.gotError(false);
      errors.push_back("an assertion of the RTL failed in cycle " +
                       std::to_string(cycle));
    }
  }

  bool up() const override { return model_->up_o; }
  link::Cause down() const override {
    return model_->down_o ? static_cast<link::Cause>(model_->cause_o)
                          : link::Cause::kNone;
  }
  int peer() const override {
    return model_->peer_known_o ? static_cast<int>(model_->peer_o) : -1;
  }
  Model* model() { return model_.get(); }

 private:
  bool Chance(int in_256) {
    return in_256 != 0 && static_cast<int>(random_() & 255) < in_256;
  }
  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  void SetLanes(const Symbols& in) {
    Model& m = *model_;
    const int bits = 8 * width_.lane + 2;
    for (int l = 0; l < link::kLanes; ++l) {
      SetBits(&m.lanes_i, l * bits + 8 * width_.lane, 2,
              static_cast<int>(in[l].tag));
      for (int i = 0; i < width_.lane; ++i) {
        SetBits(&m.lanes_i, l * bits + 8 * i, 8, in[l].bytes[i]);
      }
    }
  }

  // As the router does: a packet is chosen while the last flit of the one
  // before passes, and begins in the next cycle.
  void Give() {
    Model& m = *model_;
    m.push_i = 0;
    m.want_i = flits_.empty() && !offered.empty() ? 1 << offered.front().vc : 0;
    if (!flits_.empty() && (first_ || !Chance(stalls.give))) {
      first_ = false;
      m.push_i = 1;
      m.vc_i = vc_;
      m.last_i = flits_.size() == 1;
      for (int i = 0; i < width_.flit; ++i) {
        SetBits(&m.data_i, 8 * i, 8, flits_.front()[i]);
      }
      flits_.pop_front();
    }
    if (!flits_.empty() || offered.empty() ||
        (m.room_o >> offered.front().vc & 1) == 0)
      return;
    for (Bytes& flit : FlitsOf(offered.front(), width_.flit)) {
      flits_.push_back(std::move(flit));
    }
    vc_ = offered.front().vc;
    given.push_back(offered.front());
    offered.pop_front();
    first_ = true;
  }

  void Take() {
    Model& m = *model_;
    for (int v = 0; v < link::kVcs; ++v) {
      if (!(m.valid_o >> v & m.ready_i >> v & 1)) continue;
      Bytes flit(width_.flit);
      for (int i = 0; i < width_.flit; ++i) {
        flit[i] = static_cast<uint8_t>(
            GetBits(m.data_o, (v * width_.flit + i) * 8, 8));
      }
      assembled_[v].push_back(std::move(flit));
      if (!(m.last_o >> v & 1)) continue;
      received.push_back(PacketOf(assembled_[v]));
      if (received.back().vc != v) errors.push_back("on the other channel");
      if (FlitsAfter(assembled_[v][0]) + 1 !=
          static_cast<int>(assembled_[v].size())) {
        errors.push_back("a packet of another length than its head says");
      }
      assembled_[v].clear();
    }
    if (m.poison_valid_o) {
      Bytes head(16);
      for (int i = 0; i < link::kHeadBytes; ++i) {
        head[i] = static_cast<uint8_t>(GetBits(m.poison_head_o, 8 * i, 8));
      }
      poisoned.push_back(PacketOf({head}));
    }
  }

  void Count() {
    const auto get = [&](link::Field f) {
      return static_cast<int64_t>(GetBits(model_->events_o, f.lsb, f.bits));
    };
    counters.packets_sent += get(link::events::kPacketSent);
    counters.bytes_sent += get(link::events::kBytesSent);
    counters.packets_received += get(link::events::kPacketReceived);
    counters.bytes_received += get(link::events::kBytesReceived);
    counters.replays += get(link::events::kReplay);
    counters.crc_errors += get(link::events::kCrcError);
    counters.credit_stalls += get(link::events::kCreditStall);
    counters.retrains += get(link::events::kRetrain);
    counters.poisons += get(link::events::kPoison);
  }

  Width width_;
  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::deque<Bytes> flits_;  // of the packet that is being given
  int vc_ = 0;
  bool first_ = false;
  std::vector<Bytes> assembled_[link::kVcs];
};

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_RTL_END_H_
