// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowers pools, which run on the vector unit: in one step, or maxima in two
// steps (pool_split.h).
#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"
#include "host/compiler/emitters.h"
#include "host/compiler/pool_split.h"
#include "host/compiler/streams.h"

namespace systole::compiler {
namespace {

// Limits of the pool descriptor.
constexpr int64_t kMaxPoolSide = 127, kMaxPoolTaps = 256;

class PoolLowering : public VectorLowering {
 public:
  PoolLowering(LoweringContext& context, int index)
      : context_(context),
        layer_(context.network.layers[index]),
        g_(context.plan.layers[index].g),
        group_(context.plan.layers[index].in[0].channels),
        in_(context.Input(index, 0)),
        out_(context.Output(index)) {
    const int between = context.plan.layers[index].params.buffer;
    if (between == kNowhere) return;
    split_ = SplitOf(layer_.op, g_, context.preset);
    between_ = context.BaseOf(between);
  }

  void Append(const Block& block) override {
    const Region region = InputRegion(g_, block, context_.preset.beat_bytes());
    const Destination to = out_.Begin(block, 0);
    if (split_.lines > 0) {
      InTwoSteps(block, region, in_.Require(region), to);
    } else if (group_ == 0) {
      Channels(Lines(block, region, in_.Require(region)), block, region, to, 0,
               g_.oc, g_.c);
    } else {
      for (int64_t c = 0; c < g_.oc; c += group_) {
        const int64_t count = std::min(group_, g_.oc - c);
        const View view = in_.RequireChannels(region, c, count, count,
                                              region.nb / g_.c * count);
        Channels(Lines(block, region, view), block, region, to, c, count,
                 count);
      }
    }
    out_.Finish(block, 0, g_.oc);
  }

 private:
  // Lines of a block's windows: window row ky of the block's line y is line y *
  // step + first + ky of an image of `lines` lines at `view`.
  struct WindowLines {
    View view;
    int64_t lines = 1, step = 1, first = 0, rows = 1;
  };

  WindowLines Lines(const Block& block, const Region& region,
                    const View& view) const {
    return {view, region.nl, g_.sh, block.y0 * g_.sh - g_.pad_top - region.l0,
            g_.kh};
  }

  isa::Pool Begin(const WindowLines& from, const Block& block) const {
    isa::Pool p;
    p.src = static_cast<uint32_t>(from.view.address);
    p.src_pitch = static_cast<uint32_t>(from.view.pitch);
    p.src_img_pitch =
        static_cast<uint32_t>(block.ni > 1 ? from.view.img_pitch : 0);
    p.lines = static_cast<uint32_t>(from.lines);
    p.n = static_cast<uint32_t>(block.ni);
    p.ny = static_cast<uint32_t>(block.ny);
    p.sy = static_cast<uint32_t>(block.ny > 1 ? from.step : 0);
    p.dy = static_cast<int32_t>(from.first);
    p.kh = static_cast<uint32_t>(from.rows);
    return p;
  }

  // Pools `count` channels, from `first` on. The view points to their first
  // position; positions are `step` bytes apart.
  void Channels(const WindowLines& from, const Block& block,
                const Region& region, const Destination& to, int64_t first,
                int64_t count, int64_t step) {
    const int64_t cols = context_.preset.cols;
    ForEachGroup(
        count, cols, block.ni, [&](int64_t c, int64_t groups, int64_t some) {
          isa::Pool p = Begin(from, block);
          if (layer_.op == model::Op::kAveragePool)
            p.header.flags |= isa::Pool::kAverage;
          if (layer_.op == model::Op::kMean) SetSum(p);
          p.src += static_cast<uint32_t>(c);
          p.line_bytes = static_cast<uint32_t>(
              step == g_.c ? region.nb : region.nb / g_.c * step);
          p.nx = static_cast<uint32_t>(block.nx);
          p.src_sx = static_cast<uint32_t>(block.nx > 1 ? g_.sw * step : 0);
          // A region starts at the beat before its first position; a group
          // starts at the position.
          const int64_t begin = (block.x0 * g_.sw - g_.pad_left) * step;
          p.dx = static_cast<int32_t>(
              begin - (step == g_.c ? region.b0 : region.b0 / g_.c * step));
          p.kw = static_cast<uint32_t>(g_.kw);
          p.kx = static_cast<uint32_t>(step);
          p.dst = static_cast<uint32_t>(to.address + first + c);
          p.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
          p.dst_img_pitch =
              static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
          p.dst_sx = static_cast<uint32_t>(block.nx > 1 ? to.position : 0);
          p.cols = static_cast<uint32_t>(some);
          if (groups > 1) {
            p.n = static_cast<uint32_t>(groups);
            p.src_img_pitch = p.dst_img_pitch = static_cast<uint32_t>(cols);
          }
          p.clamp_min = layer_.clamp_min;
          p.clamp_max = layer_.clamp_max;
          context_.builder.Append(p);
        });
  }

