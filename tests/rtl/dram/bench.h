// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Test bench of systole_axi_dram: the memory model behind it, clients in front
// and a reference that every response is compared with. A read returns, byte by
// byte, what was written by writes accepted before it, or by one that was
// accepted between it and its response.

#ifndef SYSTOLE_TESTS_RTL_DRAM_BENCH_H_
#define SYSTOLE_TESTS_RTL_DRAM_BENCH_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "verif/dram_model/axi.h"
#include "verilated.h"

namespace systole::dram {

inline constexpr int kReaders = 4, kWriters = 2, kBeat = 16;
inline constexpr uint32_t kBytes = 1 << 16;  // of the memory

// What a client asks for: `beat(i)` is the number of its i-th beat.
struct Traffic {
  std::function<uint32_t(int64_t)> beat;
  int64_t count = 0;
  double rate = 1.0;     // probability that an idle client asks in a cycle
  int window = 64;       // reads: beats in flight
  double partial = 0.0;  // writes: probability of a random mask
};

struct BusError {
  uint64_t address;
};

template <typename Model>
class Bench {
 public:
  Bench(Device::Options options, uint64_t seed)
      : device_((options.bytes = kBytes, options.seed = seed, options)),
        random_(seed),
        reference_(kBytes) {
    device_.Read(0, absl::MakeSpan(reference_));
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    Verilated::threadContextp(&context_);
    model_ = std::make_unique<Model>(&context_);
    model_->clk_i = 0;
    model_->rst_ni = 0;
    model_->rd_valid_i = 0;
    model_->wr_valid_i = 0;
    model_->stall_i = 0;
    for (int i = 0; i < 8; ++i) Clock();
    model_->rst_ni = 1;
  }
  ~Bench() {
    model_->final();
    Verilated::threadContextp(&context_);
    model_.reset();
  }

  Device& device() { return device_; }
  int64_t cycle() const { return cycle_; }
  const std::vector<std::string>& errors() const { return errors_; }
  const std::vector<BusError>& bus_errors() const { return bus_errors_; }
  int64_t read_beats() const { return read_beats_; }
  int64_t write_beats() const { return write_beats_; }
  int64_t longest_wait() const { return longest_wait_; }
  std::mt19937_64& random() { return random_; }
  void set_compare(bool on) { compare_ = on; }

  // Runs until all clients are done and nothing is outstanding; the cycles.
  int64_t Run(std::array<Traffic, kReaders> reads,
              std::array<Traffic, kWriters> writes, double stall = 0,
              int64_t limit = 200000) {
    const int64_t start = cycle_;
    int quiet = 0;
    while (quiet < 4) {
      bool busy = false;
      for (int i = 0; i < kReaders; ++i) Ask(reads[i], i, &busy);
      for (int i = 0; i < kWriters; ++i) AskWrite(writes[i], i, &busy);
      if (cycle_ - start > limit) {
        Error("the traffic does not end");
        break;
      }
      uint32_t stalls = 0;
      for (int i = 0; stall > 0 && i < kReaders + kWriters; ++i)
        stalls |= Chance(stall) ? 1u << i : 0;
      model_->stall_i = static_cast<CData>(stalls);
      model_->eval();
      Accept();
      Clock();
      quiet = busy || model_->outstanding_o ? 0 : quiet + 1;
    }
    for (int i = 0; i < kReaders; ++i) {
      if (!readers_[i].pending.empty())
        Error("outstanding_o is low while a read waits for its response");
      readers_[i].asked = 0;
    }
    for (Writer& w : writers_) w.asked = 0;
    return cycle_ - start;
  }

  // After Run: what reached the memory.
  void CheckMemory() {
    std::vector<uint8_t> memory(kBytes);
    device_.Read(0, absl::MakeSpan(memory));
    if (memory != reference_) Error("the memory differs from what was written");
    for (const std::string& text : device_.violations()) Error(text);
  }

 private:
  struct Pending {  // a read that was accepted
    uint32_t beat;
    std::array<uint8_t, kBeat> data;
    std::vector<std::pair<int, uint8_t>> later;  // bytes written since
  };
  struct Reader {
    bool asking = false;
    int64_t asked = 0, since = 0;
    uint32_t beat = 0;
    std::deque<Pending> pending;
  };
  struct Writer {
    bool asking = false;
    int64_t asked = 0;
    uint32_t beat = 0;
    std::array<uint8_t, kBeat> data;
    uint16_t mask = 0;
  };

  bool Chance(double p) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < p;
  }
  void Error(const std::string& text) {
    if (errors_.size() < 10)
      errors_.push_back(absl::StrFormat("cycle %d: %s", cycle_, text));
  }

