// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The programs of an all-reduce, or of its first half, a reduce-scatter.
// Everything moves in pieces: loaded, combined by the vector unit, sent on from
// the unified buffer, where what the next round combines stays as long as there
// is room. A link flag, or a flag between
// the cores of a chip, says that a piece has come. Each direction of each round
// has a flag of its own, so its posts and waits are in one order. The cores of
// a chip read each other's vectors, which saves to send them.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/collectives/all_reduce_code.h"
#include "host/compiler/collectives/exchange.h"
#include "host/compiler/collectives/member_program.h"
#include "host/program/vpu_asm.h"
#include "systole/collective.h"

namespace systole::compiler {
namespace {

using Type = AllReduceSpec::Type;

// Elements of the first half of a vector (docs/hlo.md): about half, a multiple
// of what fills a beat of any core.
constexpr int64_t kGranule = 256;
int64_t FirstHalf(int64_t elements) {
  return std::min(elements,
                  (elements + 2 * kGranule - 1) / (2 * kGranule) * kGranule);
}

int64_t BeatsOf(const AllReduceSpec& spec, int64_t elements,
                const Preset& preset) {
  const int64_t beat = preset.beat_bytes();
  return (elements * ElementBytes(spec.type) + beat - 1) / beat;
}
// Of all vectors.
int64_t VectorBytes(const AllReduceSpec& spec, const Preset& preset) {
  int64_t beats = 0;
  for (const int64_t elements : spec.elements)
    beats += BeatsOf(spec, elements, preset);
  return beats * preset.beat_bytes();
}
// What comes lands here, the vectors for each round; then the code.
constexpr int64_t kLandings = 3, kCodeBytes = 4096;

class Member : public MemberProgram {
 public:
  Member(const AllReduceSpec& spec, const Preset& preset, int position)
      : MemberProgram(preset, spec.group, spec.columns, position),
        spec_(spec) {}

  absl::StatusOr<Program> Compile() {
    PlaceMemory();
    if (absl::Status s = CheckMemory(); !s.ok()) return s;
    if (absl::Status s = LoadCode(); !s.ok()) return s;
    MakeEvents();
    for (const Step& step : steps_) Emit(step);
    return Finish(halt_waits_);
  }

 private:
  static constexpr int64_t kLag = 3;  // slots
  // Places that are not taken for what is kept.
  static constexpr size_t kReserve = 24;

  // What happens to a piece of a half in a slot.
  enum class Kind { kCopy, kFirst, kCombine, kTake };
  struct Step {
    int64_t slot;
    int half, round;
    Kind kind;
    Piece piece;
  };

  void PlaceMemory() {
    memory_ = spec_.memory;
    std::vector<int> orders[2];
    for (int l = 0; 1 << l < size(); ++l) orders[0].push_back(l);
    orders[1] = orders[0];
    if (size() > 2) std::reverse(orders[1].begin() + 1, orders[1].end());
    std::vector<std::vector<Share>> halves[2];
    MemberMemory all;
    int64_t beats = 0;
    for (const int64_t elements : spec_.elements) {
      begins_.push_back(beats);
      const int64_t first = BeatsOf(spec_, FirstHalf(elements), preset());
      const int64_t end = beats + BeatsOf(spec_, elements, preset());
      const Piece parts[] = {{beats, beats + first}, {beats + first, end}};
      for (int h = 0; h < 2; ++h) {
        halves[h].push_back(
            spec_.scatter ? ConsecutiveShares(parts[h], {beats, end}, size())
                          : EqualShares(parts[h], orders[h]));
      }
      if (memory_.empty()) {
        all.in.push_back(hbm().Allocate((end - beats) * beat()));
        all.out.push_back(hbm().Allocate((end - beats) * beat()));
      }
      beats = end;
    }
    if (memory_.empty()) {
      all.scratch = hbm().Allocate(ScratchBytes(spec_, preset()));
      memory_.resize(spec_.group.size(), all);
    }
    const int64_t chunk = piece_bytes() / beat();
    for (int h = 0; h < 2; ++h)
      halves_.emplace_back(halves[h], orders[h], chunk, kLag);
    const MemberMemory& own = memory_[position()];
    for (size_t v = 0; v < spec_.elements.size(); ++v) {
      const std::string number =
          spec_.elements.size() == 1 ? "" : absl::StrCat(v);
      AddTensor(TensorOf("in", number, spec_.elements[v], own.in[v]));
      AddTensor(TensorOf("out", number, spec_.elements[v], own.out[v]));
    }
  }

