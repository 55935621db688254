// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Clients and memories for the crossings of crossing_bench.sv. A word holds its
// place and how many writes it got; each word has one writer. A read must see
// at least the writes that came before it on its core and those that had
// reached the memory, and none that came after its answer; a client's answers
// come in order; a post arrives after its core's writes.

#ifndef SYSTOLE_TESTS_RTL_CHIP_BENCH_H_
#define SYSTOLE_TESTS_RTL_CHIP_BENCH_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "VCrossing.h"
#include "verif/views/hold.h"
#include "verilated.h"

namespace systole {

inline constexpr int kRds = 3, kWrs = 2, kPosts = 4;
constexpr int kMemBits = 9, kWords = 1 << (kMemBits - 3);
inline constexpr uint64_t kMemBytes = 1u << kMemBits;

using Versions = std::array<std::array<uint32_t, kWords>, 2>;

inline uint64_t Word(int memory, int word, uint32_t version) {
  return uint64_t{version} << 16 | static_cast<uint64_t>(memory << 8 | word);
}

struct Profile {
  double read = 0.5, write = 0.3, post = 0.1;  // of a client, a cycle
  double far = 0.5;
  double ready = 0.7;  // of a memory
  int stall_rate = 0;
  int run = 8;  // reads of a client in one memory, on average
  int latency = 6;
};

class Bench {
 public:
  explicit Bench(uint64_t seed, int stall_rate) : random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    views::hold = {static_cast<uint32_t>(stall_rate),
                   static_cast<uint32_t>(seed)};
    dut_ = std::make_unique<VCrossing>(&context_);
    Quiet();
    dut_->rst_ni = 0;
    for (int i = 0; i < 4; ++i) Edge();
    dut_->rst_ni = 1;
    views::hold = {};
  }
  ~Bench() { dut_->final(); }

  void Run(int64_t cycles, const Profile& profile) {
    for (int64_t i = 0; i < cycles && errors_.empty(); ++i) Cycle(&profile);
    // What is on its way ends.
    Profile rest = profile;
    rest.read = rest.write = rest.post = 0;
    for (int i = 0; i < 5000 && errors_.empty() && !Idle(); ++i) Cycle(&rest);
    if (!Idle()) Error("requests that never end");
    for (int c = 0; c < 2; ++c) {
      if (dut_->outstanding_o[c] || dut_->crossing_o[c])
        Error("something is said to be on its way at the end");
      if (sent_[c] != arrived_[c]) Error("posts were lost or doubled");
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }
  int64_t far_reads() const { return far_reads_; }
  int64_t posts() const {
    int64_t n = 0;
    for (const auto& core : sent_)
      for (int64_t p : core) n += p;
    return n;
  }

  // Cycles from a lone read's acceptance to its answer.
  int Latency(int core, bool far, int memory_latency) {
    Profile p;
    p.read = p.write = p.post = 0;
    p.ready = 1;
    p.latency = memory_latency;
    const int memory = far ? 1 - core : core;
    reads_[core][0].offer = Request{memory, 3};
    const int64_t before = answers_;
    for (int cycle = 0; cycle < 1000; ++cycle) {
      Cycle(&p);
      if (answers_ > before) return cycle;
    }
    return -1;
  }

  // Cycles for so many reads or writes of one client, one after the other.
  int64_t Stream(bool read, int64_t count) {
    Profile p;
    p.read = p.write = p.post = 0;
    p.ready = 1;
    p.latency = 30;
    const int64_t start = cycles_;
    int64_t offered = 0;
    while (errors_.empty()) {
      if (offered < count) {
        const int word = static_cast<int>(offered % kWords);
        if (read && !reads_[0][0].offer) {
          reads_[0][0].offer = Request{1, word};
          ++offered;
        } else if (!read && !writes_[0][word % kWrs].offer) {
          if (OwnerOf(1, word).first == 0) {
            const int w = OwnerOf(1, word).second;
            if (!writes_[0][w].offer) writes_[0][w].offer = Request{1, word};
          }
          ++offered;
        }
      } else if (Idle()) {
        break;
      }
      Cycle(&p);
    }
    return cycles_ - start;
  }

 private:
  struct Request {
    int memory, word;
  };
  struct Reader {
    std::optional<Request> offer;
    int memory = 0;
    struct Flight {
      Request request;
      uint32_t floor;
    };
    std::deque<Flight> flights;
    int64_t waited = 0;
  };
  struct Writer {
    std::optional<Request> offer;
    int64_t waited = 0;
  };
  struct Answer {
    int client;
    uint64_t data;
    int64_t due;
  };

  bool Chance(double p) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < p;
  }
  int Below(int n) { return static_cast<int>(random_() % n); }
  // The core and writer of a word.
  static std::pair<int, int> OwnerOf(int memory, int word) {
    return {(word >> 1 ^ memory) & 1, word & 1};
  }
  uint64_t AddressOf(int core, const Request& r) const {
    return (r.memory == core ? 0 : kMemBytes) +
           static_cast<uint64_t>(r.word) * 8;
  }
  void Error(const std::string& what) {
    errors_.push_back(what + ", cycle " + std::to_string(cycles_));
  }
  bool Idle() const {
    for (int c = 0; c < 2; ++c) {
      for (const Reader& r : reads_[c])
        if (r.offer || !r.flights.empty()) return false;
      for (const Writer& w : writes_[c])
        if (w.offer) return false;
      for (int p = 0; p < kPosts; ++p)
        if (sent_[c][p] != arrived_[c][p]) return false;
    }
    return stored_ == accepted_;
  }
  void Quiet() {
    for (int c = 0; c < 2; ++c) {
      dut_->rd_valid_i[c] = dut_->wr_valid_i[c] = dut_->posted_i[c] = 0;
      dut_->mem_rd_ready_i[c] = dut_->mem_wr_ready_i[c] = 0;
      dut_->mem_rd_rsp_valid_i[c] = 0;
    }
  }
  void Edge() {
    dut_->clk_i = 0;
    dut_->eval();
    dut_->clk_i = 1;
    dut_->eval();
    ++cycles_;
  }

