// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Test bench of systole_hbm: the Verilated model with NumRd = 4 and NumWr = 2,
// the device model behind it, traffic in front and a reference memory for all
// answers. A read must return all writes accepted in earlier cycles, and of
// those accepted until its answer the first ones of its beat or none.

#ifndef SYSTOLE_TESTS_HBM_BENCH_H_
#define SYSTOLE_TESTS_HBM_BENCH_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/hbm/counts.h"
#include "verif/hbm_model/device.h"
#include "verif/hbm_model/phy.h"
#include "verilated.h"

namespace systole::hbm {

inline constexpr int kReaders = 4, kWriters = 2;

// What a client asks for: `beat(i)` is the number of its i-th beat.
struct Traffic {
  std::function<uint32_t(int64_t)> beat;
  int64_t count = 0;
  double rate = 1.0;     // probability that an idle client asks in a cycle
  int window = 128;      // reads: beats in flight
  double partial = 0.0;  // writes: probability of a random mask
  double bursts = 0.0;   // of a mask that has all or nothing of a burst
};

struct Result {
  int64_t cycles = 0, read_beats = 0, write_beats = 0;
  double Efficiency() const {
    return static_cast<double>(read_beats + write_beats) / cycles;
  }
};

template <typename Model>
class Bench {
 public:
  Bench(int pcs, uint64_t seed, Timing checked = {},
        int refresh_postpone = kRefreshPostpone, bool ecc = false)
      : beat_bytes_(BeatBytes(pcs)), random_(seed) {
    Device::Options options;
    options.pcs = pcs;
    options.seed = seed;
    options.timing = checked;
    options.refresh_postpone = refresh_postpone;
    options.ecc = ecc;
    device_ = Device::Create(options).value();
    context_.fatalOnError(false);  // a failed assertion is one of errors()
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed));
    model_ = std::make_unique<Model>(&context_);
    model_->scrub_i = 0;
    model_->clk_i = 0;  // the first rising edge is one in reset
    model_->eval();
    Reset(20);
  }
  ~Bench() { model_->final(); }

  Device& device() { return *device_; }
  Model& model() { return *model_; }
  int64_t cycle() const { return cycle_; }
  const std::vector<std::string>& errors() const { return errors_; }
  int64_t columns() const { return columns_; }
  int64_t activates() const { return activates_; }
  int64_t perf_read_beats() const { return perf_read_beats_; }
  int64_t perf_write_beats() const { return perf_write_beats_; }
  double refresh_share() const {
    return static_cast<double>(refreshing_) / (cycle_ * device_->pcs());
  }
  std::mt19937_64& random() { return random_; }
  // ECC, of reader `i`, or of the scrubber and of partial writes (kReaders):
  // beats that were corrected, the last one's address, those of the bad ones.
  int64_t fixed(int i) const { return fixed_[i]; }
  uint64_t fixed_at(int i) const { return fixed_at_[i]; }
  const std::vector<uint64_t>& bad(int i) const { return bad_[i]; }
  int64_t looks() const { return looks_; }  // corrected for the scrubber only
  // Cycles from asking to acceptance or from acceptance to the answer.
  int64_t longest_wait() const { return longest_wait_; }
  // Cycles from the start of the last Run to its last answer to a reader.
  int64_t last_answer() const { return last_answer_ - began_; }
  // What `other` had been granted when reader `done` had its last grant.
  int64_t accepted_when_done(int done, int other) const {
    return when_done_[done][other];
  }

  // `look` is called after each cycle, when the device has had its commands.
  void EachCycle(const std::function<void()>& look) { look_ = look; }
  void Reset(int cycles) {
    model_->rst_ni = 0;
    model_->rd_valid_i = 0;
    model_->wr_valid_i = 0;
    model_->stall_i = 0;
    for (int i = 0; i < cycles; ++i) Clock();
    model_->rst_ni = 1;
  }

  // Until all clients are done and all has drained, `limit` cycles at most.
  Result Run(std::array<Traffic, kReaders> reads,
             std::array<Traffic, kWriters> writes, double stall,
             int64_t limit) {
    Result result;
    std::array<Reader, kReaders> readers;
    std::array<Writer, kWriters> writers;
    readers_ = &readers;
    accepted_.fill(0);
    int64_t last = cycle_, start = began_ = last_answer_ = cycle_;
    std::uniform_real_distribution<double> unit(0, 1);
    while (true) {
      bool busy = false;
      for (int i = 0; i < kReaders; ++i) {
        busy |= readers[i].asked < reads[i].count || readers[i].asking ||
                !readers[i].expected.empty();
        if (readers[i].asking)
          longest_wait_ = std::max(longest_wait_, cycle_ - readers[i].since);
        if (!readers[i].asking && readers[i].asked < reads[i].count &&
            static_cast<int>(readers[i].expected.size()) < reads[i].window &&
            Chance(unit, reads[i].rate)) {
          readers[i].asking = true;
          readers[i].since = cycle_;
          readers[i].beat = reads[i].beat(readers[i].asked++);
          SetBits(model_->rd_addr_i, i * kAddrBits, Address(readers[i].beat));
        }
        SetBit(&model_->rd_valid_i, i, readers[i].asking);
      }
      for (int i = 0; i < kWriters; ++i) {
        busy |= writers[i].asked < writes[i].count || writers[i].asking;
        if (writers[i].asking)
          longest_wait_ = std::max(longest_wait_, cycle_ - writers[i].since);
        if (!writers[i].asking && writers[i].asked < writes[i].count &&
            Chance(unit, writes[i].rate)) {
          writers[i].asking = true;
          writers[i].since = cycle_;
          writers[i].beat = writes[i].beat(writers[i].asked++);
          MakeWrite(i, Chance(unit, writes[i].partial),
                    Chance(unit, writes[i].bursts), &writers[i]);
        }
        SetBit(&model_->wr_valid_i, i, writers[i].asking);
      }
      if (!busy && !model_->outstanding_o) break;
      if (cycle_ - start > limit) {
        Error("the traffic does not end");
        break;
      }
      uint32_t stalls = 0;
      if (stall > 0) {
        for (int i = 0; i < kReaders + kWriters; ++i)
          stalls |= Chance(unit, stall) ? 1u << i : 0;
      }
      model_->stall_i = static_cast<CData>(stalls);
      model_->eval();
      int accepted_reads = 0, accepted_writes = 0;
      for (int i = 0; i < kReaders; ++i) {
        if (!readers[i].asking || !(model_->rd_ready_o >> i & 1)) continue;
        if (stalls >> i & 1) Error("a stalled reader was served");
        readers[i].asking = false;
        readers[i].expected.push_back(
            {readers[i].beat, {Reference(readers[i].beat)}, cycle_});
        ++accepted_[i];
        if (accepted_[i] == reads[i].count) when_done_[i] = accepted_;
        ++accepted_reads;
        last = cycle_;
      }
      for (int i = 0; i < kWriters; ++i) {
        if (!writers[i].asking || !(model_->wr_ready_o >> i & 1)) continue;
        if (stalls >> (kReaders + i) & 1) Error("a stalled writer was served");
        writers[i].asking = false;
        std::vector<uint8_t>& beat = Reference(writers[i].beat);
        for (int b = 0; b < beat_bytes_; ++b) {
          if (writers[i].mask[b]) beat[b] = writers[i].data[b];
        }
        for (Reader& reader : readers) {
          for (Expected& expected : reader.expected) {
            if (expected.beat == writers[i].beat) expected.data.push_back(beat);
          }
        }
        ++accepted_writes;
        last = cycle_;
      }
      result.read_beats += accepted_reads;
      result.write_beats += accepted_writes;
      Clock();
      if (errors_.size() > 10) break;
    }
    result.cycles = last - start + 1;
    model_->rd_valid_i = 0;
    model_->wr_valid_i = 0;
    model_->stall_i = 0;
    readers_ = nullptr;
    return result;
  }

  // Puts a write of a whole beat, all bytes `value`, on writer 0's ports.
  void SetWrite(uint32_t beat, uint8_t value) {
    std::memset(&model_->wr_data_i[0], value, beat_bytes_);
    for (int b = 0; b < beat_bytes_; ++b) SetMask(model_->wr_mask_i, b, true);
    SetBits(model_->wr_addr_i, 0, Address(beat));
  }

  void Idle(int64_t cycles) {
    for (int64_t i = 0; i < cycles; ++i) Clock();
  }

  // The device holds what the reference says, everywhere that was touched.
  void CompareMemory() {
    std::vector<uint8_t> bytes(beat_bytes_);
    for (const auto& [beat, expected] : reference_) {
      if (!device_->Read(Address(beat), absl::MakeSpan(bytes)).ok() ||
          bytes != expected) {
        Error(absl::StrFormat("beat 0x%X in the device differs", beat));
      }
    }
  }

  std::string Report() const {
    std::string text;
    for (const std::string& error : errors_) text += error + "\n";
    for (const Violation& violation : device_->log().violations()) {
      if (text.size() < 4000) text += violation.text + "\n";
    }
    return text;
  }
  bool Clean() const { return errors_.empty() && device_->log().count() == 0; }

 private:
  static constexpr int kAddrBits = 36;
  // What a read may return: the beat as accepted and after each later write.
  struct Expected {
    uint32_t beat;
    std::vector<std::vector<uint8_t>> data;
    int64_t since;  // its acceptance
  };
  struct Reader {
    int64_t asked = 0;
    bool asking = false;
    int64_t since = 0;
    uint32_t beat = 0;
    std::deque<Expected> expected;
  };
  struct Writer {
    int64_t asked = 0;
    bool asking = false;
    int64_t since = 0;
    uint32_t beat = 0;
    std::vector<uint8_t> data;
    std::vector<bool> mask;
  };

  uint64_t Address(uint32_t beat) const { return uint64_t{beat} * beat_bytes_; }
  bool Chance(std::uniform_real_distribution<double>& unit, double p) {
    return p >= 1.0 || (p > 0.0 && unit(random_) < p);
  }
  template <typename T>
  static void SetBit(T* port, int bit, bool value) {
    *port = static_cast<T>((*port & ~(1u << bit)) | (value ? 1u : 0u) << bit);
  }
  template <size_t N>
  static void SetBits(VlWide<N>& port, int lsb, uint64_t value) {
    for (int i = 0; i < kAddrBits; ++i) {
      uint32_t bit = 1u << ((lsb + i) % 32);
      port[(lsb + i) / 32] = value >> i & 1 ? port[(lsb + i) / 32] | bit
                                            : port[(lsb + i) / 32] & ~bit;
    }
  }
  template <size_t N>
  static void SetMask(VlWide<N>& port, int bit, bool value) {
    port[bit / 32] = value ? port[bit / 32] | 1u << bit % 32
                           : port[bit / 32] & ~(1u << bit % 32);
  }
  static void SetMask(QData& port, int bit, bool value) {
    port = value ? port | QData{1} << bit : port & ~(QData{1} << bit);
  }
  std::vector<uint8_t>& Reference(uint32_t beat) {
    std::vector<uint8_t>& data = reference_[beat];
    if (data.empty()) {
      data.resize(beat_bytes_);
      // Untouched beats hold the device's pattern, or what the test put there.
      if (!device_->Read(Address(beat), absl::MakeSpan(data)).ok())
        Error("backdoor read failed");
    }
    return data;
  }
  void MakeWrite(int i, bool partial, bool bursts, Writer* writer) {
    Reference(writer->beat);  // before the device changes
    writer->data.resize(beat_bytes_);
    writer->mask.resize(beat_bytes_);
    auto* port =
        reinterpret_cast<uint8_t*>(&model_->wr_data_i[i * beat_bytes_ / 4]);
    uint64_t word = 0, mask = ~uint64_t{0};
    for (int b = 0; b < beat_bytes_; ++b) {
      if (b % 8 == 0) word = random_();
      if (partial && b % 64 == 0) mask = random_();
      if (bursts && b % kBurstBytes == 0)
        mask = random_() % 2 ? 0 : ~uint64_t{0};
      writer->data[b] = port[b] = static_cast<uint8_t>(word >> b % 8 * 8);
      writer->mask[b] = mask >> b % 64 & 1;
      SetMask(model_->wr_mask_i, i * beat_bytes_ + b, writer->mask[b]);
    }
    SetBits(model_->wr_addr_i, i * kAddrBits, Address(writer->beat));
  }
  void Error(const std::string& text) {
    if (text.empty()) return;
    errors_.push_back(absl::StrFormat("cycle %d: %s", cycle_, text));
  }

  void Clock() {
    model_->clk_i = 1;
    model_->eval();
    TickPhy(device_.get(), model_->row_cmd_o, model_->row_bank_o,
            model_->row_addr_o, model_->col_cmd_o, model_->col_bank_o,
            model_->col_addr_o, model_->wdata_o, model_->wmask_o,
            &model_->rdata_i, &model_->rdata_valid_i, &model_->rcheck_i);
    if (look_) look_();
    ++cycle_;
    if (context_.gotError()) {
      Error("an assertion of the design failed");
      context_.gotError(false);
    }
    Error(WrongCounts(*model_, device_->pcs()));
    if (model_->rst_ni) Observe();
    model_->clk_i = 0;
    model_->eval();
  }

  void Observe() {
    // perf_o, from its lowest field on.
    refreshing_ += model_->perf_o & 0xFF;
    activates_ += model_->perf_o >> 8 & 0xFF;
    columns_ += model_->perf_o >> 16 & 0xFF;
    perf_write_beats_ += model_->perf_o >> 24 & 1;
    perf_read_beats_ += model_->perf_o >> 25 & 1;
    for (int i = 0; i <= kReaders; ++i) {
      fixed_[i] += model_->ecc_fixed_o >> i & 1;
      if (model_->ecc_fixed_o >> i & 1) fixed_at_[i] = model_->ecc_addr_o;
      looks_ += (model_->ecc_fixed_o >> i & 1) && model_->ecc_look_o;
      if (model_->ecc_bad_o >> i & 1) bad_[i].push_back(model_->ecc_addr_o);
    }
    if (model_->rd_rsp_valid_o == 0) return;
    if (model_->rd_rsp_valid_o & (model_->rd_rsp_valid_o - 1))
      Error("two clients answered at once");
    int i = __builtin_ctz(model_->rd_rsp_valid_o);
    if (readers_ == nullptr || (*readers_)[i].expected.empty())
      return Error(absl::StrFormat("reader %d answered without a request", i));
    Expected& expected = (*readers_)[i].expected.front();
    longest_wait_ = std::max(longest_wait_, cycle_ - expected.since);
    last_answer_ = cycle_;
    const auto* data =
        reinterpret_cast<const uint8_t*>(&model_->rd_rsp_data_o[0]);
    const auto is_read = [&](const std::vector<uint8_t>& version) {
      return std::memcmp(version.data(), data, beat_bytes_) == 0;
    };
    if (std::none_of(expected.data.begin(), expected.data.end(), is_read)) {
      const auto [first, wrong] =
          std::mismatch(expected.data[0].begin(), expected.data[0].end(), data);
      Error(absl::StrFormat(
          "reader %d, beat 0x%X, byte %d: read 0x%02X, expected 0x%02X%s", i,
          expected.beat, static_cast<int>(first - expected.data[0].begin()),
          *wrong, *first,
          expected.data.size() > 1 ? " or what later writes made of it" : ""));
    }
    (*readers_)[i].expected.pop_front();
  }

  int beat_bytes_;
  std::mt19937_64 random_;
  VerilatedContext context_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Model> model_;
  std::unordered_map<uint32_t, std::vector<uint8_t>> reference_;
  std::array<Reader, kReaders>* readers_ = nullptr;
  std::vector<std::string> errors_;
  std::function<void()> look_;
  int64_t looks_ = 0, cycle_ = 0, columns_ = 0, activates_ = 0, refreshing_ = 0,
          perf_read_beats_ = 0, perf_write_beats_ = 0, longest_wait_ = 0,
          last_answer_ = 0, began_ = 0;
  std::array<int64_t, kReaders + 1> fixed_{};
  std::array<uint64_t, kReaders + 1> fixed_at_{};
  std::array<std::vector<uint64_t>, kReaders + 1> bad_;
  std::array<int64_t, kReaders> accepted_{};
  std::array<std::array<int64_t, kReaders>, kReaders> when_done_{};
};

}  // namespace systole::hbm

#endif  // SYSTOLE_TESTS_HBM_BENCH_H_
