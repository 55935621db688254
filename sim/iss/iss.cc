// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/iss/iss.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace systole::iss {
namespace {

constexpr uint32_t kSequencer = 7;
constexpr uint64_t kProgramAlignment = 128;
// HBM addresses and fault addresses have 36 bits; a larger address is reported
// without its upper bits.
constexpr uint64_t kAddressMask = (uint64_t{1} << 36) - 1;

bool HasUnusedBits(const isa::OpInfo& op, Cell cell, const isa::Descriptor& d) {
  const uint64_t flags = isa::GetBits(d, 8, 8) & ~uint64_t{op.FlagMask(cell)};
  uint64_t beyond =
      op.width % 64 == 0 ? 0 : d[op.width / 64] >> (op.width % 64);
  for (size_t word = (op.width + 63) / 64; word < d.size(); ++word)
    beyond |= d[word];
  return flags != 0 || beyond != 0;
}

Result Dispatch(isa::Opcode opcode, const isa::Descriptor& d, State* state) {
  switch (opcode) {
    case isa::Opcode::kLoad:
      return Execute(isa::Load::Decode(d), state);
    case isa::Opcode::kStore:
      return Execute(isa::Store::Decode(d), state);
    case isa::Opcode::kSend:
      return Execute(isa::Send::Decode(d), state);
    case isa::Opcode::kWeights:
      return Execute(isa::Weights::Decode(d), state);
    case isa::Opcode::kTiles:
      return Execute(isa::Tiles::Decode(d), state);
    case isa::Opcode::kMatmul:
      return Execute(isa::Matmul::Decode(d), state);
    case isa::Opcode::kRequant:
      return Execute(isa::Requant::Decode(d), state);
    case isa::Opcode::kPool:
      return Execute(isa::Pool::Decode(d), state);
    case isa::Opcode::kAdd:
      return Execute(isa::Add::Decode(d), state);
    case isa::Opcode::kMul:
      return Execute(isa::Mul::Decode(d), state);
    case isa::Opcode::kTable:
      return Execute(isa::Table::Decode(d), state);
    case isa::Opcode::kVload:
      return Execute(isa::Vload::Decode(d), state);
    case isa::Opcode::kVrun:
      return Execute(isa::Vrun::Decode(d), state);
    case isa::Opcode::kHalt:
      break;
  }
  return std::nullopt;
}

// Explains matmul faults that the registers do not describe completely.
std::string MatmulDetail(const Trap& trap, const isa::Descriptor& d,
                         const State& state) {
  if (trap.cause == isa::Fault::kWatchdog) {
    return absl::StrCat(
        "its pass ", trap.address,
        " takes a tile that no weights descriptor before it pushes");
  }
  const bool keep = (isa::GetBits(d, 8, 8) & isa::Matmul::kKeepWeights) != 0;
  if (trap.cause == isa::Fault::kIllegalDescriptor && keep && !state.tile) {
    return "keep_weights, but no matmul before it took a tile";
  }
  return "";
}

}  // namespace

void Iss::Join(Iss* second) {
  second->core_ = 1;
  second->state_.hbm = state_.hbm.Reversed();
  other_ = second;
  second->other_ = this;
  cores_ = second->cores_ = {this, second};
}

void Iss::Connect(int columns, int rows, const std::vector<Iss*>& cores) {
  auto network = std::make_shared<Network>();
  network->columns = columns;
  network->rows = rows;
  network->cores = static_cast<int>(cores[0]->state_.preset.chip.cores);
  for (const Iss* core : cores)
    network->memories.push_back(core->state_.hbm.own());
  for (size_t i = 0; i < cores.size(); ++i) {
    cores[i]->state_.network = network;
    cores[i]->cores_ = cores;
    cores[i]->core_ = static_cast<int>(i);
  }
}

// A start keeps the flags that other cores have posted.
void Iss::ClearFlags(bool all) {
  for (uint32_t f = 0; f < isa::kNumFlags; ++f) {
    if (all || !OfOthers(f)) state_.flags[f] = 0;
  }
}

void Iss::Receive(uint32_t flag) {
  if (state_.flags[flag] == isa::kFlagMax) {
    Fault({isa::Fault::kFlagOverflow, flag}, kSequencer, index_);
  } else {
    ++state_.flags[flag];
  }
}

void Iss::Start(const Launch& launch) {
  launch_ = launch;
  index_ = instance_ = last_ = next_loop_ = 0;
  passes_.assign(launch.loops.size(), 0);
  open_.clear();
  halted_ = false;
  fault_.reset();
  fault_detail_.clear();
  state_.hbm_limit = launch.hbm_limit;
  ClearFlags(/*all=*/false);
  state_.weight_fifo.clear();
  state_.tile.reset();
  state_.table.reset();
  state_.acc_saturated = false;
  state_.counters = {};
  state_.vpu.Forget(seed_);
  state_.vrun_log.enabled = launch.check_races;
  checker_.reset();
  if (!launch.check_races) return;
  // Programs that run on several cores at the same time share a shadow.
  shadow_ = nullptr;
  for (const Iss* other : cores_) {
    if (other != this && other->running() && other->checker_ != nullptr)
      shadow_ = other->shadow_;
  }
  if (shadow_ == nullptr) {
    shadow_ = std::make_shared<DeviceShadow>(
        std::max(1, static_cast<int>(cores_.size())));
  }
  checker_ = std::make_unique<RaceChecker>(state_.preset, launch.prog_addr,
                                           launch.prog_len, core_, shadow_,
                                           state_.network.get());
}

