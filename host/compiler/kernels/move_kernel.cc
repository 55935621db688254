// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A part of the result has some indices of one dimension, and one index of each
// dimension before it. The dimension is the first one that makes enough parts,
// or the best of those before; or all is one part. Ways to have the
// operands' elements of a part in the unified buffer:
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
#include "host/compiler/kernels/move_pieces.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using Bytes = KernelBuilder::Bytes;

constexpr int64_t kPartBeats = 48;  // at least, so that a run's start is small
constexpr int64_t kMostMoveParts = 16;
constexpr int64_t kMostRanges = 1 << 12;  // parts of the result
constexpr int64_t kMarginBytes = 4;  // that copies may read behind an operand

class Move {
 public:
  Move(const ir::Node& node, const Preset& preset, int64_t origin)
      : node_(node),
        preset_(preset),
        origin_(origin),
        shape_(node.type.shape),
        strides_(ir::StridesOf(shape_)),
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
    absl::Status first;
    std::optional<KernelProgram> best;
    const auto consider = [&](int64_t wanted) {
      absl::StatusOr<KernelProgram> program = CompileParts(wanted);
      if (!program.ok()) {
        if (first.ok()) first = program.status();
      } else if (!best || program->expected_cycles < best->expected_cycles) {
        best = *std::move(program);
      }
    };
    for (size_t d = 0; d < std::max<size_t>(1, shape_.size()); ++d) {
      if (!Cut(d)) continue;
      consider(parts);
      // Parts may make blocks of the transposer small.
      if (parts > 1 && outer_ == 1 && pieces_.size() == 1) consider(1);
      if (best && outer_ * count_ >= parts) break;
    }
    if (!best) return first;
    return *std::move(best);
  }

 private:
  // Cuts this dimension. False: it has one index, parts would not begin at
  // whole beats, or there would be too many.
  bool Cut(size_t dimension) {
    cut_ = dimension;
    count_ = dimension < shape_.size() ? shape_[dimension] : 1;
    slab_ = dimension < shape_.size() ? strides_[dimension] : 1;
    outer_ = node_.type.elements() / (count_ * slab_);
    // Parts are stored as whole beats.
    least_ = beat_ / std::gcd(beat_, slab_ * size_);
    return (count_ > 1 || dimension + 1 >= shape_.size()) &&
           outer_ <= kMostRanges &&
           (outer_ == 1 || count_ * slab_ * size_ % beat_ == 0);
  }

  absl::StatusOr<KernelProgram> CompileParts(int64_t parts) const {
    const int64_t rows = RowsOf((parts + outer_ - 1) / outer_);
    absl::Status first;
    std::optional<KernelProgram> program;
    const auto attempt = [&](Source source, int64_t count, int64_t slots) {
      absl::StatusOr<KernelProgram> made =
          Program(*this, source, count, slots).Compile();
      if (made.ok()) {
        program = *std::move(made);
      } else if (first.ok()) {
        first = made.status();
      }
      return made.ok();
    };
    // With ever fewer indices in a part; with one slot where two do not fit.
    const auto smaller = [&](Source source, int64_t count, int64_t step) {
      for (const int64_t slots : {2, 1}) {
        for (int64_t r = count;; r = Below(r, step)) {
          if (attempt(source, r, slots)) return true;
          if (r <= step) break;
        }
      }
      return false;
    };
    const bool many = outer_ > 1 || rows < count_;
    if (many && ReadsLittleMore(rows) && smaller(Source::kRanges, rows, least_))
      return *program;
    if (const std::optional<int64_t> step = BoxStep()) {
      const int64_t whole = std::max<int64_t>(1, rows / *step) * *step;
      if (whole < count_ && smaller(Source::kBoxes, whole, *step))
        return *program;
    }
    if (attempt(Source::kWhole, rows, 2) || attempt(Source::kWhole, rows, 1) ||
        attempt(Source::kWhole, count_, 1))
      return *program;
    const int64_t half = outer_ > 1 ? count_ : Below(count_, least_);
    if ((outer_ > 1 || half < count_) && smaller(Source::kRanges, half, least_))
      return *program;
    if (const std::optional<int64_t> step = BoxStep(/*spread=*/true)) {
      const int64_t some = std::max<int64_t>(1, RowsOf(parts) / *step) * *step;
      if (outer_ > 1 && smaller(Source::kSpread, some, *step)) return *program;
    }
    return first;
  }

  enum class Source : uint8_t { kRanges, kBoxes, kWhole, kSpread };
  // A piece's copy in a part of the result; the operand's bytes [begin, end).
  struct Part {
    Piece piece;
    int64_t begin = 0, end = 0;
  };
  // A part of the result: one index of all dimensions before the one that is
  // cut, and some of that one.
  struct Range {
    int64_t outer, begin, end;
  };
  static constexpr int64_t kAll = -1;  // spread: all of these
  std::vector<Range> RangesOf(int64_t rows, bool spread = false) const {
    std::vector<Range> ranges;
    for (int64_t outer = spread ? kAll : 0; outer < (spread ? 0 : outer_);
         ++outer) {
      for (int64_t at = 0; at < count_; at += rows)
        ranges.push_back({outer, at, std::min(count_, at + rows)});
    }
    return ranges;
  }

  // Indices of the dimension in a part, for so many parts of it.
  int64_t RowsOf(int64_t parts) const {
    const int64_t rows = (count_ + parts - 1) / parts;
    return std::min(count_, (rows + least_ - 1) / least_ * least_);
  }
  static int64_t Below(int64_t rows, int64_t step) {
    return std::max(step, (rows / 2 + step - 1) / step * step);
  }

  Part PartOf(Piece piece, const Range& range) const {
    const int64_t whole = count_ * slab_;
    const int64_t before = piece.to / whole;  // indices, spread
    int64_t outer = range.outer * whole;
    for (size_t d = 0; d < cut_ && range.outer != kAll; ++d) {
      const int64_t index = outer / strides_[d];
      outer %= strides_[d];
      if (!piece.Restrict(d, strides_[d], index, index + 1)) return {};
    }
    if (range.outer == kAll) piece.to %= whole;
    if (cut_ < shape_.size() &&
        !piece.Restrict(cut_, slab_, range.begin, range.end))
      return {};
    if (range.outer == kAll) {
      const int64_t part = (range.end - range.begin) * slab_;
      piece.to += before * part;
      for (size_t d = 0; d < cut_; ++d)
        piece.dimensions[d].to = piece.dimensions[d].to / whole * part;
    }
    int64_t low = piece.from, high = piece.from + 1;
    for (const CopyDimension& d : piece.dimensions) {
      low += std::min<int64_t>(0, (d.size - 1) * d.from);
      high += std::max<int64_t>(0, (d.size - 1) * d.from);
    }
    return {piece, low * size_ / beat_ * beat_, high * size_};
  }

  bool IsSmall(const Piece& piece) const {
    return node_.operands[piece.operand].type().bytes() <= beat_;
  }

  bool ReadsLittleMore(int64_t rows) const {
    int64_t read = 0, all = 0;
    for (const Piece& piece : pieces_) {
      if (IsSmall(piece)) continue;
      all += node_.operands[piece.operand].type().bytes();
      for (const Range& range : RangesOf(rows)) {
        const Part part = PartOf(piece, range);
        read += part.end - part.begin;
      }
    }
    return read <= all + all / 4 + kMostMoveParts * beat_;
  }

  // The least number of indices in a part whose box is made of whole beats.
  std::optional<int64_t> BoxStep(bool spread = false) const {
    if (pieces_.size() != 1 || IsSmall(pieces_[0])) return std::nullopt;
    const Piece& piece = pieces_[0];
    if (cut_ >= shape_.size()) return std::nullopt;
    const int64_t stride = piece.dimensions[cut_].from * size_;
    if (stride <= 0) return std::nullopt;
    const int64_t step = std::lcm(least_, beat_ / std::gcd(beat_, stride));
    if (step >= count_ || count_ % step != 0 ||
        !RunsOf(PartOf(piece, {spread ? kAll : 0, 0, step}).piece, size_,
                beat_))
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
        const Range& range = ranges_[part];
        const int64_t index = m_.slab_ * m_.size_;
        const int64_t bytes = (range.end - range.begin) * index;
        const bool all = range.outer == kAll;
        const Bytes to = {results_.at + slot * result_pitch_,
                          bytes * (all ? m_.outer_ : 1)};
        for (const Copy& copy : plans_[part]) Put(copy, slot, to);
        if (all) {
          builder_.StoreRuns(result, range.begin * index, to.at, bytes,
                             {{m_.outer_, m_.count_ * index, bytes}});
        } else {
          builder_.Store(result,
                         (range.outer * m_.count_ + range.begin) * index, to.at,
                         bytes);
        }
      }
      return builder_.Finish();
    }

   private:
    // A piece in a part: what is loaded, and the steps of its copy.
    struct Copy {
      Part part;
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
      ranges_ = m_.RangesOf(rows_, spread);
      if (static_cast<int64_t>(ranges_.size()) > kMostRanges)
        return absl::ResourceExhaustedError("too many parts");
      for (const Range& range : ranges_) {
        std::vector<Copy> copies;
        for (size_t i = 0; i < m_.pieces_.size(); ++i) {
          Copy copy;
          copy.part = m_.PartOf(m_.pieces_[i], range);
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
      result_pitch_ = builder_.Align(rows_ * m_.slab_ * m_.size_ *
                                     (spread ? m_.outer_ : 1));
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
    std::vector<Range> ranges_;
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
  const ir::Ints& shape_;
  const ir::Ints strides_;     // of the result
  const int64_t size_, beat_;  // bytes: of an element, of what DMA moves
  std::vector<Piece> pieces_;
  // The dimension that is cut: its size, elements of an index, indices of the
  // dimensions before it, least indices of whole beats.
  size_t cut_ = 0;
  int64_t count_ = 1, slab_ = 1, outer_ = 1, least_ = 1;
};

}  // namespace

absl::StatusOr<KernelProgram> CompileMove(const ir::Node& node,
                                          const Preset& preset,
                                          int64_t origin) {
  return Move(node, preset, origin).Compile();
}

}  // namespace systole::lanes
