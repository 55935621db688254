// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/streams.h"

#include <algorithm>

namespace systole::compiler {
namespace {

// A transfer of nested runs, innermost first. Joins loops whose runs are
// contiguous on both sides.
template <class Op>
Op Transfer(int64_t hbm, int64_t ub, int64_t len, int64_t n1, int64_t hbm1,
            int64_t ub1, int64_t n2, int64_t hbm2, int64_t ub2,
            const Preset& preset) {
  if (n1 > 1 && hbm1 == ub1 && n2 > 1 && hbm2 == n1 * hbm1 &&
      ub2 == n1 * ub1) {  // all runs are evenly spaced
    n1 *= n2;
    n2 = 1;
  }
  if (n1 == 1) {
    n1 = n2;
    hbm1 = hbm2;
    ub1 = ub2;
    n2 = 1;
  }
  if (n1 > 1 && hbm1 == ub1 && hbm1 == RoundUp(len, preset.beat_bytes())) {
    // Lines with the same pitch on both sides are one run that includes their
    // unused ends.
    len += (n1 - 1) * hbm1;
    n1 = n2;
    hbm1 = hbm2;
    ub1 = ub2;
    n2 = 1;
  }
  Op op;
  op.hbm_addr = hbm;
  op.ub_addr = static_cast<uint32_t>(ub);
  op.len = static_cast<uint32_t>(len);
  op.n1 = static_cast<uint32_t>(n1);
  op.n2 = static_cast<uint32_t>(n2);
  op.hbm_stride1 = n1 > 1 ? hbm1 : 0;
  op.ub_stride1 = static_cast<uint32_t>(n1 > 1 ? ub1 : 0);
  op.hbm_stride2 = n2 > 1 ? hbm2 : 0;
  op.ub_stride2 = static_cast<uint32_t>(n2 > 1 ? ub2 : 0);
  return op;
}

}  // namespace

void InputStream::AppendLoad(const Region& r, const View& to) {
  const int64_t from =
      hbm_.hbm_addr + r.i0 * hbm_.img_pitch + r.l0 * hbm_.pitch + r.b0;
  builder_.Append(Transfer<isa::Load>(from, to.address, r.nb, r.nl, hbm_.pitch,
                                      to.pitch, r.ni, hbm_.img_pitch,
                                      to.img_pitch, preset_));
}

// Whole mode: loads the lines of the region that have not been loaded, and the
// rest of the image if it is small.
void InputStream::LoadLines(const Region& region) {
  constexpr int64_t kLittleBeats = 64;
  const int64_t rest = (hbm_.h - region.l0 - region.nl) *
                       CeilDiv(hbm_.line_bytes(), preset_.beat_bytes());
  const bool first = loaded_[0] == 0;  // not before the first block
  const int64_t to =
      rest <= kLittleBeats && !first ? hbm_.h : region.l0 + region.nl;
  for (int64_t i = region.i0; i < region.i0 + region.ni;) {
    const int64_t from = loaded_[i];
    int64_t images = 1;  // images that lack the same lines
    while (i + images < region.i0 + region.ni && loaded_[i + images] == from)
      ++images;
    if (from < to) {
      const InputPlacement& t = placement_;
      AppendLoad(
          {i, images, from, to - from, 0, hbm_.line_bytes()},
          {base_ + i * t.img_pitch + from * t.pitch, t.pitch, t.img_pitch});
      std::fill_n(loaded_.begin() + i, images, to);
    }
    i += images;
  }
}

View InputStream::Require(const Region& region) {
  const InputPlacement& t = placement_;
  if (placement_.mode == InputPlacement::Mode::kSlots) {
    View view;
    view.address = base_ + turn_ * placement_.slot_bytes;
    view.pitch = t.pitch;
    view.img_pitch = region.nl * t.pitch;
    turn_ = (turn_ + 1) % kSlotCount;
    AppendLoad(region, view);
    return view;
  }
  if (placement_.mode == InputPlacement::Mode::kWhole) LoadLines(region);
  return {base_ + region.i0 * t.img_pitch + region.l0 * t.pitch + region.b0,
          t.pitch, t.img_pitch};
}

View InputStream::RequireChannels(const Region& region, int64_t first,
                                  int64_t count, int64_t position,
                                  int64_t pitch) {
  const int64_t positions = region.nb / hbm_.channels;
  View view;
  view.address = base_ + turn_ * placement_.slot_bytes;
  view.pitch = pitch;
  view.img_pitch = region.nl * view.pitch;
  turn_ = (turn_ + 1) % kSlotCount;
  for (int64_t i = 0; i < region.ni; ++i) {
    const int64_t from = hbm_.hbm_addr + (region.i0 + i) * hbm_.img_pitch +
                         region.l0 * hbm_.pitch + region.b0 + first;
    builder_.Append(Transfer<isa::Load>(
        from, view.address + i * view.img_pitch, count, positions,
        hbm_.channels, position, region.nl, hbm_.pitch, pitch, preset_));
  }
  return view;
}

Destination OutputStream::Begin(const Block& b, int64_t c0) {
  const int64_t position = g_.oc * g_.element_bytes;
  if (placement_.resident) {
    const OutputPlacement& t = placement_;
    return {base_ + b.i0 * t.img_pitch + b.y0 * t.pitch + b.x0 * position +
                c0 * g_.element_bytes,
            position, t.pitch, t.img_pitch};
  }
  current_.address = base_ + turn_ * placement_.slot_bytes;
  turn_ = (turn_ + 1) % kSlotCount;
  if (placement_.channels < g_.oc || g_.ow == 1) {
    // Positions are evenly spaced in HBM; here too, with whole beats each.
    const int64_t channels = std::min(placement_.channels, g_.oc - c0);
    current_.position =
        RoundUp(channels * g_.element_bytes, preset_.beat_bytes());
    current_.pitch = b.nx * current_.position;
  } else {
    current_.position = position;
    current_.pitch = RoundUp(b.nx * position, preset_.beat_bytes());
  }
  current_.img_pitch = b.ny * current_.pitch;
  return current_;
}

void OutputStream::StoreResident(const Block& b) {
  const OutputPlacement& t = placement_;
  const int64_t position = g_.oc * g_.element_bytes;
  const int64_t to = hbm_.hbm_addr + b.i0 * hbm_.img_pitch + b.y0 * hbm_.pitch +
                     b.x0 * position;
  const int64_t from =
      base_ + b.i0 * t.img_pitch + b.y0 * t.pitch + b.x0 * position;
  builder_.Append(Transfer<isa::Store>(to, from, b.nx * position, b.ny,
                                       hbm_.pitch, t.pitch, b.ni,
                                       hbm_.img_pitch, t.img_pitch, preset_));
}

void OutputStream::Finish(const Block& b, int64_t c0, int64_t channels) {
  if (!placement_.stored) return;
  if (placement_.resident) {
    if (c0 + channels == g_.oc) StoreResident(b);
    return;
  }
  const int64_t position = g_.oc * g_.element_bytes;
  const int64_t bytes = channels * g_.element_bytes;
  const int64_t to = hbm_.hbm_addr + b.i0 * hbm_.img_pitch + b.y0 * hbm_.pitch +
                     b.x0 * position + c0 * g_.element_bytes;
  if (placement_.channels < g_.oc || g_.ow == 1) {
    const int64_t step = g_.ow == 1 ? hbm_.pitch : position;
    builder_.Append(Transfer<isa::Store>(to, current_.address, bytes, b.rows(),
                                         step, current_.position, 1, 0, 0,
                                         preset_));
  } else {
    builder_.Append(Transfer<isa::Store>(
        to, current_.address, b.nx * position, b.ny, hbm_.pitch, current_.pitch,
        b.ni, hbm_.img_pitch, current_.img_pitch, preset_));
  }
}

void ParamStream::AppendLoad(uint64_t from, int64_t to, int64_t bytes) {
  builder_.Append(Transfer<isa::Load>(static_cast<int64_t>(from), to, bytes, 1,
                                      0, 0, 1, 0, 0, preset_));
}

int64_t ParamStream::Require(const PackedWeights& packed, int64_t tile) {
  const int64_t pitch = ParamPitch(preset_);
  if (placement_.whole) {
    const int64_t base = base_ + packed.index * tiles_ * pitch;
    if (static_cast<int>(loaded_.size()) <= packed.index)
      loaded_.resize(packed.index + 1, false);
    if (!loaded_[packed.index]) {
      AppendLoad(packed.params_addr, base, tiles_ * pitch);
      loaded_[packed.index] = true;
    }
    return base + tile * pitch;
  }
  // Half of the slots are filled at a time, with the blocks of neighbours.
  const int64_t half = placement_.slots / 2, batch = tile / half;
  const std::pair<int, int64_t> wanted = {packed.index, batch};
  int64_t side = batch % 2;
  if (!fixed_)
    side = wanted == halves_[0] ? 0 : wanted == halves_[1] ? 1 : turn_;
  const int64_t to = base_ + side * half * pitch;
  if (halves_[side] != wanted) {
    halves_[side] = wanted;
    turn_ = 1 - side;
    const int64_t first = batch * half;
    AppendLoad(packed.params_addr + first * pitch, to,
               std::min(half, tiles_ - first) * pitch);
  }
  return to + tile % half * pitch;
}

}  // namespace systole::compiler
