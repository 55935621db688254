// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Model of a board's DRAM behind an AXI4 slave port. It stores data, models
// time and checks the master. It serves one burst at a time. Reads are served
// in order, and so are writes, but there is no order between reads and writes.
// A response takes beat_cycles per beat and comes at least latency cycles after
// the address.
//
//   Device device({.bytes = 32 << 20});
//   device.Write(0x1000, bytes);  // backdoor
//   // Once per cycle; axi.h does it for a Verilated model.
//   device.Tick(in, &out);
//   if (device.violation_count() != 0) ...
//
// AXI4 allows a read to overtake an earlier write, and a write an earlier read.
// A master that needs an order must wait for the response. With a stall rate,
// every channel stalls at random, and either kind of burst may go first.

#ifndef SYSTOLE_VERIF_DRAM_MODEL_DEVICE_H_
#define SYSTOLE_VERIF_DRAM_MODEL_DEVICE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"

namespace systole::dram {

// Signals of the master in a cycle. Data and strobes are packed, byte 0 lowest.
struct AxiIn {
  struct Address {
    bool valid = false;
    uint64_t addr = 0;
    uint8_t len = 0, size = 0, burst = 0;
  };
  Address aw, ar;
  bool wvalid = false, wlast = false, bready = false, rready = false;
  const void* wdata = nullptr;
  const void* wstrb = nullptr;  // one bit per byte
};

// Signals of the memory in the same cycle.
struct AxiOut {
  bool awready = false, wready = false, bvalid = false, arready = false,
       rvalid = false, rlast = false;
  uint8_t bresp = 0, rresp = 0;
  const void* rdata = nullptr;  // while rvalid, until the next Tick
};

class Device {
 public:
  struct Options {
    uint64_t bytes = 32 << 20;
    int beat_bytes = 16;
    uint64_t seed = 1;    // of stalls and of unwritten memory
    int latency = 10;     // cycles from an address to its first data
    int beat_cycles = 8;  // cycles per beat: 16 bits a cycle at 16 bytes
    int stall_rate = 0;   // rate of random stalls, in 1/256
  };
  struct Counters {
    int64_t cycles = 0, read_bursts = 0, write_bursts = 0, read_beats = 0,
            write_beats = 0, busy = 0;
  };

  explicit Device(const Options& options);

  // One cycle.
  void Tick(const AxiIn& in, AxiOut* out);

  // Backdoor by byte address within the capacity. It sees the writes that have
  // reached the memory.
  void Write(uint64_t address, absl::Span<const uint8_t> bytes);
  void Read(uint64_t address, absl::Span<uint8_t> bytes) const;

  // Accesses that touch bytes begin .. end - 1 are answered with SLVERR. Writes
  // to them have no effect.
  void FailAt(uint64_t begin, uint64_t end) {
    fail_begin_ = begin;
    fail_end_ = end;
  }

  uint64_t capacity() const { return options_.bytes; }
  const Counters& counters() const { return counters_; }
  int64_t violation_count() const { return violation_count_; }
  const std::vector<std::string>& violations() const {  // the first ones
    return violations_;
  }

 private:
  static constexpr int kMaxBeatBytes = 128;
  static constexpr uint64_t kPageBytes = 4096;
  using Page = std::array<uint8_t, kPageBytes>;
  struct Burst {
    uint64_t addr;
    int beats;
    int64_t ready_at;  // earliest cycle of the first data
  };
  struct Beat {
    std::array<uint8_t, kMaxBeatBytes> data;
    std::array<bool, kMaxBeatBytes> strobe;
    bool last;
  };
  struct Answer {
    std::array<uint8_t, kMaxBeatBytes> data;
    uint8_t resp;
    bool last;
  };
  // A channel that the master has to hold: a transfer must stay until it is
  // accepted.
  struct Held {
    bool valid = false;
    std::vector<uint8_t> payload;
  };

  bool Pause() {
    return options_.stall_rate != 0 &&
           static_cast<int>(random_() >> 8 & 0xff) < options_.stall_rate;
  }
  void Violation(const std::string& text);
  void CheckAddress(const char* channel, const AxiIn::Address& a);
  void CheckHeld(const char* channel, Held* held, bool valid, bool ready,
                 std::vector<uint8_t> payload);
  void TakeAddresses(const AxiIn& in, AxiOut* out);
  void TakeData(const AxiIn& in, AxiOut* out);
  void Answers(const AxiIn& in, AxiOut* out);
  void Serve();
  void Finish();
  bool Fails(uint64_t addr, uint64_t bytes) const {
    return addr < fail_end_ && addr + bytes > fail_begin_;
  }
  void FillPage(uint64_t number, Page* page) const;
  Page* MakePage(uint64_t number);

  Options options_;
  std::minstd_rand random_;
  Counters counters_;
  uint64_t fail_begin_ = 0, fail_end_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;

  std::deque<Burst> reads_, writes_;  // addresses that arrived
  std::deque<Beat> beats_;            // write data that arrived
  int complete_ = 0;                  // bursts whose data are complete
  std::deque<Answer> read_answers_;
  std::deque<uint8_t> write_answers_;
  Answer shown_;  // the data that rdata points at
  bool r_offered_ = false, b_offered_ = false;

  // The current burst.
  bool serving_ = false, serving_write_ = false;
  int beat_ = 0;
  int64_t next_at_ = 0;
  bool failed_ = false;

  Held held_aw_, held_w_, held_ar_;
  int64_t violation_count_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace systole::dram

#endif  // SYSTOLE_VERIF_DRAM_MODEL_DEVICE_H_
