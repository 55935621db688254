// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::CeilDiv;

// Positions beside each other share a vector of inputs, so each is multiplied
// by +0 where it does not belong to a position. That changes no sum of finite
// inputs, which only the images are for sure, but for the sign of a sum that is
// zero; a step that is not full makes that +0 in the end anyway.
int64_t StepBuilder::PositionsInVector(const ir::Node& node,
                                       const Layer& l) const {
  constexpr int64_t kMost = 8;  // rows of a vector register
  const bool images = node.operands[0]->op == ir::Op::kParameter;
  if (!images || l.dense || l.contraction() % R() == 0) return 1;
  int64_t count = std::min(kMost, l.ow);
  while (count > 1 && (l.ow % count != 0 || count * l.co > L() ||
                       l.kh * (l.kw + (count - 1) * l.stride) * l.ci > R()))
    --count;
  return count;
}

isa::Tiles StepBuilder::SpreadWeights(const Layer& l, const Place& working,
                                      int64_t copies) {
  const int64_t from_pitch = 2 * L(), pitch = 2 * L();
  const int64_t line = (l.kw + (copies - 1) * l.stride) * l.ci;
  const int64_t rows = l.kh * line;
  const int64_t from = Allocate(from_pitch * l.contraction());
  const int64_t to = Allocate(pitch * rows + row_bytes());
  LoadBytes(working.hbm, from, from_pitch * l.contraction());
  Run("clear", {{"dst", to}, {"lines", CeilDiv(rows, 2)}});
  Run("spread", {{"src", from},
                 {"src_pitch", from_pitch},
                 {"dst", to},
                 {"pitch", pitch},
                 {"line_pitch", line * pitch},
                 {"width", l.kw * l.ci},
                 {"lines", l.kh},
                 {"cols", l.co},
                 {"copies", copies},
                 {"copy_pitch", l.stride * l.ci * pitch + 2 * l.co}});
  isa::Tiles tiles;
  tiles.ub_addr = to;
  tiles.pitch = pitch;
  tiles.rows = rows;
  tiles.cols = copies * l.co;
  tiles.tiles = 1;
  return tiles;
}

void StepBuilder::EmitProduct(const ir::Node& node) {
  Forward(node, ProductOf(node, node.operands[0].type(), node.type));
}

// The last layer: without batch norm, its sums go straight to the loss.
void StepBuilder::EmitClassify(const ir::Node& node) {
  Layer l = ProductOf(node, node.operands[0].type(), node.type);
  l.normed = false;
  Forward(node, l);
  if (!status_.ok()) return;
  const int64_t params = ParamBlock(BlockOf(node.operands[2]), 0);
  Run("softmax_finish", {{"params", params}});
}

// Blocks of whole images whose sums fit an accumulator bank; of lines where an
// image alone does not.
void StepBuilder::Forward(const ir::Node& node, const Layer& l) {
  BeginOp(node);
  const int64_t bank_rows = preset_.acc_bank_rows();
  const ImageTensor in = ImageOf(node.operands[0]);
  const ImageTensor out = places_.at({node.name, 0}).image;
  const Place& working = PlaceOf(node.operands[1]);
  const Slab& slab = working.slab;
  const int64_t beside = PositionsInVector(node, l), width = l.ow / beside;
  isa::Tiles spread;
  if (beside > 1) spread = SpreadWeights(l, working, beside);
  const int64_t lines = std::min(l.oh, bank_rows / width);
  int64_t images = std::min({batch_, bank_rows / (lines * width), kMostImages});
  images = std::min<int64_t>(
      images, work_left_ / (2 * (in.pitch + out.pitch +
                                 (l.normed ? 0 : layout_.label_pitch))));
  if (l.dense && images >= 8) images -= images % 8;
  if (images < 1 || (l.dense && images < std::min<int64_t>(8, batch_)))
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image does not fit the unified buffer of preset '%s'", l.name,
        preset_.name)));
  const int64_t in_slot[2] = {Allocate(images * in.pitch),
                              Allocate(images * in.pitch)};
  const int64_t out_slot[2] = {Allocate(images * out.pitch),
                               Allocate(images * out.pitch)};
  const int64_t hot_slot =
      l.normed ? 0 : Allocate(images * layout_.label_pitch);
  const int64_t passes = slab.padded_rows / R();
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    LoadImages(in, n0, n, in_slot[turn]);
    if (!l.normed) {
      LoadImages({layout_.labels, 2 * L(), layout_.label_pitch}, n0, n,
                 hot_slot);
    }
    for (int64_t y = 0; y < l.oh; y += lines) {
      const int64_t ny = std::min(lines, l.oh - y);
      for (int64_t t = 0; t < slab.tiles; ++t) {
        const int64_t acc = NextBank();
        if (beside > 1) {
          builder_.Append(spread);
        } else {
          Weights(working.hbm + 2 * slab.at(0, t * L()), passes);
        }
        Source source = ForwardSource(l, in.pitch, in_slot[turn], y);
        source.sx *= beside;
        for (compiler::Segment& run : source.runs)
          run.len += (beside - 1) * l.stride * l.ci;
        for (int64_t pass = 0; pass < passes; ++pass) {
          Matmul(source, pass, acc, n, ny, width,
                 pass > 0 ? isa::Matmul::kAccumulate : 0);
        }
        if (l.normed) {
          KeepSums(l, beside, out.pitch, t, acc, out_slot[turn], n, y, ny);
        } else {
          const int64_t params = ParamBlock(BlockOf(node.operands[2]), 0);
          Run("softmax",
              {{"params", params},
               {"acc", acc},
               {"hot", hot_slot},
               {"hot_pitch", layout_.label_pitch},
               {"dst", out_slot[turn]},
               {"pitch", out.pitch},
               {"rows", n},
               {"cols", l.co},
               {"inv_b", FloatBits(1.0 / static_cast<double>(batch_))}});
        }
      }
    }
    StoreImages(out, n0, n, out_slot[turn]);
  }
}

