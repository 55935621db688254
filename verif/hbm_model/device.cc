// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/hbm_model/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "verif/hbm_model/secded.h"

namespace systole::hbm {
namespace {

constexpr size_t kKeepUnwrittenReads = 16;

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint32_t PageKey(uint32_t bank, uint32_t row) { return bank * kRows + row; }

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> Device::Create(const Options& options) {
  if (options.pcs < 2 || options.pcs > 64 ||
      (options.pcs & (options.pcs - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "HBM device: %d pseudo-channels; a power of two from 2 to 64 is needed",
        options.pcs));
  }
  for (const TimingField& field : kTimingFields) {
    if (options.timing.*field.value < 1) {
      return absl::InvalidArgumentError(
          absl::StrFormat("HBM device: %s is %d, below 1", field.name,
                          options.timing.*field.value));
    }
  }
  if (std::max(options.timing.tCL, options.timing.tCWL) >=
      static_cast<int>(kInFlight)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("HBM device: tCL and tCWL must be below %d",
                        static_cast<int>(kInFlight)));
  }
  return std::unique_ptr<Device>(new Device(options));
}

Device::Device(const Options& options) : options_(options) {
  channels_.reserve(options.pcs);
  for (int pc = 0; pc < options.pcs; ++pc) {
    channels_.emplace_back(
        TimingChecker(pc, options.timing, options.refresh_postpone, &log_));
  }
  for (int channel = 0; channel < options.pcs / 2; ++channel)
    buses_.emplace_back(channel, &log_);
}

void Device::RowCommand(int pc, int64_t now, const PhyIn& in) {
  Channel& c = channels_[pc];
  c.checker.Row(now, in.row_cmd, in.row_bank, in.row_addr);
  buses_[pc % buses_.size()].Row(now, pc, in.row_cmd);
  if (trace_ != nullptr)
    trace_->Row(now, pc, in.row_cmd, in.row_bank, in.row_addr);
  switch (in.row_cmd) {
    case RowCmd::kAct: {
      uint32_t row = in.row_addr % kRows;
      c.banks[in.row_bank] = {true, row, FindPage(pc, in.row_bank, row)};
      ++c.counters.activates;
      break;
    }
    case RowCmd::kPre:
      c.banks[in.row_bank].open = false;
      break;
    case RowCmd::kPrea:
      for (Bank& bank : c.banks) bank.open = false;
      break;
    case RowCmd::kRef:
      ++c.counters.refreshes;
      break;
    case RowCmd::kRefsb:
      ++c.counters.bank_refreshes;
      break;
    default:
      break;
  }
}

void Device::ColumnCommand(int pc, int64_t now, const PhyIn& in) {
  Channel& c = channels_[pc];
  c.checker.Column(now, in.col_cmd, in.col_bank, in.col_addr);
  buses_[pc % buses_.size()].Column(now, pc);
  Bank& bank = c.banks[in.col_bank];
  int col = in.col_addr % kCols;
  if (trace_ != nullptr) {
    trace_->Column(
        now, pc, in.col_cmd, in.col_bank, bank.row, col,
        AddressOf({pc, in.col_bank, bank.row, static_cast<uint32_t>(col)}));
  }
  if (in.col_cmd == ColCmd::kWr || in.col_cmd == ColCmd::kWra) {
    ++c.counters.writes;
    if (bank.open && bank.page == nullptr)
      bank.page = MakePage(pc, in.col_bank, bank.row);
    Burst& burst = c.writes[c.write_tail++ % kInFlight];
    burst.cycle = now + options_.timing.tCWL;
    burst.page = bank.open ? bank.page : nullptr;
    burst.col = col;
  } else if (in.col_cmd == ColCmd::kRd || in.col_cmd == ColCmd::kRda) {
    ++c.counters.reads;
    Burst& burst = c.reads[c.read_tail++ % kInFlight];
    burst.cycle = now + options_.timing.tCL;
    Place place{pc, in.col_bank, bank.row, static_cast<uint32_t>(col)};
    if (!bank.open || bank.page == nullptr) {
      Unwritten(place, burst.data.data());
      for (int i = 0; options_.ecc && i < kBurstBytes / 8; ++i)
        burst.check[i] = SecdedCheck(&burst.data[i * 8]);
    } else {
      std::memcpy(burst.data.data(), &bank.page->data[col * kBurstBytes],
                  kBurstBytes);
      std::memcpy(burst.check.data(), &bank.page->check[col * kBurstBytes / 8],
                  kBurstBytes / 8);
    }
    if (bank.open && (bank.page == nullptr || bank.page->written[col] != ~0u)) {
      ++unwritten_read_count_;
      if (unwritten_reads_.size() < kKeepUnwrittenReads)
        unwritten_reads_.push_back({now, AddressOf(place)});
    }
  }
  if (in.col_cmd == ColCmd::kRda || in.col_cmd == ColCmd::kWra)
    bank.open = false;
}

void Device::TakeData(Channel* c, int64_t now, const PhyIn& in) const {
  while (c->write_head != c->write_tail) {
    Burst& burst = c->writes[c->write_head % kInFlight];
    int64_t half = now - burst.cycle;
    if (half < 0) return;
    if (half < kBurstCycles) {
      if (burst.page != nullptr) {
        int offset = static_cast<int>(half) * kPhyBytes;
        uint8_t* to = &burst.page->data[burst.col * kBurstBytes + offset];
        const uint8_t* from = static_cast<const uint8_t*>(in.wdata);
        const uint16_t mask = options_.ecc ? 0xFFFF : in.wmask;
        if (options_.ecc) {
          uint8_t* check =
              &burst.page->check[(burst.col * kBurstBytes + offset) / 8];
          check[0] = static_cast<uint8_t>(in.wmask);
          check[1] = static_cast<uint8_t>(in.wmask >> 8);
        }
        if (mask == 0xFFFF) {
          std::memcpy(to, from, kPhyBytes);
        } else {
          for (int i = 0; i < kPhyBytes; ++i) {
            if (mask >> i & 1) to[i] = from[i];
          }
        }
        burst.page->written[burst.col] |= static_cast<uint32_t>(mask) << offset;
      }
      if (half == kBurstCycles - 1) ++c->write_head;
      return;
    }
    ++c->write_head;  // collided with an earlier burst
  }
}

void Device::GiveData(Channel* c, int64_t now, PhyOut* out) const {
  while (c->read_head != c->read_tail) {
    Burst& burst = c->reads[c->read_head % kInFlight];
    int64_t half = now - burst.cycle;
    if (half < 0) return;
    if (half < kBurstCycles) {
      out->data = &burst.data[half * kPhyBytes];
      if (options_.ecc) out->check = &burst.check[half * kPhyBytes / 8];
      if (half == kBurstCycles - 1) ++c->read_head;
      return;
    }
    ++c->read_head;  // collided with an earlier burst
  }
}

Device::Place Device::PlaceOf(uint64_t address) const {
  int beat_bytes = BeatBytes(options_.pcs);
  Location location = Locate(static_cast<uint32_t>(address / beat_bytes));
  int lane = static_cast<int>(address % beat_bytes / kBurstBytes);
  int pc = static_cast<int>(location.group) * (options_.pcs / 2) + lane;
  return {pc, location.bank, location.row, location.col};
}

uint64_t Device::AddressOf(const Place& place) const {
  int lanes = options_.pcs / 2;
  Location location{static_cast<uint32_t>(place.pc / lanes), place.bank,
                    place.row, place.col};
  return uint64_t{BeatAt(location)} * BeatBytes(options_.pcs) +
         place.pc % lanes * kBurstBytes;
}

Device::Page* Device::FindPage(int pc, uint32_t bank, uint32_t row) const {
  const auto& pages = channels_[pc].pages;
  auto it = pages.find(PageKey(bank, row));
  return it == pages.end() ? nullptr : it->second.get();
}

Device::Page* Device::MakePage(int pc, uint32_t bank, uint32_t row) {
  std::unique_ptr<Page>& page = channels_[pc].pages[PageKey(bank, row)];
  if (page == nullptr) {
    page = std::make_unique<Page>();
    for (uint32_t col = 0; col < static_cast<uint32_t>(kCols); ++col) {
      Unwritten({pc, bank, row, col}, &page->data[col * kBurstBytes]);
    }
    if (options_.ecc) Check(page.get(), 0, kPageBytes);
    // The backdoor may write to an open row.
    Bank& open = channels_[pc].banks[bank];
    if (open.open && open.row == row) open.page = page.get();
  }
  return page.get();
}

void Device::Unwritten(const Place& place, uint8_t* burst) const {
  uint64_t address = AddressOf(place);
  for (int i = 0; i < kBurstBytes; i += 8) {
    uint64_t word = Mix(options_.seed ^ Mix(address + i));
    std::memcpy(burst + i, &word, 8);
  }
}

void Device::Check(Page* page, size_t from, size_t to) {
  for (size_t i = from / 8; i * 8 < to; ++i)
    page->check[i] = SecdedCheck(&page->data[i * 8]);
}

absl::Status Device::Flip(uint64_t address, int bit) {
  if (!options_.ecc && bit >= 64 && bit <= 71) {
    return absl::FailedPreconditionError(
        "HBM device: without ECC there are no check bits to turn");
  }
  if (address >= capacity() || bit < 0 || bit > 71) {
    return absl::OutOfRangeError(absl::StrFormat(
        "HBM device: bit %d at 0x%X: the memory has 0x%X bytes, and bits 0 to "
        "71 in 8 of them",
        bit, address, capacity()));
  }
  const Place place = PlaceOf(address);
  Page* page = MakePage(place.pc, place.bank, place.row);
  const size_t word = (place.col * kBurstBytes + address % kBurstBytes) / 8;
  uint8_t& byte = bit < 64 ? page->data[word * 8 + bit / 8] : page->check[word];
  byte = static_cast<uint8_t>(byte ^ 1 << bit % 8);
  return absl::OkStatus();
}

absl::Status Device::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  if (address > capacity() || bytes.size() > capacity() - address) {
    return absl::OutOfRangeError(
        absl::StrFormat("HBM write of %d bytes at 0x%X: the memory has 0x%X",
                        bytes.size(), address, capacity()));
  }
  while (!bytes.empty()) {
    Place place = PlaceOf(address);
    size_t offset = address % kBurstBytes;
    size_t n = std::min(bytes.size(), kBurstBytes - offset);
    Page* page = MakePage(place.pc, place.bank, place.row);
    const size_t from = place.col * kBurstBytes + offset;
    std::memcpy(&page->data[from], bytes.data(), n);
    if (options_.ecc) Check(page, from, from + n);
    page->written[place.col] |=
        static_cast<uint32_t>(((uint64_t{1} << n) - 1) << offset);
    address += n;
    bytes.remove_prefix(n);
  }
  return absl::OkStatus();
}