  absl::Status LoadCode() {
    const int64_t row = preset().cols * ElementBytes(spec_.type);
    absl::StatusOr<vpu::Code> code =
        vpu::Assemble(AllReduceCode(spec_), "all_reduce", {{"ROW", row}});
    if (!code.ok()) return code.status();
    const auto count = static_cast<int64_t>(code->words.size());
    if (count * 8 > kCodeBytes)
      return absl::InternalError("the code of an all-reduce has no room");
    const DataSegment segment = vpu::Segment(
        "all_reduce",
        memory_[position()].scratch + kLandings * VectorBytes(spec_, preset()),
        code->words);
    const vpu::CodeLoad in = vpu::LoadCode(segment.hbm_addr, 0, count, 0);
    AddSegment(segment);
    // The vector may be read from here on.
    Append(in.load, 0, Pulls() ? ReadyFlag() : 0);
    Append(in.vload);
    const int64_t word = std::max(preset().word_bytes(), beat());
    MakePlaces((count * 8 + word - 1) / word * word);
    return absl::OkStatus();
  }

  void MakeEvents() {
    for (int h = 0; h < 2; ++h) {
      const Exchange& half = halves_[h];
      const auto add = [&](const std::vector<Exchange::Event>& events,
                           int round, Kind kind) {
        for (const Exchange::Event& e : events)
          steps_.push_back({e.slot, h, round, kind, e.piece});
      };
      if (half.rounds() == 0) {
        add(half.All(), 0, Kind::kCopy);
        continue;
      }
      if (!Pulls()) add(half.FirstSent(position()), 0, Kind::kFirst);
      for (int r = 0; r < half.rounds(); ++r)
        add(half.Combined(position(), r), r, Kind::kCombine);
      if (spec_.scatter) continue;
      for (int r = half.rounds() - 1; r > 0; --r)
        add(half.Taken(position(), r), r, Kind::kTake);
    }
    std::stable_sort(
        steps_.begin(), steps_.end(),
        [](const Step& a, const Step& b) { return a.slot < b.slot; });
    // The last partner's pieces are waited for by the halt alone.
    for (int h = 0; h < 2; ++h) {
      if (halves_[h].rounds() == 0 || spec_.scatter) continue;
      const auto given =
          halves_[h].Given(halves_[h].PartnerOf(position(), 0), 0);
      if (!given.empty()) halt_waits_ |= FlagOf(h, 0, /*doubling=*/true);
      const auto mine = halves_[h].Given(position(), 0);
      given_left_[h] = static_cast<int64_t>(mine.size());
    }
  }

  // Whether it reads what its first partner would send.
  bool Pulls() const {
    return size() > 1 && OnChip(position(), position() ^ 1);
  }
  static uint32_t ReadyFlag() { return 1u << isa::kFirstPeerFlag; }
  // The flag of what comes in a round of a half, as a mask. Levels between
  // chips are numbered; a half takes its own rounds in its own order.
  uint32_t FlagOf(int half, int round, bool doubling) const {
    const int partner = halves_[half].PartnerOf(position(), round);
    const int of_level = half * 2 + (doubling ? 1 : 0);
    if (OnChip(position(), partner))
      return 1u << (isa::kFirstPeerFlag + of_level);
    return 1u << (isa::kFirstLinkFlag + 4 * LinkLevel(partner) + of_level);
  }
  // Number of a level among those that lead to other chips.
  int LinkLevel(int partner) const {
    int number = 0;
    for (int l = 0; (position() ^ partner) != 1 << l; ++l)
      number += OnChip(position(), position() ^ 1 << l) ? 0 : 1;
    return number;
  }

