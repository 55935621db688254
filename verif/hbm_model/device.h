// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// HBM device model: all pseudo-channels of a core's memory at the PHY. It
// stores data sparsely, responds with the latencies of the timing table and
// checks every command (TimingChecker). Pseudo-channels i and i + pcs / 2 form
// channel i and share its command buses (BusChecker).
//
//   auto device = Device::Create({.pcs = 4}).value();
//   device->Write(0x1000, bytes);  // backdoor, through the address map
//   // Once per cycle; phy.h does it for a Verilated model.
//   for (int pc = 0; pc < 4; ++pc) device->Tick(pc, in[pc], &out[pc]);
//   if (device->log().count() != 0) ...

#ifndef SYSTOLE_VERIF_HBM_MODEL_DEVICE_H_
#define SYSTOLE_VERIF_HBM_MODEL_DEVICE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/hbm.h"
#include "verif/hbm_model/timing_checker.h"
#include "verif/hbm_model/trace.h"

namespace systole::hbm {

// Inputs of a pseudo-channel in a cycle. wdata points at 16 bytes; bit i of
// wmask is the byte enable of byte i. With ECC, bits 0 to 7 are the check bits
// of the first 8 bytes, the others those of the last 8, and all bytes are
// written.
struct PhyIn {
  RowCmd row_cmd = RowCmd::kNop;
  ColCmd col_cmd = ColCmd::kNop;
  uint8_t row_bank = 0;
  uint8_t col_bank = 0;
  uint8_t col_addr = 0;
  uint16_t wmask = 0;
  uint32_t row_addr = 0;
  const void* wdata = nullptr;
};

// Outputs of a pseudo-channel in the same cycle. data points at 16 bytes and
// check at their 2 bytes of check bits (ECC), valid until the next Tick; null:
// no data.
struct PhyOut {
  const void* data = nullptr;
  const uint8_t* check = nullptr;
};

class Device {
 public:
  struct Options {
    int pcs = 2;         // pseudo-channels: 2, 4, 8 and so on
    uint64_t seed = 1;   // of the contents of unwritten memory
    Timing timing = {};  // for responses and for checks
    int refresh_postpone = kRefreshPostpone;
    bool ecc = false;  // the mask pins carry check bits, which are stored
  };
  struct Counters {  // of a pseudo-channel
    int64_t cycles = 0, activates = 0, reads = 0, writes = 0;
    int64_t refreshes = 0, bank_refreshes = 0;  // REF, REFSB
  };
  struct UnwrittenRead {
    int64_t cycle;
    uint64_t address;  // of the burst
  };

  static absl::StatusOr<std::unique_ptr<Device>> Create(const Options& options);

  // One cycle of pseudo-channel `pc`. A RD in cycle n gives data in cycles n +
  // tCL and n + tCL + 1. A WR takes its data in cycles n + tCWL and n + tCWL +
  // 1.
  void Tick(int pc, const PhyIn& in, PhyOut* out) {
    Channel& c = channels_[pc];
    int64_t now = c.counters.cycles++;
    c.checker.Refresh(now);
    out->data = nullptr;
    if (in.row_cmd != RowCmd::kNop) RowCommand(pc, now, in);
    if (in.col_cmd != ColCmd::kNop) ColumnCommand(pc, now, in);
    if (c.write_head != c.write_tail) TakeData(&c, now, in);
    if (c.read_head != c.read_tail) GiveData(&c, now, out);
  }

  // Backdoor by byte address. It accesses data that have reached the device; a
  // controller may delay accepted writes. OutOfRange beyond the capacity.
  absl::Status Write(uint64_t address, absl::Span<const uint8_t> bytes);
  absl::Status Read(uint64_t address, absl::Span<uint8_t> bytes) const;

  // A memory fault: flips a bit of the 8-byte word at `address` (rounded down).
  // Bits 0 to 63 are data; with ECC, bits 64 to 71 are check bits. OutOfRange
  // beyond the capacity or bit 71. FailedPrecondition for a check bit without
  // ECC.
  absl::Status Flip(uint64_t address, int bit);

  // From now on, `trace` also gets each command; null: none.
  void set_trace(TraceWriter* trace) { trace_ = trace; }

  // Digest of all state on which later responses depend: contents, open rows,
  // bursts in flight. Equal states have equal digests, whatever their history.
  uint64_t Digest() const;

  int pcs() const { return options_.pcs; }
  uint64_t capacity() const { return CapacityBytes(options_.pcs); }
  ViolationLog& log() { return log_; }
  const ViolationLog& log() const { return log_; }
  const Counters& counters(int pc) const { return channels_[pc].counters; }

  // Reads of bursts that were not completely written before: their number, and
  // the first of them.
  int64_t unwritten_read_count() const { return unwritten_read_count_; }
  const std::vector<UnwrittenRead>& unwritten_reads() const {
    return unwritten_reads_;
  }

 private:
  struct Page {
    std::array<uint8_t, kPageBytes> data;
    std::array<uint32_t, kCols> written{};  // a bit per byte, a word per burst
    std::array<uint8_t, kPageBytes / 8> check;  // ECC
  };
  struct Burst {
    int64_t cycle;  // of its first data
    Page* page;     // writes; null: dropped
    int col;
    std::array<uint8_t, kBurstBytes> data;  // reads
    std::array<uint8_t, kBurstBytes / 8> check;
  };
  struct Bank {
    bool open = false;
    uint32_t row = 0;
    Page* page = nullptr;
  };
  static constexpr uint32_t kInFlight =
      64;  // bursts, a power of two, above tCL
  struct Channel {
    explicit Channel(TimingChecker c) : checker(std::move(c)) {}
    TimingChecker checker;
    Counters counters;
    std::array<Bank, kBanks> banks;
    std::array<Burst, kInFlight> reads, writes;
    uint32_t read_head = 0, read_tail = 0, write_head = 0, write_tail = 0;
    std::unordered_map<uint32_t, std::unique_ptr<Page>> pages;
  };
  struct Place {  // of a burst
    int pc;
    uint32_t bank, row, col;
  };

  explicit Device(const Options& options);

  void RowCommand(int pc, int64_t now, const PhyIn& in);
  void ColumnCommand(int pc, int64_t now, const PhyIn& in);
  void TakeData(Channel* c, int64_t now, const PhyIn& in) const;
  void GiveData(Channel* c, int64_t now, PhyOut* out) const;

  Place PlaceOf(uint64_t address) const;
  uint64_t AddressOf(const Place& place) const;
  Page* FindPage(int pc, uint32_t bank, uint32_t row) const;
  Page* MakePage(int pc, uint32_t bank, uint32_t row);
  // Contents of a burst that was never written.
  void Unwritten(const Place& place, uint8_t* burst) const;
  // Check bits of the words of a page that bytes [from, to) touch.
  static void Check(Page* page, size_t from, size_t to);

  Options options_;
  ViolationLog log_;
  TraceWriter* trace_ = nullptr;
  std::vector<Channel> channels_;
  std::vector<BusChecker> buses_;
  int64_t unwritten_read_count_ = 0;
  std::vector<UnwrittenRead> unwritten_reads_;
};

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_DEVICE_H_