void Iss::Reset() {
  halted_ = true;
  fault_.reset();
  fault_detail_.clear();
  ClearFlags(/*all=*/true);
  state_.weight_fifo.clear();
  state_.tile.reset();
  state_.table.reset();
}

Result Iss::Fetch(isa::Descriptor* d) {
  if (launch_.prog_addr % kProgramAlignment != 0) {
    return Trap{isa::Fault::kMisaligned, launch_.prog_addr};
  }
  const uint64_t address =
      launch_.prog_addr + uint64_t{index_} * isa::kDescriptorBytes;
  // A fetch moves whole beats.
  const uint64_t beat = state_.beat();
  const uint64_t end =
      (address + isa::kDescriptorBytes + beat - 1) / beat * beat;
  if (end > std::min(state_.hbm_limit, state_.hbm.capacity()))
    return Trap{isa::Fault::kHbmRange, address};
  uint8_t bytes[isa::kDescriptorBytes];
  // A beat is read once, for its first descriptor.
  state_.hbm.Read(address, bytes, index_ == 0 || address % beat == 0);
  d->fill(0);
  for (int i = 0; i < isa::kDescriptorBytes; ++i)
    (*d)[i / 8] |= uint64_t{bytes[i]} << (i % 8 * 8);
  // A scalar unit reads programs with loops in its own way.
  if (launch_.loops.empty())
    state_.counters.fetch_beats = (end - launch_.prog_addr) / beat;
  for (const systole::Step& s : launch_.steps) {
    if (s.descriptor != index_) continue;
    const int lsb = static_cast<int>(s.lsb), bits = static_cast<int>(s.bits);
    isa::PutBits(*d, lsb, bits,
                 isa::GetBits(*d, lsb, bits) +
                     static_cast<uint64_t>(s.add) * passes_[s.loop]);
  }
  return std::nullopt;
}

Iss::Pass Iss::NextPass(uint32_t l) {
  const Loop& loop = launch_.loops[l];
  if (passes_[l] == loop.count) return Pass::kEnds;
  if (!loop.conditional()) return Pass::kRuns;
  if (state_.flags[loop.flag] == 0) {
    Fault({isa::Fault::kWatchdog, loop.flag}, kSequencer, index_,
          absl::StrCat("the condition of the loop at descriptor ", loop.begin,
                       " waits for sync flag ", loop.flag,
                       ", which nothing before it posts"));
    return Pass::kFaults;
  }
  --state_.flags[loop.flag];
  if (loop.word + 4 > std::min(state_.hbm_limit, state_.hbm.capacity())) {
    Fault({isa::Fault::kHbmRange, loop.word}, kSequencer, index_);
    return Pass::kFaults;
  }
  uint8_t bytes[4];
  state_.hbm.Read(loop.word, bytes);
  if (checker_) checker_->Test(loop.flag, {loop.word, loop.word + 4});
  return (bytes[0] | bytes[1] | bytes[2] | bytes[3]) != 0 ? Pass::kRuns
                                                          : Pass::kEnds;
}

std::optional<Iss::Event> Iss::FollowLoops() {
  const std::vector<Loop>& loops = launch_.loops;
  while (true) {
    uint32_t l;
    if (!open_.empty() && loops[open_.back()].end == index_) {
      l = open_.back();
      open_.pop_back();
      ++passes_[l];
    } else if (next_loop_ < loops.size() && loops[next_loop_].begin == index_) {
      l = next_loop_;
      passes_[l] = 0;
    } else {
      return std::nullopt;
    }
    const Pass pass = NextPass(l);
    if (pass == Pass::kFaults) return Event::kFaulted;
    index_ = pass == Pass::kRuns ? loops[l].begin : loops[l].end;
    next_loop_ = l + 1;
    if (pass == Pass::kRuns) {
      open_.push_back(l);
    } else {
      while (next_loop_ < loops.size() && loops[next_loop_].begin < index_)
        ++next_loop_;
    }
  }
}

Iss::Event Iss::Fault(const Trap& trap, uint32_t queue, uint32_t index,
                      std::string detail) {
  fault_ = FaultState{trap.cause, queue,
                      index,      trap.address & kAddressMask,
                      0,          launch_.loops.empty() ? index : instance_};
  fault_detail_ = std::move(detail);
  return Event::kFaulted;
}

