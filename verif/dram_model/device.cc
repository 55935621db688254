// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/dram_model/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace systole::dram {
namespace {

constexpr size_t kKeepViolations = 16;
constexpr uint64_t kBoundary = 4096;  // an AXI4 burst must not cross it
constexpr uint8_t kIncr = 1, kOkay = 0, kSlaveError = 2;
constexpr size_t kAddresses = 8, kBeats = 64;  // capacity of the slave port

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::vector<uint8_t> Payload(const AxiIn::Address& a) {
  std::vector<uint8_t> bytes(11);
  std::memcpy(bytes.data(), &a.addr, 8);
  bytes[8] = a.len, bytes[9] = a.size, bytes[10] = a.burst;
  return bytes;
}

}  // namespace

Device::Device(const Options& options)
    : options_(options),
      random_(static_cast<uint32_t>(Mix(options.seed)) | 1) {}

void Device::Violation(const std::string& text) {
  ++violation_count_;
  if (violations_.size() < kKeepViolations) {
    violations_.push_back(
        absl::StrFormat("cycle %d: %s", counters_.cycles, text));
  }
}

void Device::CheckAddress(const char* channel, const AxiIn::Address& a) {
  const uint64_t beat = options_.beat_bytes;
  const uint64_t bytes = (uint64_t{a.len} + 1) * beat;
  const auto wrong = [&](const char* what) {
    Violation(absl::StrFormat("%s 0x%x, %d beats: %s", channel, a.addr,
                              a.len + 1, what));
  };
  if (uint64_t{1} << a.size != beat) wrong("a beat is not the bus's width");
  if (a.burst != kIncr) wrong("not an INCR burst");
  if (a.addr % beat != 0) wrong("not aligned to the beat");
  if (a.addr / kBoundary != (a.addr + bytes - 1) / kBoundary)
    wrong("crosses a 4 KiB boundary");
  if (a.addr + bytes > options_.bytes) wrong("leaves the memory");
}

void Device::CheckHeld(const char* channel, Held* held, bool valid, bool ready,
                       std::vector<uint8_t> payload) {
  if (held->valid && (!valid || payload != held->payload))
    Violation(absl::StrCat(channel, " changed before it was taken"));
  held->valid = valid && !ready;
  if (held->valid) held->payload = std::move(payload);
}

void Device::TakeAddresses(const AxiIn& in, AxiOut* out) {
  out->awready = writes_.size() < kAddresses && !Pause();
  out->arready = reads_.size() < kAddresses && !Pause();
  if (in.aw.valid || held_aw_.valid)
    CheckHeld("AW", &held_aw_, in.aw.valid, out->awready, Payload(in.aw));
  if (in.ar.valid || held_ar_.valid)
    CheckHeld("AR", &held_ar_, in.ar.valid, out->arready, Payload(in.ar));
  const int64_t ready_at = counters_.cycles + options_.latency;
  if (in.aw.valid && out->awready) {
    CheckAddress("AW", in.aw);
    writes_.push_back({in.aw.addr, in.aw.len + 1, ready_at});
  }
  if (in.ar.valid && out->arready) {
    CheckAddress("AR", in.ar);
    reads_.push_back({in.ar.addr, in.ar.len + 1, ready_at});
  }
}

void Device::TakeData(const AxiIn& in, AxiOut* out) {
  out->wready = beats_.size() < kBeats && !Pause();
  if (in.wvalid || held_w_.valid) {
    const auto* data = static_cast<const uint8_t*>(in.wdata);
    const auto* strobes = static_cast<const uint8_t*>(in.wstrb);
    std::vector<uint8_t> payload(data, data + options_.beat_bytes);
    payload.insert(payload.end(), strobes, strobes + options_.beat_bytes / 8);
    payload.push_back(in.wlast);
    CheckHeld("W", &held_w_, in.wvalid, out->wready, std::move(payload));
  }
  if (!in.wvalid || !out->wready) return;
  Beat& beat = beats_.emplace_back();
  std::memcpy(beat.data.data(), in.wdata, options_.beat_bytes);
  for (int i = 0; i < options_.beat_bytes; ++i) {
    beat.strobe[i] =
        static_cast<const uint8_t*>(in.wstrb)[i / 8] >> (i % 8) & 1;
  }
  beat.last = in.wlast;
  complete_ += in.wlast;
}