  void Cycle(const Profile* p) {
    VCrossing& d = *dut_;
    // Clients.
    for (int c = 0; c < 2; ++c) {
      d.rd_valid_i[c] = d.wr_valid_i[c] = d.posted_i[c] = 0;
      for (int r = 0; r < kRds; ++r) {
        Reader& reader = reads_[c][r];
        if (!reader.offer && Chance(p->read)) {
          if (Below(p->run) == 0) reader.memory = Chance(p->far) ? 1 - c : c;
          reader.offer = Request{reader.memory, Below(kWords)};
        }
        d.rd_valid_i[c] |= reader.offer.has_value() << r;
        if (reader.offer) d.rd_addr_i[c][r] = AddressOf(c, *reader.offer);
      }
      for (int w = 0; w < kWrs; ++w) {
        Writer& writer = writes_[c][w];
        if (!writer.offer && Chance(p->write)) {
          const Request at{Chance(p->far) ? 1 - c : c, Below(kWords)};
          if (OwnerOf(at.memory, at.word) == std::make_pair(c, w))
            writer.offer = at;
        }
        d.wr_valid_i[c] |= writer.offer.has_value() << w;
        if (!writer.offer) continue;
        const auto [memory, word] = *writer.offer;
        d.wr_addr_i[c][w] = AddressOf(c, *writer.offer);
        d.wr_data_i[c][w] = Word(memory, word, accepted_[memory][word] + 1);
        d.wr_mask_i[c][w] = 0xff;
      }
      for (int i = 0; i < kPosts; ++i) {
        if (Chance(p->post)) {
          waiting_[c][i].push_back(accepted_[1 - c]);
          ++sent_[c][i];
        }
        d.posted_i[c] |= !waiting_[c][i].empty() << i;
      }
    }
    // Memories: answers in order, then at most a read and a write accepted.
    for (int m = 0; m < 2; ++m) {
      d.mem_rd_rsp_valid_i[m] = 0;
      if (answers_due_[m].empty() || answers_due_[m].front().due > cycles_)
        continue;
      d.mem_rd_rsp_valid_i[m] = 1 << answers_due_[m].front().client;
      d.mem_rd_data_i[m] = answers_due_[m].front().data;
      answers_due_[m].pop_front();
    }
    for (int m = 0; m < 2; ++m) d.mem_rd_ready_i[m] = d.mem_wr_ready_i[m] = 0;
    d.clk_i = 0;
    d.eval();
    std::array<int, 2> read = {-1, -1}, write = {-1, -1};
    for (int m = 0; m < 2; ++m) {
      if (d.mem_rd_valid_o[m] != 0 && Chance(p->ready)) {
        do read[m] = Below(kRds + 1);
        while (!(d.mem_rd_valid_o[m] >> read[m] & 1));
        d.mem_rd_ready_i[m] = 1 << read[m];
      }
      if (d.mem_wr_valid_o[m] != 0 && Chance(p->ready)) {
        do write[m] = Below(kWrs + 1);
        while (!(d.mem_wr_valid_o[m] >> write[m] & 1));
        d.mem_wr_ready_i[m] = 1 << write[m];
      }
    }
    d.eval();
    for (int m = 0; m < 2; ++m) {
      if (write[m] >= 0) {
        const uint64_t address = write[m] == kWrs ? d.mem_far_wr_addr_o[m]
                                                  : d.wr_addr_i[m][write[m]];
        const uint64_t data = write[m] == kWrs ? d.mem_far_wr_data_o[m]
                                               : d.wr_data_i[m][write[m]];
        const int word = static_cast<int>(address / 8);
        if (address >= kMemBytes) {
          Error("a write beyond a memory");
        } else if (data != Word(m, word, stored_[m][word] + 1) ||
                   (write[m] == kWrs && d.mem_far_wr_mask_o[m] != 0xff)) {
          Error("a wrong write, or one out of order");
        } else {
          ++stored_[m][word];
        }
      }
      if (read[m] >= 0) {
        const uint64_t address =
            read[m] == kRds ? d.mem_far_rd_addr_o[m] : d.rd_addr_i[m][read[m]];
        const int word = static_cast<int>(address / 8 % kWords);
        if (address >= kMemBytes) Error("a read beyond a memory");
        const int64_t due = cycles_ + p->latency + Below(p->ready < 1 ? 4 : 1);
        answers_due_[m].push_back(
            {read[m], Word(m, word, stored_[m][word]), due});
      }
    }
    for (int c = 0; c < 2; ++c) {
      bool flies = false;
      for (const Reader& r : reads_[c]) flies |= !r.flights.empty();
      if (flies && !d.outstanding_o[c])
        Error("nothing is said to be on its way while reads are");
      for (int r = 0; r < kRds; ++r) Observe(c, r);
      for (int w = 0; w < kWrs; ++w) {
        Writer& writer = writes_[c][w];
        if (!writer.offer) continue;
        if (d.wr_ready_o[c] >> w & 1) {
          ++accepted_[writer.offer->memory][writer.offer->word];
          writer.offer.reset();
          writer.waited = 0;
        } else if (++writer.waited > 2000) {
          Error("a write that is never accepted");
        }
      }
      for (int i = 0; i < kPosts; ++i) {
        if (d.post_take_o[c] >> i & 1) {
          if (waiting_[c][i].empty()) {
            Error("a post was taken that was not there");
          } else {
            crossing_[c][i].push_back(waiting_[c][i].front());
            waiting_[c][i].pop_front();
          }
        }
        if (!(d.post_o[1 - c] >> i & 1)) continue;
        if (crossing_[c][i].empty()) {
          Error("a post that nobody made");
          continue;
        }
        for (int word = 0; word < kWords; ++word) {
          if (OwnerOf(1 - c, word).first == c &&
              stored_[1 - c][word] < crossing_[c][i].front()[word]) {
            Error("a post came before a write that was made before it");
            break;
          }
        }
        crossing_[c][i].pop_front();
        ++arrived_[c][i];
      }
    }
    stored_before_ = stored_;
    d.clk_i = 1;
    d.eval();
    ++cycles_;
  }

