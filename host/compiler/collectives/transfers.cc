// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Exchanges: every core sends its parts to where they belong. A part that goes
// to several is loaded once. Parts are cut into pieces, and those of different
// parts alternate, so that all links are used at once. A receiver waits for one
// post of each sender, which follows all that this one sends to it.
//
// What a core sends to both cores of another chip crosses the links once: one
// of them takes it, with a post for each piece, and passes it on.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/collectives/member_program.h"
#include "systole/collective.h"

namespace systole::compiler {
namespace {

// A piece of a vector of its sender, and where it goes.
struct Move {
  struct Place {
    int to;
    int64_t byte;
  };
  int64_t slot;  // pieces of one slot are sent at about the same time
  int vector;
  int64_t byte, bytes;  // in the sender's vector
  std::vector<Place> places;
};

// Who sends what, as all positions know it.
class Routes {
 public:
  // cores: of a chip.
  Routes(const ExchangeSpec& spec, int cores) : spec_(spec), cores_(cores) {
    for (const Transfer& t : spec.transfers)
      sent_[{t.from, t.to}].insert({t.vector, t.from_byte, t.bytes});
    for (const auto& [pair, parts] : sent_) {
      const auto [from, to] = pair;
      const int other = NeighbourOf(to);
      if (other < 0 || OnChip(from, to) ||
          spec.group[from] % cores_ != spec.group[to] % cores_)
        continue;
      const auto same = sent_.find({from, other});
      if (same != sent_.end() && same->second == parts) passed_[pair] = other;
    }
  }

  bool OnChip(int a, int b) const {
    return spec_.group[a] / cores_ == spec_.group[b] / cores_;
  }
  // The position to which `to` passes on all that `from` sends to it; -1: none.
  int PassedTo(int from, int to) const {
    const auto found = passed_.find({from, to});
    return found == passed_.end() ? -1 : found->second;
  }
  // Who brings the parts of `from` to `to`.
  int BringerOf(int from, int to) const {
    const int other = NeighbourOf(to);
    return other >= 0 && PassedTo(from, other) == to ? other : from;
  }

  // All that a position sends itself, in its order. The places that others
  // pass on to are not among them.
  std::vector<Move> Of(int position, int64_t piece_bytes) const {
    std::map<std::tuple<int, int64_t, int64_t>, std::vector<Move::Place>> parts;
    int64_t longest = 0;
    for (const Transfer& t : spec_.transfers) {
      if (t.from != position || BringerOf(t.from, t.to) != position) continue;
      parts[{t.vector, t.from_byte, t.bytes}].push_back({t.to, t.to_byte});
      longest = std::max(longest, t.bytes);
    }
    std::vector<Move> moves;
    for (int64_t at = 0; at < longest; at += piece_bytes) {
      for (const auto& [part, places] : parts) {
        const auto& [vector, begin, bytes] = part;
        if (at >= bytes) continue;
        Move move{at / piece_bytes, vector, begin + at,
                  std::min(piece_bytes, bytes - at), places};
        for (Move::Place& place : move.places) place.byte += at;
        moves.push_back(std::move(move));
      }
    }
    return moves;
  }
  // Where `to` has what `from` sends to it.
  int64_t ByteAt(int from, int to, int vector, int64_t byte) const {
    for (const Transfer& t : spec_.transfers) {
      if (t.from == from && t.to == to && t.vector == vector &&
          t.from_byte <= byte && byte < t.from_byte + t.bytes)
        return t.to_byte + byte - t.from_byte;
    }
    return 0;  // of no transfer: not called for it
  }

 private:
  int NeighbourOf(int position) const {
    for (int p = 0; p < static_cast<int>(spec_.group.size()); ++p)
      if (p != position && OnChip(p, position)) return p;
    return -1;
  }

  const ExchangeSpec& spec_;
  const int cores_;
  std::map<std::pair<int, int>, std::set<std::tuple<int, int64_t, int64_t>>>
      sent_;
  std::map<std::pair<int, int>, int> passed_;
};

class Sender : public MemberProgram {
 public:
  Sender(const ExchangeSpec& spec, const Routes& routes, const Preset& preset,
         int position)
      : MemberProgram(preset, spec.group, spec.columns, position),
        spec_(spec),
        routes_(routes) {}

