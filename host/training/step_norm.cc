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

using compiler::CeilDiv;

namespace {

// Rows behind each other at wide_: batch_norm.vs.
constexpr int64_t kWideParams = 5;
constexpr int64_t kPartials = 8;

int64_t WideColumns(const Layer& l) { return PositionsInRow(l) * l.co; }

}  // namespace

int64_t StepBuilder::WideBytes() const {
  int64_t columns = 0;
  for (const auto& node : step_.nodes()) {
    if (node->op != ir::Op::kTrainNorm) continue;
    columns = std::max(columns, WideColumns(ChannelsOf(*node, node->type)));
  }
  return Up((kWideParams + 2 * kPartials) * 4 * columns + row_bytes());
}

void StepBuilder::EmitNorm(const ir::Node& node) {
  Norm norm = {ChannelsOf(node, node.type), BlockOf(node.operands[1]),
               &ImageOf(node.operands[0]), nullptr, nullptr};
  NormPass(node, norm, "bn_collect", Sums::kShifted);
  NormTiles(norm, "bn_fold");
  NormTiles(norm, "bn_finish");
  NormTiles(norm, "bn_spread");
  norm.result = &places_.at({node.name, 0}).image;
  NormPass(node, norm, "bn_relu", Sums::kNone);
}

void StepBuilder::EmitNormInference(const ir::Node& node) {
  const Norm norm = {ChannelsOf(node, node.type), BlockOf(node.operands[1]),
                     &ImageOf(node.operands[0]), nullptr,
                     &places_.at({node.name, 0}).image};
  SetTag(node);
  NormTiles(norm, "bn_running");
  NormTiles(norm, "bn_spread");
  NormPass(node, norm, "bn_relu", Sums::kNone);
}

void StepBuilder::EmitNormGradient(const ir::Node& node) {
  Norm norm = {ChannelsOf(node, node.type), BlockOf(node.operands[1]),
               &ImageOf(node.operands[0]), &ImageOf(node.operands[4]), nullptr};
  SetTag(node);
  NormTiles(norm, "bn_spread");
  NormPass(node, norm, "bn_back_collect", Sums::kFromZero);
  NormTiles(norm, "bn_fold");
  NormTiles(norm, "bn_back_finish");
  NormTiles(norm, "bn_spread");
  norm.result = &places_.at({node.name, 0}).image;
  NormPass(node, norm, "bn_back_apply", Sums::kNone);
}

// Runs a kernel of batch_norm_sums.vs for each tile of channels.
void StepBuilder::NormTiles(const Norm& norm, const char* kernel, int64_t z) {
  const Layer& l = norm.l;
  const int64_t wide_row = 4 * WideColumns(l);
  const int64_t copies = PositionsInRow(l);
  for (int64_t t = 0; t < Tiles(l.co); ++t) {
    const int64_t params = ParamBlock(norm.block, t);
    const int64_t wide = wide_ub_ + t * row_bytes();
    Run(kernel, {{"params", params},
                 {"wide", wide},
                 {"wide_row", wide_row},
                 {"src", z + 2 * t * L()},
                 {"pitch", 4 * l.co},
                 {"copies", copies},
                 {"cols", TileCols(l.co, t)},
                 {"sums", wide + kWideParams * wide_row},
                 {"other", kPartials * wide_row},
                 {"count", kPartials * copies},
                 {"inv_n", InvN(l)}});
  }
}

void StepBuilder::NormPass(const ir::Node& node, const Norm& norm,
                           const char* kernel, Sums sums) {
  const Layer& l = norm.l;
  const ImageTensor& z_image = *norm.z;
  const ImageTensor* result = norm.result;
  const bool with_da = norm.da != nullptr;
  BeginOp(node);
  const int64_t tensors = 1 + (with_da ? 1 : 0) + (result != nullptr ? 1 : 0);
  int64_t images =
      std::min(batch_, work_bytes() / (2 * tensors * z_image.pitch));
  if (l.dense && images >= 8) images -= images % 8;
  if (images < 1 || (l.dense && images < std::min<int64_t>(8, batch_)))
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image does not fit the unified buffer of preset '%s'", l.name,
        preset_.name)));
  int64_t z[2], da[2] = {0, 0}, out[2] = {0, 0};
  for (int s = 0; s < 2; ++s) {
    z[s] = Allocate(images * z_image.pitch);
    if (with_da) da[s] = Allocate(images * z_image.pitch);
    if (result != nullptr) out[s] = Allocate(images * z_image.pitch);
  }
  const int64_t columns = WideColumns(l), wide_row = 4 * columns;
  if (sums != Sums::kNone) {
    const int64_t partials = wide_ub_ + kWideParams * wide_row;
    Run("clear",
        {{"dst", partials}, {"lines", CeilDiv(2 * kPartials * columns, L())}});
  }
  const int64_t pitch = l.dense ? z_image.pitch : 2 * columns;
  const int64_t rows_of_image = l.dense ? 1 : l.positions() * l.co / columns;
  // Images that follow without a gap are one, as are those of a dense layer;
  // but in the order of sums each image begins anew.
  const bool joined =
      l.dense || (sums == Sums::kNone && z_image.pitch == z_image.bytes);
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    LoadImages(z_image, n0, n, z[turn]);
    if (with_da) LoadImages(*norm.da, n0, n, da[turn]);
    if (n0 == 0 && sums == Sums::kShifted) NormTiles(norm, "bn_shift", z[turn]);
    const int64_t rows = joined ? n * rows_of_image : rows_of_image;
    const int64_t count = joined ? 1 : n;
    const int64_t gap = z_image.pitch - rows_of_image * pitch;
    for (int64_t first = 0; first < columns; first += L()) {
      const int64_t cols = std::min(L(), columns - first), at = 2 * first;
      Args args = {{"wide", wide_ub_ + 4 * first},
                   {"wide_row", wide_row},
                   {"src", z[turn] + at},
                   {"pitch", pitch},
                   {"rows", rows},
                   {"images", count},
                   {"gap", gap},
                   {"cols", cols}};
      if (with_da) args.push_back({"da", da[turn] + at});
      if (result != nullptr) args.push_back({"dst", out[turn] + at});
      Run(kernel, args);
    }
    if (result != nullptr) StoreImages(*result, n0, n, out[turn]);
  }
}

}  // namespace systole::training
