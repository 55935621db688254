// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/member_program.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"
#include "systole/target.h"

namespace systole::compiler {

absl::Status CheckGroup(const std::vector<int>& group, int columns,
                        const Preset& preset) {
  if (!Target(preset).float_modules()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "preset '%s' has the %s cell; cores that exchange have the bf16 cell",
        preset.name, preset.cell_name()));
  }
  const std::set<int> different(group.begin(), group.end());
  if (group.empty() || group.size() > 8 || different.size() != group.size() ||
      *different.begin() < 0 || columns < 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a group of %d cores, %d of them different, on a torus of %d columns: "
        "1 to 8 cores of a device are needed",
        group.size(), different.size(), columns));
  }
  const int64_t cores = preset.chip.cores;
  if (*different.begin() / cores != *different.rbegin() / cores &&
      preset.chip.link_bytes == 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a group of several chips: chips of preset '%s' have no links",
        preset.name));
  }
  return absl::OkStatus();
}

absl::Status CheckLevels(const std::vector<int>& group, const Preset& preset) {
  const size_t size = group.size();
  if ((size & (size - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a group of %d cores: 1, 2, 4 or 8 are needed", size));
  }
  const auto cores = static_cast<int>(preset.chip.cores);
  int levels = 0;
  for (int l = 0; 1u << l < size; ++l) {
    for (int p = 0; p < static_cast<int>(size); ++p) {
      const bool on_chip = group[p] / cores == group[p ^ 1 << l] / cores;
      if (p == 0) levels += on_chip ? 0 : 1;
      const bool first = group[0] / cores == group[1 << l] / cores;
      if (on_chip == first) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "positions %d and %d of a group are on one chip and positions %d and "
          "%d are not, or the other way round: neighbours in the group have to "
          "be neighbours everywhere",
          0, 1 << l, p, p ^ 1 << l));
    }
  }
  if (levels > 2)
    return absl::InvalidArgumentError("a group of 8 chips: 4 are the most");
  return absl::OkStatus();
}

absl::Status CheckMembers(const std::vector<MemberMemory>& memory,
                          size_t vectors, const std::vector<int>& group,
                          const Preset& preset) {
  if (memory.empty()) return absl::OkStatus();
  if (memory.size() != group.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("places of %d members' vectors for a group of %d",
                        memory.size(), group.size()));
  }
  const auto beat = static_cast<uint64_t>(preset.beat_bytes());
  for (size_t p = 0; p < memory.size(); ++p) {
    if (memory[p].in.size() != vectors || memory[p].out.size() != vectors) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "position %d has places of %d and %d vectors instead of %d", p,
          memory[p].in.size(), memory[p].out.size(), vectors));
    }
    std::vector<uint64_t> all = {memory[p].scratch};
    all.insert(all.end(), memory[p].in.begin(), memory[p].in.end());
    all.insert(all.end(), memory[p].out.begin(), memory[p].out.end());
    for (const uint64_t at : all) {
      if (at % beat == 0 && at < preset.memory_bytes()) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "position %d has a vector at 0x%x: multiples of the beat of %d bytes "
          "in the memory of %d are needed",
          p, at, beat, preset.memory_bytes()));
    }
  }
  return absl::OkStatus();
}

absl::Status MemberProgram::CheckMemory() const {
  constexpr uint64_t kCodeRoom = 1 << 20;
  if (part_ || hbm_.size() + kCodeRoom <= preset_.memory_bytes())
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("the exchange needs %d bytes of a core's memory of %d",
                      hbm_.size() + kCodeRoom, preset_.memory_bytes()));
}

namespace {

// Of a load, store or send. What is one line has no pitches.
template <class Op>
void SetLines(const MemberLines& lines, Op& op) {
  op.len = static_cast<uint32_t>(lines.bytes);
  op.n1 = static_cast<uint32_t>(lines.count);
  op.n2 = 1;
  if (lines.count == 1) return;
  op.hbm_stride1 = lines.pitch;
  op.ub_stride1 = static_cast<uint32_t>(lines.bytes);
}

isa::Load LoadOf(uint64_t from, const MemberLines& lines, int64_t ub,
                 uint32_t wait) {
  isa::Load load;
  load.header.wait_mask = wait;
  load.hbm_addr = from;
  load.ub_addr = static_cast<uint32_t>(ub);
  SetLines(lines, load);
  return load;
}

}  // namespace