  // Two steps, image by image, with as many lines at a time as the buffer
  // between the steps holds.
  void InTwoSteps(const Block& block, const Region& region, const View& view,
                  const Destination& to) {
    const int64_t images =
        std::clamp<int64_t>(split_.lines / block.ny, 1, block.ni);
    const int64_t lines = std::min(split_.lines, block.ny);
    for (int64_t i = 0; i < block.ni; i += images) {
      for (int64_t y = 0; y < block.ny; y += lines) {
        Block part = block;
        part.ni = std::min(images, block.ni - i);
        part.y0 += y;
        part.ny = std::min(lines, block.ny - y);
        WindowLines from = Lines(part, region, view);
        from.view.address += i * view.img_pitch;
        Destination there = to;
        there.address += i * to.img_pitch + y * to.pitch;
        const View between = {between_, split_.pitch, part.ny * split_.pitch};
        Columns(from, part, region.nb, between);
        Channels({between, part.ny, 1, 0, 1}, part, region, there, 0, g_.oc,
                 g_.c);
      }
    }
  }

  // First step: the maxima over the window rows, for `bytes` bytes of each
  // line.
  void Columns(const WindowLines& from, const Block& block, int64_t bytes,
               const View& to) {
    ForEachRun(bytes, context_.preset.cols,
               [&](int64_t at, int64_t positions, int64_t cols) {
                 isa::Pool p = Begin(from, block);
                 p.src += static_cast<uint32_t>(at);
                 p.line_bytes = static_cast<uint32_t>(positions * cols);
                 p.nx = static_cast<uint32_t>(positions);
                 p.src_sx = static_cast<uint32_t>(positions > 1 ? cols : 0);
                 p.kw = 1;
                 p.dst = static_cast<uint32_t>(to.address + at);
                 p.dst_pitch =
                     static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
                 p.dst_img_pitch =
                     static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
                 p.dst_sx = p.src_sx;
                 p.cols = static_cast<uint32_t>(cols);
                 p.clamp_min = -128;
                 p.clamp_max = 127;
                 context_.builder.Append(p);
               });
  }

  void SetSum(isa::Pool& p) const {
    p.header.flags |= isa::Pool::kSum;
    if (layer_.rounding == model::Rounding::kSingle)
      p.header.flags |= isa::Pool::kSingleRound;
    p.src_zp = context_.network.in(layer_).zero_point;
    p.zp = context_.network.out(layer_).zero_point;
    p.mult = layer_.requant[0].multiplier;
    p.shift = layer_.requant[0].shift;
  }

  LoweringContext& context_;
  const model::Layer& layer_;
  const Geometry& g_;
  const int64_t group_;  // channels that are loaded at a time; 0 = all
  PoolSplit split_;
  int64_t between_ = 0;  // address of the buffer between the steps
  InputStream in_;
  OutputStream out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitPool(
    LoweringContext& context, int index) {
  const PlanLayer& layer = context.plan.layers[index];
  const Geometry& g = layer.g;
  if (g.kh > kMaxPoolSide || g.kw > kMaxPoolSide ||
      (g.kh * g.kw > kMaxPoolTaps && layer.op != model::Op::kMean)) {
    return absl::UnimplementedError(
        absl::StrFormat("layer %s: a pool over %dx%d positions; the vector "
                        "unit does at most %d a side and %d in all",
                        layer.name, g.kh, g.kw, kMaxPoolSide, kMaxPoolTaps));
  }
  return std::make_unique<PoolLowering>(context, index);
}

}  // namespace systole::compiler
