// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/collectives/exchange_member.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/program/vpu_asm.h"

namespace systole::compiler {
namespace {

// s1: address of 64 rows of lanes, s4: bytes of a row.
constexpr const char* kZeros =
    "iadd v16, s0, s0\n"
    "st32 v16, s1, s4\nst32 v16, s1, s4, (8*ROW)\n"
    "st32 v16, s1, s4, (16*ROW)\nst32 v16, s1, s4, (24*ROW)\n"
    "st32 v16, s1, s4, (32*ROW)\nst32 v16, s1, s4, (40*ROW)\n"
    "st32 v16, s1, s4, (48*ROW)\nst32 v16, s1, s4, (56*ROW)\nhalt\n";
constexpr int64_t kZeroCycles = 100;  // about

}  // namespace

absl::StatusOr<Program> ExchangeMember::Compile() {
  PlaceMemory();
  if (absl::Status s = CheckMemory(); !s.ok()) return s;
  MakePlaces(0);
  for (const Routes::Handling& handling : duty_.handlings) Emit(handling);
  return Finish(EndWaits());
}

absl::StatusOr<MemberPart> ExchangeMember::CompilePart() {
  PlaceMemory();
  const bool clears =
      room().stretch.begin == 0 &&
      std::count(spec_.zeros.begin(), spec_.zeros.end(), position()) > 0;
  if (clears) {
    if (absl::Status s = Clear(); !s.ok()) return s;
  } else {
    MakePlaces(0);
  }
  for (const Routes::Handling& handling : duty_.handlings) Emit(handling);
  std::vector<Access> arrived;
  for (const Routes::Arrival& arrival : duty_.arrivals) {
    const Routes::Parcel& parcel = routes_.parcels()[arrival.parcel];
    arrived.push_back(
        ArrivedAt(AddressOf(position(), parcel, arrival.at),
                  {parcel.bytes, parcel.lines, arrival.at.pitch}));
  }
  // Where nothing is to do, there is still a step.
  const uint64_t own = memory_[position()].in[0];
  if (EndWaits() != 0 || (!clears && duty_.handlings.empty()))
    Fence(own, std::move(arrived), EndWaits(), 0);
  return FinishPart();
}

void ExchangeMember::PlaceMemory() {
  memory_ = spec_.memory;
  if (memory_.empty()) {
    MemberMemory all;
    for (const int64_t bytes : spec_.in_bytes)
      all.in.push_back(hbm().Allocate(WholeBeats(bytes)));
    for (const int64_t bytes : spec_.out_bytes)
      all.out.push_back(hbm().Allocate(WholeBeats(bytes)));
    memory_.resize(spec_.group.size(), all);
  }
  const MemberMemory& own = memory_[position()];
  for (size_t v = 0; v < spec_.in_bytes.size(); ++v) {
    const std::string number =
        spec_.in_bytes.size() == 1 ? "" : absl::StrCat(v);
    AddVector("in", number, own.in[v], spec_.in_bytes[v]);
    AddVector("out", number, own.out[v], spec_.out_bytes[v]);
  }
}

void ExchangeMember::AddVector(const std::string& name,
                               const std::string& number, uint64_t at,
                               int64_t bytes) {
  TensorInfo tensor;
  tensor.name = name + number;
  tensor.channels = bytes;
  tensor.hbm_addr = at;
  tensor.pitch = tensor.img_pitch = WholeBeats(bytes);
  tensor.is_input = name == "in";
  tensor.is_output = name == "out";
  AddTensor(std::move(tensor));
}

absl::Status ExchangeMember::Clear() {
  const int64_t row = 4 * preset().cols;
  absl::StatusOr<vpu::Code> code = vpu::Assemble(
      kZeros, "zeros", {{"ROW", row}}, static_cast<int>(room().pc));
  if (!code.ok()) return code.status();
  MakePlaces(AddCode(std::move(code->words), memory_[position()].scratch));
  const int64_t ub = Take();
  isa::Vrun run;
  run.pc = static_cast<uint32_t>(room().pc);
  run.args[0] = static_cast<uint32_t>(ub);
  run.args[3] = static_cast<uint32_t>(row);
  Access write;
  write.write = true;
  write.base = ub;
  write.len = piece_bytes();
  Append(run, {write}, kZeroCycles);
  for (size_t v = 0; v < spec_.out_bytes.size(); ++v) {
    for (int64_t at = 0; at < spec_.out_bytes[v]; at += piece_bytes()) {
      Store(memory_[position()].out[v] + at,
            {std::min(piece_bytes(), spec_.out_bytes[v] - at)}, ub);
    }
  }
  Free(ub);
  return absl::OkStatus();
}

void ExchangeMember::Emit(const Routes::Handling& handling) {
  const Routes::Parcel& parcel = routes_.parcels()[handling.parcel];
  const int64_t ub = Take();
  const auto lines = [&](const Routes::Place& place) {
    return MemberLines{parcel.bytes, parcel.lines, place.pitch};
  };
  const uint64_t from = AddressOf(position(), parcel, handling.at);
  if (handling.bringer < 0) {
    Load(from, lines(handling.at), ub);
  } else {
    LoadArrived(from, lines(handling.at), ub,
                FlagOf(handling.bringer, position(), handling.half));
  }
  for (const Routes::Hop& hop : handling.hops) {
    Send(hop.to, AddressOf(hop.to, parcel, hop.at), lines(hop.at), ub,
         hop.posts ? FlagOf(position(), hop.to, hop.half) : 0, hop.half != 0);
  }
  Free(ub);
}

uint64_t ExchangeMember::AddressOf(int member, const Routes::Parcel& parcel,
                                   const Routes::Place& place) const {
  const MemberMemory& memory = memory_[member];
  const uint64_t begin = place.space == Routes::Space::kScratch ? memory.scratch
                         : place.space == Routes::Space::kIn
                             ? memory.in[parcel.vector]
                             : memory.out[parcel.vector];
  return begin + place.byte;
}

uint32_t ExchangeMember::FlagOf(int from, int to, int half) const {
  const bool near = OnChip(from, to);
  if (is_part()) {
    const int other = from == position() ? to : from;
    const int first =
        near ? isa::kFirstPeerFlag
             : isa::kFirstLinkFlag + kFlagsOfLevel * PartnerNumber(other);
    // The flags that a reduction posts by stores, too, not by loads.
    return 1u << (first + 2 * half + 1);
  }
  int number = 0;
  for (int p = 0; p < from; ++p) number += OnChip(p, to) == near ? 1 : 0;
  return 1u << (near ? isa::kFirstPeerFlag : isa::kFirstLinkFlag + number);
}

uint32_t ExchangeMember::EndWaits() const {
  uint32_t waits = 0;
  for (const Routes::End& end : duty_.ends)
    waits |= FlagOf(end.from, position(), end.half);
  return waits;
}

}  // namespace systole::compiler
