// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Drives all ports of the unified buffer each cycle and checks each answer:
// latency, data, bank conflicts, priority, and that no port is passed over
// needlessly.
//
//   Bench<VUbNano> bench("nano", seed);
//   bench.port[0].Ask(address);
//   bench.Clock();

#ifndef SYSTOLE_TESTS_RTL_UNIFIED_BUFFER_BENCH_H_
#define SYSTOLE_TESTS_RTL_UNIFIED_BUFFER_BENCH_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "systole/gen/presets.h"
#include "verilated.h"

namespace systole::ub_test {

// A request that holds until it is granted. Ports in the order of the stall
// bits: windows, vector write, DMA write, DMA read.
struct Port {
  bool valid = false;
  int64_t addr = 0;
  int need = 3;               // windows: words needed
  std::vector<uint8_t> data;  // writes
  std::vector<bool> mask;
  bool asked = false;    // in the last cycle; the data setup's windows of one
                         // cycle have no bank in common: lower numbers first
  bool granted = false;  // in the last cycle
  int denied = 0;        // cycles in a row without a grant, not stalled
  int most_denied = 0;
};

template <typename Model>
class Bench {
 public:
  static constexpr int64_t kAddresses = int64_t{1}
                                        << 25;  // byte addresses wrap here
  static constexpr int kGuard =
      16;  // cycles after which a denied port goes first

