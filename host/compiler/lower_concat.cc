// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowers concatenations, which copy each input to its place in the output, and
// slices, which copy a part of an input.
#include <algorithm>
#include <vector>

#include "host/compiler/emitters.h"
#include "host/compiler/streams.h"

namespace systole::compiler {
namespace {

// Copies with a maximum over one tap: `count` bytes of each position of each
// line of a block. Positions are `step` and `to_step` bytes apart, source lines
// `lines` bytes.
void AppendCopy(LoweringContext& context, const Block& block, const View& from,
                int64_t source, int64_t lines, const Destination& to,
                int64_t target, int64_t positions, int64_t step,
                int64_t to_step, int64_t count) {
  isa::Pool p;
  p.src = static_cast<uint32_t>(from.address + source);
  p.src_pitch = static_cast<uint32_t>(block.ny > 1 ? from.pitch : 0);
  p.src_img_pitch = static_cast<uint32_t>(block.ni > 1 ? from.img_pitch : 0);
  p.lines = static_cast<uint32_t>((block.ny - 1) * lines + 1);
  p.line_bytes = static_cast<uint32_t>((positions - 1) * step + count);
  p.n = static_cast<uint32_t>(block.ni);
  p.ny = static_cast<uint32_t>(block.ny);
  p.nx = static_cast<uint32_t>(positions);
  p.sy = static_cast<uint32_t>(block.ny > 1 ? lines : 0);
  p.src_sx = static_cast<uint32_t>(positions > 1 ? step : 0);
  p.kh = p.kw = 1;
  p.dst = static_cast<uint32_t>(to.address + target);
  p.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
  p.dst_img_pitch = static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
  p.dst_sx = static_cast<uint32_t>(positions > 1 ? to_step : 0);
  p.cols = static_cast<uint32_t>(count);
  p.clamp_min = -128;
  p.clamp_max = 127;
  context.builder.Append(p);
}

// Copies `channels` channels of each position to channel `first` of the
// output's.
void CopyChannels(LoweringContext& context, const Block& block,
                  const View& from, int64_t lines, const Destination& to,
                  int64_t first, int64_t positions, int64_t step,
                  int64_t channels) {
  const int64_t cols = context.preset.cols;
  ForEachGroup(channels, cols, block.ni,
               [&](int64_t c, int64_t groups, int64_t count) {
                 Block part = block;
                 View view = from;
                 Destination there = to;
                 if (groups > 1) {
                   part.ni = groups;
                   view.img_pitch = there.img_pitch = cols;
                 }
                 AppendCopy(context, part, view, c, lines, there, first + c,
                            positions, step, to.position, count);
               });
}

class ConcatLowering : public VectorLowering {
 public:
  ConcatLowering(LoweringContext& context, int index)
      : context_(context),
        plan_(context.plan.layers[index]),
        out_(context.Output(index)) {
    for (size_t i = 0; i < plan_.inputs.size(); ++i)
      in_.push_back(context.Input(index, static_cast<int>(i)));
  }

  void Append(const Block& block) override {
    const Destination to = out_.Begin(block, 0);
    if (context_.plan.Stacked(plan_)) {
      Stack(block, to);
      out_.Finish(block, 0, plan_.g.oc);
      return;
    }
    int64_t first = 0;  // byte of an output position where the input goes
    for (size_t i = 0; i < in_.size(); ++i) {
      const Region region = context_.plan.RegionOf(plan_, i, block);
      const PlanTensor& tensor = context_.plan.tensors[plan_.inputs[i]];
      // Bytes per position.
      const int64_t bytes = tensor.line_bytes() / plan_.g.w;
      View from = in_[i].Require(region);
      from.address += block.x0 * bytes - region.b0;
      Copy(block, from, bytes, to, first);
      first += bytes;
    }
    out_.Finish(block, 0, plan_.g.oc);
  }

 private:
  // Copies the lines that each input has in the block.
  void Stack(const Block& block, Destination to) {
    const int64_t bytes = plan_.g.c;  // per position
    for (size_t i = 0; i < in_.size(); ++i) {
      const Region region = context_.plan.RegionOf(plan_, i, block);
      if (region.nl == 0) continue;
      Block part = block;
      part.ny = region.nl;
      View from = in_[i].Require(region);
      from.address += block.x0 * bytes - region.b0;
      ForEachRun(block.nx * bytes, context_.preset.cols,
                 [&](int64_t at, int64_t positions, int64_t count) {
                   AppendCopy(context_, part, from, at, 1, to, at, positions,
                              count, count, count);
                 });
      to.address += region.nl * to.pitch;
    }
  }

  // Copies `bytes` bytes of each position to byte `first` of the output's
  // position.
  void Copy(const Block& block, const View& from, int64_t bytes,
            const Destination& to, int64_t first) {
    const int64_t cols = context_.preset.cols;
    if (block.nx == 1) {  // each line is contiguous
      ForEachRun(bytes, cols,
                 [&](int64_t at, int64_t positions, int64_t count) {
                   AppendCopy(context_, block, from, at, 1, to, first + at,
                              positions, count, count, count);
                 });
      return;
    }
    CopyChannels(context_, block, from, 1, to, first, block.nx, bytes, bytes);
  }

  LoweringContext& context_;
  const PlanLayer& plan_;
  std::vector<InputStream> in_;
  OutputStream out_;
};

class SliceLowering : public VectorLowering {
 public:
  SliceLowering(LoweringContext& context, int index)
      : context_(context),
        g_(context.plan.layers[index].g),
        channel_(context.network.layers[index].begin[2]),
        in_(context.Input(index, 0)),
        out_(context.Output(index)) {}

  void Append(const Block& block) override {
    const Region region = InputRegion(g_, block, context_.preset.beat_bytes());
    View from = in_.Require(region);
    from.address +=
        (block.x0 * g_.sw - g_.pad_left) * g_.c - region.b0 + channel_;
    const Destination to = out_.Begin(block, 0);
    const int64_t cols = context_.preset.cols;
    if (g_.oc == g_.c && g_.sw == 1) {  // whole positions
      ForEachRun(block.nx * g_.oc, cols,
                 [&](int64_t at, int64_t positions, int64_t count) {
                   AppendCopy(context_, block, from, at, g_.sh, to, at,
                              positions, count, count, count);
                 });
    } else {
      CopyChannels(context_, block, from, g_.sh, to, 0, block.nx, g_.sw * g_.c,
                   g_.oc);
    }
    out_.Finish(block, 0, g_.oc);
  }

 private:
  LoweringContext& context_;
  const Geometry& g_;
  const int64_t channel_;  // the first channel
  InputStream in_;
  OutputStream out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitConcat(
    LoweringContext& context, int index) {
  return std::make_unique<ConcatLowering>(context, index);
}

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitSlice(
    LoweringContext& context, int index) {
  return std::make_unique<SliceLowering>(context, index);
}

}  // namespace systole::compiler
