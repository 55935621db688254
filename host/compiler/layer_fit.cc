// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/layer_fit.h"

#include <algorithm>
#include <optional>
#include <set>

#include "host/compiler/pass_plan.h"
#include "host/compiler/weights.h"
#include "systole/gen/isa.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

// Channels that are buffered and stored at a time: a few beats, whole
// beats of every position if the layout in HBM allows it. A block of many
// channels then needs no large buffer and does not wait long for its end.
int64_t GroupChannels(const LayerNeeds& needs, const Preset& preset) {
  const Geometry& g = needs.g;
  const int64_t position = g.oc * g.element_bytes;
  const bool can_group = g.ow == 1 || position % preset.beat_bytes() == 0;
  if (needs.out_resident || !needs.matmul || !can_group || g.group > 0)
    return g.oc;
  int64_t channels = preset.cols;
  while (channels * g.element_bytes % preset.beat_bytes() != 0 ||
         channels * g.element_bytes < needs.out_beats * preset.beat_bytes()) {
    channels += preset.cols;
  }
  return std::min(channels, g.oc);
}

int64_t Packings(const LayerNeeds& needs, const std::vector<Block>& blocks) {
  if (needs.stationary) return 1;
  std::set<Taps> taps;
  for (const Block& b : blocks) taps.insert(ValidTaps(needs.g, b));
  return static_cast<int64_t>(taps.size());
}

// Lower bound of the passes of a column tile over these taps.
int64_t PassesOf(const Geometry& g, int64_t taps, const Preset& preset) {
  const int64_t depth = TileChannels(g, preset.cols);
  const int64_t full = CeilDiv(taps * depth, preset.rows);
  if (g.in_group > 0)
    return std::max(full, CeilDiv(g.c / g.in_group, preset.segments));
  // A segment covers one tap if only some channels are read, otherwise a line
  // of taps.
  const bool lines = depth == g.c && (g.dw == 1 || g.kw == 1);
  return std::max(full,
                  CeilDiv(lines ? CeilDiv(taps, g.kw) : taps, preset.segments));
}

int64_t TilesOf(const LayerNeeds& needs, const Preset& preset) {
  return PassesOf(needs.g, needs.g.taps(), preset) *
         CeilDiv(needs.g.oc, preset.cols);
}

// Whether the layer has only one tile, which stays in the array from block to
// block.
bool KeepsTile(const LayerNeeds& needs, const Preset& preset) {
  return needs.matmul && needs.g.oc <= preset.cols &&
         PassesOf(needs.g, needs.g.taps(), preset) == 1;
}

// Whether the block uses the same tile as the block before, because both have
// the same taps.
bool HoldsTile(const LayerNeeds& needs, const Preset& preset,
               const Block& before, const Block& b) {
  const Taps t = ValidTaps(needs.g, before), u = ValidTaps(needs.g, b);
  return KeepsTile(needs, preset) && !(t < u) && !(u < t);
}

// Minimum number of vectors per tile: the tile's way into the array, and the
// transfer of the next tile from HBM.
int64_t StreamedPass(const Preset& preset) {
  return std::max({preset.rows, preset.cols + 2,
                   preset.tile_bytes() / preset.beat_bytes() *
                       Target(preset).cycles_per_beat()});
}

// Array (or vector unit) cycles of a block. `held`: the block loads no tile.
int64_t WorkOf(const LayerNeeds& needs, const Preset& preset, const Block& b,
               bool held) {
  const Geometry& g = needs.g;
  const int64_t tiles = CeilDiv(g.oc, preset.cols);
  if (!needs.matmul)
    return PoolCycles(needs.split, g, preset, b.ni * b.ny, b.nx) + 20;
  const Taps t = ValidTaps(g, b);
  const int64_t passes = PassesOf(g, (t.ky1 - t.ky0) * (t.kx1 - t.kx0), preset);
  const int64_t shortest = held ? 1 : StreamedPass(preset);
  return std::max(passes * std::max(b.rows(), shortest),
                  b.rows() * g.element_bytes + 8) *
         tiles;
}

// Number of inputs that come from HBM; the parts of a concatenation count once.
int64_t Loads(const LayerNeeds& needs) {
  const int64_t loads =
      std::count(needs.resident.begin(), needs.resident.end(), false);
  return needs.parts ? std::min<int64_t>(loads, 1) : loads;
}

// What the two descriptors of each column tile of a block count, for the
// program's size, where they are not small beside a tile.
double DescriptorCost(const LayerNeeds& needs, const Preset& preset) {
  constexpr double kWeight = 0.5, kBytes = isa::kDescriptorBits / 8.0;
  const auto tile = static_cast<double>(preset.tile_bytes());
  if (tile >= 16 * kBytes) return 0;
  return kWeight * static_cast<double>(CeilDiv(needs.g.oc, preset.cols)) *
         kBytes / static_cast<double>(preset.beat_bytes()) * kBytes / tile;
}