absl::Status Device::Read(uint64_t address, absl::Span<uint8_t> bytes) const {
  if (address > capacity() || bytes.size() > capacity() - address) {
    return absl::OutOfRangeError(
        absl::StrFormat("HBM read of %d bytes at 0x%X: the memory has 0x%X",
                        bytes.size(), address, capacity()));
  }
  while (!bytes.empty()) {
    Place place = PlaceOf(address);
    size_t offset = address % kBurstBytes;
    size_t n = std::min(bytes.size(), kBurstBytes - offset);
    const Page* page = FindPage(place.pc, place.bank, place.row);
    if (page != nullptr) {
      std::memcpy(bytes.data(), &page->data[place.col * kBurstBytes + offset],
                  n);
    } else {
      std::array<uint8_t, kBurstBytes> burst;
      Unwritten(place, burst.data());
      std::memcpy(bytes.data(), &burst[offset], n);
    }
    address += n;
    bytes.remove_prefix(n);
  }
  return absl::OkStatus();
}

uint64_t Device::Digest() const {
  const auto fold = [](uint64_t sum, const void* data, size_t bytes) {
    const auto* from = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < bytes; i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, from + i, std::min<size_t>(8, bytes - i));
      sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
      sum ^= sum >> 29;
    }
    return sum;
  };
  uint64_t digest = 0;
  for (size_t pc = 0; pc < channels_.size(); ++pc) {
    const Channel& c = channels_[pc];
    uint64_t sum = pc + 1;
    // The order in which pages are stored must not matter.
    for (const auto& [key, page] : c.pages) {
      uint64_t of_page = fold(key + 1, page->data.data(), page->data.size());
      if (options_.ecc)
        of_page = fold(of_page, page->check.data(), page->check.size());
      sum += Mix(of_page);
    }
    for (const Bank& bank : c.banks) {
      const uint64_t row = bank.open ? bank.row + 1 : 0;
      sum = fold(sum, &row, sizeof row);
    }
    const auto key_of = [&c](const Page* page) {
      for (const auto& [key, kept] : c.pages)
        if (kept.get() == page) return uint64_t{key} + 1;
      return uint64_t{0};
    };
    const auto in_flight = [&](const auto& bursts, uint32_t head, uint32_t tail,
                               bool reads) {
      for (uint32_t i = head; i != tail; ++i) {
        const Burst& burst = bursts[i % kInFlight];
        const uint64_t place[] = {
            static_cast<uint64_t>(c.counters.cycles - burst.cycle),
            reads ? 0 : static_cast<uint64_t>(burst.col + 1),
            reads ? 0 : key_of(burst.page)};
        sum = fold(sum, place, sizeof place);
        if (!reads) continue;
        sum = fold(sum, burst.data.data(), burst.data.size());
        if (options_.ecc)
          sum = fold(sum, burst.check.data(), burst.check.size());
      }
      sum = Mix(sum + (tail - head));
    };
    in_flight(c.reads, c.read_head, c.read_tail, true);
    in_flight(c.writes, c.write_head, c.write_tail, false);
    digest = Mix(digest ^ sum);
  }
  return digest;
}

}  // namespace systole::hbm
