// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::CeilDiv;

// In the block of the layer that made dz.
void StepBuilder::EmitBiasGradient(const ir::Node& node) {
  const ir::Value& from = node.operands[0];
  if (from->op != ir::Op::kTrainClassify) {
    return Fail(absl::UnimplementedError(absl::StrFormat(
        "node '%s': a bias gradient of what is not the last layer's",
        node.name)));
  }
  const ImageTensor& image = ImageOf(from);
  BeginOp(node);
  int64_t images =
      std::min({batch_, kMostImages, (work_bytes() / 2 - Up(1)) / image.pitch});
  if (images >= 8) images -= images % 8;
  const int64_t dz[2] = {Allocate(images * image.pitch),
                         Allocate(images * image.pitch)};
  const int64_t params = ParamBlock(BlockOf(from->operands[2]), 0);
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    LoadImages(image, n0, n, dz[turn]);
    Run("bias_collect", {{"params", params},
                         {"dst", dz[turn]},
                         {"pitch", image.pitch},
                         {"rows", n},
                         {"cols", from.type().shape[1]}});
  }
  Run("bias_finish", {{"params", params}});
}

// Blocks of positions: dz is the weight tile, the transposed windows of the
// input pass through. Where the batch fits, it is loaded once for all; of the
// inputs of a dense layer otherwise only what a range of passes reads.
void StepBuilder::EmitWeightGradient(const ir::Node& node) {
  const Layer l =
      ProductOf(node, node.operands[0].type(), node.operands[1].type());
  const ImageTensor &x = ImageOf(node.operands[0]),
                    &dz_image = ImageOf(node.operands[1]);
  const Place& gradient = places_.at({node.name, 0});
  const Slab& slab = gradient.slab;
  BeginOp(node);
  const int64_t all_passes = slab.padded_rows / R();
  const int64_t range = std::min(all_passes, preset_.acc_bank_rows() / R());
  const int64_t out_bytes = range * R() * row_bytes();
  const int64_t room = work_bytes() - Up(out_bytes);
  const bool whole = batch_ <= kMostImages &&
                     batch_ * (x.pitch + dz_image.pitch) + 2 * Up(1) <= room;
  const bool slices = l.dense && !whole;
  const int64_t in_pitch =
      slices ? std::min(x.pitch, Up(2 * range * R())) : x.pitch;
  const int slots = whole ? 1 : 2;
  int64_t images =
      std::min({batch_, kMostImages,
                (room / slots - 2 * Up(1)) / (in_pitch + dz_image.pitch)});
  if (slices && images < batch_) images -= images % R();
  if (images < 1)
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: the weight gradient's blocks do not fit the unified buffer of "
        "preset '%s'",
        l.name, preset_.name)));
  int64_t in[2], dz[2];
  for (int s = 0; s < slots; ++s) {
    in[s] = Allocate(images * in_pitch);
    dz[s] = Allocate(images * dz_image.pitch);
  }
  const int64_t out = Allocate(out_bytes);
  bool loaded = false;
  int turn = 0;
  for (int64_t t = 0; t < slab.tiles; ++t) {
    for (int64_t pass0 = 0; pass0 < all_passes; pass0 += range) {
      const int64_t passes = std::min(range, all_passes - pass0);
      const int64_t acc = NextBank();
      const int64_t skip = slices ? 2 * pass0 * R() : 0;
      const int64_t in_bytes = std::min(x.bytes - skip, in_pitch);
      for (int64_t n0 = 0; n0 < batch_; n0 += images) {
        const int64_t n = std::min(images, batch_ - n0);
        if (!whole || !loaded) {
          LoadRows(x.hbm + n0 * x.pitch + skip, x.pitch, in[turn], in_pitch,
                   in_bytes, n);
          LoadImages(dz_image, n0, n, dz[turn]);
          loaded = true;
        }
        GradientInput input = {in[turn], in_pitch, in_bytes,
                               slices ? 0 : pass0};
        WeightGradientBlock(l, dz_image, t, passes, acc, input, dz[turn], n,
                            n0 == 0);
        if (!whole) turn ^= 1;
      }
      const int64_t rows = passes * R();
      Run("acc_fp32", {{"acc", acc},
                       {"dst", out},
                       {"pitch", row_bytes()},
                       {"rows", rows},
                       {"cols", L()}});
      StoreBytes(gradient.hbm + 4 * slab.at(pass0 * R(), t * L()), out,
                 row_bytes() * rows);
    }
  }
}