// Estimated cycles of the layer. A block starts when its input has arrived and
// the block before it is done. Inputs arrive one after the other; a slot is
// refilled when it is free. After the last block come its drain and its store.
// Work between the blocks occupies the vector unit after each of them. Every
// byte moved costs a little extra; activations also occupy banks of the unified
// buffer.
double Score(const LayerNeeds& needs, const Preset& preset,
             const LayerFit& fit) {
  constexpr int64_t kLatency = 100;
  constexpr double kMoved = 0.05, kActivations = 0.15;
  const Geometry& g = needs.g;
  const int64_t beat = preset.beat_bytes();
  const int64_t loads = Loads(needs);
  const int64_t rows = g.n * g.oh * g.ow;
  int64_t hbm = 0, busy = 0, before = 0, image = -1, lines = 0, vector = 0;
  const bool stays = needs.stationary || KeepsTile(needs, preset);
  // A block whose input comes in groups of channels is computed in as many
  // parts.
  const int64_t parts = needs.matmul && needs.in_channels > 0
                            ? CeilDiv(g.c, needs.in_channels)
                            : 1;
  double moved = 0;
  const auto move = [&](int64_t beats, double weight) {
    const int64_t cycles = beats * Target(preset).cycles_per_beat();
    hbm += cycles;
    moved += weight * static_cast<double>(cycles);
  };
  const Block* before_it = nullptr;
  for (const Block& b : fit.blocks) {
    const bool held =
        before_it != nullptr &&
        (needs.stationary || HoldsTile(needs, preset, *before_it, b));
    const bool first = before_it == nullptr;
    before_it = &b;
    // A single tile is loaded before the input; others while blocks are
    // computed.
    const int64_t tiles =
        held ? 0 : TilesOf(needs, preset) * preset.tile_bytes() / beat;
    if (KeepsTile(needs, preset)) move(tiles, kMoved);
    const Region r = InputRegion(g, b, beat);
    const int64_t work = WorkOf(needs, preset, b, held || (first && stays));
    for (int64_t part = 0; part < parts; ++part) {
      if (loads > 0) {
        if (fit.in_slots) hbm = std::max(hbm, before);
        if (r.i0 != image) lines = 0;
        // Without slots, each line is loaded once.
        const int64_t from = fit.in_slots ? r.l0 : std::max(lines, r.l0);
        move(loads * r.ni * std::max<int64_t>(0, r.l0 + r.nl - from) *
                 CeilDiv(r.nb, beat) / parts,
             kActivations);
        image = r.i0 + r.ni - 1;
        lines = r.l0 + r.nl;
      }
      if (needs.operand_loaded && part == 0)
        move(OperandBytes(g, b, beat) / beat, kActivations);
      before = busy;  // the slot becomes free for the block after next
      busy = std::max(busy, loads > 0 ? hbm + kLatency : 0) + work / parts;
    }
    if (needs.between > 0)
      vector = std::max(vector, busy) + b.rows() * g.element_bytes +
               needs.between * b.rows() / rows;
    if (needs.matmul && !KeepsTile(needs, preset)) move(tiles, kMoved);
    if (needs.matmul) moved += DescriptorCost(needs, preset);
  }
  const int64_t last = fit.blocks.back().rows();
  // The last pass takes only as long as its vectors.
  if (needs.matmul && !stays && fit.blocks.size() == 1)
    busy -= std::max<int64_t>(0, StreamedPass(preset) - rows);
  int64_t end = busy + last;
  if (needs.out_stored) {
    end += last * Target(preset).cycles_per_beat() *
           CeilDiv(std::min(g.oc, fit.group_channels) * g.element_bytes, beat);
  }
  if (!needs.out_resident)
    move(2 * g.n * g.oh * CeilDiv(g.out_line_bytes(), beat), kActivations);
  return static_cast<double>(std::max({end, hbm, vector})) + moved;
}