void Device::Answers(const AxiIn& in, AxiOut* out) {
  // Once a response is offered, it stays until it is accepted.
  if (!read_answers_.empty() && (r_offered_ || !Pause())) {
    shown_ = read_answers_.front();
    out->rvalid = true;
    out->rdata = shown_.data.data();
    out->rresp = shown_.resp;
    out->rlast = shown_.last;
    r_offered_ = !in.rready;
    if (in.rready) read_answers_.pop_front();
  }
  if (!write_answers_.empty() && (b_offered_ || !Pause())) {
    out->bvalid = true;
    out->bresp = write_answers_.front();
    b_offered_ = !in.bready;
    if (in.bready) write_answers_.pop_front();
  }
}

// Begins a burst, or serves a beat of the current one.
void Device::Serve() {
  const int64_t now = counters_.cycles;
  if (!serving_) {
    const bool read = !reads_.empty() && reads_.front().ready_at <= now;
    const bool write =
        !writes_.empty() && writes_.front().ready_at <= now && complete_ > 0;
    if (!read && !write) return;
    // Reads have priority. At random a write goes first, so that neither
    // starves.
    serving_write_ = write && (!read || random_() % 4 == 0);
    serving_ = true;
    beat_ = 0;
    failed_ = false;
    next_at_ = now + options_.beat_cycles - 1;
  }
  ++counters_.busy;
  if (now < next_at_ || Pause() || (serving_write_ && beats_.empty())) return;
  next_at_ = now + options_.beat_cycles;
  Burst& burst = serving_write_ ? writes_.front() : reads_.front();
  const uint64_t beat_bytes = options_.beat_bytes;
  const uint64_t addr = burst.addr + beat_ * beat_bytes;
  const bool fails =
      Fails(addr, beat_bytes) || addr + beat_bytes > options_.bytes;
  const bool last = ++beat_ == burst.beats;
  if (serving_write_) {
    const Beat& beat = beats_.front();
    if (beat.last != last) {
      Violation(absl::StrFormat("W beat %d of %d at 0x%x: last is %d", beat_,
                                burst.beats, burst.addr, beat.last));
    }
    failed_ |= fails;
    if (!fails) {
      Page* page = MakePage(addr / kPageBytes);
      for (uint64_t i = 0; i < beat_bytes; ++i)
        if (beat.strobe[i]) (*page)[addr % kPageBytes + i] = beat.data[i];
    }
    complete_ -= beat.last;
    beats_.pop_front();
    ++counters_.write_beats;
    if (last) write_answers_.push_back(failed_ ? kSlaveError : kOkay);
  } else {
    Answer answer;
    answer.resp = fails ? kSlaveError : kOkay;
    answer.last = last;
    if (fails) {
      answer.data.fill(0xee);
    } else {
      Read(addr, absl::MakeSpan(answer.data.data(), beat_bytes));
    }
    read_answers_.push_back(answer);
    ++counters_.read_beats;
  }
  if (last) Finish();
}

void Device::Finish() {
  serving_ = false;
  if (serving_write_) {
    writes_.pop_front();
    ++counters_.write_bursts;
  } else {
    reads_.pop_front();
    ++counters_.read_bursts;
  }
}

void Device::Tick(const AxiIn& in, AxiOut* out) {
  *out = AxiOut{};
  Answers(in, out);
  TakeAddresses(in, out);
  TakeData(in, out);
  Serve();
  ++counters_.cycles;
}

void Device::FillPage(uint64_t number, Page* page) const {
  for (uint64_t i = 0; i < kPageBytes; i += 8) {
    const uint64_t word = Mix(options_.seed ^ (number * kPageBytes + i));
    std::memcpy(page->data() + i, &word, 8);
  }
}

Device::Page* Device::MakePage(uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) {
    page = std::make_unique<Page>();
    FillPage(number, page.get());
  }
  return page.get();
}

void Device::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const uint64_t offset = address % kPageBytes;
    const uint64_t size = std::min<uint64_t>(bytes.size(), kPageBytes - offset);
    std::memcpy(MakePage(address / kPageBytes)->data() + offset, bytes.data(),
                size);
    bytes.remove_prefix(size);
    address += size;
  }
}

void Device::Read(uint64_t address, absl::Span<uint8_t> bytes) const {
  while (!bytes.empty()) {
    const uint64_t offset = address % kPageBytes;
    const uint64_t size = std::min<uint64_t>(bytes.size(), kPageBytes - offset);
    const auto found = pages_.find(address / kPageBytes);
    Page unwritten;
    if (found == pages_.end()) FillPage(address / kPageBytes, &unwritten);
    const Page& page = found == pages_.end() ? unwritten : *found->second;
    std::memcpy(bytes.data(), page.data() + offset, size);
    bytes.remove_prefix(size);
    address += size;
  }
}

}  // namespace systole::dram
