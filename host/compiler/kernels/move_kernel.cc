// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A part of the result has some indices of one dimension, and one index of each
// dimension before it; or all is one part. Of all dimensions and ways, the
// first that is fast is taken, or the best. Ways to have the operands' elements
// of a part in the unified buffer:
//   ranges  the bytes between the first and the last one, if together the parts
//           read little more than the operands
//   boxes   runs of whole beats with strides, if its lines are whole beats
//   whole   all operands before the first part, if they fit
//   spread  boxes of all indices before that dimension, stored in runs
#include "host/compiler/kernels/move_kernel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/move_boxes.h"
#include "host/compiler/kernels/move_cut.h"
#include "host/compiler/kernels/move_pieces.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;
using ir::Ints;

constexpr int64_t kPartBeats = 48;  // at least, so that a run's start is small
constexpr int64_t kMostMoveParts = 16;
constexpr int64_t kFewTimes = 2;
constexpr int64_t kMarginBytes = 4;  // that copies may read behind an operand

class Move {
 public:
  Move(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node),
        preset_(preset),
        origin_(origin),
        shape_(node.type.shape),
        size_(ir::ElementBytes(node.type.element)),
        beat_(KernelBuilder(preset).Align(1)),
        pieces_(PiecesOf(node)) {
    pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(),
                                 [](const Piece& p) { return p.empty(); }),
                  pieces_.end());
  }

  absl::StatusOr<KernelProgram> Compile() {
    const int64_t parts = std::clamp<int64_t>(
        node_.type.bytes() / (kPartBeats * beat_), 1, kMostMoveParts);
    for (size_t d = 0; d < std::max<size_t>(1, shape_.size()); ++d) {
      cut_.emplace(node_.type, d, beat_);
      if (!cut_->IsPossible()) continue;
      // Parts may make blocks of the transposer small.
      const bool one = parts > 1 && cut_->outer() == 1 && pieces_.size() == 1;
      for (const int64_t wanted : one ? Ints{parts, 1} : Ints{parts}) {
        std::optional<KernelProgram> before = std::move(best_);
        best_.reset();
        CompileParts(wanted);
        if (before) Take(*std::move(before));
      }
      if (cut_->outer() * cut_->count() >= parts && IsFast()) break;
    }
    if (!best_) return first_;
    return *std::move(best_);
  }

 private:
  enum class Source : uint8_t { kRanges, kBoxes, kWhole, kSpread };
  // Whether another way can gain little.
  bool IsFast() const {
    int64_t bytes = node_.type.bytes();
    for (const ir::Value& operand : node_.operands)
      bytes += operand.type().bytes();
    return best_ && best_->expected_cycles <= kFewTimes * (bytes / beat_);
  }
  // Tries the ways in their order, until one is fast.
  void CompileParts(int64_t parts) {
    const int64_t rows =
        cut_->RowsOf((parts + cut_->outer() - 1) / cut_->outer());
    const bool many = cut_->outer() > 1 || rows < cut_->count();
    const bool little = many && ReadsLittleMore(rows);
    if (little) Smaller(Source::kRanges, rows, cut_->least());
    if (IsFast()) return;
    if (const std::optional<int64_t> step = BoxStep()) {
      const int64_t whole = std::max<int64_t>(1, rows / *step) * *step;
      if (whole < cut_->count()) Smaller(Source::kBoxes, whole, *step);
    }
    if (IsFast()) return;
    if (!Attempt(Source::kWhole, rows, 2) && !Attempt(Source::kWhole, rows, 1))
      Attempt(Source::kWhole, cut_->count(), 1);
    if (IsFast()) return;
    const std::optional<int64_t> spread = BoxStep(/*spread=*/true);
    if (spread && cut_->outer() > 1) {
      const int64_t some = std::max<int64_t>(1, cut_->RowsOf(parts) / *spread);
      Smaller(Source::kSpread, some * *spread, *spread);
    }
    if (IsFast()) return;
    // The operands may be read many times.
    const int64_t half = cut_->outer() > 1
                             ? cut_->count()
                             : MoveCut::Below(cut_->count(), cut_->least());
    if (!little && (cut_->outer() > 1 || half < cut_->count()))
      Smaller(Source::kRanges, half, cut_->least());
  }

  void Take(KernelProgram program) {
    if (!best_ || program.expected_cycles < best_->expected_cycles)
      best_ = std::move(program);
  }
  // False: there is no such program.
  bool Attempt(Source source, int64_t count, int64_t slots) {
    absl::StatusOr<KernelProgram> made =
        Program(*this, source, count, slots).Compile();
    if (!made.ok() && first_.ok()) first_ = made.status();
    if (!made.ok()) return false;
    Take(*std::move(made));
    return true;
  }
  // With ever fewer indices in a part; with one slot where two do not fit.
  void Smaller(Source source, int64_t count, int64_t step) {
    for (const int64_t slots : {2, 1}) {
      for (int64_t r = count;; r = MoveCut::Below(r, step)) {
        if (Attempt(source, r, slots)) return;
        if (r <= step) break;
      }
    }
  }

  bool IsSmall(const Piece& piece) const {
    return node_.operands[piece.operand].type().bytes() <= beat_;
  }

  bool ReadsLittleMore(int64_t rows) const {
    int64_t read = 0, all = 0;
    for (const Piece& piece : pieces_) {
      if (IsSmall(piece)) continue;
      all += node_.operands[piece.operand].type().bytes();
      for (const MoveCut::Range& range : cut_->RangesOf(rows)) {
        const MoveCut::Part part = cut_->PartOf(piece, range);
        read += part.end - part.begin;
      }
    }
    return read <= all + all / 4 + kMostMoveParts * beat_;
  }

  // The least number of indices in a part whose box is made of whole beats.
  std::optional<int64_t> BoxStep(bool spread = false) const {
    if (pieces_.size() != 1 || IsSmall(pieces_[0])) return std::nullopt;
    const Piece& piece = pieces_[0];
    if (cut_->dimension() >= shape_.size()) return std::nullopt;
    const int64_t stride = piece.dimensions[cut_->dimension()].from * size_;
    if (stride <= 0) return std::nullopt;
    const int64_t step =
        std::lcm(cut_->least(), beat_ / std::gcd(beat_, stride));
    if (step >= cut_->count() || cut_->count() % step != 0 ||
        !RunsOf(
            cut_->PartOf(piece, {spread ? MoveCut::kAll : 0, 0, step}).piece,
            size_, beat_))
      return std::nullopt;
    return step;
  }

  // The program for parts of `rows` indices.
  class Program {
   public:
    Program(const Move& move, Source source, int64_t rows, int64_t slots)
        : m_(move),
          source_(source),
          rows_(rows),
          slots_(slots),
          builder_(move.preset_, move.origin_),
          code_(move.preset_) {}

    absl::StatusOr<KernelProgram> Compile() {
      if (absl::Status s = Plan(); !s.ok()) return s;
      for (const ir::Value& operand : m_.node_.operands)
        builder_.AddOperand(operand.type().bytes());
      const int result = builder_.AddOperand(m_.node_.type.bytes());
      builder_.SetCode(code_.words());
      for (size_t i = 0; i < m_.node_.operands.size(); ++i) {
        if (!whole_[i]) continue;
        builder_.Load(static_cast<int>(i), 0, whole_[i]->at,
                      m_.node_.operands[i].type().bytes());
      }
      for (size_t part = 0; part < plans_.size(); ++part) {
        const int64_t slot = static_cast<int64_t>(part) % slots_;
        const MoveCut::Range& range = ranges_[part];
        const int64_t index = m_.cut_->slab() * m_.size_;
        const int64_t bytes = (range.end - range.begin) * index;
        const bool all = range.outer == MoveCut::kAll;
        const Bytes to = {results_.at + slot * result_pitch_,
                          bytes * (all ? m_.cut_->outer() : 1)};
        for (const Copy& copy : plans_[part]) Put(copy, slot, to);
        if (all) {
          builder_.StoreRuns(
              result, range.begin * index, to.at, bytes,
              {{m_.cut_->outer(), m_.cut_->count() * index, bytes}});
        } else {
          builder_.Store(result,
                         (range.outer * m_.cut_->count() + range.begin) * index,
                         to.at, bytes);
        }
      }
      return builder_.Finish();
    }

   private:
    // A piece in a part: what is loaded, and the steps of its copy.
    struct Copy {
      MoveCut::Part part;
      size_t piece = 0;
      std::optional<BoxRuns> runs;
      int64_t first = 0;  // the first element, behind the start of the load
      CopySteps steps;
    };

    absl::Status Plan() {
      const size_t operands = m_.node_.operands.size();
      whole_.resize(operands);
      std::vector<int64_t> most(m_.pieces_.size(), 0);
      const bool spread = source_ == Source::kSpread;
      ranges_ = m_.cut_->RangesOf(rows_, spread);
      if (static_cast<int64_t>(ranges_.size()) > MoveCut::kMostRanges)
        return absl::ResourceExhaustedError("too many parts");
      for (const MoveCut::Range& range : ranges_) {
        std::vector<Copy> copies;
        for (size_t i = 0; i < m_.pieces_.size(); ++i) {
          Copy copy;
          copy.part = m_.cut_->PartOf(m_.pieces_[i], range);
          if (copy.part.end == copy.part.begin) continue;
          copy.piece = i;
          const Piece& piece = copy.part.piece;
          std::vector<CopyDimension> dimensions = piece.dimensions;
          const int64_t first = piece.from * m_.size_;
          if (source_ == Source::kWhole || m_.IsSmall(piece)) {
            copy.first = first;
            if (!whole_[piece.operand]) whole_[piece.operand] = Bytes{0, 0};
          } else if (source_ == Source::kBoxes || spread) {
            copy.runs = RunsOf(piece, m_.size_, m_.beat_);
            if (!copy.runs)
              return absl::ResourceExhaustedError("no box of whole beats");
            copy.part.begin = first;
            most[i] = std::max(most[i], copy.runs->bytes);
            dimensions = Packed(std::move(dimensions));
          } else {
            copy.first = first - copy.part.begin;
            most[i] = std::max(most[i], copy.part.end - copy.part.begin);
          }
          absl::StatusOr<CopySteps> steps = code_.Add(m_.size_, dimensions);
          if (!steps.ok()) return steps.status();
          copy.steps = *std::move(steps);
          between_.count = std::max(between_.count, copy.steps.between);
          copies.push_back(std::move(copy));
        }
        plans_.push_back(std::move(copies));
      }
      for (size_t i = 0; i < operands; ++i) {
        if (!whole_[i]) continue;
        whole_[i] = builder_.Place(
            "operand", m_.node_.operands[i].type().bytes() + kMarginBytes);
      }
      between_ = builder_.Place("in between", between_.count);
      for (const int64_t bytes : most) {
        const int64_t pitch = builder_.Align(bytes + kMarginBytes);
        pitches_.push_back(pitch);
        places_.push_back(bytes == 0 ? Bytes{0, 0}
                                     : builder_.Place("part", slots_ * pitch));
      }
      result_pitch_ = builder_.Align(rows_ * m_.cut_->slab() * m_.size_ *
                                     (spread ? m_.cut_->outer() : 1));
      results_ = builder_.Place("result", slots_ * result_pitch_);
      return builder_.Fits();
    }

    void Put(const Copy& copy, int64_t slot, const Bytes& to) {
      const Piece& piece = copy.part.piece;
      Bytes from;
      if (whole_[piece.operand]) {
        from = *whole_[piece.operand];
      } else {
        const int64_t bytes =
            copy.runs ? copy.runs->bytes : copy.part.end - copy.part.begin;
        from = {places_[copy.piece].at + slot * pitches_[copy.piece], bytes};
        if (copy.runs) {
          builder_.LoadRuns(piece.operand, copy.part.begin, from.at,
                            copy.runs->run, copy.runs->repeats);
        } else {
          builder_.Load(piece.operand, copy.part.begin, from.at, bytes);
        }
        from.count += kMarginBytes;
      }
      const int64_t start = piece.to * m_.size_;
      for (const CopyStep& step : copy.steps.steps) {
        const bool in = step.target == CopyStep::Place::kBetween;
        const bool out = step.source == CopyStep::Place::kBetween;
        const int64_t source = out ? between_.at : from.at + copy.first;
        const int64_t target = in ? between_.at : to.at + start;
        builder_.Run(step.pc, {source + step.from, target + step.to},
                     {out ? between_ : from}, {in ? between_ : to},
                     step.cycles);
      }
    }

    const Move& m_;
    const Source source_;
    const int64_t rows_, slots_;
    KernelBuilder builder_;
    CopyCode code_;
    std::vector<MoveCut::Range> ranges_;
    std::vector<std::vector<Copy>> plans_;     // of each part
    std::vector<std::optional<Bytes>> whole_;  // operands loaded whole
    std::vector<Bytes> places_;                // of each piece, all slots
    std::vector<int64_t> pitches_;             // between slots
    Bytes between_ = {0, 0}, results_ = {0, 0};
    int64_t result_pitch_ = 0;
  };

  const ir::Node& node_;
  const Preset& preset_;
  const int64_t origin_;
  const Ints& shape_;
  const int64_t size_, beat_;  // bytes: of an element, of what DMA moves
  std::vector<Piece> pieces_;
  std::optional<MoveCut> cut_;
  absl::Status first_;  // error
  std::optional<KernelProgram> best_;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileMove(const ir::Node& node,
                                          const Preset& preset,
                                          int64_t origin) {
  return Move(node, preset, origin).Compile();
}

}  // namespace systole::lanes
