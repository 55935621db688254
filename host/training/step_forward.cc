// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::Access;
using compiler::CeilDiv;

// Positions beside each other share a vector of inputs, so each is multiplied
// by +0 where it does not belong to a position. That changes no sum of finite
// inputs, which only the images are for sure, but for the sign of a sum that is
// zero; a step that is not full makes that +0 in the end anyway.
int64_t StepBuilder::PositionsInVector(int i) const {
  constexpr int64_t kMost = 8;  // rows of a vector register
  const Layer& l = layers_[i];
  if (i > 0 || l.dense || l.contraction() % R() == 0) return 1;
  int64_t count = std::min(kMost, l.ow);
  while (count > 1 && (l.ow % count != 0 || count * l.co > L() ||
                       l.kh * (l.kw + (count - 1) * l.stride) * l.ci > R()))
    --count;
  return count;
}

isa::Tiles StepBuilder::SpreadWeights(int i) {
  const Layer& l = layers_[i];
  const LayerLayout& p = layout_.layers[i];
  const int64_t copies = PositionsInVector(i);
  const int64_t from_pitch = 2 * L(), pitch = 2 * L();
  const int64_t line = (l.kw + (copies - 1) * l.stride) * l.ci;
  const int64_t rows = l.kh * line;
  const int64_t from = Allocate(from_pitch * l.contraction());
  const int64_t to = Allocate(pitch * rows + row_bytes());
  LoadBytes(p.working, from, from_pitch * l.contraction());
  const Access tile = UbRows(to, pitch * rows + row_bytes(), 1, 0, true);
  Run("clear", {{"dst", to}, {"lines", CeilDiv(rows, 2)}}, {tile}, 60);
  Run("spread",
      {{"src", from},
       {"src_pitch", from_pitch},
       {"dst", to},
       {"pitch", pitch},
       {"line_pitch", line * pitch},
       {"width", l.kw * l.ci},
       {"lines", l.kh},
       {"cols", l.co},
       {"copies", copies},
       {"copy_pitch", l.stride * l.ci * pitch + 2 * l.co}},
      {UbRows(from, from_pitch * l.contraction(), 1, 0, false), tile},
      40 * l.contraction());
  isa::Tiles tiles;
  tiles.ub_addr = to;
  tiles.pitch = pitch;
  tiles.rows = rows;
  tiles.cols = copies * l.co;
  tiles.tiles = 1;
  return tiles;
}

// Blocks of whole images whose sums fit an accumulator bank; of lines where an
// image alone does not.
void StepBuilder::Forward(int i) {
  const Layer& l = layers_[i];
  const LayerLayout& p = layout_.layers[i];
  BeginOp(i, Phase::kForward);
  const int64_t bank_rows = preset_.acc_bank_rows();
  const ImageTensor& out = l.normed ? p.z : p.dz;
  const int64_t beside = PositionsInVector(i), width = l.ow / beside;
  isa::Tiles spread;
  if (beside > 1) spread = SpreadWeights(i);
  const int64_t lines = std::min(l.oh, bank_rows / width);
  int64_t images =
      std::min({options_.batch, bank_rows / (lines * width), kMostImages});
  images = std::min<int64_t>(
      images, work_left_ / (2 * (p.in.pitch + out.pitch +
                                 (l.normed ? 0 : layout_.label_pitch))));
  if (l.dense && images >= 8) images -= images % 8;
  if (images < 1 || (l.dense && images < std::min<int64_t>(8, options_.batch)))
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image does not fit the unified buffer of preset '%s'", l.name,
        preset_.name)));
  const int64_t in_slot[2] = {Allocate(images * p.in.pitch),
                              Allocate(images * p.in.pitch)};
  const int64_t out_slot[2] = {Allocate(images * out.pitch),
                               Allocate(images * out.pitch)};
  const int64_t hot_slot =
      l.normed ? 0 : Allocate(images * layout_.label_pitch);
  const int64_t passes = p.slab.padded_rows / R();
  int turn = 0;
  for (int64_t n0 = 0; n0 < options_.batch; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, options_.batch - n0);
    LoadImages(p.in, n0, n, in_slot[turn]);
    if (!l.normed) {
      LoadImages({layout_.labels, 2 * L(), layout_.label_pitch}, n0, n,
                 hot_slot);
    }
    for (int64_t y = 0; y < l.oh; y += lines) {
      const int64_t ny = std::min(lines, l.oh - y);
      for (int64_t t = 0; t < p.slab.tiles; ++t) {
        const int64_t acc = NextBank();
        if (beside > 1) {
          builder_.Append(spread);
        } else {
          Weights(p.working + 2 * p.slab.at(0, t * L()), passes);
        }
        Source source = ForwardSource(i, in_slot[turn], y);
        source.sx *= beside;
        for (compiler::Segment& run : source.runs)
          run.len += (beside - 1) * l.stride * l.ci;
        for (int64_t pass = 0; pass < passes; ++pass) {
          Matmul(source, pass, acc, n, ny, width,
                 pass > 0 ? isa::Matmul::kAccumulate : 0);
        }
        if (l.normed) {
          KeepSums(i, t, acc, out_slot[turn], n, y, ny);
        } else {
          const int64_t params = ParamBlock(i, 0);
          Run("softmax",
              {{"params", params},
               {"acc", acc},
               {"hot", hot_slot},
               {"hot_pitch", layout_.label_pitch},
               {"dst", out_slot[turn]},
               {"pitch", out.pitch},
               {"rows", n},
               {"cols", l.co},
               {"inv_b", FloatBits(1.0 / static_cast<double>(options_.batch))}},
              {ParamAccess(params), AccRows(acc, n),
               UbRows(hot_slot, 2 * L(), n, layout_.label_pitch, false),
               UbRows(out_slot[turn], out.bytes, n, out.pitch, true)},
              CeilDiv(n, 8) * 400);
        }
      }
    }
    StoreImages(out, n0, n, out_slot[turn]);
  }
  if (!l.normed) {
    const int64_t params = ParamBlock(i, 0);
    Run("softmax_finish", {{"params", params}}, {ParamAccess(params)}, 100);
    return;
  }
  NormForward(i);
}

void StepBuilder::KeepSums(int i, int64_t tile, int64_t acc, int64_t z,
                           int64_t images, int64_t line, int64_t lines) {
  const Layer& l = layers_[i];
  const LayerLayout& p = layout_.layers[i];
  const int64_t beside = PositionsInVector(i);
  const int64_t cols = beside * TileCols(l.co, tile);
  const int64_t runs = l.dense ? 1 : images;
  const int64_t rows = l.dense ? images : l.ow / beside * lines;
  const int64_t pitch = l.dense ? p.z.pitch : 2 * beside * l.co;
  for (int64_t n = 0; n < runs; ++n) {
    const int64_t dst =
        z + n * p.z.pitch + 2 * (line * l.ow * l.co + tile * L());
    const int64_t from = acc + n * rows;
    Run("acc_bf16",
        {{"acc", from},
         {"dst", dst},
         {"pitch", pitch},
         {"rows", rows},
         {"cols", cols}},
        {AccRows(from, rows), UbRows(dst, 2 * cols, rows, pitch, true)},
        30 + rows);
  }
}

}  // namespace systole::training
