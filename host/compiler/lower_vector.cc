// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Layers that only the vector unit works on: pools and additions.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/lower.h"
#include "host/compiler/streams.h"

namespace systole::compiler {
namespace {

constexpr int64_t kMaxPoolSide = 31,
                  kMaxPoolTaps = 256;  // of the pool descriptor

class PoolLowering : public VectorLowering {
 public:
  PoolLowering(LoweringContext& context, int index)
      : context_(context),
        layer_(context.network.layers[index]),
        g_(context.plan.layers[index].g),
        in_(context.Input(index, 0)),
        out_(context.Output(index)) {}

  void Append(const Block& block) override {
    const Region region = InputRegion(g_, block, context_.preset.beat_bytes());
    const View view = in_.Require(region);
    const Destination to = out_.Begin(block, 0);
    for (int64_t c = 0; c < g_.oc; c += context_.preset.cols) {
      isa::Pool p;
      if (layer_.op == model::Op::kAveragePool)
        p.header.flags |= isa::Pool::kAverage;
      p.src = static_cast<uint32_t>(view.address + c);
      p.src_pitch = static_cast<uint32_t>(view.pitch);
      p.src_img_pitch =
          static_cast<uint32_t>(block.ni > 1 ? view.img_pitch : 0);
      p.lines = static_cast<uint32_t>(region.nl);
      p.line_bytes = static_cast<uint32_t>(region.nb);
      p.n = static_cast<uint32_t>(block.ni);
      p.ny = static_cast<uint32_t>(block.ny);
      p.nx = static_cast<uint32_t>(block.nx);
      p.sy = static_cast<uint32_t>(block.ny > 1 ? g_.sh : 0);
      p.src_sx = static_cast<uint32_t>(block.nx > 1 ? g_.sw * g_.c : 0);
      p.dy = static_cast<int32_t>(block.y0 * g_.sh - g_.pad_top - region.l0);
      p.dx = static_cast<int32_t>((block.x0 * g_.sw - g_.pad_left) * g_.c -
                                  region.b0);
      p.kh = static_cast<uint32_t>(g_.kh);
      p.kw = static_cast<uint32_t>(g_.kw);
      p.kx = static_cast<uint32_t>(g_.c);
      p.dst = static_cast<uint32_t>(to.address + c);
      p.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
      p.dst_img_pitch = static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
      p.dst_sx = static_cast<uint32_t>(block.nx > 1 ? to.position : 0);
      p.cols = static_cast<uint32_t>(std::min(context_.preset.cols, g_.oc - c));
      p.clamp_min = layer_.clamp_min;
      p.clamp_max = layer_.clamp_max;
      context_.builder.Append(p);
    }
    out_.Finish(block, 0, g_.oc);
  }

 private:
  LoweringContext& context_;
  const model::Layer& layer_;
  const Geometry& g_;
  InputStream in_;
  OutputStream out_;
};

class AddLowering : public VectorLowering {
 public:
  AddLowering(LoweringContext& context, int index)
      : context_(context),
        layer_(context.network.layers[index]),
        g_(context.plan.layers[index].g),
        in0_(context.Input(index, 0)),
        in1_(context.Input(index, 1)),
        out_(context.Output(index)) {}

  void Append(const Block& block) override {
    const Region region = InputRegion(g_, block, context_.preset.beat_bytes());
    // In a line, a region begins at the beat before the block.
    const int64_t skip = block.x0 * g_.c - region.b0;
    const View a = in0_.Require(region), b = in1_.Require(region);
    const Destination to = out_.Begin(block, 0);
    // Images that follow each other line by line on all three sides are one run
    // of lines.
    const int64_t ny = block.ny;
    const bool joined = a.img_pitch == ny * a.pitch &&
                        b.img_pitch == ny * b.pitch &&
                        to.img_pitch == ny * to.pitch;
    for (int64_t i = 0; i < (joined ? 1 : block.ni); ++i) {
      isa::Add d;
      if (layer_.rounding == model::Rounding::kSingle)
        d.header.flags |= isa::Add::kSingleRound;
      d.src0 = static_cast<uint32_t>(a.address + i * a.img_pitch + skip);
      d.src1 = static_cast<uint32_t>(b.address + i * b.img_pitch + skip);
      d.dst = static_cast<uint32_t>(to.address + i * to.img_pitch);
      d.ny = static_cast<uint32_t>(joined ? block.ni * ny : ny);
      d.pitch0 = static_cast<uint32_t>(a.pitch);
      d.pitch1 = static_cast<uint32_t>(b.pitch);
      d.dst_pitch = static_cast<uint32_t>(to.pitch);
      d.line_bytes = static_cast<uint32_t>(block.nx * g_.c);
      d.zp0 = context_.network.in(layer_, 0).zero_point;
      d.zp1 = context_.network.in(layer_, 1).zero_point;
      d.zp = context_.network.out(layer_).zero_point;
      d.mult0 = layer_.add[0].multiplier;
      d.mult1 = layer_.add[1].multiplier;
      d.mult = layer_.add[2].multiplier;
      d.shift0 = layer_.add[0].shift;
      d.shift1 = layer_.add[1].shift;
      d.shift = layer_.add[2].shift;
      d.clamp_min = layer_.clamp_min;
      d.clamp_max = layer_.clamp_max;
      context_.builder.Append(d);
    }
    out_.Finish(block, 0, g_.oc);
  }

 private:
  LoweringContext& context_;
  const model::Layer& layer_;
  const Geometry& g_;
  InputStream in0_, in1_;
  OutputStream out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VectorLowering>> MakeVectorLowering(
    LoweringContext& context, int index) {
  const PlanLayer& layer = context.plan.layers[index];
  if (layer.op == model::Op::kAdd)
    return std::make_unique<AddLowering>(context, index);
  const Geometry& g = layer.g;
  if (g.kh > kMaxPoolSide || g.kw > kMaxPoolSide ||
      g.kh * g.kw > kMaxPoolTaps) {
    return absl::UnimplementedError(
        absl::StrFormat("layer %s: a pool over %dx%d positions; the vector "
                        "unit does at most %d a side and %d in all",
                        layer.name, g.kh, g.kw, kMaxPoolSide, kMaxPoolTaps));
  }
  return std::make_unique<PoolLowering>(context, index);
}

}  // namespace systole::compiler