  absl::StatusOr<Program> Compile() {
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
    if (absl::Status s = CheckMemory(); !s.ok()) return s;
    MakePlaces(0);
    FindMoves();
    for (const Event& event : events_) Emit(event);
    return Finish(HaltWaits());
  }

 private:
  // From sending a piece to passing it on, in slots. Each position's waits are
  // for pieces of earlier slots, so none waits for itself.
  static constexpr int64_t kLag = 8;

  // Of a piece that this position sends, or passes on.
  struct Event {
    int64_t slot;
    int from;
    Move move;
  };

  int64_t WholeBeats(int64_t bytes) const {
    return (bytes + beat() - 1) / beat() * beat();
  }
  void AddVector(const std::string& name, const std::string& number,
                 uint64_t at, int64_t bytes) {
    TensorInfo tensor;
    tensor.name = name + number;
    tensor.channels = bytes;
    tensor.hbm_addr = at;
    tensor.pitch = tensor.img_pitch = WholeBeats(bytes);
    tensor.is_input = name == "in";
    tensor.is_output = name == "out";
    AddTensor(std::move(tensor));
  }

  void FindMoves() {
    for (int from = 0; from < size(); ++from) {
      const int other = routes_.PassedTo(from, position());
      if (from != position() && other < 0) continue;
      for (Move& move : routes_.Of(from, piece_bytes())) {
        if (from == position()) {
          for (const Move::Place& place : move.places) ++left_[place.to];
          events_.push_back({move.slot, from, std::move(move)});
          continue;
        }
        const auto mine = std::find_if(
            move.places.begin(), move.places.end(),
            [this](const Move::Place& p) { return p.to == position(); });
        if (mine == move.places.end()) continue;
        // It is where this position got it, and goes to the other one.
        const int64_t there =
            routes_.ByteAt(from, other, move.vector, move.byte);
        Move passed{move.slot + kLag,
                    move.vector,
                    mine->byte,
                    move.bytes,
                    {{other, there}}};
        ++left_[other];
        events_.push_back({passed.slot, from, std::move(passed)});
      }
    }
    std::stable_sort(
        events_.begin(), events_.end(),
        [](const Event& a, const Event& b) { return a.slot < b.slot; });
  }

  // The flag that position `to` waits for: senders of its own chip and others
  // are numbered.
  uint32_t FlagOf(int from, int to) const {
    const bool near = OnChip(from, to);
    int number = 0;
    for (int p = 0; p < from; ++p) number += OnChip(p, to) == near ? 1 : 0;
    return 1u << (near ? isa::kFirstPeerFlag : isa::kFirstLinkFlag + number);
  }

  void Emit(const Event& event) {
    const Move& move = event.move;
    const bool own = event.from == position();
    const MemberMemory& memory = memory_[position()];
    const int64_t ub = Take();
    Load((own ? memory.in : memory.out)[move.vector] + move.byte, move.bytes,
         ub, own ? 0 : FlagOf(event.from, position()));
    for (const Move::Place& place : move.places) {
      const bool last = --left_[place.to] == 0;
      const bool posts =
          place.to != position() &&
          (last || (own && routes_.PassedTo(position(), place.to) >= 0));
      Send(place.to, memory_[place.to].out[move.vector] + place.byte,
           move.bytes, ub, posts ? FlagOf(position(), place.to) : 0,
           WayOf(place.to));
    }
    Free(ub);
  }
  // One way to each receiver, as posts follow only what went their way.
  bool WayOf(int to) const { return (to / 2) % 2 != 0; }

  // Of those who bring something here, unless it is passed on piece by piece.
  uint32_t HaltWaits() const {
    uint32_t waits = 0;
    for (const Transfer& t : spec_.transfers) {
      if (t.to != position() || t.from == position()) continue;
      const int bringer = routes_.BringerOf(t.from, position());
      if (bringer != position() && routes_.PassedTo(bringer, position()) < 0)
        waits |= FlagOf(bringer, position());
    }
    return waits;
  }

