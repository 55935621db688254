// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The terms of a tap are the positions in ascending order, and within each the
// images. So a band has all images. Sums wait in the unified buffer while other
// ones are in registers; at the end of a section they are added to those of the
// sections before.
#include "host/compiler/kernels/gradient_kernel.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/depthwise_input.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/gradient_code.h"
#include "host/compiler/kernels/gradient_sums.h"
#include "host/ir/hlo/products.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;

class GradientKernel {
 public:
  GradientKernel(const DepthwiseShape& shape, Storage result, int64_t lines,
                 int64_t columns, int64_t sets, const Preset& preset,
                 int64_t origin)
      : shape_(shape),
        preset_(preset),
        sets_count_(sets),
        most_(DepthwiseBlockOf(shape, shape.images, lines, preset, columns)),
        builder_(preset, origin),
        input_(shape, preset, builder_),
        sums_(shape.taps() * shape.channels, result, preset) {
    // Bands of several images begin with beats.
    if (most_.image_out != shape.image_out())
      most_.image_out = compiler::RoundUp(most_.image_out, preset.beat_bytes());
  }

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = ListBlocks(); !s.ok()) return s;
    PlaceAll();
    if (absl::Status s = builder_.Fits(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (size_t b = 0; b < sets_.size(); ++b)
      input_.Clear(blocks_[b], sets_[b].in, /*first=*/true);
    sums_.Clear(builder_);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Buffers& at = sets_[b % sets_.size()];
      if (b >= sets_.size()) input_.Clear(blocks_[b], at.in, /*first=*/false);
      input_.Load(kInput, blocks_[b], at.in);
      LoadGradient(blocks_[b], at);
      if (absl::Status s = Compute(blocks_[b], at); !s.ok()) return s;
    }
    if (term_ % ir::kSectionTerms != 0) sums_.EndSection(builder_);
    sums_.Store(builder_, kResult);
    return builder_.Finish();
  }

 private:
  using Bytes = KernelBuilder::Bytes;
  using Block = DepthwiseInput::Block;
  static constexpr int64_t kMostSums = 12, kMostImages = 8, kMostTurns = 2;
  static constexpr int64_t kMostRuns = 1 << 15;
  static constexpr int64_t kWord = 4, kHalf = 2;
  enum Operand : uint8_t { kInput, kGradient, kResult };

  struct Buffers {
    DepthwiseInput::Buffers in;
    Bytes gradient;
  };

  // Bands have the same strides.
  absl::Status ListBlocks() {
    const int64_t lines = shape_.axes[0].positions,
                  columns = shape_.axes.back().positions;
    // Of the gradients, if they are not loaded as a whole.
    const int64_t beat = preset_.beat_bytes();
    const bool whole = most_.lines == lines && most_.columns == columns;
    if (!whole && (shape_.images > 1 && shape_.image_out() % beat != 0))
      return absl::ResourceExhaustedError("no whole beats");
    for (int64_t line = 0; line < lines; line += most_.lines) {
      for (int64_t column = 0; column < columns; column += most_.columns) {
        DepthwiseBlock layout = DepthwiseBlockOf(
            shape_, shape_.images, std::min(most_.lines, lines - line), preset_,
            std::min(most_.columns, columns - column));
        layout.in = most_.in;
        layout.image_in = most_.image_in;
        absl::StatusOr<Block> block = input_.BlockOf(layout, 0, line, column);
        if (!block.ok()) return block.status();
        if (!whole && GradientAt(*block) % beat != 0)
          return absl::ResourceExhaustedError("no whole beats");
        blocks_.push_back(*std::move(block));
        if (shape_.axes.size() == 1) break;
      }
    }
    return absl::OkStatus();
  }
  // Of a block, in the first image.
  int64_t GradientAt(const Block& block) const {
    return block.line * (shape_.image_out() / shape_.axes[0].positions) +
           block.column * most_.out.back();
  }

  void PlaceAll() {
    const auto sets =
        std::min(sets_count_, static_cast<int64_t>(blocks_.size()));
    for (int64_t set = 0; set < sets; ++set) {
      sets_.push_back(
          {input_.Place(most_),
           builder_.Place("gradient", shape_.images * most_.image_out)});
    }
    sums_.Place(builder_);
  }

  // Which taps are rows and which are sums, or channels are rows.
  void Arrange() {
    const int64_t parts = compiler::CeilDiv(shape_.channels, preset_.cols);
    width_ = shape_.channels % parts == 0 ? shape_.channels / parts : 0;
    if (width_ == 0) width_ = preset_.cols;
    const bool even = shape_.channels % width_ == 0;
    Ints taps, strides, at;
    int64_t dense = shape_.channels * kWord;
    for (size_t i = shape_.axes.size(); i-- > 0;) {
      taps.insert(taps.begin(), shape_.axes[i].taps);
      strides.insert(strides.begin(), shape_.axes[i].dilation * most_.in[i]);
      at.insert(at.begin(), dense);
      dense *= shape_.axes[i].taps;
    }
    const int64_t channels = shape_.channels / width_;
    // The longest axis, if channels have fewer rows.
    size_t along = 0;
    for (size_t i = 0; i < taps.size(); ++i)
      if (taps[i] > taps[along]) along = i;
    // By the loads of a term's inputs and gradient, and the instructions.
    const auto cost = [](int64_t sums, int64_t rows, int64_t parts) {
      return parts * std::max(2 * sums + 1, (sums + 1) * rows / 2);
    };
    by_channels_ = even && channels > 1 && channels <= preset_.vector_rows() &&
                   cost(shape_.taps(), channels, 1) <
                       cost(shape_.taps() / taps[along], taps[along], channels);
    if (!by_channels_ && taps[along] <= preset_.vector_rows()) {
      tile_.rows = taps[along];
      tile_.row_in = strides[along];
      tile_.row_sum = at[along];
      taps[along] = 1;
    } else if (by_channels_) {
      tile_.rows = channels;
      tile_.row_in = tile_.row_gradient = width_ * kHalf;
      tile_.row_sum = width_ * kWord;
    }
    Ints index(taps.size(), 0);
    int64_t count = 1;
    for (const int64_t t : taps) count *= t;
    for (int64_t i = 0; i < count; ++i, ir::Advance(taps, index)) {
      GradientTile::Sum sum{0, 0};
      for (size_t d = 0; d < taps.size(); ++d) {
        sum.in += index[d] * strides[d];
        sum.at += index[d] * at[d];
      }
      all_.push_back(sum);
    }
    tile_.image_in = most_.image_in;
    tile_.image_gradient = most_.image_out;
    tile_.turn_in = tile_.turn_gradient = width_ * kHalf;
    tile_.turn_sum = width_ * kWord;
    if (!by_channels_ && even && channels % kMostTurns == 0 &&
        static_cast<int64_t>(all_.size()) <= kMostSums / kMostTurns)
      tile_.turns = kMostTurns;
  }

  // Codes for groups of sums, with several images an iteration and with one.
  struct Group {
    GradientCode codes[2];
    int pc[2];
  };

  absl::Status AddCode() {
    Arrange();
    std::vector<uint64_t> words;
    input_.AddCode(words);
    images_ = 1;
    for (int64_t n = 2; n <= kMostImages; ++n)
      if (shape_.images % n == 0) images_ = n;
    const int64_t most = kMostSums / tile_.turns;
    const auto all = static_cast<int64_t>(all_.size());
    const int64_t parts = compiler::CeilDiv(all, most);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = all * part / parts, end = all * (part + 1) / parts;
      GradientTile tile = tile_;
      tile.sums.assign(all_.begin() + begin, all_.begin() + end);
      Group group;
      for (const int several : {0, 1}) {
        // Sections that end within a position.
        if (several == 0 &&
            (images_ == 1 || ir::kSectionTerms % shape_.images == 0))
          continue;
        tile.images = several == 1 ? images_ : 1;
        absl::StatusOr<GradientCode> code =
            EmitGradient(tile, preset_, static_cast<int>(words.size()));
        if (!code.ok()) return code.status();
        group.pc[several] = static_cast<int>(words.size());
        words.insert(words.end(), code->words.begin(), code->words.end());
        group.codes[several] = *std::move(code);
      }
      groups_.push_back(std::move(group));
    }
    if (absl::Status s = sums_.AddCode(words); !s.ok()) return s;
    builder_.AddOperand(shape_.images * shape_.image_in());
    builder_.AddOperand(shape_.images * shape_.image_out());
    builder_.AddOperand(sums_.result_bytes());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  void LoadGradient(const Block& block, const Buffers& at) {
    if (most_.image_out == shape_.image_out()) {
      builder_.Load(kGradient, 0, at.gradient.at,
                    shape_.images * shape_.image_out());
      return;
    }
    std::vector<KernelBuilder::Repeat> images;
    if (shape_.images > 1)
      images = {{shape_.images, shape_.image_out(), most_.image_out}};
    builder_.LoadRuns(kGradient, GradientAt(block), at.gradient.at,
                      block.shape.image_out, images);
  }

  // Positions of the axes before the last one, and runs along that.
  absl::Status Compute(const Block& block, const Buffers& at) {
    Ints sizes;
    int64_t lines = 1;
    for (size_t i = 0; i + 1 < shape_.axes.size(); ++i) {
      sizes.push_back(PositionsOf(shape_, block.shape, i));
      lines *= sizes.back();
    }
    const int64_t positions =
        PositionsOf(shape_, block.shape, shape_.axes.size() - 1);
    Ints index(sizes.size(), 0);
    for (int64_t i = 0; i < lines; ++i, ir::Advance(sizes, index)) {
      int64_t in = DepthwiseInput::PlaceOf(block, at.in),
              gradient = at.gradient.at;
      for (size_t d = 0; d < sizes.size(); ++d) {
        in += index[d] * shape_.axes[d].stride * most_.in[d];
        gradient += index[d] * most_.out[d];
      }
      if (absl::Status s = Line(at, in, gradient, positions); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // The terms of positions that follow each other, up to the end of a section
  // each time.
  absl::Status Line(const Buffers& at, int64_t in, int64_t gradient,
                    int64_t positions) {
    const int64_t images = shape_.images, all = positions * images;
    int64_t done = 0;
    while (done < all) {
      const int64_t image = done % images;
      int64_t count =
          std::min(all - done, ir::kSectionTerms - term_ % ir::kSectionTerms);
      // Whole positions, or a part of one.
      if (image != 0 || count < images) {
        count = std::min(count, images - image);
      } else {
        count = count / images * images;
      }
      if (++runs_ > kMostRuns)
        return absl::ResourceExhaustedError("too many runs");
      Run(at, in, gradient, done / images, image, count);
      done += count;
      term_ += count;
      if (term_ % ir::kSectionTerms == 0) sums_.EndSection(builder_);
    }
    return absl::OkStatus();
  }

  // The terms of some images of a position, or of all of some positions.
  void Run(const Buffers& at, int64_t in, int64_t gradient, int64_t position,
           int64_t image, int64_t terms) {
    const bool whole = terms >= shape_.images;
    const int64_t of_position = whole ? shape_.images : terms;
    const int several = of_position % images_ == 0 ? 1 : 0;
    const int64_t step_in = shape_.axes.back().stride * most_.in.back(),
                  step_gradient = most_.out.back();
    GradientRun run;
    run.in = in + position * step_in + image * tile_.image_in;
    run.gradient =
        gradient + position * step_gradient + image * tile_.image_gradient;
    run.positions = terms / of_position;
    run.iterations = of_position / (several == 1 ? images_ : 1);
    run.next_in = step_in - of_position * tile_.image_in;
    run.next_gradient = step_gradient - of_position * tile_.image_gradient;
    const int64_t first_in = run.in, first_gradient = run.gradient;
    const int64_t step = by_channels_ ? shape_.channels : width_ * tile_.turns;
    for (int64_t c = 0; c < shape_.channels; c += step) {
      run.lanes = std::min(width_, shape_.channels - c);
      run.in = first_in + c * kHalf;
      run.gradient = first_gradient + c * kHalf;
      run.sum = sums_.chains().at + c * kWord;
      for (const Group& group : groups_) {
        const GradientCode& code = group.codes[several];
        builder_.Run(group.pc[several], run.Arguments(),
                     {at.in.in, at.gradient, sums_.chains()}, {sums_.chains()},
                     run.positions * run.iterations * code.iteration_cycles +
                         code.run_cycles);
      }
    }
  }

  const DepthwiseShape& shape_;
  const Preset& preset_;
  const int64_t sets_count_;
  DepthwiseBlock most_;
  KernelBuilder builder_;
  DepthwiseInput input_;
  GradientSums sums_;
  GradientTile tile_;                   // but for its sums
  std::vector<GradientTile::Sum> all_;  // in groups
  std::vector<Group> groups_;
  bool by_channels_ = false;
  int64_t width_ = 1, images_ = 1;  // channels of a row; images an iteration
  int64_t term_ = 0, runs_ = 0;
  std::vector<Block> blocks_;
  std::vector<Buffers> sets_;
};

// Calls `fits` with sizes of more and more equal parts, until it is true.
template <typename Fits>
void EachSize(int64_t count, int64_t parts, const Fits& fits) {
  int64_t before = 0;
  for (; parts <= count; parts += std::max<int64_t>(1, parts / 2)) {
    const int64_t size = compiler::CeilDiv(count, parts);
    if (size != before && fits(size)) return;
    before = size;
  }
}

}  // namespace

absl::StatusOr<KernelProgram> CompileDepthwiseGradient(const ir::Node& node,
                                                       const Preset& preset,
                                                       int64_t origin) {
  const DepthwiseShape shape = ShapeOfGradient(node);
  absl::StatusOr<KernelProgram> best =
      absl::ResourceExhaustedError("no band fits");
  // Whether it fits.
  const auto attempt = [&](int64_t lines, int64_t columns, int64_t sets) {
    absl::StatusOr<KernelProgram> program =
        GradientKernel(shape, StorageOf(node.type.element), lines, columns,
                       sets, preset, origin)
            .Compile();
    if (!program.ok()) return false;
    if (!best.ok() || program->expected_cycles < best->expected_cycles)
      best = std::move(program);
    return true;
  };
  const int64_t lines = shape.axes[0].positions;
  for (const int64_t sets : {2, 1}) {
    const int64_t first = sets == 1 ? 1 : std::min<int64_t>(lines, 4);
    EachSize(lines, first,
             [&](int64_t size) { return attempt(size, 0, sets); });
  }
  // The positions of a line follow each other where nothing is between them.
  if (best.ok() || shape.axes.size() != 2) return best;
  const int64_t columns = shape.axes.back().positions,
                beat = preset.beat_bytes();
  const int64_t position = shape.channels * StorageBytes(Storage::kHalf);
  const int64_t unit = beat / std::gcd(beat, position);
  for (const int64_t sets : {2, 1}) {
    EachSize(columns, 2, [&](int64_t size) {
      return attempt(1, compiler::RoundUp(size, unit), sets);
    });
  }
  return best;
}

}  // namespace systole::lanes