  void Observe(int c, int r) {
    VCrossing& d = *dut_;
    Reader& reader = reads_[c][r];
    if (d.rd_rsp_valid_o[c] >> r & 1) {
      ++answers_;
      const bool far = d.rd_rsp_far_o[c] >> r & 1;
      const uint64_t data = far ? d.far_rd_data_o[c] : d.mem_rd_data_i[c];
      if (reader.flights.empty()) {
        Error("an answer to nobody");
      } else {
        const auto [at, floor] = reader.flights.front();
        reader.flights.pop_front();
        const auto version = static_cast<uint32_t>(data >> 16);
        if (data != Word(at.memory, at.word, version)) {
          Error("an answer to another question");
        } else if (version < floor) {
          Error("a read passed a write before it");
        } else if (version > accepted_[at.memory][at.word]) {
          Error("a read of what was not written");
        }
        far_reads_ += at.memory != c;
      }
    }
    if (!reader.offer) return;
    if (d.rd_ready_o[c] >> r & 1) {
      const auto [memory, word] = *reader.offer;
      const bool own = OwnerOf(memory, word).first == c;
      reader.flights.push_back(
          {*reader.offer,
           own ? accepted_[memory][word] : stored_before_[memory][word]});
      reader.offer.reset();
      reader.waited = 0;
    } else if (++reader.waited > 2000) {
      Error("a read that is never accepted");
    }
  }

  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<VCrossing> dut_;
  int64_t cycles_ = 0, far_reads_ = 0, answers_ = 0;
  std::array<std::array<Reader, kRds>, 2> reads_;
  std::array<std::array<Writer, kWrs>, 2> writes_;
  // Writes accepted from the clients; in the memories, now and a cycle ago.
  Versions accepted_{}, stored_{}, stored_before_{};
  std::array<std::deque<Answer>, 2> answers_due_;
  using Marks = std::deque<std::array<uint32_t, kWords>>;
  std::array<std::array<Marks, kPosts>, 2> waiting_, crossing_;
  std::array<std::array<int64_t, kPosts>, 2> sent_{}, arrived_{};
  std::vector<std::string> errors_;
};

}  // namespace systole

#endif  // SYSTOLE_TESTS_RTL_CHIP_BENCH_H_