void StepBuilder::WeightGradientBlock(const Layer& l,
                                      const ImageTensor& dz_image, int64_t tile,
                                      int64_t passes, int64_t acc,
                                      const GradientInput& in, int64_t dz,
                                      int64_t images, bool first) {
  isa::Tiles tiles;
  tiles.pitch = l.dense ? dz_image.pitch : 2 * l.co;
  tiles.cols = TileCols(l.co, tile);
  tiles.tiles = 1;
  const auto block = [&](const Source& source, int64_t n, int64_t ny,
                         int64_t nx, int64_t from) {
    tiles.ub_addr = from + 2 * tile * L();
    tiles.rows = n * ny * nx;
    builder_.Append(tiles);
    for (int64_t pass = 0; pass < passes; ++pass) {
      int flags = isa::Matmul::kTranspose;
      if (!first) flags |= isa::Matmul::kAccumulate;
      if (pass > 0) flags |= isa::Matmul::kKeepWeights;
      Matmul(source, in.first_pass + pass, acc + pass * R(), n, ny, nx, flags);
    }
    first = false;
  };
  if (l.dense) {
    Source source;
    source.pitch = source.line_bytes = source.sx = in.bytes;
    source.img_pitch = in.pitch;
    source.lines = source.sy = 1;
    source.runs = {{0, 0, in.bytes / 2}};
    for (int64_t n = 0; n < images; n += R()) {
      source.base = in.base + n * in.pitch;
      block(source, std::min(R(), images - n), 1, 1, dz + n * dz_image.pitch);
    }
    return;
  }
  const int64_t lines = std::max<int64_t>(1, R() / l.ow);
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t y = 0; y < l.oh; y += lines) {
      block(ForwardSource(l, in.pitch, in.base + n * in.pitch, y), 1,
            std::min(lines, l.oh - y), l.ow,
            dz + n * dz_image.pitch + 2 * y * l.ow * l.co);
    }
  }
}

void StepBuilder::EmitInputGradient(const ir::Node& node) {
  const Layer l = ProductOf(node, node.type, node.operands[0].type());
  if (l.dense) return DenseInputGradient(node, l);
  ConvInputGradient(node, l);
}

void StepBuilder::DenseInputGradient(const ir::Node& node, const Layer& l) {
  const ImageTensor &dz_image = ImageOf(node.operands[0]),
                    &da = places_.at({node.name, 0}).image;
  const Place& working = PlaceOf(node.operands[1]);
  const Slab& slab = working.slab;
  BeginOp(node);
  const int64_t images = std::min(
      {batch_, preset_.acc_bank_rows(), kMostImages,
       (work_bytes() - 4 * Up(1)) / (2 * (dz_image.pitch + da.pitch))});
  if (images < 1)
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: a sample does not fit the unified buffer of preset '%s'", l.name,
        preset_.name)));
  const int64_t dz[2] = {Allocate(images * dz_image.pitch),
                         Allocate(images * dz_image.pitch)};
  const int64_t out[2] = {Allocate(images * da.pitch),
                          Allocate(images * da.pitch)};
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    LoadImages(dz_image, n0, n, dz[turn]);
    Source source;
    source.base = dz[turn];
    source.pitch = source.line_bytes = dz_image.bytes;
    source.img_pitch = dz_image.pitch;
    source.lines = source.sy = 1;
    source.sx = dz_image.bytes;
    source.runs = {{0, 0, l.co}};
    for (int64_t k = 0; k < l.ci; k += L()) {
      const int64_t acc = NextBank();
      for (int64_t t = 0; t < slab.tiles; ++t) {
        Weights(working.hbm + 2 * slab.at(k, t * L()), 1,
                isa::Weights::kTranspose);
        Matmul(source, t, acc, n, 1, 1, t > 0 ? isa::Matmul::kAccumulate : 0);
      }
      const int64_t cols = std::min(L(), l.ci - k), dst = out[turn] + 2 * k;
      Run("acc_bf16", {{"acc", acc},
                       {"dst", dst},
                       {"pitch", da.pitch},
                       {"rows", n},
                       {"cols", cols}});
    }
    StoreImages(da, n0, n, out[turn]);
  }
}

// Working weights with input and output channels exchanged, taps in the order
// of each phase's contraction.
void StepBuilder::TransposeTaps(const ir::Node& node, const Layer& l) {
  const Place& working = PlaceOf(node.operands[1]);
  const Transposed& transposed = transposed_.at(node.name);
  BeginOp(node);
  const int64_t slab_bytes = 2 * working.slab.elements();
  const int64_t src = Allocate(slab_bytes);
  LoadBytes(working.hbm, src, slab_bytes);
  uint64_t hbm = transposed.hbm;
  for (int64_t phase = 0; phase < l.stride * l.stride; ++phase) {
    const Slab& slab = transposed.phases[phase];
    const int64_t dst = Allocate(2 * slab.elements());
    const int64_t ky0 = (phase / l.stride + l.pad_top) % l.stride;
    const int64_t kx0 = (phase % l.stride + l.pad_left) % l.stride;
    const int64_t nj = CeilDiv(l.kh - ky0, l.stride);
    const int64_t ni = CeilDiv(l.kw - kx0, l.stride);
    for (int64_t tap = 0; tap < nj * ni; ++tap) {
      const int64_t ky = ky0 + l.stride * (nj - 1 - tap / ni);
      const int64_t kx = kx0 + l.stride * (ni - 1 - tap % ni);
      for (int64_t t = 0; t < working.slab.tiles; ++t) {
        for (int64_t c = 0; c < slab.tiles; ++c) {
          const int64_t rows = TileCols(l.ci, c), cols = TileCols(l.co, t);
          const int64_t from =
              src +
              2 * working.slab.at((ky * l.kw + kx) * l.ci + c * L(), t * L());
          const int64_t to = dst + 2 * slab.at(tap * l.co + t * L(), c * L());
          Run("transpose", {{"src", from},
                            {"src_pitch", 2 * L()},
                            {"src_cols", cols},
                            {"cols", rows},
                            {"dst", to},
                            {"pitch", 2 * L()}});
        }
      }
    }
    for (int64_t c = 0; c < slab.tiles; ++c) {
      StoreBytes(hbm + 2 * slab.at(0, c * L()), dst + 2 * slab.at(0, c * L()),
                 2 * L() * slab.rows);
    }
    hbm += 2 * slab.elements();
  }
}