  Bench(std::string_view preset, uint32_t seed)
      : p(*FindPreset(preset)),
        rng(seed),
        memory(p.ub_bytes),
        windows(static_cast<int>(p.num_windows())),
        vec_wr(windows),
        dma_wr(windows + 1),
        dma_rd(windows + 2),
        port(windows + 3) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) + 1);
    dut_ = std::make_unique<Model>(&context_);
    dut_->rst_ni = 0;
    Drive(0);
    Step();
    Step();
    dut_->rst_ni = 1;
    // Every byte gets a value.
    for (uint8_t& b : memory) b = static_cast<uint8_t>(rng());
    for (int64_t a = 0; a < p.ub_bytes; a += p.beat_bytes()) {
      dut_->dma_wr_valid_i = 1;
      dut_->dma_wr_addr_i = a;
      std::memcpy(&dut_->dma_wr_data_i, &memory[a], p.beat_bytes());
      std::memset(&dut_->dma_wr_mask_i, 0xff, p.beat_bytes() / 8);
      Step();
    }
    dut_->dma_wr_valid_i = 0;
    Step();
  }

  // One cycle of all requests; `stall` has a bit a port.
  void Clock(uint32_t stall = 0) {
    Drive(stall);
    dut_->clk_i = 0;
    dut_->eval();
    CheckAnswers();
    for (int i = 0; i < static_cast<int>(port.size()); ++i)
      port[i].granted = port[i].asked && Ready(i);
    CheckGrants(stall, 0, windows, dma_rd);
    CheckGrants(stall, vec_wr, dma_wr, dma_wr);
    Transfer(stall);
    dut_->clk_i = 1;
    dut_->eval();
    ++cycle;
  }

  // Cycles of reset in the middle of whatever there is, with all ports asking.
  // Nothing is granted or answered; what was granted a cycle before is written,
  // and memory keeps the rest.
  void Reset(int cycles) {
    for (int i = 0; i < cycles; ++i) {
      for (int k = 0; k < static_cast<int>(port.size()); ++k) {
        const int64_t beat = static_cast<int64_t>(rng() % 8) * p.beat_bytes();
        if (k == vec_wr || k == dma_wr)
          Write(k, beat, true);
        else
          Read(k, beat);
      }
      Drive(0);
      dut_->rst_ni = 0;
      dut_->clk_i = 0;
      dut_->eval();
      if (i > 0) {
        EXPECT_FALSE(dut_->dma_rd_rsp_valid_o) << "in the reset";
        EXPECT_EQ(dut_->win_rd_rsp_valid_o, 0u) << "in the reset";
      }
      dut_->clk_i = 1;
      dut_->eval();
      ++cycle;
    }
    dut_->rst_ni = 1;
    for (const Port& w : granted_writes_)
      for (size_t b = 0; b < w.data.size(); ++b)
        if (w.mask[b]) memory[w.addr + b] = w.data[b];
    granted_writes_.clear();
    for (auto& answers : answers_) answers.clear();
    for (Port& r : port) r.valid = r.granted = false, r.denied = 0;
    std::fill(std::begin(starved_), std::end(starved_), false);
    urgent_ = -1;
  }

  void Write(int index, int64_t addr, bool full) {
    Port& w = port[index];
    const int64_t bytes = index == vec_wr ? p.word_bytes() : p.beat_bytes();
    w.valid = true;
    w.addr = addr;
    w.data.resize(bytes);
    w.mask.assign(bytes, true);
    for (int64_t i = 0; i < bytes; ++i) {
      w.data[i] = static_cast<uint8_t>(rng());
      w.mask[i] = (full || rng() % 4 != 0) && addr + i < p.ub_bytes;
    }
  }
  void Read(int index, int64_t addr, int need = 3) {
    port[index].valid = true;
    port[index].addr = addr;
    port[index].need = need;
  }

  const Preset& p;
  std::mt19937 rng;
  std::vector<uint8_t> memory;
  const int windows, vec_wr, dma_wr, dma_rd;
  std::vector<Port> port;
  int64_t cycle = 0, reads = 0, writes = 0, conflicts = 0;

 private:
  struct Answer {
    int64_t cycle;
    std::vector<uint8_t> before,
        after;  // a byte whose write was granted a cycle before the read may
                // have either value
    int64_t addr;
    int need;
  };

  void Step() {
    dut_->clk_i = 0;
    dut_->eval();
    dut_->clk_i = 1;
    dut_->eval();
  }

  void Drive(uint32_t stall) {
    dut_->stall_i = stall;
    uint32_t valid = 0, together = 0;
    for (Port& r : port) r.asked = r.valid;
    for (int w = 0; w < windows; ++w) {
      Port& r = port[w];
      if (w < p.segments && r.valid) {
        r.asked = (together & Banks(w)) == 0;
        if (r.asked) together |= Banks(w);
      }
      valid |= r.asked ? 1u << w : 0;
      dut_->win_rd_addr_i[w] = port[w].addr;
      dut_->win_rd_need_i[w] = port[w].need;
    }
    dut_->win_rd_valid_i = valid;
    dut_->dma_rd_valid_i = port[dma_rd].valid;
    dut_->dma_rd_addr_i = port[dma_rd].addr;
    dut_->vec_wr_valid_i = port[vec_wr].valid;
    dut_->vec_wr_addr_i = port[vec_wr].addr;
    dut_->dma_wr_valid_i = port[dma_wr].valid;
    dut_->dma_wr_addr_i = port[dma_wr].addr;
    PutWrite(port[vec_wr], &dut_->vec_wr_data_i, &dut_->vec_wr_mask_i);
    PutWrite(port[dma_wr], &dut_->dma_wr_data_i, &dut_->dma_wr_mask_i);
  }
  static void PutWrite(const Port& w, void* data, void* mask) {
    if (!w.valid) return;
    std::memcpy(data, w.data.data(), w.data.size());
    std::vector<uint8_t> bits(w.mask.size() / 8);
    for (size_t i = 0; i < w.mask.size(); ++i)
      bits[i / 8] |= w.mask[i] << (i % 8);
    std::memcpy(mask, bits.data(), bits.size());
  }

  bool Ready(int i) const {
    if (i < windows) return dut_->win_rd_ready_o >> i & 1;
    return i == vec_wr   ? dut_->vec_wr_ready_o
           : i == dma_wr ? dut_->dma_wr_ready_o
                         : dut_->dma_rd_ready_o;
  }

  // Banks that a request asks for: of the words that are needed, inside the
  // memory or not, and of a window that is written, masked or not.
  uint32_t Banks(int i) const {
    const Port& r = port[i];
    const int64_t w = p.word_bytes();
    uint32_t banks = 0;
    auto add = [&](int64_t word) { banks |= 1u << (word % p.ub_banks); };
    const int64_t first = r.addr / w;
    if (i < windows) {
      if (r.need & 1) add(first);
      if (r.need & 2) add(first + 1);
    } else if (i == vec_wr) {
      add(first);
      if (r.addr % w != 0) add(first + 1);
    } else {
      for (int64_t b = 0; b < p.beat_bytes(); b += std::min(w, p.beat_bytes()))
        add((r.addr + b) / w);
    }
    return banks;
  }

  // Ports that share the read (or the write) ports of the banks: first..last
  // and `also`, in order of priority.
  void CheckGrants(uint32_t stall, int first, int last, int also) {
    std::vector<int> group;
    for (int i = first; i < last; ++i) group.push_back(i);
    group.push_back(also);
    uint32_t used = 0;
    for (int i : group) {
      if (!port[i].granted) continue;
      EXPECT_FALSE(stall >> i & 1) << "port " << i << " granted while stalled";
      EXPECT_EQ(used & Banks(i), 0u)
          << "cycle " << cycle << ": a bank granted twice, port " << i;
      used |= Banks(i);
    }
    for (int i : group) {
      Port& r = port[i];
      if (!r.asked || (stall >> i & 1) || r.granted) {
        r.denied = 0;
        continue;
      }
      ++conflicts;
      ++r.denied;
      r.most_denied = std::max(r.most_denied, r.denied);
      uint32_t ahead =
          0;  // banks that the ports before this one ask for, granted or not
      for (int k : group) {
        if (!port[k].asked || (stall >> k & 1)) continue;
        // A write that starves goes first at once.
        const bool starves = first != 0 && port[k].granted && starved_[k];
        if (k < i || starves) ahead |= Banks(k);
      }
      if (first == 0 && urgent_ >= 0) {
        ahead |= urgent_banks_;
        // The data setup waits for an urgent port, whatever its banks.
        if (i < p.segments) ahead |= Banks(i);
      }
      EXPECT_NE(ahead & Banks(i), 0u)
          << "cycle " << cycle << ": port " << i << " passed over needlessly";
    }
    if (first == 0) ChooseUrgent(stall, group);
    for (int i : group) starved_[i] = port[i].denied >= kGuard;
  }

  // Of the ports that had starved before this cycle the first is urgent in the
  // next one, with the banks of now, also if it is granted now.
  void ChooseUrgent(uint32_t stall, const std::vector<int>& group) {
    const int before = urgent_;
    urgent_ = -1;
    for (int i : group) {
      if (i < p.segments || !starved_[i] || i == before || !port[i].asked ||
          (stall >> i & 1))
        continue;
      urgent_ = i;
      urgent_banks_ = Banks(i);
      return;
    }
  }

  std::vector<uint8_t> Bytes(const Port& r, int64_t bytes) const {
    std::vector<uint8_t> out(bytes);
    for (int64_t i = 0; i < bytes; ++i) {
      const int64_t at = (r.addr + i) % kAddresses;
      out[i] = at < p.ub_bytes ? memory[at] : 0;
    }
    return out;
  }

  void Transfer(uint32_t) {
    for (int i = 0; i < static_cast<int>(port.size()); ++i) {
      if (!port[i].granted || i == vec_wr || i == dma_wr) continue;
      const int64_t bytes = i == dma_rd ? p.beat_bytes() : p.word_bytes();
      answers_[i].push_back({cycle + 2,
                             Bytes(port[i], bytes),
                             {},
                             port[i].addr,
                             i == dma_rd ? 3 : port[i].need});
      ++reads;
    }
    for (const Port& w : granted_writes_) {
      for (size_t b = 0; b < w.data.size(); ++b)
        if (w.mask[b]) memory[w.addr + b] = w.data[b];
    }
    granted_writes_.clear();
    for (int i = 0; i < static_cast<int>(port.size()); ++i) {
      if (!port[i].granted) continue;
      if (i == vec_wr || i == dma_wr) {
        granted_writes_.push_back(port[i]);
        ++writes;
      } else {
        answers_[i].back().after =
            Bytes(port[i], answers_[i].back().before.size());
      }
      port[i].valid = false;
    }
  }

  void CheckAnswers() {
    for (int i = 0; i < static_cast<int>(port.size()); ++i) {
      if (i == vec_wr || i == dma_wr) continue;
      const bool expected =
          !answers_[i].empty() && answers_[i].front().cycle == cycle;
      const bool valid = i == dma_rd ? dut_->dma_rd_rsp_valid_o
                                     : dut_->win_rd_rsp_valid_o >> i & 1;
      ASSERT_EQ(valid, expected) << "cycle " << cycle << " port " << i;
      if (!expected) continue;
      const Answer a = answers_[i].front();
      answers_[i].pop_front();
      std::vector<uint8_t> got(a.before.size());
      if (i == dma_rd) {
        std::memcpy(got.data(), &dut_->dma_rd_data_o, got.size());
      } else {
        std::memcpy(got.data(), &dut_->win_rd_data_o[i], got.size());
      }
      const int64_t in_first =
          p.word_bytes() - a.addr % p.word_bytes();  // bytes of the first word
      for (int64_t b = 0; b < static_cast<int64_t>(got.size()); ++b) {
        const bool needed = i == dma_rd || (a.need & (b < in_first ? 1 : 2));
        const uint8_t before = needed ? a.before[b] : 0,
                      after = needed ? a.after[b] : 0;
        ASSERT_TRUE(got[b] == before || got[b] == after)
            << "cycle " << cycle << " port " << i << " address " << a.addr
            << " byte " << b << ": " << int{got[b]} << ", not " << int{before};
      }
    }
  }

  VerilatedContext context_;
  std::unique_ptr<Model> dut_;
  std::deque<Answer> answers_[16];
  std::vector<Port> granted_writes_;  // in the last cycle
  bool starved_[16] = {};
  int urgent_ = -1;  // the read port that goes first, or none
  uint32_t urgent_banks_ = 0;
};

}  // namespace systole::ub_test

#endif  // SYSTOLE_TESTS_RTL_UNIFIED_BUFFER_BENCH_H_
