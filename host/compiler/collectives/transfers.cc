// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Exchanges: every core sends its parts to where they belong. A part that goes
// to several is loaded once. Parts are cut into pieces, and those of different
// parts alternate, so that all links are used at once. A receiver waits for one
// post of each sender, which follows all that this one sends to it.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/collectives/member_program.h"
#include "systole/collective.h"

namespace systole::compiler {
namespace {

class Sender : public MemberProgram {
 public:
  Sender(const ExchangeSpec& spec, const Preset& preset, int position)
      : MemberProgram(preset, spec.group, spec.columns, position),
        spec_(spec) {}

  absl::StatusOr<Program> Compile() {
    memory_ = spec_.memory;
    if (memory_.empty()) {
      MemberMemory all;
      all.in = {hbm().Allocate(WholeBeats(spec_.in_bytes))};
      all.out = {hbm().Allocate(WholeBeats(spec_.out_bytes))};
      memory_.resize(spec_.group.size(), all);
    }
    AddVector("in", memory_[position()].in[0], spec_.in_bytes);
    AddVector("out", memory_[position()].out[0], spec_.out_bytes);
    if (absl::Status s = CheckMemory(); !s.ok()) return s;
    MakePlaces(0);
    uint32_t waits = 0;
    for (const Transfer& t : spec_.transfers) {
      if (t.to == position() && t.from != position())
        waits |= FlagOf(t.from, t.to);
      if (t.from == position()) Cut(t);
    }
    EmitPieces();
    return Finish(waits);
  }

 private:
  // Where a piece of the own vector goes.
  struct Place {
    int to;
    int64_t byte;
  };
  struct Part {
    int64_t begin = 0, bytes = 0;
    std::vector<Place> places;
  };

  int64_t WholeBeats(int64_t bytes) const {
    return (bytes + beat() - 1) / beat() * beat();
  }
  void AddVector(const std::string& name, uint64_t at, int64_t bytes) {
    TensorInfo tensor;
    tensor.name = name;
    tensor.channels = bytes;
    tensor.hbm_addr = at;
    tensor.pitch = tensor.img_pitch = WholeBeats(bytes);
    tensor.is_input = name == "in";
    tensor.is_output = name == "out";
    AddTensor(std::move(tensor));
  }

  // The flag that position `to` waits for: senders of its own chip and others
  // are numbered.
  uint32_t FlagOf(int from, int to) const {
    const bool near = OnChip(from, to);
    int number = 0;
    for (int p = 0; p < from; ++p) number += OnChip(p, to) == near ? 1 : 0;
    return 1u << (near ? isa::kFirstPeerFlag : isa::kFirstLinkFlag + number);
  }

  void Cut(const Transfer& t) {
    Part& part = parts_[{t.from_byte, t.bytes}];
    part.begin = t.from_byte;
    part.bytes = t.bytes;
    part.places.push_back({t.to, t.to_byte});
    left_[t.to] += (t.bytes + piece_bytes() - 1) / piece_bytes();
  }

  void EmitPieces() {
    int64_t longest = 0;
    for (const auto& [key, part] : parts_)
      longest = std::max(longest, part.bytes);
    for (int64_t at = 0; at < longest; at += piece_bytes()) {
      for (const auto& [key, part] : parts_) {
        if (at >= part.bytes) continue;
        const int64_t bytes = std::min(piece_bytes(), part.bytes - at);
        const int64_t ub = Take();
        Load(memory_[position()].in[0] + part.begin + at, bytes, ub);
        for (const Place& place : part.places) {
          const bool last = --left_[place.to] == 0;
          Send(
              place.to, memory_[place.to].out[0] + place.byte + at, bytes, ub,
              last && place.to != position() ? FlagOf(position(), place.to) : 0,
              WayOf(place.to));
        }
        Free(ub);
      }
    }
  }
  // One way to each receiver, as posts follow only what went their way.
  bool WayOf(int to) const { return (to / 2) % 2 != 0; }

  const ExchangeSpec& spec_;
  std::vector<MemberMemory> memory_;  // by position
  std::map<std::pair<int64_t, int64_t>, Part> parts_;
  std::map<int, int64_t> left_;  // pieces for each receiver
};

absl::Status Check(const ExchangeSpec& spec, const Preset& preset) {
  if (absl::Status s = CheckGroup(spec.group, spec.columns, preset); !s.ok())
    return s;
  const auto size = static_cast<int>(spec.group.size());
  const int64_t beat = preset.beat_bytes();
  if (absl::Status s = CheckMembers(spec.memory, 1, spec.group, preset);
      !s.ok())
    return s;
  if (spec.in_bytes < 1 || spec.out_bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an exchange of vectors of %d bytes to vectors of %d",
                        spec.in_bytes, spec.out_bytes));
  }
  for (size_t i = 0; i < spec.transfers.size(); ++i) {
    const Transfer& t = spec.transfers[i];
    const auto inside = [&](int64_t at, int64_t end) {
      return at >= 0 && t.bytes >= 1 && at <= end && t.bytes <= end - at;
    };
    if (t.from < 0 || t.from >= size || t.to < 0 || t.to >= size ||
        !inside(t.from_byte, spec.in_bytes) ||
        !inside(t.to_byte, spec.out_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d bytes from byte %d of position %d to byte %d of "
          "position %d: there are positions 0 to %d with %d and %d bytes",
          i, t.bytes, t.from_byte, t.from, t.to_byte, t.to, size - 1,
          spec.in_bytes, spec.out_bytes));
    }
    if (t.from_byte % beat != 0 || t.to_byte % beat != 0 ||
        (t.bytes % beat != 0 && t.to_byte + t.bytes != spec.out_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d bytes from byte %d to byte %d: multiples of the "
          "beat of %d bytes are needed",
          i, t.bytes, t.from_byte, t.to_byte, beat));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ExchangeSpec AllGather(int64_t bytes, std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{bytes, bytes * size, {}, std::move(group), columns, {}};
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      spec.transfers.push_back({from, to, 0, from * bytes, bytes});
  return spec;
}

ExchangeSpec AllToAll(int64_t part_bytes, std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  const int64_t all = part_bytes * size;
  ExchangeSpec spec{all, all, {}, std::move(group), columns, {}};
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      spec.transfers.push_back(
          {from, to, to * part_bytes, from * part_bytes, part_bytes});
  return spec;
}

ExchangeSpec Broadcast(int root, int64_t bytes, std::vector<int> group,
                       int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{bytes, bytes, {}, std::move(group), columns, {}};
  for (int to = 0; to < size; ++to)
    spec.transfers.push_back({root, to, 0, 0, bytes});
  return spec;
}

ExchangeSpec Permute(const std::vector<std::pair<int, int>>& pairs,
                     int64_t bytes, std::vector<int> group, int columns) {
  ExchangeSpec spec{bytes, bytes, {}, std::move(group), columns, {}};
  for (const auto& [from, to] : pairs)
    spec.transfers.push_back({from, to, 0, 0, bytes});
  return spec;
}

absl::StatusOr<std::vector<Program>> CompileExchange(const ExchangeSpec& spec,
                                                     const Preset& preset) {
  if (absl::Status s = Check(spec, preset); !s.ok()) return s;
  std::vector<Program> programs;
  for (size_t position = 0; position < spec.group.size(); ++position) {
    auto program = Sender(spec, preset, static_cast<int>(position)).Compile();
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace systole::compiler