void MemberProgram::Load(uint64_t from, const MemberLines& lines, int64_t ub,
                         uint32_t wait, uint32_t post) {
  Append(LoadOf(from, lines, ub, wait), wait, post);
}

void MemberProgram::LoadArrived(uint64_t from, const MemberLines& lines,
                                int64_t ub, uint32_t wait) {
  builder_.Append(LoadOf(from, lines, ub, wait), ArrivedAt(from, lines));
}

void MemberProgram::Store(uint64_t to, const MemberLines& lines, int64_t ub,
                          uint32_t post) {
  isa::Store store;
  store.hbm_addr = to;
  store.ub_addr = static_cast<uint32_t>(ub);
  SetLines(lines, store);
  Append(store, 0, post);
}

void MemberProgram::Send(int partner, uint64_t to, const MemberLines& lines,
                         int64_t ub, uint32_t flag, bool other_way) {
  if (partner == position_) return Store(to, lines, ub, flag);
  if (OnChip(position_, partner))
    return Store(PeerAddress(to), lines, ub, flag);
  isa::Send send;
  const int there = group_[partner];
  send.dst_x = static_cast<uint32_t>(there / cores() % columns_);
  send.dst_y = static_cast<uint32_t>(there / cores() / columns_);
  send.dst_core = static_cast<uint32_t>(there % cores());
  // The cores of a chip take different ways.
  if ((core() % 2 != 0) != other_way) send.header.flags |= isa::Send::kNegative;
  if (flag != 0) {
    send.header.flags |= isa::Send::kLinkPost;
    send.link_flag =
        static_cast<uint32_t>(__builtin_ctz(flag) - isa::kFirstLinkFlag);
  }
  send.hbm_addr = to;
  send.ub_addr = static_cast<uint32_t>(ub);
  SetLines(lines, send);
  Append(send);
}

Access MemberProgram::ArrivedAt(uint64_t at, const MemberLines& lines) const {
  Access access = HbmOf(at, (lines.bytes + beat() - 1) / beat(), true);
  access.count[0] = lines.count;
  access.stride[0] = lines.pitch;
  return access;
}

Access MemberProgram::HbmOf(uint64_t from, int64_t beats, bool write) const {
  Access access;
  access.space = Space::kHbm;
  access.write = write;
  access.base = static_cast<int64_t>(from);
  access.len = beats * beat();
  return access;
}

void MemberProgram::Fence(uint64_t from, std::vector<Access> accesses,
                          uint32_t wait, uint32_t post) {
  isa::Load load = LoadOf(from, {beat()}, room_.ub_end - Word(), wait);
  load.header.post_mask = post;
  builder_.Append(load, std::move(accesses));
}

int64_t MemberProgram::AddCode(std::vector<uint64_t> words, uint64_t address) {
  const auto count = static_cast<int64_t>(words.size());
  const vpu::CodeLoad in = vpu::LoadCode(part_ ? 0 : address, room_.ub_begin,
                                         count, static_cast<int>(room_.pc));
  Append(in.load);
  Append(in.vload);
  if (part_) {
    words_ = std::move(words);
  } else {
    program_.segments.push_back(vpu::Segment("exchange", address, words));
  }
  return (count * 8 + Word() - 1) / Word() * Word();
}

void MemberProgram::MakePlaces(int64_t first) {
  for (int64_t at = room_.ub_begin + first;
       at + piece_bytes() <= room_.ub_end - Word(); at += piece_bytes())
    free_.push_back(at);
}

int64_t MemberProgram::Take() {
  const int64_t ub = free_.front();
  free_.pop_front();
  return ub;
}

absl::StatusOr<Program> MemberProgram::Finish(uint32_t halt_waits) {
  absl::StatusOr<Schedule> schedule = builder_.Finish(/*reorder=*/false);
  if (!schedule.ok()) return schedule.status();
  program_.descriptors = std::move(schedule->descriptors);
  isa::PutBits(program_.descriptors.back(), 32, 32, halt_waits);
  program_.preset = std::string(preset_.name);
  program_.prog_addr =
      hbm_.Allocate(program_.descriptors.size() * isa::kDescriptorBytes);
  // Stores reach the other core of the chip.
  program_.hbm_bytes = preset_.reach_bytes();
  return std::move(program_);
}

absl::StatusOr<MemberPart> MemberProgram::FinishPart() {
  absl::StatusOr<Sequence> sequence = builder_.AsAppended();
  if (!sequence.ok()) return sequence.status();
  return MemberPart{*std::move(sequence), std::move(words_)};
}

}  // namespace systole::compiler
