// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowers elementwise layers, which run on the vector unit.
#include <algorithm>

#include "host/compiler/emitters.h"
#include "host/compiler/streams.h"

namespace systole::compiler {
namespace {

// A function of one value: a maximum over one tap, whose result passes through
// the table.
class TableLowering : public VectorLowering {
 public:
  TableLowering(LoweringContext& context, int index)
      : context_(context),
        plan_(context.plan.layers[index]),
        in_(context.Input(index, 0)),
        out_(context.Output(index)),
        loaded_(context, index) {}

  void Append(const Block& block) override {
    const Geometry& g = plan_.g;
    loaded_.Require();
    const Region region = context_.plan.RegionOf(plan_, 0, block);
    const View view = in_.Require(region);
    const Destination to = out_.Begin(block, 0);
    const int64_t from = view.address + block.x0 * g.c - region.b0;
    ForEachRun(
        block.nx * g.c, context_.preset.cols,
        [&](int64_t at, int64_t positions, int64_t bytes) {
          isa::Pool p;
          p.header.flags = isa::Pool::kTable;
          p.src = static_cast<uint32_t>(from + at);
          p.src_pitch = static_cast<uint32_t>(block.ny > 1 ? view.pitch : 0);
          p.src_img_pitch =
              static_cast<uint32_t>(block.ni > 1 ? view.img_pitch : 0);
          p.lines = static_cast<uint32_t>(block.ny);
          p.line_bytes = static_cast<uint32_t>(positions * bytes);
          p.n = static_cast<uint32_t>(block.ni);
          p.ny = static_cast<uint32_t>(block.ny);
          p.nx = static_cast<uint32_t>(positions);
          p.sy = block.ny > 1 ? 1 : 0;
          p.src_sx = static_cast<uint32_t>(positions > 1 ? bytes : 0);
          p.kh = p.kw = 1;
          p.dst = static_cast<uint32_t>(to.address + at);
          p.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
          p.dst_img_pitch =
              static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
          p.dst_sx = p.src_sx;
          p.cols = static_cast<uint32_t>(bytes);
          p.clamp_min = -128;
          p.clamp_max = 127;
          context_.builder.Append(p);
        });
    out_.Finish(block, 0, g.oc);
  }

 private:
  LoweringContext& context_;
  const PlanLayer& plan_;
  InputStream in_;
  OutputStream out_;
  TableStream loaded_;
};

class MulLowering : public VectorLowering {
 public:
  MulLowering(LoweringContext& context, int index)
      : context_(context),
        plan_(context.plan.layers[index]),
        layer_(context.network.layers[index]),
        in0_(context.Input(index, 0)),
        in1_(context.Input(index, 1)),
        out_(context.Output(index)) {}

  void Append(const Block& block) override {
    const Geometry& g = plan_.g;
    const Region region = context_.plan.RegionOf(plan_, 0, block);
    const View a = in0_.Require(region);
    const View b = in1_.Require(context_.plan.RegionOf(plan_, 1, block));
    const Destination to = out_.Begin(block, 0);
    const int64_t skip = block.x0 * g.c - region.b0;
    const int64_t cols = context_.preset.cols;
    isa::Mul m = Whole(block, a, to);
    if (context_.plan.Repeated(plan_, 1)) {
      // All positions use the same channels.
      m.nx = static_cast<uint32_t>(block.nx);
      m.sx0 = static_cast<uint32_t>(block.nx > 1 ? g.c : 0);
      m.dst_sx = static_cast<uint32_t>(block.nx > 1 ? to.position : 0);
      m.img_pitch1 = static_cast<uint32_t>(block.ni > 1 ? b.img_pitch : 0);
      ForEachGroup(g.c, cols, block.ni,
                   [&](int64_t c, int64_t groups, int64_t count) {
                     m.src0 = static_cast<uint32_t>(a.address + skip + c);
                     m.src1 = static_cast<uint32_t>(b.address + c);
                     m.dst = static_cast<uint32_t>(to.address + c);
                     m.cols = static_cast<uint32_t>(count);
                     if (block.ni == 1) {
                       m.n = static_cast<uint32_t>(groups);
                       m.img_pitch0 = m.img_pitch1 = m.dst_img_pitch =
                           static_cast<uint32_t>(groups > 1 ? cols : 0);
                     }
                     context_.builder.Append(m);
                   });
    } else {
      m.img_pitch1 = static_cast<uint32_t>(block.ni > 1 ? b.img_pitch : 0);
      m.pitch1 = static_cast<uint32_t>(block.ny > 1 ? b.pitch : 0);
      ForEachRun(block.nx * g.c, cols,
                 [&](int64_t at, int64_t positions, int64_t bytes) {
                   m.src0 = static_cast<uint32_t>(a.address + skip + at);
                   m.src1 = static_cast<uint32_t>(b.address + skip + at);
                   m.dst = static_cast<uint32_t>(to.address + at);
                   m.nx = static_cast<uint32_t>(positions);
                   m.cols = static_cast<uint32_t>(bytes);
                   m.sx0 = m.sx1 = m.dst_sx =
                       static_cast<uint32_t>(positions > 1 ? bytes : 0);
                   context_.builder.Append(m);
                 });
    }
    out_.Finish(block, 0, g.oc);
  }