// Cuts the only block of a layer into pieces that take each tile in turn. Empty
// if the block can be cut as it is, if it cannot be cut at all, or if it is so
// short that its passes wait for tiles in any case.
std::vector<Block> Pieces(const LayerNeeds& needs, const Preset& preset,
                          const TilingLimits& limits,
                          const std::vector<Block>& blocks) {
  constexpr int64_t kPieces = 4, kFewRows = 32;
  const Block& all = blocks[0];
  if (blocks.size() > 1 || KeepsTile(needs, preset) ||
      all.rows() >= 2 * limits.min_rows || all.rows() < StreamedPass(preset))
    return {};
  const bool images = all.ni > 1;
  const int64_t parts = images ? all.ni : all.ny;
  const int64_t count = std::min({kPieces, parts, all.rows() / kFewRows});
  if (count < 2) return {};
  std::vector<Block> pieces;
  for (int64_t p = 0; p < count; ++p) {
    const int64_t from = parts * p / count, to = parts * (p + 1) / count;
    Block& piece = pieces.emplace_back(all);
    (images ? piece.i0 : piece.y0) += from;
    (images ? piece.ni : piece.ny) = to - from;
  }
  return pieces;
}

// Blocks at both ends: as large as the others (kWhole), or small (kSplit).
// kFine: all blocks are small, because the vector unit has more work than the
// array.
enum class Ends { kWhole, kSplit, kFine };

// budget: bytes for input and output slots together. in_share: the inputs' part
// of it; 0 = inputs are loaded whole.
std::optional<LayerFit> FitLayer(const LayerNeeds& needs, const Preset& preset,
                                 int64_t budget, double in_share, Ends ends) {
  const Geometry& g = needs.g;
  LayerFit fit;
  fit.group_channels = GroupChannels(needs, preset);
  fit.in_slots = in_share > 0;
  const int64_t loaded = Loads(needs);

  TilingLimits limits;
  limits.beat = preset.beat_bytes();
  limits.ends = ends != Ends::kWhole;
  limits.equal = needs.loops;
  limits.group_bytes = fit.group_channels * g.element_bytes;
  // With one pass per block the vector unit is as busy as the array and must
  // not wait for a bank.
  const bool single = needs.matmul && PassesOf(g, g.taps(), preset) == 1;
  limits.max_rows = preset.acc_bank_rows() / (single ? 2 : 1);
  // If the tile stays in the array, a block costs only the start of a
  // descriptor.
  constexpr int64_t kFewRows = 48;
  limits.min_rows =
      KeepsTile(needs, preset)
          ? kFewRows
          : std::max({preset.rows, preset.cols + 2,
                      2 * preset.tile_bytes() / preset.beat_bytes() *
                          Target(preset).cycles_per_beat()});
  const int64_t rows = g.n * g.oh * g.ow;
  if (ends == Ends::kFine) {
    limits.min_rows = std::min(limits.min_rows, StreamedPass(preset));
    limits.max_rows = std::min(
        limits.max_rows, std::max(CeilDiv(rows, 8), StreamedPass(preset)));
  }
  // A fused layer should not have to wait for the results of many blocks at
  // once. Parts of a line may have to be larger than this.
  const int64_t all_rows = limits.max_rows;
  if (needs.fused)
    limits.max_rows = std::min(
        limits.max_rows, std::max(CeilDiv(rows, 4), 2 * StreamedPass(preset)));
  if (fit.in_slots)
    limits.max_in_bytes =
        static_cast<int64_t>(budget * in_share) / (kSlotCount * loaded);
  double rest = static_cast<double>(budget) * (fit.in_slots ? 1 - in_share : 1);
  if (needs.operand_loaded) {
    const double share =
        needs.out_resident ? 1
                           : static_cast<double>(g.oc) /
                                 static_cast<double>(g.oc + fit.group_channels);
    limits.max_operand_bytes = static_cast<int64_t>(rest * share) / kSlotCount;
    if (limits.max_operand_bytes <= 0) return std::nullopt;
    rest *= 1 - share;
  }
  if (!needs.out_resident)
    limits.max_out_bytes = static_cast<int64_t>(rest) / kSlotCount;
  if ((fit.in_slots && limits.max_in_bytes <= 0) ||
      (!needs.out_resident && limits.max_out_bytes <= 0))
    return std::nullopt;
  // The part of the input that a slot holds.
  Geometry held = g;
  if (needs.in_channels > 0) held.c = needs.in_channels;
  fit.blocks = MakeBlocks(held, limits);
  if (fit.blocks.empty() && needs.fused) {
    limits.max_rows = all_rows;
    fit.blocks = MakeBlocks(held, limits);
  }
  if (needs.stationary && !fit.blocks.empty())
    fit.blocks = Pieces(needs, preset, limits, fit.blocks);
  if (fit.blocks.empty()) return std::nullopt;
  // Groups of channels need whole lines.
  if ((g.group > 0 || g.in_group > 0) && fit.blocks[0].nx != g.ow)
    return std::nullopt;

  int64_t widest = 0;
  for (const Block& b : fit.blocks)
    widest = std::max(widest, InputRegion(held, b, limits.beat).nb);
  fit.in_slot_pitch = needs.matmul ? ChoosePitch(held, widest, preset)
                                   : RoundUp(widest, limits.beat);
  int64_t in_bytes = g.n * g.h * needs.in_pitch;
  if (fit.in_slots) {
    in_bytes = 0;
    for (const Block& b : fit.blocks) {
      const Region r = InputRegion(held, b, limits.beat);
      in_bytes = std::max(in_bytes, r.ni * r.nl * fit.in_slot_pitch);
    }
  }
  if (needs.operand_loaded) {
    for (const Block& b : fit.blocks)
      fit.operand_bytes =
          std::max(fit.operand_bytes, OperandBytes(g, b, limits.beat));
  }
  for (const bool resident : needs.resident)
    fit.in_bytes.push_back(resident ? 0 : in_bytes);
  if (needs.out_resident) {
    fit.out_bytes = g.n * g.oh * needs.out_pitch;
  } else {
    for (const Block& b : fit.blocks)
      fit.out_bytes = std::max(fit.out_bytes, OutputBytes(g, b, limits));
  }
  if (needs.matmul && !needs.raw) {
    const int64_t pitch = ParamPitch(preset);
    fit.param_bytes =
        Packings(needs, fit.blocks) * CeilDiv(g.oc, preset.cols) * pitch;
    fit.params_whole = fit.param_bytes <= preset.ub_bytes / 8;
    if (!fit.params_whole) fit.param_bytes = kParameterSlots * pitch;
  }
  if (needs.table) fit.param_bytes = kTableBytes;
  if (needs.split.lines > 0) fit.param_bytes = needs.split.bytes();
  fit.score = Score(needs, preset, fit);
  return fit;
}

}  // namespace

