// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Batch norm: passes over all positions, and what comes between them. A row of
// the vector unit holds as many positions as PositionsInRow says, so the
// columns of a pass are wider than the layer's channels.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::Access;
using compiler::CeilDiv;

namespace {

// Rows behind each other at wide_: batch_norm.vs.
constexpr int64_t kWideParams = 5;
constexpr int64_t kPartials = 8;

}  // namespace

int64_t StepBuilder::WideColumns(int i) const {
  return PositionsInRow(layers_[i]) * layers_[i].co;
}

int64_t StepBuilder::WideBytes() const {
  int64_t columns = 0;
  for (int i = 0; i < static_cast<int>(layers_.size()); ++i) {
    if (layers_[i].normed) columns = std::max(columns, WideColumns(i));
  }
  return Up((kWideParams + 2 * kPartials) * 4 * columns + row_bytes());
}

Access StepBuilder::WideAccess() const {
  return UbRows(wide_ub_, WideBytes(), 1, 0, true);
}

void StepBuilder::NormForward(int i) {
  if (options_.forward_only) {
    NormTiles(i, "bn_running");
  } else {
    NormPass(i, "bn_collect", Phase::kForward, Sums::kShifted, nullptr, 2);
    NormTiles(i, "bn_fold");
    NormTiles(i, "bn_finish");
  }
  NormTiles(i, "bn_spread");
  NormPass(
      i, "bn_relu", Phase::kForward, Sums::kNone,
      layers_[i].pooled() ? &layout_.layers[i].a : &layout_.layers[i + 1].in,
      2);
}

void StepBuilder::NormBackward(int i) {
  builder_.set_tag(TagOf(i, Phase::kNormBackward));
  NormTiles(i, "bn_spread");
  NormPass(i, "bn_back_collect", Phase::kNormBackward, Sums::kFromZero, nullptr,
           4);
  NormTiles(i, "bn_fold");
  NormTiles(i, "bn_back_finish");
  NormTiles(i, "bn_spread");
  NormPass(i, "bn_back_apply", Phase::kNormBackward, Sums::kNone,
           &layout_.layers[i].dz, 4);
}

// Runs a kernel of batch_norm_sums.vs for each tile of channels.
void StepBuilder::NormTiles(int i, const char* kernel, int64_t z) {
  const Layer& l = layers_[i];
  const int64_t wide_row = 4 * WideColumns(i);
  const int64_t copies = PositionsInRow(l);
  for (int64_t t = 0; t < layout_.layers[i].slab.tiles; ++t) {
    const int64_t params = ParamBlock(i, t);
    const int64_t wide = wide_ub_ + t * row_bytes();
    std::vector<Access> accesses = {ParamAccess(params), WideAccess()};
    if (z >= 0) accesses.push_back(UbRows(z, 2 * l.co, 1, 0, false));
    Run(kernel,
        {{"params", params},
         {"wide", wide},
         {"wide_row", wide_row},
         {"src", z + 2 * t * L()},
         {"pitch", 4 * l.co},
         {"copies", copies},
         {"cols", TileCols(l.co, t)},
         {"sums", wide + kWideParams * wide_row},
         {"other", kPartials * wide_row},
         {"count", kPartials * copies},
         {"inv_n", InvN(i)}},
        std::move(accesses), 100);
  }
}

void StepBuilder::NormPass(int i, const char* kernel, Phase phase, Sums sums,
                           const ImageTensor* result, int64_t cycles_a_row) {
  const Layer& l = layers_[i];
  const LayerLayout& p = layout_.layers[i];
  const bool with_da = phase == Phase::kNormBackward;
  BeginOp(i, phase);
  const int64_t tensors = 1 + (with_da ? 1 : 0) + (result != nullptr ? 1 : 0);
  int64_t images =
      std::min(options_.batch, work_bytes() / (2 * tensors * p.z.pitch));
  if (l.dense && images >= 8) images -= images % 8;
  if (images < 1 || (l.dense && images < std::min<int64_t>(8, options_.batch)))
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image does not fit the unified buffer of preset '%s'", l.name,
        preset_.name)));
  int64_t z[2], da[2] = {0, 0}, out[2] = {0, 0};
  for (int s = 0; s < 2; ++s) {
    z[s] = Allocate(images * p.z.pitch);
    if (with_da) da[s] = Allocate(images * p.z.pitch);
    if (result != nullptr) out[s] = Allocate(images * p.z.pitch);
  }
  const int64_t columns = WideColumns(i), wide_row = 4 * columns;
  if (sums != Sums::kNone) {
    const int64_t partials = wide_ub_ + kWideParams * wide_row;
    Run("clear",
        {{"dst", partials}, {"lines", CeilDiv(2 * kPartials * columns, L())}},
        {WideAccess()}, 60);
  }
  const int64_t pitch = l.dense ? p.z.pitch : 2 * columns;
  const int64_t rows_of_image = l.dense ? 1 : l.positions() * l.co / columns;
  // Images that follow without a gap are one, as are those of a dense layer;
  // but in the order of sums each image begins anew.
  const bool joined =
      l.dense || (sums == Sums::kNone && p.z.pitch == p.z.bytes);
  int turn = 0;
  for (int64_t n0 = 0; n0 < options_.batch; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, options_.batch - n0);
    LoadImages(p.z, n0, n, z[turn]);
    if (with_da) LoadImages(p.da, n0, n, da[turn]);
    if (n0 == 0 && sums == Sums::kShifted) NormTiles(i, "bn_shift", z[turn]);
    const int64_t rows = joined ? n * rows_of_image : rows_of_image;
    const int64_t count = joined ? 1 : n;
    const int64_t gap = p.z.pitch - rows_of_image * pitch;
    for (int64_t first = 0; first < columns; first += L()) {
      const int64_t cols = std::min(L(), columns - first), at = 2 * first;
      const auto access = [&](int64_t base, bool write) {
        Access a = UbRows(base + at, 2 * cols, rows, pitch, write);
        a.count[1] = count;
        a.stride[1] = p.z.pitch;
        return a;
      };
      Args args = {{"wide", wide_ub_ + 4 * first},
                   {"wide_row", wide_row},
                   {"src", z[turn] + at},
                   {"pitch", pitch},
                   {"rows", rows},
                   {"images", count},
                   {"gap", gap},
                   {"cols", cols}};
      std::vector<Access> accesses = {WideAccess(), access(z[turn], false)};
      if (with_da) {
        args.push_back({"da", da[turn] + at});
        accesses.push_back(access(da[turn], false));
      }
      if (result != nullptr) {
        args.push_back({"dst", out[turn] + at});
        accesses.push_back(access(out[turn], true));
      }
      Run(kernel, args, std::move(accesses),
          60 + 8 * count * CeilDiv(rows, 8) * cycles_a_row);
    }
    if (result != nullptr) StoreImages(*result, n0, n, out[turn]);
  }
}

}  // namespace systole::training