 private:
  // The descriptor without addresses, positions and the second operand.
  isa::Mul Whole(const Block& block, const View& a,
                 const Destination& to) const {
    isa::Mul m;
    if (layer_.rounding == model::Rounding::kSingle)
      m.header.flags |= isa::Mul::kSingleRound;
    m.n = static_cast<uint32_t>(block.ni);
    m.ny = static_cast<uint32_t>(block.ny);
    m.img_pitch0 = static_cast<uint32_t>(block.ni > 1 ? a.img_pitch : 0);
    m.pitch0 = static_cast<uint32_t>(block.ny > 1 ? a.pitch : 0);
    m.dst_img_pitch = static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
    m.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
    m.zp0 = context_.network.in(layer_, 0).zero_point;
    m.zp1 = context_.network.in(layer_, 1).zero_point;
    m.zp = context_.network.out(layer_).zero_point;
    m.mult = layer_.requant[0].multiplier;
    m.shift = layer_.requant[0].shift;
    m.clamp_min = layer_.clamp_min;
    m.clamp_max = layer_.clamp_max;
    return m;
  }

  LoweringContext& context_;
  const PlanLayer& plan_;
  const model::Layer& layer_;
  InputStream in0_, in1_;
  OutputStream out_;
};

class AddLowering : public VectorLowering {
 public:
  AddLowering(LoweringContext& context, int index)
      : context_(context),
        plan_(context.plan.layers[index]),
        layer_(context.network.layers[index]),
        in0_(context.Input(index, 0)),
        in1_(context.Input(index, 1)),
        out_(context.Output(index)) {}

  void Append(const Block& block) override {
    const Geometry& g = plan_.g;
    const Region region = context_.plan.RegionOf(plan_, 0, block);
    // Within a line, a region starts at the beat before the block.
    const int64_t skip = block.x0 * g.c - region.b0;
    View a = in0_.Require(region);
    View b = in1_.Require(context_.plan.RegionOf(plan_, 1, block));
    a.address += skip;
    const Destination to = out_.Begin(block, 0);
    if (context_.plan.Repeated(plan_, 1)) {
      for (int64_t i = 0; i < block.ni; ++i) Positions(block, a, b, to, i);
    } else {
      b.address += skip;
      Lines(block, a, b, to);
    }
    out_.Finish(block, 0, g.oc);
  }

 private:
  void Lines(const Block& block, const View& a, const View& b,
             const Destination& to) {
    // Images that are contiguous, line by line, on all three sides are one run
    // of lines.
    const int64_t ny = block.ny;
    const bool joined = a.img_pitch == ny * a.pitch &&
                        b.img_pitch == ny * b.pitch &&
                        to.img_pitch == ny * to.pitch;
    for (int64_t i = 0; i < (joined ? 1 : block.ni); ++i) {
      Run({a.address + i * a.img_pitch, a.pitch},
          {b.address + i * b.img_pitch, b.pitch},
          {to.address + i * to.img_pitch, to.pitch},
          joined ? block.ni * ny : ny, block.nx * plan_.g.c);
    }
  }

  // All positions of an image use the same channels: the positions become the
  // lines of a descriptor, across all lines of the image if they are
  // contiguous.
  void Positions(const Block& block, const View& a, const View& b,
                 const Destination& to, int64_t image) {
    const int64_t c = plan_.g.c, line = block.nx * c;
    const bool joined = a.pitch == line && to.pitch == block.nx * to.position;
    for (int64_t y = 0; y < (joined ? 1 : block.ny); ++y) {
      Run({a.address + image * a.img_pitch + y * a.pitch, c},
          {b.address + image * b.img_pitch, 0},
          {to.address + image * to.img_pitch + y * to.pitch, to.position},
          joined ? block.ny * block.nx : block.nx, c);
    }
  }

  struct Place {
    int64_t address, pitch;
  };
  void Run(Place a, Place b, Place to, int64_t lines, int64_t bytes) {
    constexpr int64_t kMostLines = (1 << 14) - 1;  // limit of the field
    for (int64_t at = 0; at < lines; at += kMostLines) {
      isa::Add d;
      if (layer_.rounding == model::Rounding::kSingle)
        d.header.flags |= isa::Add::kSingleRound;
      d.src0 = static_cast<uint32_t>(a.address + at * a.pitch);
      d.src1 = static_cast<uint32_t>(b.address + at * b.pitch);
      d.dst = static_cast<uint32_t>(to.address + at * to.pitch);
      d.ny = static_cast<uint32_t>(std::min(lines - at, kMostLines));
      d.pitch0 = static_cast<uint32_t>(a.pitch);
      d.pitch1 = static_cast<uint32_t>(b.pitch);
      d.dst_pitch = static_cast<uint32_t>(to.pitch);
      d.line_bytes = static_cast<uint32_t>(bytes);
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
  }

  LoweringContext& context_;
  const PlanLayer& plan_;
  const model::Layer& layer_;
  InputStream in0_, in1_;
  OutputStream out_;
};

}  // namespace

void TableStream::Require() {
  if (there_) return;
  there_ = true;
  const model::Layer& layer = context_.network.layers[layer_];
  const std::vector<uint8_t> bytes(layer.table.begin(), layer.table.end());
  isa::Load load;
  load.hbm_addr = context_.hbm.Add(layer.name + ".table", bytes);
  load.ub_addr = static_cast<uint32_t>(
      context_.BaseOf(context_.plan.layers[layer_].params.buffer));
  load.len = kTableBytes;
  load.n1 = load.n2 = 1;
  context_.builder.Append(load);
  isa::Table table;
  table.src = load.ub_addr;
  context_.builder.Append(table);
}

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitTable(
    LoweringContext& context, int index) {
  return std::make_unique<TableLowering>(context, index);
}

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitMul(
    LoweringContext& context, int index) {
  return std::make_unique<MulLowering>(context, index);
}

absl::StatusOr<std::unique_ptr<VectorLowering>> EmitAdd(
    LoweringContext& context, int index) {
  return std::make_unique<AddLowering>(context, index);
}

}  // namespace systole::compiler
