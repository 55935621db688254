// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Lowers layers that run on the array. For each block, group of column tiles
// and tile it appends: the tiles of all passes, the passes, and the requantise
// into the output; after the group, the store. A block's input is loaded before
// the block. In a stationary layer all blocks go through this together: each
// pass covers all of them.
#include <algorithm>

#include "host/compiler/emitters.h"
#include "host/compiler/layer_work.h"
#include "host/compiler/lower.h"
#include "host/compiler/streams.h"
#include "host/compiler/weights.h"

namespace systole::compiler {
namespace {

constexpr size_t kManyBlocks = 8;             // blocks that are worth a loop
constexpr int64_t kMaxTiles = (1 << 16) - 1;  // field tiles

class ConvLowering {
 public:
  ConvLowering(LoweringContext& context, int index)
      : context_(context),
        plan_(context.plan.layers[index]),
        joined_(Joined(context.network.layers[index], plan_)),
        layer_(joined_ ? *joined_ : context.network.layers[index]),
        g_(plan_.g),
        group_(plan_.in[0].channels),
        held_(Held(plan_)),
        preset_(context.preset),
        in_tensor_(context.network.in(layer_)),
        out_tensor_(context.network.out(layer_)),
        raw_(g_.element_bytes == 4),
        loops_(context.plan.loops && !plan_.stationary &&
               plan_.blocks.size() >= kManyBlocks),
        weights_(layer_, g_, in_tensor_.zero_point, raw_, preset_, context.hbm),
        in_(context.Input(index, 0)),
        out_(context.Output(index)),
        params_(plan_.params, context.BaseOf(plan_.params.buffer),
                weights_.column_tiles(), loops_, preset_, context.builder) {
    if (group_ > 0) weights_.ReadInGroups(group_);
    if (plan_.tile_row > 0) weights_.LieElsewhere();
    if (const int next = context.plan.SharerOf(index); next >= 0) Share(next);
    epilogue_ = context.plan.EpilogueOf(index);
    if (epilogue_ == nullptr) return;
    if (epilogue_->op == model::Op::kTable) table_.emplace(context, index + 1);
    if (epilogue_->op == model::Op::kAdd) {
      added_ = epilogue_->inputs[0] == plan_.output ? 1 : 0;
      operand_.emplace(context.Input(index + 1, added_));
      sum_ = &context.network.layers[index + 1];
    }
  }