  const ExchangeSpec& spec_;
  const Routes& routes_;
  std::vector<MemberMemory> memory_;  // by position
  std::vector<Event> events_;
  std::map<int, int64_t> left_;  // pieces for each receiver
};

absl::Status Check(const ExchangeSpec& spec, const Preset& preset) {
  if (absl::Status s = CheckGroup(spec.group, spec.columns, preset); !s.ok())
    return s;
  const auto size = static_cast<int>(spec.group.size());
  const int64_t beat = preset.beat_bytes();
  const auto vectors = static_cast<int>(spec.in_bytes.size());
  if (vectors == 0 || spec.out_bytes.size() != spec.in_bytes.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "an exchange of %d vectors to %d", vectors, spec.out_bytes.size()));
  }
  if (absl::Status s = CheckMembers(spec.memory, vectors, spec.group, preset);
      !s.ok())
    return s;
  for (int v = 0; v < vectors; ++v) {
    if (spec.in_bytes[v] >= 1 && spec.out_bytes[v] >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("an exchange of vectors of %d bytes to vectors of %d",
                        spec.in_bytes[v], spec.out_bytes[v]));
  }
  for (size_t i = 0; i < spec.transfers.size(); ++i) {
    const Transfer& t = spec.transfers[i];
    if (t.vector < 0 || t.vector >= vectors) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d is of vector %d of %d", i, t.vector, vectors));
    }
    const int64_t in_bytes = spec.in_bytes[t.vector];
    const int64_t out_bytes = spec.out_bytes[t.vector];
    const auto inside = [&](int64_t at, int64_t end) {
      return at >= 0 && t.bytes >= 1 && at <= end && t.bytes <= end - at;
    };
    if (t.from < 0 || t.from >= size || t.to < 0 || t.to >= size ||
        !inside(t.from_byte, in_bytes) || !inside(t.to_byte, out_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d bytes from byte %d of position %d to byte %d of "
          "position %d: there are positions 0 to %d with %d and %d bytes",
          i, t.bytes, t.from_byte, t.from, t.to_byte, t.to, size - 1, in_bytes,
          out_bytes));
    }
    if (t.from_byte % beat != 0 || t.to_byte % beat != 0 ||
        (t.bytes % beat != 0 && t.to_byte + t.bytes != out_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "transfer %d, %d bytes from byte %d to byte %d: multiples of the "
          "beat of %d bytes are needed",
          i, t.bytes, t.from_byte, t.to_byte, beat));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ExchangeSpec AllGather(const std::vector<int64_t>& bytes,
                       std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{bytes, bytes, {}, std::move(group), columns, {}};
  for (size_t v = 0; v < bytes.size(); ++v) {
    spec.out_bytes[v] *= size;
    for (int from = 0; from < size; ++from)
      for (int to = 0; to < size; ++to)
        spec.transfers.push_back(
            {from, to, 0, from * bytes[v], bytes[v], static_cast<int>(v)});
  }
  return spec;
}

ExchangeSpec AllToAll(int64_t part_bytes, std::vector<int> group, int columns) {
  const auto size = static_cast<int>(group.size());
  const int64_t all = part_bytes * size;
  ExchangeSpec spec{{all}, {all}, {}, std::move(group), columns, {}};
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      spec.transfers.push_back(
          {from, to, to * part_bytes, from * part_bytes, part_bytes});
  return spec;
}

ExchangeSpec Broadcast(int root, int64_t bytes, std::vector<int> group,
                       int columns) {
  const auto size = static_cast<int>(group.size());
  ExchangeSpec spec{{bytes}, {bytes}, {}, std::move(group), columns, {}};
  for (int to = 0; to < size; ++to)
    spec.transfers.push_back({root, to, 0, 0, bytes});
  return spec;
}

ExchangeSpec Permute(const std::vector<std::pair<int, int>>& pairs,
                     int64_t bytes, std::vector<int> group, int columns) {
  ExchangeSpec spec{{bytes}, {bytes}, {}, std::move(group), columns, {}};
  for (const auto& [from, to] : pairs)
    spec.transfers.push_back({from, to, 0, 0, bytes});
  return spec;
}

absl::StatusOr<std::vector<Program>> CompileExchange(const ExchangeSpec& spec,
                                                     const Preset& preset) {
  if (absl::Status s = Check(spec, preset); !s.ok()) return s;
  const Routes routes(spec, static_cast<int>(preset.chip.cores));
  std::vector<Program> programs;
  for (size_t position = 0; position < spec.group.size(); ++position) {
    auto program =
        Sender(spec, routes, preset, static_cast<int>(position)).Compile();
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace systole::compiler