void StepBuilder::KeepSums(const Layer& l, int64_t beside, int64_t z_pitch,
                           int64_t tile, int64_t acc, int64_t z, int64_t images,
                           int64_t line, int64_t lines) {
  const int64_t cols = beside * TileCols(l.co, tile);
  const int64_t runs = l.dense ? 1 : images;
  const int64_t rows = l.dense ? images : l.ow / beside * lines;
  const int64_t pitch = l.dense ? z_pitch : 2 * beside * l.co;
  for (int64_t n = 0; n < runs; ++n) {
    const int64_t dst = z + n * z_pitch + 2 * (line * l.ow * l.co + tile * L());
    const int64_t from = acc + n * rows;
    Run("acc_bf16", {{"acc", from},
                     {"dst", dst},
                     {"pitch", pitch},
                     {"rows", rows},
                     {"cols", cols}});
  }
}

// Rows of `cols` elements, `at` bytes from each of the three places on.
void StepBuilder::AddElements(const int64_t (&slot)[3], int64_t at,
                              int64_t rows, int64_t cols) {
  if (rows * cols == 0) return;
  Run("sum_images", {{"src", slot[0] + at},
                     {"other", slot[1] + at},
                     {"dst", slot[2] + at},
                     {"pitch", 2 * L()},
                     {"rows", rows},
                     {"cols", cols}});
}

// Sums of images, element by element, in rows of lanes.
void StepBuilder::EmitAdd(const ir::Node& node) {
  BeginOp(node);
  const ImageTensor from[2] = {ImageOf(node.operands[0]),
                               ImageOf(node.operands[1])};
  const ImageTensor out = places_.at({node.name, 0}).image;
  const int64_t images =
      std::min({batch_, kMostImages, work_left_ / (6 * out.pitch)});
  if (images < 1)
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image of a sum does not fit the unified buffer of preset '%s'",
        op_layer_, preset_.name)));
  int64_t slots[2][3];
  for (auto& turn : slots) {
    for (int64_t& slot : turn) slot = Allocate(images * out.pitch);
  }
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    const int64_t(&slot)[3] = slots[turn];
    for (int i = 0; i < 2; ++i) LoadImages(from[i], n0, n, slot[i]);
    // Images that follow without a gap are one.
    const bool joined = out.pitch == out.bytes;
    const int64_t bytes = joined ? n * out.bytes : out.bytes;
    const int64_t rows = bytes / (2 * L());
    for (int64_t image = 0; image < (joined ? 1 : n); ++image) {
      const int64_t at = image * out.pitch;
      AddElements(slot, at, rows, L());
      AddElements(slot, at + rows * 2 * L(), 1, bytes / 2 % L());
    }
    StoreImages(out, n0, n, slot[2]);
  }
}

}  // namespace systole::training