  // The piece to the partner of a round, with or without its flag. Where there
  // are two ways, the halves take one each.
  void SendPiece(int half, int round, bool doubling, const Piece& piece,
                 int64_t ub, bool post) {
    const int partner = halves_[half].PartnerOf(position(), round);
    const uint64_t to = doubling ? PlaceOf(memory_[partner].out, piece)
                                 : Landing(partner, round, piece);
    Send(partner, to, piece.beats() * beat(), ub,
         post ? FlagOf(half, round, doubling) : 0, half != 0);
  }
  // Where a piece lies, or where what comes in a round lands.
  uint64_t PlaceOf(const std::vector<uint64_t>& vectors,
                   const Piece& piece) const {
    const auto after =
        std::upper_bound(begins_.begin(), begins_.end(), piece.begin);
    const size_t v = after - begins_.begin() - 1;
    return vectors[v] + (piece.begin - begins_[v]) * beat();
  }
  uint64_t Landing(int member, int round, const Piece& piece) const {
    return memory_[member].scratch + round * VectorBytes(spec_, preset()) +
           piece.begin * beat();
  }
  void LoadPiece(uint64_t from, const Piece& piece, int64_t ub, uint32_t wait) {
    Load(from, piece.beats() * beat(), ub, wait);
  }
  void StorePiece(uint64_t to, const Piece& piece, int64_t ub) {
    Store(to, piece.beats() * beat(), ub);
  }
  void Give(const Step& step, int before, int64_t ub) {
    for (int r = before - 1; r >= 0; --r) {
      const bool last = r == 0 && --given_left_[step.half] == 0;
      SendPiece(step.half, r, /*doubling=*/true, step.piece, ub, r > 0 || last);
    }
  }

  void Emit(const Step& step) {
    const Exchange& half = halves_[step.half];
    const uint64_t in = PlaceOf(memory_[position()].in, step.piece);
    const uint64_t out = PlaceOf(memory_[position()].out, step.piece);
    const auto kept = kept_.find(step.piece.begin);
    const bool here = step.kind == Kind::kCombine && kept != kept_.end();
    const int64_t ub = here ? kept->second : Take();
    if (here) kept_.erase(kept);
    if (step.kind == Kind::kCopy) {
      LoadPiece(in, step.piece, ub, 0);
      StorePiece(out, step.piece, ub);
      return Free(ub);
    }
    const uint32_t wait =
        FlagOf(step.half, step.round, step.kind == Kind::kTake);
    if (step.kind == Kind::kFirst) {
      LoadPiece(in, step.piece, ub, 0);
      SendPiece(step.half, 0, /*doubling=*/false, step.piece, ub, true);
    } else if (step.kind == Kind::kTake) {
      LoadPiece(out, step.piece, ub, wait);
      Give(step, step.round, ub);
    } else {
      const int64_t other = Take();
      if (!here) LoadPiece(step.round == 0 ? in : out, step.piece, ub, 0);
      if (step.round == 0 && Pulls()) {
        LoadPiece(preset().memory_bytes() +
                      PlaceOf(memory_[position() ^ 1].in, step.piece),
                  step.piece, other,
                  std::exchange(ready_, ReadyFlag()) == 0 ? ReadyFlag() : 0);
      } else {
        LoadPiece(Landing(position(), step.round, step.piece), step.piece,
                  other, wait);
      }
      Combine(ub, other);
      Free(other);
      const int next = step.round + 1;
      if (next == half.rounds()) {
        StorePiece(out, step.piece, ub);
        if (!spec_.scatter) Give(step, half.rounds(), ub);
      } else if (half.Sends(position(), next, step.piece)) {
        SendPiece(step.half, next, /*doubling=*/false, step.piece, ub, true);
      } else if (places() > kReserve) {
        kept_[step.piece.begin] = ub;
        return;
      } else {
        StorePiece(out, step.piece, ub);
      }
    }
    Free(ub);
  }