Iss::Event Iss::Step() {
  if (fault_) return Event::kFaulted;
  if (halted_) return Event::kHalted;
  if (const std::optional<Event> event = FollowLoops()) return *event;
  if (index_ >= launch_.prog_len) {
    return Fault({isa::Fault::kProgramEnd}, kSequencer,
                 launch_.prog_len == 0 ? 0 : launch_.prog_len - 1);
  }
  isa::Descriptor d;
  if (Result r = Fetch(&d)) return Fault(*r, kSequencer, index_);
  if (CheckMemory()) return Event::kFaulted;

  // Checks of the sequencer.
  const isa::Header header = isa::Halt::Decode(d).header;
  const Cell cell = state_.preset.cell;
  const isa::OpInfo* op = isa::FindOp(header.opcode, state_.preset);
  if (op == nullptr) {
    const isa::OpInfo* elsewhere = isa::FindOp(header.opcode);
    return Fault(
        {isa::Fault::kIllegalOpcode, header.opcode}, kSequencer, index_,
        elsewhere == nullptr ? std::string()
        : elsewhere->links
            ? absl::StrFormat("a chip without links has no '%s'",
                              elsewhere->name)
            : absl::StrFormat("cores of the %s cell have no '%s'",
                              state_.preset.cell_name(), elsewhere->name));
  }
  if (HasUnusedBits(*op, cell, d))
    return Fault({isa::Fault::kIllegalDescriptor}, kSequencer, index_);
  for (uint32_t f = 0; f < isa::kNumFlags; ++f) {
    if ((header.post_mask >> f & 1) != 0 && OfLinks(f)) {
      return Fault(
          {isa::Fault::kIllegalDescriptor}, kSequencer, index_,
          absl::StrCat("it posts link flag ", f, ", which only packets do"));
    }
  }

  // Waits. Everything before this descriptor is complete. So a flag that is 0
  // can only be posted by a later descriptor or by the other core.
  const uint32_t queue = op->queue == isa::Queue::kNone
                             ? kSequencer
                             : static_cast<uint32_t>(op->queue);
  for (uint32_t f = 0; f < isa::kNumFlags; ++f) {
    if ((header.wait_mask >> f & 1) != 0 && state_.flags[f] == 0) {
      if (OfOthers(f)) {
        awaited_ = f;
        return Event::kWaiting;
      }
      return Fault({isa::Fault::kWatchdog, f}, queue, index_,
                   absl::StrCat("it waits for sync flag ", f,
                                ", which nothing before it posts"));
    }
  }
  for (int f = 0; f < isa::kNumFlags; ++f)
    state_.flags[f] -= header.wait_mask >> f & 1;

  if (Result r = Dispatch(op->opcode, d, &state_)) {
    return Fault(*r, queue, index_,
                 op->opcode == isa::Opcode::kMatmul
                     ? MatmulDetail(*r, d, state_)
                     : r->detail);
  }
  if (CheckMemory()) return Event::kFaulted;
  if (op->opcode == isa::Opcode::kSend &&
      (header.flags & isa::Send::kLinkPost)) {
    const isa::Send send = isa::Send::Decode(d);
    cores_[state_.network->Number(send.dst_x, send.dst_y, send.dst_core)]
        ->Receive(isa::kFirstLinkFlag + send.link_flag);
    if (fault_) return Event::kFaulted;
  }
  return Retire(op->queue, d);
}

bool Iss::CheckMemory() {
  const std::optional<uint64_t> bad = state_.hbm.TakeBad();
  if (!bad) return false;
  Fault({isa::Fault::kEccError, *bad}, kSequencer, index_);
  return true;
}

Iss::Event Iss::GiveUp() {
  isa::Descriptor d;
  if (Result r = Fetch(&d)) return Fault(*r, kSequencer, index_);
  const isa::OpInfo* op =
      isa::FindOp(isa::Halt::Decode(d).header.opcode, state_.preset);
  return Fault(
      {isa::Fault::kWatchdog, awaited_},
      op->queue == isa::Queue::kNone ? kSequencer
                                     : static_cast<uint32_t>(op->queue),
      index_,
      absl::StrCat("it waits for sync flag ", awaited_,
                   OfLinks(awaited_) ? ", which no other core's send posts"
                                     : ", which the other core does not post"));
}

Iss::Event Iss::Retire(isa::Queue queue, const isa::Descriptor& d) {
  const uint32_t post_mask = isa::Halt::Decode(d).header.post_mask;
  for (uint32_t f = 0; f < isa::kNumFlags; ++f) {
    if ((post_mask >> f & 1) == 0) continue;
    if (BetweenCores(f)) {
      if (other_ != nullptr) other_->Receive(f);
      continue;
    }
    if (state_.flags[f] == isa::kFlagMax) {
      return Fault({isa::Fault::kFlagOverflow, f}, static_cast<uint32_t>(queue),
                   index_);
    }
    ++state_.flags[f];
  }
  if (checker_)
    checker_->Execute(instance_, d, state_.vrun_log, state_.dma_rows);
  last_ = index_++;
  ++instance_;
  halted_ = queue == isa::Queue::kNone;
  return halted_ ? Event::kHalted : Event::kRetired;
}

}  // namespace systole::iss
