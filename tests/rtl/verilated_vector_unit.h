// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Verilated vector unit with models of its ports: a unified buffer and
// accumulators that refuse at random, answer two cycles after the transfer and
// put random data everywhere else; in units whose lanes are fewer than their
// columns data stay until the next.
//
// Ports says what differs between the units:
//   Memories, Result          Result derives from vector_unit::RunResult
//   kReads                    read ports of the unified buffer, one or two
//   kReadsWhileFrozen         reads go on when the unit is frozen
//   Window(preset)            bytes that a read or write moves
//   ReadAddress(model, port)  where it reads
//   Needed(model, port)       words that it needs of the two that the window
//                             may touch: bit 0 the first, bit 1 the second
//   Count(model, result)      adds what the unit counts in this cycle

#ifndef SYSTOLE_TESTS_RTL_VERILATED_VECTOR_UNIT_H_
#define SYSTOLE_TESTS_RTL_VERILATED_VECTOR_UNIT_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/rtl/vector_unit.h"
#include "verilated.h"

namespace systole::vector_unit {

template <typename Model, typename Ports>
class VerilatedUnit
    : public Unit<typename Ports::Memories, typename Ports::Result> {
 public:
  using Memories = typename Ports::Memories;
  using Result = typename Ports::Result;

  VerilatedUnit(const Preset& preset, uint32_t seed)
      : preset_(preset), random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed));
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
    memories_.ub.resize(preset.ub_bytes);
    memories_.acc.resize(preset.acc_rows * preset.cols);
    Reset();
  }
  ~VerilatedUnit() override {
    model_->final();
    EXPECT_FALSE(context_.gotError()) << "an assertion of the RTL failed";
  }

  const Preset& preset() const override { return preset_; }
  Memories& memories() override { return memories_; }

  void Reset() override {
    Model& m = *model_;
    m.clk_i = m.rst_ni = 0;
    m.eval();
    m.freeze_i = m.vrd_rsp_valid_i = 0;
    m.vrd_ready_i = m.vwr_ready_i = m.acc_rd_ready_i = 0;
    for (int i = 0; i < 4; ++i) {
      m.start_valid_i = i == 0;
      Clock();
      EXPECT_FALSE(m.vrd_valid_o || m.vwr_valid_o || m.acc_rd_valid_o ||
                   m.done_o || m.fault_valid_o || m.progress_o)
          << "cycle " << i << " of a reset";
    }
    m.rst_ni = 1;
    for (auto& port : read_) port[0] = port[1] = {};
    acc_[0] = acc_[1] = {};
    held_read_ = 0;
    held_write_ = held_acc_ = false;
  }

  void Idle(int64_t cycles) override {
    model_->start_valid_i = 0;
    for (int64_t i = 0; i < cycles; ++i) Clock();
  }

  Result Run(const std::vector<isa::Descriptor>& descriptors,
             const Stalls& stalls, int64_t limit, int64_t freeze_at,
             int64_t extra) override {
    Result r;
    Model& m = *model_;
    size_t next = 0;
    bool offering = false;
    int64_t after = 0;
    bool wrote = false;  // in the cycle before
    for (int64_t cycle = 0; cycle < limit && after < extra; ++cycle) {
      m.freeze_i = (freeze_at >= 0 && cycle >= freeze_at) || r.faults > 0;
      offering =
          next < descriptors.size() && (offering || !Chance(stalls.start));
      m.start_valid_i = offering;
      for (int w = 0; w < 16; ++w) {
        m.start_desc_i[w] = offering
                                ? static_cast<uint32_t>(
                                      descriptors[next][w / 2] >> (w % 2 * 32))
                                : static_cast<uint32_t>(random_());
      }
      m.vrd_ready_i = 0;
      for (int p = 0; p < kReads; ++p) {
        if (!Chance(stalls.read)) m.vrd_ready_i |= 1 << p;
      }
      m.vwr_ready_i = !Chance(stalls.write);
      m.acc_rd_ready_i = !Chance(stalls.acc);
      Respond();
      m.eval();

      CheckHolds(&r);
      if (m.start_valid_i && m.start_ready_o) {
        ++next;
        offering = false;
      }
      r.stall_cycles += m.stall_ub_o;
      if (m.progress_o) r.last_progress = cycle;
      if (wrote && !m.progress_o)
        r.protocol_errors.push_back("a write is no progress");
      wrote = m.vwr_valid_o && m.vwr_ready_i;
      Ports::Count(m, &r);
      if (m.stall_ub_o != ((m.vrd_valid_o & ~m.vrd_ready_i) != 0 ||
                           (m.vwr_valid_o && !m.vwr_ready_i))) {
        r.protocol_errors.push_back("stall_ub_o");
      }
      const bool reads = m.vrd_valid_o || m.acc_rd_valid_o;
      if (m.freeze_i && (m.vwr_valid_o || m.start_ready_o ||
                         (reads && !Ports::kReadsWhileFrozen))) {
        r.protocol_errors.push_back("an access or start while frozen");
      }
      if (m.done_o) {
        r.done.push_back(cycle);
        r.written.push_back(static_cast<int64_t>(r.writes.size()));
      }
      if (m.fault_valid_o) {
        ++r.faults;
        r.fault = static_cast<isa::Fault>(m.fault_code_o);
        r.fault_addr = static_cast<int64_t>(m.fault_addr_o);
        r.fault_newest = m.fault_newest_o;
      }
      Transfer(cycle, &r);
      if (after == 0) r.cycles = cycle;
      const bool finished = r.done.size() == descriptors.size() || r.faults > 0;
      if (finished) ++after;
      Clock();
      if (context_.gotError()) {
        r.protocol_errors.push_back("an assertion of the RTL failed");
        break;
      }
    }
    return r;
  }

 private:
  static constexpr int kReads = Ports::kReads;

  struct Response {
    bool valid = false;
    std::vector<uint8_t> bytes;
  };

  int64_t window() const { return Ports::Window(preset_); }

  bool Chance(int in_256) {
    return in_256 != 0 && static_cast<int>(random_() & 255) < in_256;
  }

  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  void Drive(const Response& response, int64_t size, void* port) {
    if (response.valid) {
      std::memcpy(port, response.bytes.data(), size);
    } else if (preset_.vector_lanes == preset_.cols) {
      std::memset(port, static_cast<int>(random_() & 255), size);
    }
  }

  // Drives the data of the transfers of two cycles ago.
  void Respond() {
    Model& m = *model_;
    m.vrd_rsp_valid_i = 0;
    for (int p = 0; p < kReads; ++p) {
      if (read_[p][1].valid) m.vrd_rsp_valid_i |= 1 << p;
      Drive(read_[p][1], window(), &m.vrd_data_i[p * window() / 4]);
      read_[p][1] = std::move(read_[p][0]);
      read_[p][0] = {};
    }
    Drive(acc_[1], 4 * preset_.cols, &m.acc_rd_data_i[0]);
    acc_[1] = std::move(acc_[0]);
    acc_[0] = {};
  }

  // What was refused in the cycle before is still asked for.
  void CheckHolds(Result* r) {
    const Model& m = *model_;
    const auto* data = reinterpret_cast<const uint8_t*>(&m.vwr_data_o[0]);
    if (!m.freeze_i) {
      for (int p = 0; p < kReads; ++p) {
        if ((held_read_ >> p & 1) &&
            !((m.vrd_valid_o >> p & 1) &&
              Ports::ReadAddress(m, p) == last_read_[p])) {
          r->protocol_errors.push_back("read request does not hold");
        }
      }
      if (held_acc_ && !(m.acc_rd_valid_o && m.acc_rd_row_o == last_acc_)) {
        r->protocol_errors.push_back("accumulator request does not hold");
      }
      if (held_write_ &&
          !(m.vwr_valid_o && m.vwr_addr_o == last_write_ &&
            std::equal(last_data_.begin(), last_data_.end(), data))) {
        r->protocol_errors.push_back("write request does not hold");
      }
    }
    held_read_ = m.vrd_valid_o & ~m.vrd_ready_i;
    held_acc_ = m.acc_rd_valid_o && !m.acc_rd_ready_i;
    held_write_ = m.vwr_valid_o && !m.vwr_ready_i;
    for (int p = 0; p < kReads; ++p) last_read_[p] = Ports::ReadAddress(m, p);
    last_acc_ = m.acc_rd_row_o;
    last_write_ = m.vwr_addr_o;
    if (held_write_) last_data_.assign(data, data + window());
  }

  void Transfer(int64_t cycle, Result* r) {
    const Model& m = *model_;
    const bool read_first = random_() & 1;  // within a cycle the order is free
    if (read_first) TransferReads(cycle, r);
    if (m.vwr_valid_o && m.vwr_ready_i) {
      r->writes.push_back(cycle);
      r->write_addresses.push_back(m.vwr_addr_o);
      const auto* data = reinterpret_cast<const uint8_t*>(&m.vwr_data_o[0]);
      for (int64_t i = 0; i < window(); ++i) {
        if (!(m.vwr_mask_o[i / 32] >> (i % 32) & 1)) continue;
        if (m.vwr_addr_o + i >= preset_.ub_bytes) {
          r->protocol_errors.push_back("a write outside the unified buffer");
        } else {
          memories_.ub[m.vwr_addr_o + i] = data[i];
        }
      }
    }
    if (!read_first) TransferReads(cycle, r);
    if (m.acc_rd_valid_o && m.acc_rd_ready_i) {
      r->acc_reads.push_back(cycle);
      if (m.acc_rd_row_o >= preset_.acc_rows) {
        r->protocol_errors.push_back("a row outside the accumulators");
      } else {
        const auto* row = reinterpret_cast<const uint8_t*>(
            &memories_.acc[m.acc_rd_row_o * preset_.cols]);
        acc_[0] = {true, {row, row + 4 * preset_.cols}};
      }
    }
  }

  // A word of the window that is not needed holds anything.
  void TransferReads(int64_t cycle, Result* r) {
    const Model& m = *model_;
    for (int p = 0; p < kReads; ++p) {
      if (!(m.vrd_valid_o >> p & 1) || !(m.vrd_ready_i >> p & 1)) continue;
      r->reads[p].push_back(cycle);
      const int need = Ports::Needed(m, p);
      std::vector<uint8_t> bytes(window());
      const int64_t first = Ports::ReadAddress(m, p), word = first / window();
      for (int64_t i = 0; i < window(); ++i) {
        const bool needed = need >> ((first + i) / window() - word) & 1;
        bytes[i] = needed && first + i < preset_.ub_bytes
                       ? memories_.ub[first + i]
                       : static_cast<uint8_t>(random_());
      }
      read_[p][0] = {true, std::move(bytes)};
    }
  }

  const Preset& preset_;
  std::mt19937 random_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  Memories memories_;
  Response read_[2][2], acc_[2];
  int held_read_ = 0;
  bool held_write_ = false, held_acc_ = false;
  uint32_t last_read_[2] = {}, last_write_ = 0, last_acc_ = 0;
  std::vector<uint8_t> last_data_;
};

}  // namespace systole::vector_unit

#endif  // SYSTOLE_TESTS_RTL_VERILATED_VECTOR_UNIT_H_