  void Ask(const Traffic& t, int i, bool* busy) {
    Reader& r = readers_[i];
    if (!r.asking && r.asked < t.count &&
        static_cast<int>(r.pending.size()) < t.window && Chance(t.rate)) {
      r.asking = true;
      r.since = cycle_;
      r.beat = t.beat(r.asked++) % (kBytes / kBeat);
      model_->rd_addr_i[i] = r.beat * kBeat + random_() % kBeat;
    }
    *busy |= r.asking || r.asked < t.count;
    SetBit(&model_->rd_valid_i, i, r.asking);
  }

  void AskWrite(const Traffic& t, int i, bool* busy) {
    Writer& w = writers_[i];
    if (!w.asking && w.asked < t.count && Chance(t.rate)) {
      w.asking = true;
      w.beat = t.beat(w.asked++) % (kBytes / kBeat);
      for (uint8_t& byte : w.data) byte = static_cast<uint8_t>(random_());
      w.mask = Chance(t.partial) ? static_cast<uint16_t>(random_()) : 0xffff;
      model_->wr_addr_i[i] = w.beat * kBeat + random_() % kBeat;
      std::memcpy(&model_->wr_data_i[i], w.data.data(), kBeat);
      model_->wr_mask_i[i] = w.mask;
    }
    *busy |= w.asking || w.asked < t.count;
    SetBit(&model_->wr_valid_i, i, w.asking);
  }

  // What is transferred at the edge to come.
  void Accept() {
    for (int i = 0; i < kReaders; ++i) {
      Reader& r = readers_[i];
      if (!r.asking || !(model_->rd_ready_o >> i & 1)) continue;
      longest_wait_ = std::max(longest_wait_, cycle_ - r.since);
      r.asking = false;
      Pending p;
      p.beat = r.beat;
      std::memcpy(p.data.data(), &reference_[r.beat * kBeat], kBeat);
      r.pending.push_back(p);
    }
    for (int i = 0; i < kWriters; ++i) {
      Writer& w = writers_[i];
      if (!w.asking || !(model_->wr_ready_o >> i & 1)) continue;
      w.asking = false;
      for (int b = 0; b < kBeat; ++b) {
        if (!(w.mask >> b & 1)) continue;
        reference_[w.beat * kBeat + b] = w.data[b];
        for (Reader& r : readers_) {
          for (Pending& p : r.pending)
            if (p.beat == w.beat) p.later.push_back({b, w.data[b]});
        }
      }
    }
  }

  void Respond() {
    const int valid = model_->rd_rsp_valid_o;
    if ((valid & (valid - 1)) != 0) Error("several responses in a cycle");
    for (int i = 0; i < kReaders; ++i) {
      if (!(valid >> i & 1)) continue;
      std::deque<Pending>& pending = readers_[i].pending;
      if (pending.empty()) {
        Error(absl::StrFormat("a response that client %d did not ask for", i));
        continue;
      }
      const Pending& p = pending.front();
      const auto* data =
          reinterpret_cast<const uint8_t*>(&model_->rd_rsp_data_o);
      for (int b = 0; compare_ && b < kBeat; ++b) {
        bool known = data[b] == p.data[b];
        for (const auto& [byte, value] : p.later)
          known |= byte == b && value == data[b];
        if (known) continue;
        Error(absl::StrFormat("client %d, beat %d, byte %d is %d, wanted %d", i,
                              p.beat, b, data[b], p.data[b]));
        break;
      }
      pending.pop_front();
    }
  }

  void Clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++cycle_;
    if (model_->rst_ni) {
      Respond();
      read_beats_ += model_->rd_beat_o;
      write_beats_ += model_->wr_beat_o;
      if (model_->error_o) bus_errors_.push_back({model_->error_addr_o});
      if (!model_->dram_rready_o || !model_->dram_bready_o)
        Error("an answer is held up");
    }
    TickAxi(&device_, model_.get());
  }

  template <typename Port>
  static void SetBit(Port* port, int bit, bool value) {
    *port = static_cast<Port>((*port & ~(1u << bit)) |
                              (static_cast<uint32_t>(value) << bit));
  }

  Device device_;
  std::mt19937_64 random_;
  std::vector<uint8_t> reference_;
  VerilatedContext context_;
  std::unique_ptr<Model> model_;
  std::array<Reader, kReaders> readers_;
  std::array<Writer, kWriters> writers_;
  std::vector<std::string> errors_;
  std::vector<BusError> bus_errors_;
  int64_t cycle_ = 0, read_beats_ = 0, write_beats_ = 0, longest_wait_ = 0;
  bool compare_ = true;
};

}  // namespace systole::dram

#endif  // SYSTOLE_TESTS_RTL_DRAM_BENCH_H_