  // Combines two places; the result replaces the first.
  void Combine(int64_t ub, int64_t other) {
    const int64_t rows =
        piece_bytes() / (preset().cols * ElementBytes(spec_.type));
    isa::Vrun run;
    run.args[0] = static_cast<uint32_t>(ub);
    run.args[1] = static_cast<uint32_t>(other);
    run.args[3] =
        static_cast<uint32_t>(preset().cols * ElementBytes(spec_.type));
    run.args[5] = static_cast<uint32_t>(rows);
    Access own, read;
    own.base = ub;
    read.base = other;
    own.len = read.len = piece_bytes();
    Access write = own;
    write.write = true;
    Append(run, {own, read, write}, rows + 40);
  }

  TensorInfo TensorOf(const std::string& name, const std::string& number,
                      int64_t elements, uint64_t at) const {
    TensorInfo tensor;
    tensor.name = name + number;
    tensor.type = spec_.type == Type::kBf16      ? ElementType::kBf16
                  : spec_.type == Type::kFloat32 ? ElementType::kFloat32
                                                 : ElementType::kInt32;
    tensor.channels = elements;
    tensor.hbm_addr = at;
    tensor.pitch = tensor.img_pitch =
        (tensor.line_bytes() + beat() - 1) / beat() * beat();
    tensor.is_input = name == "in";
    tensor.is_output = name == "out";
    return tensor;
  }

  const AllReduceSpec& spec_;
  std::vector<int64_t> begins_;  // of the vectors, in beats
  std::vector<Exchange> halves_;
  std::vector<Step> steps_;
  uint32_t halt_waits_ = 0;
  int64_t given_left_[2] = {0, 0};    // pieces for the first partner
  std::vector<MemberMemory> memory_;  // by position
  std::map<int64_t, int64_t> kept_;   // by begin of a piece: its place
  uint32_t ready_ = 0;                // the flag that was waited for
};

absl::Status Check(const AllReduceSpec& spec, const Preset& preset) {
  if (absl::Status s = CheckGroup(spec.group, spec.columns, preset); !s.ok())
    return s;
  if (spec.elements.empty())
    return absl::InvalidArgumentError("an all-reduce of no vector");
  for (const int64_t elements : spec.elements) {
    if (elements >= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("an all-reduce of %d elements", elements));
  }
  if (absl::Status s =
          CheckMembers(spec.memory, spec.elements.size(), spec.group, preset);
      !s.ok())
    return s;
  const size_t size = spec.group.size();
  for (const int64_t elements : spec.elements) {
    const auto whole = static_cast<int64_t>(size) * preset.beat_bytes();
    if (!spec.scatter || elements * ElementBytes(spec.type) % whole == 0)
      continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "a reduce-scatter of %d elements to %d positions: parts of whole beats "
        "of %d bytes are needed",
        elements, size, preset.beat_bytes()));
  }
  if ((size & (size - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "an all-reduce over %d cores: 1, 2, 4 or 8 are needed", size));
  }
  const int cores = static_cast<int>(preset.chip.cores);
  int levels = 0;
  for (int l = 0; 1u << l < size; ++l) {
    for (int p = 0; p < static_cast<int>(size); ++p) {
      const bool on_chip =
          spec.group[p] / cores == spec.group[p ^ 1 << l] / cores;
      if (p == 0) levels += on_chip ? 0 : 1;
      const bool first = spec.group[0] / cores == spec.group[1 << l] / cores;
      if (on_chip == first) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "positions %d and %d of an all-reduce are on one chip and positions "
          "%d and %d are not, or the other way round: neighbours in the group "
          "have to be neighbours everywhere",
          0, 1 << l, p, p ^ 1 << l));
    }
  }
  if (levels > 2) {
    return absl::InvalidArgumentError(
        "an all-reduce over 8 chips: 4 are the most");
  }
  return absl::OkStatus();
}

}  // namespace

int64_t ScratchBytes(const AllReduceSpec& spec, const Preset& preset) {
  return kLandings * VectorBytes(spec, preset) + kCodeBytes;
}

absl::StatusOr<std::vector<Program>> CompileAllReduce(const AllReduceSpec& spec,
                                                      const Preset& preset) {
  if (absl::Status s = Check(spec, preset); !s.ok()) return s;
  std::vector<Program> programs;
  for (size_t position = 0; position < spec.group.size(); ++position) {
    auto program = Member(spec, preset, static_cast<int>(position)).Compile();
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace systole::compiler