void StepBuilder::ConvInputGradient(const ir::Node& node, const Layer& l) {
  TransposeTaps(node, l);
  const ImageTensor &dz_image = ImageOf(node.operands[0]),
                    &da = places_.at({node.name, 0}).image;
  BeginOp(node);
  const int64_t most = CeilDiv(l.h, l.stride) * CeilDiv(l.w, l.stride);
  const int64_t images = std::min(
      {batch_, preset_.acc_bank_rows() / most,
       (work_bytes() - 4 * Up(1)) / (2 * (dz_image.pitch + da.pitch))});
  if (images < 1)
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: the input gradient of an image does not fit preset '%s'", l.name,
        preset_.name)));
  const int64_t dz[2] = {Allocate(images * dz_image.pitch),
                         Allocate(images * dz_image.pitch)};
  const int64_t out[2] = {Allocate(images * da.pitch),
                          Allocate(images * da.pitch)};
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, batch_ - n0);
    LoadImages(dz_image, n0, n, dz[turn]);
    for (int phase = 0; phase < l.stride * l.stride; ++phase)
      PhaseGradient(node, l, phase, dz[turn], out[turn], n);
    StoreImages(da, n0, n, out[turn]);
  }
}

// Input positions (py, px) modulo the stride: a convolution of dz with the
// phase's taps, stride 1.
void StepBuilder::PhaseGradient(const ir::Node& node, const Layer& l, int phase,
                                int64_t dz, int64_t da, int64_t images) {
  const ImageTensor& out = places_.at({node.name, 0}).image;
  const Transposed& transposed = transposed_.at(node.name);
  const Slab& slab = transposed.phases[phase];
  uint64_t weights = transposed.hbm;
  for (int q = 0; q < phase; ++q)
    weights += 2 * transposed.phases[q].elements();
  const int64_t py = phase / l.stride, px = phase % l.stride;
  const int64_t ky0 = (py + l.pad_top) % l.stride;
  const int64_t kx0 = (px + l.pad_left) % l.stride;
  const int64_t nj = CeilDiv(l.kh - ky0, l.stride);
  const int64_t ni = CeilDiv(l.kw - kx0, l.stride);
  const int64_t ny = CeilDiv(l.h - py, l.stride);
  const int64_t nx = CeilDiv(l.w - px, l.stride);
  Source source;
  source.base = dz;
  source.pitch = source.line_bytes = 2 * l.ow * l.co;
  source.img_pitch = ImageOf(node.operands[0]).pitch;
  source.lines = l.oh;
  source.sy = 1;
  source.sx = 2 * l.co;
  for (int64_t j = 0; j < nj; ++j) {
    source.runs.push_back(
        {(py + l.pad_top - ky0) / l.stride - (nj - 1) + j,
         2 * l.co * ((px + l.pad_left - kx0) / l.stride - (ni - 1)),
         ni * l.co});
  }
  for (int64_t c = 0; c < slab.tiles; ++c) {
    const int64_t acc = NextBank(), passes = slab.padded_rows / R();
    Weights(weights + 2 * slab.at(0, c * L()), passes);
    for (int64_t pass = 0; pass < passes; ++pass) {
      Matmul(source, pass, acc, images, ny, nx,
             pass > 0 ? isa::Matmul::kAccumulate : 0);
    }
    const int64_t cols = TileCols(l.ci, c);
    const int64_t pitch = 2 * l.stride * l.ci;
    for (int64_t n = 0; n < images; ++n) {
      const int64_t dst =
          da + n * out.pitch + 2 * ((py * l.w + px) * l.ci + c * L());
      Run("acc_image", {{"src", acc + n * ny * nx},
                        {"dst", dst},
                        {"pitch", pitch},
                        {"line_pitch", l.w * pitch},
                        {"width", nx},
                        {"lines", ny},
                        {"cols", cols}});
    }
  }
}

}  // namespace systole::training