  absl::Status Run(const AfterBlock& after) {
    if (absl::Status s = Pack(); !s.ok()) return s;
    const size_t together = plan_.stationary ? plan_.blocks.size() : 1;
    for (size_t first = 0; first < plan_.blocks.size(); first += together) {
      std::vector<Piece> pieces(together);
      for (size_t p = 0; p < together; ++p) pieces[p].block = first + p;
      absl::StatusOr<const PackedWeights*> packed =
          weights_.Get(ValidTaps(g_, plan_.WalkOf(plan_.blocks[first])));
      if (!packed.ok()) return packed.status();
      for (Piece& piece : pieces) {
        const Block& block = BlockOf(piece);
        piece.region = InputRegion(g_, block, preset_.beat_bytes());
        if (group_ == 0) piece.view = in_.Require(piece.region);
        if (table_) table_->Require();
        if (operand_) piece.operand = Operand(block);
      }
      for (int64_t c0 = 0; c0 < g_.oc; c0 += plan_.out.channels) {
        const int64_t channels = std::min(plan_.out.channels, g_.oc - c0);
        for (Piece& piece : pieces) piece.to = out_.Begin(BlockOf(piece), c0);
        fed_ = 0;
        for (int64_t c = 0; c < channels; c += preset_.cols) {
          const int64_t tile = (c0 + c) / preset_.cols;
          const int64_t cols = std::min(preset_.cols, channels - c);
          if (group_ > 0) LoadGroup(pieces[0], tile);
          Passes(pieces, **packed, tile, CeilDiv(channels - c, preset_.cols));
          for (const Piece& piece : pieces) {
            Drain(piece, tile, cols, OffsetOf(c));
            if (c + cols < channels) continue;
            out_.Finish(BlockOf(piece), c0, channels);
            if (c0 + channels == g_.oc) after(piece.block);
          }
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  // A block in progress.
  struct Piece {
    size_t block = 0;  // its number
    Region region;
    View view, operand;  // operand: the second operand of its sums
    Destination to;
    int64_t acc = 0, params = 0;
    int64_t group = -1;  // the channels that are in its slot
  };

  // Packs the weights for all blocks.
  absl::Status Pack() {
    std::vector<Taps> all;
    for (const Block& block : plan_.blocks)
      all.push_back(ValidTaps(g_, plan_.WalkOf(block)));
    const auto count = [](const Taps& t) {
      return (t.ky1 - t.ky0) * (t.kx1 - t.kx0);
    };
    std::stable_sort(all.begin(), all.end(), [&](const Taps& a, const Taps& b) {
      return count(a) > count(b);
    });
    for (const Taps& taps : all) {
      if (const auto packed = weights_.Get(taps); !packed.ok())
        return packed.status();
    }
    return absl::OkStatus();
  }

  static Geometry Held(const PlanLayer& plan) {
    Geometry held = plan.g;
    if (plan.in[0].channels > 0) held.c = plan.in[0].channels;
    return held;
  }

  // Loads the group of channels that the column tile reads.
  void LoadGroup(Piece& piece, int64_t tile) {
    const int64_t group = FirstChannel(g_, preset_.cols, tile) / group_;
    if (piece.group == group) return;
    const Region all = InputRegion(g_, BlockOf(piece), preset_.beat_bytes());
    const int64_t first = group * group_;
    piece.group = group;
    piece.view = in_.RequireChannels(all, first, std::min(group_, g_.c - first),
                                     group_, plan_.in[0].pitch);
    piece.region = all;
    piece.region.b0 = all.b0 / g_.c * group_;
    piece.region.nb = all.nb / g_.c * group_;
  }

  // The tile of layer `next` shares the last tile of this layer.
  void Share(int next) {
    const PlanLayer& plan = context_.plan.layers[next];
    const model::Layer& layer = context_.network.layers[next];
    next_joined_ = Joined(layer, plan);
    next_weights_.emplace(next_joined_ ? *next_joined_ : layer, plan.g,
                          context_.network.in(layer).zero_point, false, preset_,
                          context_.hbm);
    weights_.Share(*next_weights_, plan.tile_row);
  }

  const Block& BlockOf(const Piece& piece) const {
    return plan_.blocks[piece.block];
  }

  static std::optional<model::Layer> Joined(const model::Layer& layer,
                                            const PlanLayer& plan) {
    if (plan.g.columns == 1) return std::nullopt;  // there may be many weights
    return JoinedLayer(layer, plan.shape, plan.g.columns, plan.g.group);
  }

  // Offset of channel c from the first one; groups are side by side.
  int64_t OffsetOf(int64_t c) const {
    return g_.group > 0 ? g_.ow * c : c * g_.element_bytes;
  }

  // Computes the sums of a column tile, of which as many follow in the same way
  // as `ahead` says, itself included. Their tiles are taken in one stream.
  void Passes(std::vector<Piece>& pieces, const PackedWeights& packed,
              int64_t tile, int64_t ahead) {
    for (Piece& piece : pieces) {
      piece.acc = context_.AllocateRows(BlockOf(piece).rows(), loops_);
      piece.params = raw_ ? 0 : params_.Require(packed, tile);
    }
    const int64_t passes = packed.plan.passes();
    // A layer's only tile stays in the array from block to block.
    const bool keep =
        plan_.tile_row > 0 ||
        (passes * weights_.column_tiles() == 1 && taken_ == &packed);
    taken_ = &packed;
    if (!keep && fed_ == 0) {
      fed_ = packed.stride == passes
                 ? std::clamp<int64_t>(kMaxTiles / passes, 1, ahead)
                 : 1;
      isa::Weights weights;
      weights.hbm_addr =
          packed.tiles_addr + tile * packed.stride * preset_.tile_bytes();
      weights.tiles = static_cast<uint32_t>(fed_ * passes);
      context_.builder.Append(weights);
    }
    if (!keep) --fed_;
    bool first = true;  // first pass
    for (const PassGroup& group : packed.plan.groups) {
      if (pieces.size() == 1) {
        AppendPasses(pieces[0], group, tile, !first, keep);
        first = false;
        continue;
      }
      for (const std::vector<Segment>& pass : group.passes) {
        PassGroup one;
        one.segments = pass;
        for (const Piece& piece : pieces)
          AppendPasses(piece, one, tile, !first, keep || &piece != &pieces[0]);
        first = false;
      }
    }
  }

  void AppendPasses(const Piece& piece, const PassGroup& group, int64_t tile,
                    bool accumulate, bool keep) {
    int64_t channel = FirstChannel(g_, preset_.cols, tile);
    if (group_ > 0) channel %= group_;
    isa::Matmul m =
        Walk(BlockOf(piece), group, piece.region, piece.view, channel);
    m.acc = static_cast<uint32_t>(piece.acc);
    if (accumulate) m.header.flags |= isa::Matmul::kAccumulate;
    if (keep) m.header.flags |= isa::Matmul::kKeepWeights;
    context_.builder.Append(m);
  }

  // Requantises a column tile.
  void Drain(const Piece& piece, int64_t tile, int64_t cols, int64_t offset) {
    const Block& block = BlockOf(piece);
    const Destination& to = piece.to;
    isa::Requant r;
    if (raw_) r.header.flags |= isa::Requant::kRaw;
    if (layer_.rounding == model::Rounding::kSingle)
      r.header.flags |= isa::Requant::kSingleRound;
    r.acc = static_cast<uint32_t>(piece.acc);
    r.n = static_cast<uint32_t>(block.ni);
    r.ny = static_cast<uint32_t>(block.ny);
    r.nx = static_cast<uint32_t>(block.nx);
    r.dst = static_cast<uint32_t>(to.address + offset);
    r.dst_pitch = static_cast<uint32_t>(block.ny > 1 ? to.pitch : 0);
    r.dst_img_pitch = static_cast<uint32_t>(block.ni > 1 ? to.img_pitch : 0);
    const int64_t step = g_.group > 0 ? preset_.cols : to.position;
    r.dst_sx = static_cast<uint32_t>(block.nx > 1 ? step : 0);
    const int64_t turns = TurnsOf(block);
    if (turns > 1) InTurns(turns, r.n, r.dst_img_pitch, r.nx, r.dst_sx);
    r.cols = static_cast<uint32_t>(cols);
    r.params = static_cast<uint32_t>(piece.params);
    r.zp = out_tensor_.zero_point;
    r.clamp_min = layer_.clamp_min;
    r.clamp_max = layer_.clamp_max;
    if (table_) r.header.flags |= isa::Requant::kTable;
    if (operand_)
      SetResidual(block, piece.operand, tile * preset_.cols, turns, r);
    context_.builder.Append(r);
  }

  // View of the second operand of the block's sums.
  View Operand(const Block& block) {
    Block positions = block;
    positions.x0 *= g_.columns;
    positions.nx *= g_.columns;
    const Region region = context_.plan.RegionOf(*epilogue_, added_, positions);
    View view = operand_->Require(region);
    view.address += block.x0 * g_.oc - region.b0;
    return view;
  }

  void SetResidual(const Block& block, const View& from, int64_t channel,
                   int64_t turns, isa::Requant& r) const {
    const int result = 1 - added_;
    // If both operands have a wide factor, either may be the wide one.
    const int scaled = epilogue_->wide == result ? added_ : result;
    r.header.flags |= isa::Requant::kResidual;
    if (scaled == result) r.header.flags |= isa::Requant::kResidualWide;
    if (sum_->rounding == model::Rounding::kSingle)
      r.header.flags |= isa::Requant::kResidualSingle;
    r.src = static_cast<uint32_t>(from.address + channel);
    r.src_pitch = static_cast<uint32_t>(block.ny > 1 ? from.pitch : 0);
    r.src_img_pitch = static_cast<uint32_t>(block.ni > 1 ? from.img_pitch : 0);
    r.src_sx = static_cast<uint32_t>(block.nx > 1 ? g_.oc : 0);
    if (turns > 1) {
      r.src_img_pitch = r.src_sx;
      r.src_sx *= static_cast<uint32_t>(turns);
    }
    r.src_zp = context_.network.in(*sum_, added_).zero_point;
    r.sum_zp = context_.network.out(*sum_).zero_point;
    r.sum_mult1 = sum_->add[scaled].multiplier;
    r.sum_shift1 = sum_->add[scaled].shift;
    r.sum_mult = sum_->add[2].multiplier;
    r.sum_shift = sum_->add[2].shift;
    r.sum_min = sum_->clamp_min;
    r.sum_max = sum_->clamp_max;
  }

  // Number of turns in which a line is walked; each turn takes every n-th
  // position. The second operand of a sum reads one word of the unified buffer
  // per cycle. If a word holds several positions, the data setup stays at its
  // bank for as many cycles, and an operand read that has caught up would
  // proceed at that pace.
  int64_t TurnsOf(const Block& block) const {
    const int64_t step = g_.sw * held_.position_bytes();
    const bool inside =
        g_.pad_left == 0 && (g_.ow - 1) * g_.sw + g_.kw <= g_.w && g_.dw == 1;
    if (!operand_ || !inside || block.ni > 1 || g_.group > 0) return 1;
    int64_t turns = preset_.word_bytes() / step;
    while (turns > 1 && block.nx % turns != 0) --turns;
    return std::max<int64_t>(1, turns);
  }

  // Changes a walk over one image: its images become the turns.
  static void InTurns(int64_t turns, uint32_t& images, uint32_t& image_pitch,
                      uint32_t& positions, uint32_t& step) {
    images = static_cast<uint32_t>(turns);
    image_pitch = step;
    positions /= static_cast<uint32_t>(turns);
    step *= static_cast<uint32_t>(turns);
  }

  isa::Matmul Walk(const Block& block, const PassGroup& group,
                   const Region& region, const View& view,
                   int64_t first_channel) const {
    isa::Matmul m;
    m.ub_base = static_cast<uint32_t>(view.address);
    m.pitch = static_cast<uint32_t>(view.pitch);
    m.img_pitch = static_cast<uint32_t>(block.ni > 1 ? view.img_pitch : 0);
    m.lines = static_cast<uint32_t>(region.nl);
    m.line_bytes = static_cast<uint32_t>(region.nb);
    m.pad = in_tensor_.zero_point;
    m.n = static_cast<uint32_t>(block.ni);
    m.ny = static_cast<uint32_t>(block.ny);
    m.nx = static_cast<uint32_t>(block.nx);
    m.sy = static_cast<uint32_t>(block.ny > 1 ? g_.sh : 0);
    m.sx = static_cast<uint32_t>(block.nx > 1 ? g_.sw * held_.position_bytes()
                                              : 0);
    if (const int64_t turns = TurnsOf(block); turns > 1)
      InTurns(turns, m.n, m.img_pitch, m.nx, m.sx);
    m.t0 = static_cast<uint32_t>(group.t0);
    m.t0_dx = static_cast<uint32_t>(group.dx);
    m.t1 = static_cast<uint32_t>(group.t1);
    m.t1_dy = static_cast<uint32_t>(group.dy);
    // Converts window coordinates to coordinates of the region.
    const int64_t line = block.y0 * g_.sh - g_.pad_top - region.l0;
    const int64_t byte =
        (block.x0 * g_.sw - g_.pad_left) * held_.position_bytes() - region.b0 +
        first_channel;
    size_t at = 0;
    if (plan_.tile_row > 0) {
      // The layer has no padding, so a padding segment supplies zeros for the
      // rows before its own.
      m.pad = 0;
      m.seg_dx[0] = static_cast<int32_t>(region.nb);
      m.seg_len[0] = static_cast<uint32_t>(plan_.tile_row);
      at = 1;
    }
    for (const Segment& s : group.segments) {
      m.seg_dy[at] = static_cast<int32_t>(line + s.line);
      m.seg_dx[at] = static_cast<int32_t>(byte + s.byte);
      m.seg_len[at++] = static_cast<uint32_t>(s.len);
    }
    return m;
  }

  LoweringContext& context_;
  const PlanLayer& plan_;
  const std::optional<model::Layer> joined_;  // the layer with joined columns
  const model::Layer& layer_;
  const Geometry& g_;
  const int64_t group_;  // channels that a slot holds; 0: all
  const Geometry held_;  // as a slot holds it
  const Preset& preset_;
  const model::Tensor& in_tensor_;
  const model::Tensor& out_tensor_;
  const bool raw_;
  const bool loops_;  // the blocks are to become a loop
  LayerWeights weights_;
  // The layer whose tile shares the last tile of this layer.
  std::optional<model::Layer> next_joined_;
  std::optional<LayerWeights> next_weights_;
  InputStream in_;
  OutputStream out_;
  ParamStream params_;
  // Packing whose tile the array took last.
  const PackedWeights* taken_ = nullptr;
  // Column tiles whose tiles are on their way to the array.
  int64_t fed_ = 0;
  // A joined layer: its table, or the second operand of its sums.
  const PlanLayer* epilogue_ = nullptr;
  std::optional<TableStream> table_;
  std::optional<InputStream> operand_;
  int added_ = 0;
  const model::Layer* sum_ = nullptr;
};

}  // namespace

absl::Status EmitConv(LoweringContext& context, int layer,
                      const AfterBlock& after) {
  return ConvLowering(context, layer).Run(after);
}

}  // namespace systole::compiler
