// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/depthwise_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "host/compiler/geometry.h"
#include "host/compiler/kernels/copy_code.h"
#include "host/compiler/kernels/depthwise_plan.h"
#include "host/compiler/kernels/depthwise_shape.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/zero_code.h"
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
        copies_(preset) {}

  absl::StatusOr<KernelProgram> Compile() {
    ListBlocks();
    if (absl::Status s = PlaceAll(); !s.ok()) return s;
    if (absl::Status s = AddCode(); !s.ok()) return s;
    for (size_t b = 0; b < sets_.size(); ++b)
      ClearBorder(blocks_[b], sets_[b], /*first=*/true);
    LoadWeights();
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      const Buffers& at = sets_[b % sets_.size()];
      if (b >= sets_.size()) ClearBorder(block, at, /*first=*/false);
      Load(block, at);
      Split(block, at);
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
    int64_t image, line;
    DepthwiseBlock shape;
    DepthwiseLoad load;
    int64_t to;  // first byte of the result
    // Where it is loaded to another place first; the end of the results.
    std::vector<CopyStep> copy = {}, tail = {};
  };
  struct Buffers {
    Bytes in, out, loaded;
  };

  void ListBlocks() {
    const DepthwiseBlock& most = plan_.block;
    const int64_t lines = shape_.axes[0].positions;
    for (int64_t image = 0; image < shape_.images; image += most.images) {
      for (int64_t line = 0; line < lines; line += most.lines) {
        Block block{
            image,
            line,
            {},
            {},
            image * shape_.image_out() + line * (shape_.image_out() / lines)};
        block.shape = DepthwiseBlockOf(
            shape_, std::min(most.images, shape_.images - image),
            std::min(most.lines, lines - line), preset_);
        block.load = DepthwiseLoadOf(shape_, block.shape, image, line, preset_);
        if (block.load.bytes > 0 && !block.load.aligned)
          staged_ = std::max(staged_, block.load.span());
        blocks_.push_back(std::move(block));
      }
    }
  }

  absl::Status PlaceAll() {
    const int64_t beat = preset_.beat_bytes();
    weights_ = builder_.Place("kernel", shape_.taps() * shape_.channels *
                                            StorageBytes(shape_.weights));
    lines_ = builder_.Place("weights", shape_.weight_parts() * shape_.taps() *
                                           plan_.tile.weights_line);
    const auto sets =
        std::min(plan_.sets, static_cast<int64_t>(blocks_.size()));
    for (int64_t set = 0; set < sets; ++set) {
      sets_.push_back({builder_.Place("input", plan_.block.in_bytes),
                       builder_.Place("result", plan_.block.out_bytes + beat),
                       {}});
      if (staged_ > 0)
        sets_.back().loaded = builder_.Place("loaded", staged_ + 2 * beat);
    }
    if (plan_.splits)
      parts_ = builder_.Place("parts", shape_.input_parts() * plan_.tile.part);
    return builder_.Fits();
  }

  // The convolution's code comes first, as it has been planned.
  absl::Status AddCode() {
    const auto add = [&](std::vector<CopyStep>& to, int64_t size,
                         const std::vector<CopyDimension>& dimensions) {
      absl::StatusOr<CopySteps> steps = copies_.Add(size, dimensions);
      if (!steps.ok()) return steps.status();
      between_.count = std::max(between_.count, steps->between);
      to = std::move(steps->steps);
      return absl::OkStatus();
    };
    const int64_t element = StorageBytes(shape_.input),
                  result = StorageBytes(shape_.result);
    for (Block& block : blocks_) {
      const int64_t rest =
          (block.to + block.shape.out_bytes) % preset_.beat_bytes();
      if (&block != &blocks_.back() && rest > 0) {
        absl::Status s = add(block.tail, result, {{rest / result, 1, 1}});
        if (!s.ok()) return s;
      }
      if (block.load.bytes == 0 || block.load.aligned) continue;
      std::vector<CopyDimension> dimensions = {
          {block.load.bytes / element, 1, 1}};
      for (const DepthwiseLoad::Loop& loop : block.load.loops)
        dimensions.insert(dimensions.begin(),
                          {loop.count, loop.hbm / element, loop.ub / element});
      absl::Status s = add(block.copy, element, dimensions);
      if (!s.ok()) return s;
    }
    if (between_.count > 0)
      between_ = builder_.Place("between", between_.count);
    std::vector<uint64_t> words = plan_.code.words;
    copy_pc_ = static_cast<int>(words.size());
    std::vector<uint64_t> more = copies_.words();
    MoveCode(more, copy_pc_);
    words.insert(words.end(), more.begin(), more.end());
    zero_ = ZeroCode(preset_, static_cast<int>(words.size()));
    words.insert(words.end(), zero_.words().begin(), zero_.words().end());
    const DepthwiseTile& tile = plan_.tile;
    absl::StatusOr<SplitCode> split =
        AddSplit(words, shape_.weights, shape_.weight_parts(),
                 shape_.taps() * tile.weights_line);
    if (!split.ok()) return split.status();
    split_weights_ = *split;
    if (plan_.splits) {
      split = AddSplit(words, shape_.input, shape_.input_parts(), tile.part);
      if (!split.ok()) return split.status();
      split_ = *split;
    }
    builder_.AddOperand(shape_.images * shape_.image_in());
    builder_.AddOperand(weights_bytes());
    builder_.AddOperand(shape_.images * shape_.image_out());
    builder_.SetCode(std::move(words));
    return builder_.Fits();
  }

  int64_t weights_bytes() const {
    return shape_.taps() * shape_.channels * StorageBytes(shape_.weights);
  }

  // Code that splits numbers into bf16 parts, which lie `distance` bytes apart.
  struct SplitCode {
    int pc = 0;
    int64_t row_cycles = 1;
  };
  absl::StatusOr<SplitCode> AddSplit(std::vector<uint64_t>& words,
                                     Storage storage, int64_t parts,
                                     int64_t distance) const {
    LaneGraph graph;
    LanePlaces places;
    places.operands.push_back({{0, 0}, 0, 0});
    const Lane lane = graph.Load({0, storage, Pattern::kStream});
    std::vector<LaneStore> stores;
    for (int part = 0; part < parts; ++part) {
      stores.push_back({PartOf(graph, lane, part), Storage::kHalf});
      places.stores.push_back({part * distance, 1});
    }
    const absl::StatusOr<LaneCode> code =
        Emit(graph, stores, places, preset_, static_cast<int>(words.size()),
             Loop::kRows, /*many_rows=*/true);
    if (!code.ok()) return code.status();
    words.insert(words.end(), code->words.begin(), code->words.end());
    return SplitCode{code->main,
                     std::max<int64_t>(1, std::llround(code->row_cycles))};
  }

  // The parts of a block, padding included.
  void Split(const Block& block, const Buffers& at) {
    if (!plan_.splits) return;
    const int64_t word = StorageBytes(Storage::kWord),
                  half = StorageBytes(Storage::kHalf);
    const int64_t count = block.shape.images * block.shape.image_in / word;
    const int64_t rows = count / preset_.cols, rest = count % preset_.cols;
    RowsRun run;
    run.place[0] = at.in.at + block.load.shift;
    run.place[1] = parts_.at;
    run.stride[0] = preset_.cols * word;
    run.stride[1] = preset_.cols * half;
    const auto add = [&](int64_t rows, int64_t lanes) {
      run.rows = rows;
      run.lanes = lanes;
      builder_.Run(split_.pc, ArgumentsOf(run), {at.in}, {parts_},
                   rows * split_.row_cycles);
    };
    if (rows > 0) add(rows, preset_.cols);
    run.place[0] += rows * run.stride[0];
    run.place[1] += rows * run.stride[1];
    if (rest > 0) add(1, rest);
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
        builder_.Run(split_weights_.pc, ArgumentsOf(run), {weights_}, {lines_},
                     split_weights_.row_cycles * run.rows);
      }
    }
  }

  // Loads what lies inside the padding.
  void Load(const Block& block, const Buffers& at) {
    const DepthwiseLoad& load = block.load;
    if (load.bytes == 0) return;
    const int64_t beat = preset_.beat_bytes();
    const int64_t to = at.in.at + load.shift + load.to;
    if (!load.aligned) {
      const int64_t lead = load.from % beat;
      builder_.Load(kInput, load.from - lead, at.loaded.at, lead + load.span());
      Copy(block.copy, at.loaded, at.loaded.at + lead, at.in, to);
      return;
    }
    // A descriptor has two loops.
    std::vector<KernelBuilder::Repeat> repeats;
    Ints sizes;
    for (const DepthwiseLoad::Loop& loop : load.loops) {
      if (repeats.size() < 2) {
        repeats.push_back({loop.count, loop.hbm, loop.ub});
      } else {
        sizes.push_back(loop.count);
      }
    }
    Ints index(sizes.size(), 0);
    const int64_t descriptors = Product(sizes);
    for (int64_t i = 0; i < descriptors; ++i, ir::Advance(sizes, index)) {
      int64_t hbm = load.from, ub = to;
      for (size_t d = 0; d < sizes.size(); ++d) {
        hbm += index[d] * load.loops[2 + d].hbm;
        ub += index[d] * load.loops[2 + d].ub;
      }
      builder_.LoadRuns(kInput, hbm, ub, load.bytes, repeats);
    }
  }

  static int64_t Product(const Ints& sizes) {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }

  // +0 in the padding, which no load writes. That of the first axis is another
  // one in each band.
  void ClearBorder(const Block& block, const Buffers& at, bool first) {
    const auto rank = static_cast<int64_t>(shape_.axes.size());
    const int64_t element = StorageBytes(shape_.input);
    const bool bands = block.shape.lines < shape_.axes[0].positions;
    for (int64_t i = first ? rank - 1 : 0; i >= 0; --i) {
      if (!first && !bands) break;
      const auto range_of = [&](int64_t axis) {
        return shape_.axes[axis].Inside(axis == 0 ? block.line : 0,
                                        PositionsOf(block, axis));
      };
      const int64_t extent = shape_.axes[i].Extent(PositionsOf(block, i));
      const DepthwiseAxis::Range inside = range_of(i);
      for (const auto& [begin, end] : {std::pair(int64_t{0}, inside.begin),
                                       std::pair(inside.end, extent)}) {
        if (begin == end) continue;
        // All of the axes behind, padding included.
        ZeroBox box{at.in.at + block.load.shift + begin * block.shape.in[i],
                    element,
                    {}};
        box.dimensions.push_back({block.shape.images, block.shape.image_in});
        for (int64_t d = 0; d < rank; ++d) {
          const int64_t extent_d = shape_.axes[d].Extent(PositionsOf(block, d));
          // Bands have other lines inside, at the same places.
          box.dimensions.push_back(
              {d == i ? end - begin : extent_d, block.shape.in[d]});
        }
        box.dimensions.push_back({shape_.channels, element});
        zero_.Clear(builder_, box);
      }
    }
  }

  int64_t PositionsOf(const Block& block, int64_t axis) const {
    return axis == 0 ? block.shape.lines : shape_.axes[axis].positions;
  }

  // What a run computes several times: all images, or the groups of rows.
  struct Times {
    int64_t count = 1, in = 0, out = 0;  // bytes from one to the next
  };

  // Runs for each image or group of rows, place along the axes outside the
  // tiles, and parts of tiles and channels.
  absl::Status Compute(const Block& block, const Buffers& at) {
    const DepthwisePlan::Rows rows =
        plan_.RowsOf(shape_, block.shape.lines, preset_);
    const auto rank = static_cast<int64_t>(shape_.axes.size());
    const bool images = plan_.RepeatsImages(block.shape.images, rows.parts);
    Ints sizes = {images ? 1 : block.shape.images};
    for (int64_t axis = 0; axis + 2 < rank; ++axis)
      sizes.push_back(PositionsOf(block, axis));
    const int64_t places = Product(sizes);
    if (places * rows.parts.number() > kMostRuns)
      return absl::ResourceExhaustedError("too many runs");
    Ints index(sizes.size(), 0);
    for (int64_t i = 0; i < places; ++i, ir::Advance(sizes, index)) {
      Place place{(plan_.splits ? parts_.at : at.in.at + block.load.shift) +
                      index[0] * plan_.image_in,
                  at.out.at + LeadOf(block) + index[0] * block.shape.image_out,
                  lines_.at};
      for (int64_t axis = 0; axis + 2 < rank; ++axis)
        Move(place, static_cast<int>(axis), index[1 + axis]);
      if (images) {
        const Times times{block.shape.images, plan_.image_in,
                          block.shape.image_out};
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
    EachPart(plan_.TilesOf(shape_, block.shape.lines),
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
    const DepthwiseCode& code = plan_.code;
    const int64_t lanes = plan_.beside * plan_.width;
    builder_.Run(0,
                 {place.in, place.out, place.weights, rows, lanes, tiles,
                  times.count, chunks, times.in - tiles * plan_.tile.tile_in,
                  times.out - tiles * plan_.tile.tile_out},
                 {plan_.splits ? parts_ : at.in, lines_}, {at.out},
                 plan_.RunCycles(tiles, times.count, chunks));
  }

  // Stores whole beats; what is left goes before the next block's results.
  void Store(const Block& block, const Buffers& at, const Buffers& next) {
    const int64_t lead = LeadOf(block), bytes = lead + block.shape.out_bytes;
    const int64_t rest = block.tail.empty() ? 0 : bytes % preset_.beat_bytes();
    if (bytes > rest)
      builder_.Store(kResult, block.to - lead, at.out.at, bytes - rest);
    const int64_t from = at.out.at + bytes - rest;
    if (from != next.out.at)
      Copy(block.tail, at.out, from, next.out, next.out.at);
  }
  int64_t LeadOf(const Block& block) const {
    return block.to % preset_.beat_bytes();
  }

  void Copy(const std::vector<CopyStep>& steps, const Bytes& source,
            int64_t from, const Bytes& target, int64_t to) {
    for (const CopyStep& step : steps) {
      const bool in = step.target == CopyStep::Place::kBetween,
                 out = step.source == CopyStep::Place::kBetween;
      builder_.Run(copy_pc_ + step.pc,
                   {(out ? between_.at : from) + step.from,
                    (in ? between_.at : to) + step.to},
                   {out ? between_ : source}, {in ? between_ : target},
                   step.cycles);
    }
  }

  const DepthwiseShape& shape_;
  const DepthwisePlan& plan_;
  const Preset& preset_;
  KernelBuilder builder_;
  CopyCode copies_;
  ZeroCode zero_;
  SplitCode split_weights_, split_;
  int copy_pc_ = 0;
  int64_t staged_ = 0;
  std::vector<Block> blocks_;
  std::vector<Buffers> sets_;
  Bytes weights_ = {}, lines_ = {}, parts_ = {}, between_ = {};
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
