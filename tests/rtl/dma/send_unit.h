// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A Verilated send unit between models of the unified buffer and the network,
// which hold it off at random. The buffer's bytes are a function of the
// address. Run checks the protocol, each flit against the bytes that are due,
// completions and faults, and reports through GoogleTest.

#ifndef SYSTOLE_TESTS_RTL_DMA_SEND_UNIT_H_
#define SYSTOLE_TESTS_RTL_DMA_SEND_UNIT_H_

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "systole/gen/link.h"
#include "tests/rtl/dma/send_reference.h"
#include "verilated.h"

namespace systole::dma_test {

// Chances in 256 a cycle.
struct SendTraffic {
  int hold_head = 0;    // no descriptor is the next one
  int hold_start = 0;   // its flags are not there
  int hold_read = 0;    // the unified buffer refuses
  int hold_answer = 0;  // it answers later than it might
  int hold_send = 0;    // the network refuses
  int latency = 2;      // of the unified buffer, at least
  bool freeze_on_fault = true;
  int64_t freeze_at = -1;   // cycle, or never
  int64_t block_until = 0;  // the network takes nothing before
  int64_t cut_at = -1;      // no more from that cycle on
};

struct SendResult {
  int64_t cycles = 0;                // until all was done
  std::vector<int64_t> flits, done;  // cycles
  int64_t started = 0, most_started = 0;
  int faults = 0;
  isa::Fault fault = isa::Fault::kNone;
  uint64_t fault_addr = 0;
  size_t sent = 0;  // bytes and posts
};

template <typename Model>
class SendUnit {
 public:
  SendUnit(const SendWorld& world, uint32_t seed)
      : world_(world),
        beat_(world.preset->beat_bytes()),
        flit_(std::min<int64_t>(4 * world.preset->chip.link_bytes, 64)),
        random_(seed),
        salt_(random_() | 1) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed | 1));
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
    Reset();
  }
  ~SendUnit() { model_->final(); }

  // Whatever is under way, nothing of it shows from its first edge on.
  void Reset() {
    Model& m = *model_;
    m.clk_i = m.rst_ni = 0;
    m.eval();
    m.freeze_i = m.ub_rsp_valid_i = 0;
    for (int i = 0; i < 3; ++i) {
      m.peek_i = m.start_valid_i = i == 0;
      m.ub_ready_i = m.send_ready_i = random_() & 1;
      Clock();
      EXPECT_FALSE(m.ub_valid_o || m.send_valid_o || m.done_o ||
                   m.fault_valid_o || m.progress_o || m.busy_o)
          << "cycle " << i << " of a reset";
    }
    context_.gotError(false);
    m.rst_ni = 1;
    m.core_i = core_ = static_cast<int>(random_() & 1);
    m.columns_i = world_.columns;
    m.rows_i = world_.rows;
    m.base_i = world_.base;
    m.end_i = world_.end;
    reads_.clear();
    held_read_ = held_flit_ = offered_ = false;
    packet_ = 0;
  }

  SendResult Run(const std::vector<isa::Descriptor>& list,
                 const SendTraffic& t) {
    Model& m = *model_;
    SendResult r;
    const SendExpected want = SendReference(world_, list);
    size_t next = 0;
    bool head = false, valid = false;
    int64_t due = -1;  // cycle of a completion
    int after = 0, quiet = 0, late_asks = 0;
    for (cycle_ = 0; after < kAfter; ++cycle_) {
      if (cycle_ == t.cut_at) return r;
      if (cycle_ == kLimit) {
        ADD_FAILURE() << "no end";
        return r;
      }
      const bool frozen = m.freeze_i;  // in the cycle before
      m.freeze_i = (t.freeze_at >= 0 && cycle_ >= t.freeze_at) ||
                   (t.freeze_on_fault && r.faults > 0);
      head = next < list.size() && (head || !Chance(t.hold_head));
      valid = head && (valid || !Chance(t.hold_start));
      m.peek_i = head;
      m.start_valid_i = valid;
      for (int w = 0; w < 16; ++w) {
        m.start_desc_i[w] = static_cast<uint32_t>(
            head ? list[next][w / 2] >> (w % 2 * 32) : random_());
      }
      m.ub_ready_i = !Chance(t.hold_read);
      m.send_ready_i = cycle_ >= t.block_until && !Chance(t.hold_send);
      Answer(t);
      m.eval();
      const bool asks = m.ub_valid_o && !held_read_;
      CheckHolds();
      // A beat may have been on its way to the port.
      late_asks += asks && frozen;
      EXPECT_LE(late_asks, 1) << where();
      // A flit that is offered, or a request, is progress.
      const bool offers = m.send_valid_o && !offered_;
      if (asks || offers) EXPECT_TRUE(m.progress_o) << where();
      offered_ = m.send_valid_o;
      // A packet begins when all of it is there.
      if (packet_ > 0) EXPECT_TRUE(m.send_valid_o) << where();
      EXPECT_TRUE(m.busy_o || !m.send_valid_o) << where();
      EXPECT_EQ(m.done_o, due == cycle_) << where();
      if (m.done_o) {
        r.done.push_back(cycle_);
        --r.started;
      }
      if (m.fault_valid_o) {
        ++r.faults;
        r.fault = static_cast<isa::Fault>(m.fault_code_o);
        r.fault_addr = m.fault_addr_o;
        EXPECT_TRUE(m.fault_newest_o);
        EXPECT_EQ(static_cast<int64_t>(next), want.complete + 1)
            << "not of the descriptor started last; " << where();
      }
      if (valid && m.start_ready_o) {
        EXPECT_FALSE(m.freeze_i) << where();
        EXPECT_EQ(r.faults, 0) << "a start after a fault; " << where();
        ++next;
        head = valid = false;
        quiet = 0;
        r.most_started = std::max(r.most_started, ++r.started);
      }
      if (m.freeze_i) EXPECT_FALSE(m.start_ready_o) << where();
      const bool moves = m.send_valid_o && m.send_ready_i;
      if (moves) {
        r.flits.push_back(cycle_);
        CheckFlit(want, &r);
        if (r.sent > 0 && want.sent[r.sent - 1].last && packet_ == 0)
          due = cycle_ + 1;
      }
      if (m.ub_valid_o && m.ub_ready_i)
        reads_.push_back({cycle_ + t.latency, m.ub_addr_o});
      // The watchdog sees a unit that does nothing.
      quiet = moves || asks || m.ub_rsp_valid_i ? 0 : quiet + 1;
      if (quiet > 6) EXPECT_FALSE(m.progress_o) << where();
      const bool all = r.done.size() == list.size();
      if (all && r.cycles == 0) r.cycles = cycle_;
      const bool ended = all || r.faults > 0 || m.freeze_i;
      after = ended && !m.busy_o && reads_.empty() ? after + 1 : 0;
      Clock();
      if (context_.gotError()) {
        context_.gotError(false);
        ADD_FAILURE() << "an assertion of the RTL failed; " << where();
      }
      if (::testing::Test::HasFailure()) return r;
    }
    EXPECT_EQ(packet_, 0) << "half a packet";
    EXPECT_LE(r.faults, 1);
    if (t.freeze_at < 0) {
      EXPECT_EQ(r.fault, want.fault);
      EXPECT_EQ(r.fault_addr, want.fault_addr & ((uint64_t{1} << 36) - 1));
      if (!t.freeze_on_fault || r.faults == 0)
        EXPECT_EQ(r.sent, want.sent.size());
    }
    return r;
  }

 private:
  static constexpr int kAfter = 60;  // cycles to look on after the end
  static constexpr int64_t kLimit = 1000000;

  struct Read {
    int64_t cycle;
    uint64_t address;
  };

  bool Chance(int in_256) {
    return in_256 != 0 && static_cast<int>(random_() & 255) < in_256;
  }
  std::string where() const { return "cycle " + std::to_string(cycle_); }

  uint8_t SourceByte(uint64_t address) const {
    uint64_t x = (address + 1) * 0x9E3779B97F4A7C15u ^ salt_;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    return static_cast<uint8_t>(x >> 40);
  }

  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  void Answer(const SendTraffic& t) {
    Model& m = *model_;
    m.ub_rsp_valid_i = !reads_.empty() && reads_.front().cycle <= cycle_ &&
                       !Chance(t.hold_answer);
    for (int64_t w = 0; w < beat_ / 4; ++w) {
      uint32_t word = static_cast<uint32_t>(random_());
      for (int i = 0; m.ub_rsp_valid_i && i < 4; ++i) {
        const uint8_t byte = SourceByte(reads_.front().address + 4 * w + i);
        word = word >> 8 | static_cast<uint32_t>(byte) << 24;
      }
      m.ub_data_i[w] = word;
    }
    if (m.ub_rsp_valid_i) reads_.pop_front();
  }

  // What was refused in the cycle before is still offered.
  void CheckHolds() {
    const Model& m = *model_;
    const std::vector<uint64_t> flit = {
        m.kind_o,      m.tie_o,         m.length_o,   m.dst_x_o,
        m.dst_y_o,     m.address_o,     m.dst_core_o, m.src_core_o,
        m.send_last_o, m.send_data_o[0]};
    if (held_read_)
      EXPECT_TRUE(m.ub_valid_o && m.ub_addr_o == last_read_) << where();
    if (held_flit_)
      EXPECT_TRUE(m.send_valid_o && flit == last_flit_) << where();
    held_read_ = m.ub_valid_o && !m.ub_ready_i;
    held_flit_ = m.send_valid_o && !m.send_ready_i;
    last_read_ = m.ub_addr_o;
    last_flit_ = flit;
  }

  // Byte by byte; a packet ends with its run, or where it may be no longer.
  void CheckFlit(const SendExpected& want, SendResult* r) {
    const Model& m = *model_;
    const auto due = [&]() -> const Sent* {
      if (r->sent < want.sent.size()) return &want.sent[r->sent];
      ADD_FAILURE() << "a flit too many; " << where();
      return nullptr;
    };
    const Sent* s = due();
    if (s == nullptr) return;
    EXPECT_TRUE(m.dst_x_o == s->x && m.dst_y_o == s->y &&
                m.dst_core_o == s->core && m.tie_o == s->tie &&
                m.src_core_o == core_)
        << where();
    const bool post = m.kind_o == static_cast<int>(link::Kind::kPost);
    EXPECT_TRUE(post || m.kind_o == static_cast<int>(link::Kind::kWrite));
    EXPECT_EQ(post, s->post) << where();
    if (post) {
      EXPECT_EQ(packet_, 0) << "a post in a packet; " << where();
      EXPECT_EQ(m.address_o, s->address) << where();
      EXPECT_EQ(m.length_o, 0) << where();
      EXPECT_TRUE(m.send_last_o);
      ++r->sent;
      return;
    }
    if (packet_ == 0) {
      EXPECT_LE(m.length_o, link::kPayloadFlits * flit_) << where();
      EXPECT_GT(m.length_o, 0) << where();
      length_ = m.length_o;
    }
    EXPECT_EQ(m.length_o, length_) << where();
    const int64_t bytes = std::min<int64_t>(flit_, length_ - packet_);
    for (int64_t i = 0; i < bytes; ++i) {
      s = due();
      if (s == nullptr) return;
      const uint8_t byte =
          static_cast<uint8_t>(m.send_data_o[i / 4] >> (i % 4 * 8));
      EXPECT_EQ(m.address_o + packet_ + i, s->address) << where();
      EXPECT_EQ(byte, SourceByte(s->source)) << where() << " byte " << i;
      EXPECT_FALSE(s->post) << where();
      const bool ends = packet_ + i + 1 == length_;
      EXPECT_TRUE(ends || !s->run_end) << "beyond a run; " << where();
      EXPECT_TRUE(!ends || s->run_end || length_ == link::kPayloadFlits * flit_)
          << "a short packet; " << where();
      ++r->sent;
    }
    packet_ += bytes;
    EXPECT_EQ(m.send_last_o, packet_ == length_) << where();
    if (packet_ == length_) packet_ = 0;
  }

  const SendWorld world_;
  const int64_t beat_, flit_;
  std::mt19937 random_;
  const uint64_t salt_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::deque<Read> reads_;
  int64_t cycle_ = 0, packet_ = 0, length_ = 0;  // packet_: bytes that came
  int core_ = 0;
  bool held_read_ = false, held_flit_ = false, offered_ = false;
  uint64_t last_read_ = 0;
  std::vector<uint64_t> last_flit_;
};

}  // namespace systole::dma_test

#endif  // SYSTOLE_TESTS_RTL_DMA_SEND_UNIT_H_
