// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_kernel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/depthwise_input.h"
#include "host/compiler/kernels/depthwise_plan.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/depthwise_split.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

using ir::Ints;

class DepthwiseKernel {
 public:
  DepthwiseKernel(const DepthwiseShape& shape, const DepthwisePlan& plan,
                  const Preset& preset, int64_t origin)
      : shape_(shape),
        plan_(plan),
        preset_(preset),
        builder_(preset, origin),
        input_(shape, preset, builder_) {}

  absl::StatusOr<KernelProgram> Compile() {
    if (absl::Status s = ListBlocks(); !s.ok()) return s;
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (size_t b = 0; b < sets_.size(); ++b)
      input_.Clear(blocks_[b].in, sets_[b].in, /*first=*/true);
    LoadWeights();
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      const Buffers& at = sets_[b % sets_.size()];
      if (b >= sets_.size()) input_.Clear(block.in, at.in, /*first=*/false);
      input_.Load(kInput, block.in, at.in);
      if (plan_.splits) Split(block, at);
      if (absl::Status s = Compute(block, at); !s.ok()) return s;
      Store(block, at, sets_[(b + 1) % sets_.size()]);
    }
    return builder_.Finish();
  }

 private:
  using Bytes = KernelBuilder::Bytes;
  static constexpr int64_t kMostRuns = 1 << 16;
  enum Operand : uint8_t { kInput, kKernel, kResult };

  struct Block {
    DepthwiseInput::Block in;
    int64_t to;                       // first byte of the result
    std::vector<CopyStep> tail = {};  // the end of the results
  };
  struct Buffers {
    DepthwiseInput::Buffers in;
    Bytes out;
  };

  absl::Status ListBlocks() {
    const DepthwiseBlock& most = plan_.block;
    const int64_t lines = shape_.axes[0].positions;
    const int64_t line_out = shape_.image_out() / lines;
    for (int64_t image = 0; image < shape_.images; image += most.images) {
      for (int64_t line = 0; line < lines; line += most.lines) {
        DepthwiseBlock layout = DepthwiseBlockOf(
            shape_, std::min(most.images, shape_.images - image),
            std::min(most.lines, lines - line), preset_);
        if (most.stacked) Stack(shape_, layout);
        absl::StatusOr<DepthwiseInput::Block> in =
            input_.BlockOf(layout, image, line);
        if (!in.ok()) return in.status();
        blocks_.push_back(
            {*std::move(in), image * shape_.image_out() + line * line_out});
      }
    }
    const int64_t element = StorageBytes(shape_.result);
    for (size_t b = 0; b + 1 < blocks_.size(); ++b) {
      const int64_t rest = blocks_[b + 1].to % preset_.beat_bytes();
      if (rest == 0) continue;
      absl::StatusOr<std::vector<CopyStep>> tail =
          input_.CopyOf(element, {{rest / element, 1, 1}});
      if (!tail.ok()) return tail.status();
      blocks_[b].tail = *std::move(tail);
    }
    return absl::OkStatus();
  }

  absl::Status PlaceAll() {
    weights_ = builder_.Place("kernel", weights_bytes());
    lines_ = builder_.Place("weights", shape_.weight_parts() * shape_.taps() *
                                           plan_.tile.weights_line);
    const auto sets =
        std::min(plan_.sets, static_cast<int64_t>(blocks_.size()));
    for (int64_t set = 0; set < sets; ++set) {
      sets_.push_back({input_.Place(plan_.block),
                       builder_.Place("result", plan_.block.out_bytes +
                                                    preset_.beat_bytes())});
    }
    if (plan_.splits)
      parts_ = builder_.Place("parts", shape_.input_parts() * plan_.tile.part);
    return builder_.Fits();
  }
  int64_t weights_bytes() const {
    return shape_.taps() * shape_.channels * StorageBytes(shape_.weights);
  }

  // The convolution's code comes first, as it has been planned.
  absl::Status AddCode() {
    std::vector<uint64_t> words = plan_.code.words;
    input_.AddCode(words);
    const DepthwiseTile& tile = plan_.tile;
    absl::StatusOr<DepthwiseSplit> split =
        AddSplit(words, shape_.weights, shape_.weight_parts(),
                 shape_.taps() * tile.weights_line, /*many=*/false, preset_);
    if (!split.ok()) return split.status();
    split_weights_ = *split;
    if (plan_.splits) {
      split = AddSplit(words, shape_.input, shape_.input_parts(), tile.part,
                       /*many=*/true, preset_);
      if (!split.ok()) return split.status();
      split_input_ = *split;
    }
    builder_.AddOperand(shape_.images * shape_.image_in());
    builder_.AddOperand(weights_bytes());
    builder_.AddOperand(shape_.images * shape_.image_out());
    builder_.SetCode(std::move(words));
    return absl::OkStatus();
  }

  // A line of weights has those of all channels, for each position in it.
  void LoadWeights() {
    const int64_t element = StorageBytes(shape_.weights),
                  half = StorageBytes(Storage::kHalf);
    builder_.Load(kKernel, 0, weights_.at, weights_bytes());
    for (int64_t beside = 0; beside < plan_.beside; ++beside) {
      for (int64_t c = 0; c < shape_.channels; c += preset_.cols) {
        RowsRun run;
        run.place[0] = weights_.at + c * element;
        run.place[1] = lines_.at + (beside * shape_.channels + c) * half;
        run.stride[0] = shape_.channels * element;
        run.stride[1] = plan_.tile.weights_line;
        run.rows = shape_.taps();
        run.lanes = std::min(preset_.cols, shape_.channels - c);
        split_weights_.Run(builder_, run, weights_, lines_);
      }
    }
  }

  // The parts of a block, padding included.
  void Split(const Block& block, const Buffers& at) {
    const DepthwiseBlock& shape = block.in.shape;
    split_input_.Run(builder_, preset_,
                     DepthwiseInput::PlaceOf(block.in, at.in), parts_.at,
                     shape.images * shape.image_in / StorageBytes(shape_.input),
                     at.in.in, parts_);
  }

  static int64_t Product(const Ints& sizes) {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }

  // What a run computes several times: all images, or the groups of rows.
  struct Times {
    int64_t count = 1, in = 0, out = 0;  // bytes from one to the next
  };

  // Runs for each image or group of rows, place along the axes outside the
  // tiles, and parts of tiles and channels.
  absl::Status Compute(const Block& block, const Buffers& at) {
    const DepthwiseWork work = WorkOf(shape_, block.in.shape);
    const DepthwisePlan::Rows rows = plan_.RowsOf(shape_, work.lines, preset_);
    const auto rank = static_cast<int64_t>(shape_.axes.size());
    const bool images = plan_.RepeatsImages(work.images, rows.parts);
    Ints sizes = {images ? 1 : work.images};
    for (int64_t axis = 0; axis + 2 < rank; ++axis)
      sizes.push_back(PositionsOf(shape_, block.in.shape, axis));
    const int64_t places = Product(sizes);
    if (places * rows.parts.number() > kMostRuns)
      return absl::ResourceExhaustedError("too many runs");
    Ints index(sizes.size(), 0);
    for (int64_t i = 0; i < places; ++i, ir::Advance(sizes, index)) {
      Place place{
          (plan_.splits ? parts_.at
                        : DepthwiseInput::PlaceOf(block.in, at.in)) +
              index[0] * plan_.image_in,
          at.out.at + LeadOf(block) + index[0] * block.in.shape.image_out,
          lines_.at};
      for (int64_t axis = 0; axis + 2 < rank; ++axis)
        Move(place, static_cast<int>(axis), index[1 + axis]);
      if (images) {
        const Times times{work.images, plan_.image_in,
                          block.in.shape.image_out};
        for (int64_t group = 0; group < rows.parts.number(); ++group) {
          Place first = place;
          Move(first, plan_.rows_axis, rows.parts.start(group));
          Tiles(block, at, first, rows.rows, times);
        }
        continue;
      }
      Place step{0, 0, 0};
      Move(step, plan_.rows_axis, rows.parts.span);
      EachPart(rows.parts, [&](int64_t row, int64_t count) {
        Place first = place;
        Move(first, plan_.rows_axis, row);
        Tiles(block, at, first, rows.rows, {count, step.in, step.out});
      });
    }
    return absl::OkStatus();
  }

  struct Place {
    int64_t in, out, weights;
  };
  void Move(Place& place, int axis, int64_t positions) const {
    if (axis < 0) return;
    place.in += positions * shape_.axes[axis].stride * plan_.in[axis];
    place.out += positions * plan_.block.out[axis];
  }
  // Calls `work(first position, parts)` for whole parts and for the last one.
  template <typename Work>
  static void EachPart(const DepthwiseParts& parts, const Work& work) {
    if (parts.whole() > 0) work(int64_t{0}, parts.whole());
    if (parts.number() > parts.whole())
      work(parts.start(parts.whole()), int64_t{1});
  }

  // All tiles and channels of the rows that begin at a place.
  void Tiles(const Block& block, const Buffers& at, const Place& place,
             int64_t rows, const Times& times) {
    const DepthwiseParts chunks = plan_.ChunksOf(shape_);
    EachPart(plan_.TilesOf(shape_, WorkOf(shape_, block.in.shape).lines),
             [&](int64_t tile, int64_t tiles) {
               EachPart(chunks, [&](int64_t channel, int64_t count) {
                 Place first = place;
                 Move(first, plan_.tiles_axis, tile);
                 first.in += channel * StorageBytes(plan_.tile.input);
                 first.out += channel * StorageBytes(shape_.result);
                 first.weights += channel * StorageBytes(Storage::kHalf);
                 Run(first, rows, tiles, times, count, at);
               });
             });
  }

  void Run(const Place& place, int64_t rows, int64_t tiles, const Times& times,
           int64_t chunks, const Buffers& at) {
    const int64_t lanes = plan_.beside * plan_.width;
    builder_.Run(0,
                 {place.in, place.out, place.weights, rows, lanes, tiles,
                  times.count, chunks, times.in - tiles * plan_.tile.tile_in,
                  times.out - tiles * plan_.tile.tile_out},
                 {plan_.splits ? parts_ : at.in.in, lines_}, {at.out},
                 plan_.RunCycles(tiles, times.count, chunks));
  }

  // Stores whole beats; what is left goes before the next block's results.
  void Store(const Block& block, const Buffers& at, const Buffers& next) {
    if (block.in.shape.stacked) {
      const KernelBuilder::Repeat images{
          block.in.shape.images, shape_.image_out(), block.in.shape.image_out};
      builder_.StoreRuns(kResult, block.to, at.out.at, shape_.image_out(),
                         {images});
      return;
    }
    const int64_t lead = LeadOf(block), bytes = lead + block.in.shape.out_bytes;
    const int64_t rest = block.tail.empty() ? 0 : bytes % preset_.beat_bytes();
    if (bytes > rest)
      builder_.Store(kResult, block.to - lead, at.out.at, bytes - rest);
    const int64_t from = at.out.at + bytes - rest;
    if (from != next.out.at)
      input_.Copy(block.tail, at.out, from, next.out, next.out.at);
  }
  int64_t LeadOf(const Block& block) const {
    return block.to % preset_.beat_bytes();
  }

  const DepthwiseShape& shape_;
  const DepthwisePlan& plan_;
  const Preset& preset_;
  KernelBuilder builder_;
  DepthwiseInput input_;
  DepthwiseSplit split_weights_, split_input_;
  std::vector<Block> blocks_;
  std::vector<Buffers> sets_;
  Bytes weights_ = {}, lines_ = {}, parts_ = {};
};

}  // namespace

absl::StatusOr<KernelProgram> CompileDepthwise(const ir::Node& node,
                                               const Preset& preset,
                                               int64_t origin) {
  const DepthwiseShape shape = DepthwiseShapeOf(node);
  const int64_t room = KernelBuilder(preset, origin).Room();
  absl::Status status = absl::ResourceExhaustedError("no block fits");
  for (const DepthwisePlan& plan : DepthwisePlans(shape, room, 0, preset)) {
    absl::StatusOr<KernelProgram> program =
        DepthwiseKernel(shape, plan, preset, origin).Compile();
    if (program.ok()) return program;
    status = program.status();
  }
  return status;
}

}  // namespace systole::lanes
