// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Runs programs on the Verilated program control with model units and a model
// memory, and checks every start, retirement, fetch and fault as it happens.
#ifndef SYSTOLE_TESTS_RTL_SEQUENCER_BENCH_H_
#define SYSTOLE_TESTS_RTL_SEQUENCER_BENCH_H_

#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/rtl/sequencer/chip.h"
#include "tests/rtl/sequencer/programs.h"
#include "tests/rtl/sequencer/world.h"
#include "verilated.h"

namespace systole::sequencer_test {

// kChip: with a scalar unit, another core and links.
template <typename Model, int kBeat, bool kChip = false>
class Bench {
 public:
  explicit Bench(uint64_t seed) : random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed & 0x7fffffff) | 1);
    context_.fatalOnError(false);
    model_ = std::make_unique<Model>(&context_);
  }
  ~Bench() {
    model_->final();
    // The run-time library looks there when a model goes, whichever was made
    // last.
    Verilated::threadContextp(&context_);
    model_.reset();
  }

  std::mt19937_64& random() { return random_; }
  VerilatedContext& context() { return context_; }

  // Resets, starts the program, and goes on until it is done or frozen.
  Outcome Run(const std::vector<isa::Descriptor>& program, const World& world) {
    program_ = &program;
    world_ = world;
    out_ = {};
    for (Queue& q : queues_) q = {};
    for (uint32_t i = 0; i < program.size(); ++i) {
      const int q = QueueOf(program[i]);
      if (q < kQueues) queues_[q].todo.push_back(i);
    }
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if (f < Chip::kOwn || !world.keep_peer) flags_[f] = 0;
    }
    reads_.clear();
    unit_fault_cycle_ = -1;
    held_start_ = 0;
    held_read_ = false;
    Reset();
    int64_t after = 0;
    for (cycle_ = 0; cycle_ < world.limit && after < kAfter; ++cycle_) {
      if (cycle_ == world.turn_at) world.turn();
      Cycle();
      if (out_.done || out_.fault) ++after;
      if (!out_.errors.empty() && world.turn_at < 0) break;
    }
    if constexpr (kChip) {
      if (out_.done && out_.errors.empty()) Take(chip_.AtEnd(world_));
    }
    if (after == 0 && out_.errors.empty()) Error("the program does not end");
    return out_;
  }

 private:
  static constexpr int kAfter = 100;  // cycles to look on after the end
  struct Flight {
    uint32_t index;
    int64_t due;
  };
  struct Queue {
    std::deque<uint32_t> todo;  // indices in program order
    std::deque<Flight> flights;
    std::optional<uint32_t> retires;  // was done a cycle ago
    int started = 0;
    bool stopped = false;    // its unit told a fault,
    int64_t stopped_at = 0;  // in that cycle
    int64_t faulted = -1;    // of this descriptor, which is never done
  };
  struct Read {
    int64_t due;
    uint64_t addr;
  };

  bool Chance(int in_256) {
    return in_256 > 0 && static_cast<int>(random_() & 255) < in_256;
  }
  template <typename... Args>
  void Error(const absl::FormatSpec<Args...>& format, const Args&... args) {
    out_.errors.push_back(absl::StrFormat("cycle %d: ", cycle_) +
                          absl::StrFormat(format, args...));
  }

  void Reset() {
    Model& m = *model_;
    m.clk_i = m.rst_ni = 0;
    m.eval();
    m.start_i = m.freeze_i = m.rd_ready_i = m.rd_rsp_valid_i = 0;
    m.start_ready_i = m.done_i = m.progress_i = m.unit_fault_i = m.stall_i = 0;
    m.mutant_i = world_.mutant;
    chip_.Reset(m, world_);
    for (int i = 0; i < 3; ++i) {
      if constexpr (kChip) chip_.InReset(m, world_, flags_);
      Clock();
      CheckReset();
    }
    if constexpr (kChip) m.peer_post_i = m.link_post_i = 0;
    m.rst_ni = m.peer_rst_ni = 1;
    m.prog_addr_i = world_.prog_addr;
    m.prog_len_i = world_.prog_len.value_or(program_->size());
    m.watchdog_i = world_.watchdog;
    m.hbm_end_i = world_.hbm_end;
    // The registers hold from two cycles before the start.
    for (int i = 0; i < 2; ++i) Clock();
  }

  void Take(const std::vector<std::string>& errors) {
    for (const std::string& error : errors) Error("%s", error);
  }

  // Nothing of what was under way shows in a reset, from its first edge on.
  void CheckReset() {
    const Model& m = *model_;
    const unsigned all = (1u << kQueues) - 1;
    if (m.freeze_o != 0 || m.start_valid_o != 0 || m.running_o || m.done_o ||
        m.fault_o || m.rd_valid_o || m.retire_valid_o != 0 ||
        m.waiting_o != 0 || m.busy_o != 0 || m.idle_o != all ||
        m.dispatch_stall_o) {
      out_.errors.push_back("something shows in a reset");
    }
  }

  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    model_->clk_i = 0;
    model_->eval();
  }

  void Cycle() {
    Model& m = *model_;
    m.start_i = cycle_ == 0;
    m.cycle_i = world_.first_cycle + cycle_;
    m.freeze_i = world_.freeze_at >= 0 && cycle_ >= world_.freeze_at;
    m.stall_i = 0;
    for (int i = 0; i <= kQueues; ++i) m.stall_i |= Chance(world_.stall) << i;
    m.stall_i &= world_.stall_streams;
    m.rd_ready_i = !Chance(world_.hold_read);
    Answer();
    DriveUnits();
    if constexpr (kChip)
      Take(chip_.Drive(m, world_, *program_, cycle_, random_));
    m.eval();
    CheckState();
    CheckFetch();
    for (int q = 0; q < kQueues; ++q) CheckQueue(q);
    for (int q = 0; q < kQueues; ++q) Complete(q);
    if constexpr (kChip) Take(chip_.Check(m, world_, flags_));
    if constexpr (!kChip) {
      if (m.issue_ready_o || m.scalar_taken_o || m.scalar_there_o != 0 ||
          m.peer_posted_o != 0)
        Error("an answer to nobody");
    }
    if (m.dispatch_stall_o) ++out_.dispatch_stalls;
    Clock();
    if constexpr (kChip) chip_.Next(m);
    if (context_.gotError()) {
      context_.gotError(false);
      Error("an assertion of the RTL failed");
    }
  }

  void Answer() {
    Model& m = *model_;
    m.rd_rsp_valid_i = !reads_.empty() && reads_.front().due <= cycle_;
    for (int w = 0; w < kBeat / 4; ++w)
      m.rd_rsp_data_i[w] = static_cast<uint32_t>(random_());
    if (!m.rd_rsp_valid_i) return;
    for (int w = 0; w < kBeat / 4; ++w) {
      const uint64_t at = reads_.front().addr - world_.prog_addr + 4 * w;
      if (at / 64 < program_->size()) {
        m.rd_rsp_data_i[w] = static_cast<uint32_t>(
            (*program_)[at / 64][at % 64 / 8] >> at % 8 * 8);
      }
    }
    reads_.pop_front();
  }

  void DriveUnits() {
    Model& m = *model_;
    m.start_ready_i = m.done_i = m.progress_i = m.unit_fault_i =
        m.unit_newest_i = 0;
    m.unit_code_i = 0;
    for (int q = 0; q < kQueues; ++q) {
      Queue& u = queues_[q];
      const int room = world_.in_flight - static_cast<int>(u.flights.size());
      if (!u.flights.empty() && u.flights.front().due <= cycle_ &&
          u.flights.front().index != u.faulted) {
        m.done_i |= 1 << q;
      }
      if (!u.flights.empty()) m.progress_i |= 1 << q;
      for (World::UnitFault& f : world_.unit_faults) {
        const size_t left = u.flights.size() - (m.done_i >> q & 1);
        const bool done = m.done_i >> q & 1;
        if (f.queue != q || u.started < f.started || cycle_ < f.cycle ||
            left == 0 || (f.with_done && !done)) {
          continue;
        }
        f.queue = -1;
        u.stopped = true;
        u.stopped_at = cycle_;
        if (unit_fault_cycle_ < 0) unit_fault_cycle_ = cycle_;
        m.unit_fault_i |= 1 << q;
        m.unit_newest_i |= f.newest << q;
        m.unit_code_i |= static_cast<uint32_t>(f.code) << (4 * q);
        m.unit_addr_i[q] = f.addr;
        u.faulted = f.newest ? u.flights.back().index
                             : u.flights[u.flights.size() - left].index;
        out_.fault_indices.push_back(static_cast<uint32_t>(u.faulted));
      }
      if (room > 0 && !(m.freeze_o >> q & 1) && !u.stopped &&
          !Chance(world_.hold_start))
        m.start_ready_i |= 1 << q;
    }
  }

  void CheckState() {
    Model& m = *model_;
    if (m.fault_o && !out_.fault) {
      out_.fault = FaultSeen{
          static_cast<isa::Fault>(m.fault_code_o),
          static_cast<int>(m.fault_queue_o), m.fault_pc_o, m.fault_addr_o,
          static_cast<int64_t>(m.fault_cycle_o - world_.first_cycle)};
      out_.cycles = cycle_;
      // Told four cycles after its cause, or after the search for a flag.
      const int64_t ago = cycle_ - out_.fault->cycle;
      const bool search = out_.fault->code == isa::Fault::kWatchdog ||
                          out_.fault->code == isa::Fault::kFlagOverflow;
      if (ago < 4 || ago > (search ? 232 : 4))
        Error("fault cycle %d", m.fault_cycle_o);
      if (unit_fault_cycle_ >= 0 && out_.fault->queue < kQueues && !search &&
          out_.fault->cycle != unit_fault_cycle_) {
        Error("the unit's fault was in cycle %d", unit_fault_cycle_);
      }
    }
    if (out_.fault) {
      if (!m.fault_o || !m.frozen_o || m.freeze_o != (1 << kQueues) - 1)
        Error("a fault went away");
      if (m.fault_pc_o != out_.fault->pc ||
          static_cast<int>(m.fault_queue_o) != out_.fault->queue) {
        Error("a fault changed");
      }
    }
    if (cycle_ > 0 && m.running_o != !(out_.done || out_.fault) && !out_.fault)
      Error("running is %d", m.running_o);
    if (!m.done_o) return;
    if (out_.done) Error("done twice");
    if (out_.fault) Error("done after a fault");
    out_.done = true;
    if (!reads_.empty() || m.rd_valid_o)
      Error("done while a fetch is under way");
    out_.cycles = cycle_;
    for (int q = 0; q < kQueues; ++q) {
      if (!queues_[q].todo.empty() || !queues_[q].flights.empty())
        Error("done before queue %d is empty", q);
    }
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if ((WaitMask(program_->back()) >> f & 1) != 0 && flags_[f] == 0)
        Error("done without flag %d", f);
    }
  }

  void CheckFetch() {
    Model& m = *model_;
    if (held_read_ && (!m.rd_valid_o || m.rd_addr_o != last_read_))
      Error("a read was withdrawn");
    held_read_ = m.rd_valid_o && !m.rd_ready_i;
    last_read_ = m.rd_addr_o;
    if (!m.rd_valid_o) return;
    const uint64_t bytes = 64ull * m.prog_len_i;
    const uint64_t end = world_.prog_addr + (bytes + kBeat - 1) / kBeat * kBeat;
    if (m.rd_addr_o < world_.prog_addr || m.rd_addr_o + kBeat > end ||
        m.rd_addr_o % kBeat != 0) {
      Error("fetch of 0x%x", m.rd_addr_o);
    }
    if (m.rd_addr_o + kBeat > world_.hbm_end)
      Error("fetch of 0x%x beyond the memory", m.rd_addr_o);
    if (m.rd_ready_i) {
      const int64_t due =
          cycle_ + world_.latency + static_cast<int64_t>(random_() % 8);
      reads_.push_back(
          {reads_.empty() ? due : std::max(due, reads_.back().due + 1),
           m.rd_addr_o});
    }
  }

  void CheckQueue(int q) {
    Model& m = *model_;
    Queue& u = queues_[q];
    const bool valid = m.start_valid_o >> q & 1,
               ready = m.start_ready_i >> q & 1;
    const bool held = held_start_ >> q & 1;
    held_start_ &= ~(1 << q);
    // A cycle after it was done.
    if (static_cast<bool>(m.retire_valid_o >> q & 1) != u.retires.has_value())
      Error("queue %d: no retirement, or one too many", q);
    if (u.retires && m.retire_index_o[q] != *u.retires) {
      Error("queue %d: retires %d, not %d", q, m.retire_index_o[q], *u.retires);
    }
    u.retires.reset();
    if ((m.busy_o >> q & 1) != !u.flights.empty())
      Error("queue %d: busy is wrong", q);
    if ((m.idle_o >> q & 1) && !u.flights.empty())
      Error("queue %d: idle is wrong", q);
    if (!valid) {
      if (held && !m.frozen_o && !u.stopped)
        Error("queue %d: a start was withdrawn", q);
      return;
    }
    if (m.frozen_o) return Error("queue %d: a start while frozen", q);
    if (u.stopped && cycle_ > u.stopped_at)
      return Error("queue %d: a start after the unit's fault", q);
    if (u.todo.empty()) return Error("queue %d: a start too many", q);
    const uint32_t index = u.todo.front();
    const isa::Descriptor& d = (*program_)[index];
    for (int w = 0; w < 16; ++w) {
      if (m.start_desc_o[q * 16 + w] !=
          static_cast<uint32_t>(d[w / 2] >> w % 2 * 32)) {
        return Error("queue %d: word %d of descriptor %d is wrong", q, w,
                     index);
      }
    }
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if ((WaitMask(d) >> f & 1) != 0 && flags_[f] == 0) {
        return Error("queue %d: descriptor %d starts without flag %d", q, index,
                     f);
      }
    }
    held_start_ |= !ready << q;
    if (!ready) return;
    for (int f = 0; f < isa::kNumFlags; ++f) flags_[f] -= WaitMask(d) >> f & 1;
    u.todo.pop_front();
    ++u.started;
    const int64_t due =
        cycle_ + world_.least_work +
        (index + 2 == program_->size() ? world_.last_work : 0) +
        static_cast<int64_t>(world_.work == 0 ? 0 : random_() % world_.work);
    u.flights.push_back({index, u.flights.empty()
                                    ? due
                                    : std::max(due, u.flights.back().due + 1)});
    out_.last_event = cycle_;
  }

  // Posts count from the next cycle on.
  void Complete(int q) {
    Model& m = *model_;
    if (!(m.done_i >> q & 1)) return;
    const Flight flight = queues_[q].flights.front();
    queues_[q].flights.pop_front();
    queues_[q].retires = flight.index;
    uint32_t post = PostMask((*program_)[flight.index]);
    if constexpr (kChip) post = chip_.Posted(post);
    for (int f = 0; f < isa::kNumFlags; ++f) flags_[f] += post >> f & 1;
    out_.last_event = cycle_;
  }

  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  const std::vector<isa::Descriptor>* program_ = nullptr;
  World world_;
  Chip chip_;
  Outcome out_;
  Queue queues_[kQueues];
  std::vector<int> flags_ = std::vector<int>(isa::kNumFlags);
  std::deque<Read> reads_;
  int64_t cycle_ = 0;
  int64_t unit_fault_cycle_ = -1;  // of the first
  unsigned held_start_ = 0;
  bool held_read_ = false;
  uint64_t last_read_ = 0;
};

}  // namespace systole::sequencer_test

#endif  // SYSTOLE_TESTS_RTL_SEQUENCER_BENCH_H_
