// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/collectives/reduction_member.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/compiler/collectives/all_reduce_code.h"
#include "host/compiler/collectives/reduction_sizes.h"
#include "host/compiler/geometry.h"
#include "host/program/vpu_asm.h"

namespace systole::compiler {
namespace {

constexpr int64_t kLag = 3;  // slots
// Rounds of a few rows that are faster than one of many.
constexpr int64_t kMostFew = 3;
constexpr size_t kMostReserved = 24;
// Between the cores of a chip, which read each other's vectors: they may be
// read. And afterwards: they were read, where nothing that comes says so.
constexpr uint32_t kReadyFlag = 1u << isa::kFirstPeerFlag;
// Of a link, for all vectors: up to here half the rounds are faster than less
// to send. Between the cores of a chip they are not.
constexpr int64_t kWholeCycles = 240;

Exchange::Way WayOf(const AllReduceSpec& spec, const Preset& preset) {
  if (spec.phase == AllReduceSpec::Phase::kAllGather)
    return Exchange::Way::kDoubling;
  int64_t bytes = 0;
  for (const int64_t elements : spec.elements)
    bytes += elements * ElementBytes(spec.type);
  const auto chip_of = [&](int core) { return core / preset.chip.cores; };
  const bool links = std::any_of(
      spec.group.begin(), spec.group.end(),
      [&](int core) { return chip_of(core) != chip_of(spec.group[0]); });
  return spec.phase == AllReduceSpec::Phase::kAllReduce && links &&
                 bytes <= kWholeCycles * preset.chip.link_bytes
             ? Exchange::Way::kWhole
             : Exchange::Way::kHalving;
}

}  // namespace

ReductionLayout::ReductionLayout(const AllReduceSpec& spec,
                                 const Preset& preset)
    : way(WayOf(spec, preset)),
      chunk(PieceBytes(preset) / preset.beat_bytes()) {
  const auto size = static_cast<int>(spec.group.size());
  for (int l = 0; 1 << l < size; ++l) orders[0].push_back(l);
  orders[1] = orders[0];
  if (size > 2) std::reverse(orders[1].begin() + 1, orders[1].end());
  int64_t beats = 0;
  for (const int64_t elements : spec.elements) {
    begins.push_back(beats);
    const int64_t first = BeatsOf(FirstHalf(elements), spec.type, preset);
    const int64_t end = beats + BeatsOf(elements, spec.type, preset);
    const Piece parts[] = {{beats, beats + first}, {beats + first, end}};
    for (int h = 0; h < 2; ++h) {
      std::vector<Share>& shares = halves[h].emplace_back();
      if (way == Exchange::Way::kWhole)
        shares = {{parts[h], 0}};
      else if (spec.phase == AllReduceSpec::Phase::kAllReduce)
        shares = EqualShares(parts[h], orders[h]);
      else
        shares = ConsecutiveShares(parts[h], {beats, end}, size);
    }
    beats = end;
  }
  begins.push_back(beats);
  columns = ColumnsOf(halves, chunk);
}

absl::StatusOr<Program> ReductionMember::Compile() {
  if (absl::Status s = Emit(); !s.ok()) return s;
  return Finish(end_waits_);
}

absl::StatusOr<MemberPart> ReductionMember::CompilePart() {
  if (absl::Status s = Emit(); !s.ok()) return s;
  const std::vector<uint64_t>& out = memory_[position()].out;
  std::vector<Access> accesses;
  for (const Piece& piece : at_end_)
    accesses.push_back(HbmOf(PlaceOf(out, piece), piece.beats(), true));
  // The other core of the chip has read this one's vectors by then.
  if (combines() && Pulls()) {
    const std::vector<Access> read = VectorsRead();
    accesses.insert(accesses.end(), read.begin(), read.end());
  }
  if (end_waits_ != 0) Fence(out[0], std::move(accesses), end_waits_, 0);
  return FinishPart();
}

absl::Status ReductionMember::Emit() {
  if (absl::Status s = PlaceMemory(); !s.ok()) return s;
  if (combines()) {
    if (absl::Status s = LoadCode(); !s.ok()) return s;
  } else {
    MakePlaces(0);
  }
  reserve_ = std::min(kMostReserved, places() / 2);
  MakeSteps();
  const bool peer_reads = read_left_ > 0;
  for (const Step& step : steps_) Emit(step);
  if (peer_reads)
    Fence(memory_[position()].in[0], VectorsRead(), kReadyFlag, 0);
  return absl::OkStatus();
}

absl::Status ReductionMember::PlaceMemory() {
  const ReductionLayout layout(spec_, preset());
  begins_ = layout.begins;
  whole_ = layout.way == Exchange::Way::kWhole;
  memory_ = spec_.memory;
  if (memory_.empty()) {
    MemberMemory all;
    for (size_t v = 0; v < spec_.elements.size(); ++v) {
      const int64_t beats = begins_[v + 1] - begins_[v];
      all.in.push_back(
          hbm().Allocate((combines() ? beats : beats / size()) * beat()));
      all.out.push_back(hbm().Allocate(beats * beat()));
    }
    all.scratch = hbm().Allocate(ScratchBytes(spec_, preset()));
    memory_.resize(spec_.group.size(), all);
  }
  if (absl::Status s = CheckMemory(); !s.ok()) return s;
  for (int h = 0; h < 2; ++h) {
    halves_.emplace_back(layout.halves[h], layout.orders[h], layout.chunk, kLag,
                         layout.way, layout.columns, room().stretch);
  }
  const MemberMemory& own = memory_[position()];
  for (size_t v = 0; v < spec_.elements.size(); ++v) {
    const std::string number =
        spec_.elements.size() == 1 ? "" : absl::StrCat(v);
    const int64_t in = spec_.elements[v] / (combines() ? 1 : size());
    AddTensor(TensorOf("in", number, in, own.in[v]));
    AddTensor(TensorOf("out", number, spec_.elements[v], own.out[v]));
  }
  return absl::OkStatus();
}

absl::Status ReductionMember::LoadCode() {
  const int64_t row = preset().cols * ElementBytes(spec_.type);
  absl::StatusOr<vpu::Code> code =
      vpu::Assemble(AllReduceCode(spec_), "all_reduce", {{"ROW", row}},
                    static_cast<int>(room().pc));
  if (!code.ok()) return code.status();
  many_ = code->labels.at("many");
  few_ = code->labels.at("few");
  const MemberMemory& own = memory_[position()];
  const int64_t bytes =
      AddCode(std::move(code->words),
              own.scratch + kLandings * begins_.back() * beat());
  if (bytes > kCodeBytes)
    return absl::InternalError("the code of an all-reduce has no room");
  MakePlaces(bytes);
  const bool read_by_peer =
      Pulls() &&
      std::any_of(halves_.begin(), halves_.end(), [this](const Exchange& half) {
        return !half.FirstSent(position()).empty();
      });
  if (!read_by_peer) return absl::OkStatus();
  // The vector may be read from here on.
  Fence(own.in[0], VectorsRead(), 0, kReadyFlag);
  return absl::OkStatus();
}

std::vector<Access> ReductionMember::VectorsRead() const {
  const std::vector<uint64_t>& in = memory_[position()].in;
  std::vector<Access> read;
  for (size_t v = 0; v < in.size(); ++v)
    read.push_back(HbmOf(in[v], begins_[v + 1] - begins_[v], false));
  return read;
}

void ReductionMember::MakeSteps() {
  for (int h = 0; h < 2; ++h) {
    const Exchange& half = halves_[h];
    const auto add = [&](const std::vector<Exchange::Event>& events, int round,
                         Kind kind) {
      for (const Exchange::Event& e : events)
        steps_.push_back({e.slot, h, round, kind, e.piece});
    };
    if (half.rounds() == 0) {
      add(half.All(), 0, Kind::kCopy);
      continue;
    }
    if (combines()) {
      if (!Pulls()) add(half.FirstSent(position()), 0, Kind::kFirst);
      for (int r = 0; r < half.rounds(); ++r)
        add(half.Combined(position(), r), r, Kind::kCombine);
    } else {
      add(half.Own(position()), 0, Kind::kOwn);
    }
    if (!doubles()) continue;
    for (int r = half.rounds() - 1; r > 0; --r)
      add(half.Taken(position(), r), r, Kind::kTake);
  }
  std::stable_sort(
      steps_.begin(), steps_.end(),
      [](const Step& a, const Step& b) { return a.slot < b.slot; });
  // The last partner's pieces are waited for at the end alone.
  for (int h = 0; h < 2; ++h) {
    if (halves_[h].rounds() == 0 || !doubles()) continue;
    const auto given = halves_[h].Given(halves_[h].PartnerOf(position(), 0), 0);
    for (const Exchange::Event& event : given) at_end_.push_back(event.piece);
    if (!given.empty()) end_waits_ |= FlagOf(h, 0, /*doubling=*/true);
    const auto mine = halves_[h].Given(position(), 0);
    given_left_[h] = static_cast<int64_t>(mine.size());
  }
  if (!whole_ || !Pulls()) return;
  for (const Exchange& half : halves_)
    read_left_ += static_cast<int64_t>(half.FirstSent(position()).size());
}

bool ReductionMember::Pulls() const {
  return size() > 1 && OnChip(position(), position() ^ 1);
}

uint32_t ReductionMember::FlagOf(int half, int round, bool doubling) const {
  const int partner = halves_[half].PartnerOf(position(), round);
  const int of_level = half * 2 + (doubling ? 1 : 0);
  if (OnChip(position(), partner))
    return 1u << (isa::kFirstPeerFlag + of_level);
  return 1u << (isa::kFirstLinkFlag + kFlagsOfLevel * LinkLevel(partner) +
                of_level);
}

int ReductionMember::LinkLevel(int partner) const {
  if (is_part()) return PartnerNumber(partner);
  int number = 0;
  for (int l = 0; (position() ^ partner) != 1 << l; ++l)
    number += OnChip(position(), position() ^ 1 << l) ? 0 : 1;
  return number;
}

size_t ReductionMember::VectorOf(const Piece& piece) const {
  const auto after =
      std::upper_bound(begins_.begin(), begins_.end() - 1, piece.begin);
  return after - begins_.begin() - 1;
}

uint64_t ReductionMember::PlaceOf(const std::vector<uint64_t>& vectors,
                                  const Piece& piece) const {
  const size_t v = VectorOf(piece);
  return vectors[v] + (piece.begin - begins_[v]) * beat();
}

uint64_t ReductionMember::InputOf(const Piece& piece) const {
  const size_t v = VectorOf(piece);
  const int64_t part = (begins_[v + 1] - begins_[v]) / size();
  const int64_t missing = combines() ? 0 : position() * part * beat();
  return PlaceOf(memory_[position()].in, piece) - missing;
}

uint64_t ReductionMember::Landing(int member, int round,
                                  const Piece& piece) const {
  return memory_[member].scratch +
         (round * begins_.back() + piece.begin) * beat();
}

void ReductionMember::SendPiece(int half, int round, bool doubling,
                                const Piece& piece, int64_t ub, bool post) {
  const int partner = halves_[half].PartnerOf(position(), round);
  const uint64_t to = doubling ? PlaceOf(memory_[partner].out, piece)
                               : Landing(partner, round, piece);
  Send(partner, to, {piece.beats() * beat()}, ub,
       post ? FlagOf(half, round, doubling) : 0, half != 0);
}

void ReductionMember::Give(const Step& step, int before, int64_t ub) {
  for (int r = before - 1; r >= 0; --r) {
    const bool last = r == 0 && --given_left_[step.half] == 0;
    SendPiece(step.half, r, /*doubling=*/true, step.piece, ub, r > 0 || last);
  }
}

void ReductionMember::Emit(const Step& step) {
  const Exchange& half = halves_[step.half];
  const uint64_t out = PlaceOf(memory_[position()].out, step.piece);
  const auto kept = kept_.find(step.piece.begin);
  const bool here = step.kind == Kind::kCombine && kept != kept_.end();
  const int64_t ub = here ? kept->second : Take();
  if (here) kept_.erase(kept);
  switch (step.kind) {
    case Kind::kCopy:
      LoadPiece(InputOf(step.piece), step.piece, ub, 0);
      StorePiece(out, step.piece, ub);
      break;
    case Kind::kFirst:
      LoadPiece(InputOf(step.piece), step.piece, ub, 0);
      SendPiece(step.half, 0, /*doubling=*/false, step.piece, ub, true);
      if (half.Keeps(position(), 0, step.piece)) return Keep(step, ub);
      break;
    case Kind::kOwn:
      LoadPiece(InputOf(step.piece), step.piece, ub, 0);
      StorePiece(out, step.piece, ub);
      Give(step, half.rounds(), ub);
      break;
    case Kind::kTake:
      LoadArrived(out, {step.piece.beats() * beat()}, ub,
                  FlagOf(step.half, step.round, /*doubling=*/true));
      Give(step, step.round, ub);
      break;
    case Kind::kCombine:
      if (!here) {
        LoadPiece(step.round == 0 ? InputOf(step.piece) : out, step.piece, ub,
                  0);
      }
      return EmitCombined(step, ub);
  }
  Free(ub);
}

void ReductionMember::EmitCombined(const Step& step, int64_t ub) {
  const Exchange& half = halves_[step.half];
  const uint64_t out = PlaceOf(memory_[position()].out, step.piece);
  const int64_t other = Take();
  if (step.round == 0 && Pulls()) {
    const bool first = !std::exchange(ready_, true);
    LoadPiece(PeerAddress(PlaceOf(memory_[position() ^ 1].in, step.piece)),
              step.piece, other, first ? kReadyFlag : 0,
              whole_ && --read_left_ == 0 ? kReadyFlag : 0);
  } else {
    LoadPiece(Landing(position(), step.round, step.piece), step.piece, other,
              FlagOf(step.half, step.round, /*doubling=*/false));
  }
  Combine(ub, other, step.piece.beats() * beat());
  Free(other);
  const int next = step.round + 1;
  if (next == half.rounds()) {
    StorePiece(out, step.piece, ub);
    if (doubles()) Give(step, half.rounds(), ub);
  } else {
    if (half.Sends(position(), next, step.piece))
      SendPiece(step.half, next, /*doubling=*/false, step.piece, ub, true);
    if (half.Keeps(position(), next, step.piece)) return Keep(step, ub);
  }
  Free(ub);
}

void ReductionMember::Keep(const Step& step, int64_t ub) {
  if (places() > reserve_) {
    kept_[step.piece.begin] = ub;
    return;
  }
  // What it had at first is in its own vector.
  if (step.kind != Kind::kFirst)
    StorePiece(PlaceOf(memory_[position()].out, step.piece), step.piece, ub);
  Free(ub);
}

void ReductionMember::Combine(int64_t ub, int64_t other, int64_t bytes) {
  const int64_t row = preset().cols * ElementBytes(spec_.type);
  const int64_t few = RoundUp(bytes, kFewRows * row) / row;
  const bool many = few > kMostFew * kFewRows;
  const int64_t rows = many ? RoundUp(few, kManyRows) : few;
  isa::Vrun run;
  run.pc = static_cast<uint32_t>(many ? many_ : few_);
  run.args[0] = static_cast<uint32_t>(ub);
  run.args[1] = static_cast<uint32_t>(other);
  run.args[3] = static_cast<uint32_t>(row);
  run.args[5] = static_cast<uint32_t>(rows);
  Access own, read;
  own.base = ub;
  read.base = other;
  own.len = read.len = rows * row;
  Access write = own;
  write.write = true;
  Append(run, {own, read, write}, rows + 40);
}

TensorInfo ReductionMember::TensorOf(const std::string& name,
                                     const std::string& number,
                                     int64_t elements, uint64_t at) const {
  TensorInfo tensor;
  tensor.name = name + number;
  tensor.type = spec_.type == AllReduceSpec::Type::kBf16 ? ElementType::kBf16
                : spec_.type == AllReduceSpec::Type::kFloat32
                    ? ElementType::kFloat32
                    : ElementType::kInt32;
  tensor.channels = elements;
  tensor.hbm_addr = at;
  tensor.pitch = tensor.img_pitch =
      (tensor.line_bytes() + beat() - 1) / beat() * beat();
  tensor.is_input = name == "in";
  tensor.is_output = name == "out";
  return tensor;
}

}  // namespace systole::compiler