void AddCandidates(const LayerNeeds& needs, const Preset& preset,
                   int64_t available, int64_t in_group,
                   std::vector<LayerCandidate>& candidates) {
  const bool loads = Loads(needs) > 0;
  // Variants: loaded in groups of channels, plain, pool split in two steps,
  // stationary.
  std::vector<LayerNeeds> variants;
  const auto add = [&](int64_t in_channels, const PoolSplit& split,
                       bool stationary) {
    LayerNeeds& variant = variants.emplace_back(needs);
    variant.in_channels = in_channels;
    variant.split = split;
    variant.stationary = stationary;
  };
  if (in_group > 0) add(in_group, {}, false);
  // What is read in groups may be written in as few channels.
  for (int64_t beats = 2; beats > 0 && in_group > 0 && needs.matmul; --beats) {
    add(in_group, {}, false);
    variants.back().out_beats = beats;
  }
  add(0, needs.split, false);
  if (needs.split.lines > 0) add(0, {}, false);
  if (needs.matmul && needs.out_resident && !needs.operand_loaded)
    add(0, needs.split, true);
  for (const double budget : {0.9, 0.6, 0.4, 0.25, 0.15, 0.08, 0.03}) {
    for (const double in_share : {0.0, 0.9, 0.75, 0.5, 0.25}) {
      if (!loads && in_share > 0) continue;
      for (const LayerNeeds& variant : variants) {
        for (const Ends ends : {Ends::kSplit, Ends::kWhole, Ends::kFine}) {
          const bool whole = in_share == 0;
          if ((variant.in_channels > 0 &&
               (whole || ends == Ends::kFine ||
                (ends == Ends::kWhole && !variant.matmul))) ||
              (variant.stationary && (!whole || ends != Ends::kWhole)) ||
              (variant.between == 0 && ends == Ends::kFine))
            continue;
          std::optional<LayerFit> fit = FitLayer(
              variant, preset,
              static_cast<int64_t>(budget * static_cast<double>(available)),
              in_share, ends);
          if (fit) candidates.emplace_back(variant, *std::move(fit));
        }
      }
    }
  }
}

int64_t SmallestBytes(const LayerNeeds& needs, const Preset& preset) {
  const Geometry& g = needs.g;
  const int64_t beat = preset.beat_bytes();
  const int64_t lines = std::min(g.h, (g.kh - 1) * g.dh + 1);
  const int64_t channels = needs.in_channels > 0 ? needs.in_channels : g.c;
  const int64_t bytes =
      std::min(g.w * channels, ((g.kw - 1) * g.dw + 1) * channels);
  int64_t total =
      RoundUp(GroupChannels(needs, preset) * g.element_bytes, beat) *
      kSlotCount;
  for (const bool resident : needs.resident) {
    if (!resident) total += lines * RoundUp(bytes, beat) * kSlotCount;
  }
  if (needs.table) total += kTableBytes;
  return total + (needs.matmul && !needs.raw ? ParamPitch(preset) : 0);
}

}  // namespace systole::compiler
