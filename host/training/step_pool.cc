// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Max and average pool of any window. A kernel takes a rectangle of windows
// with the same taps inside the image, or a rectangle of positions that lie at
// the same place in equally many windows: without padding the former is the
// whole image, the latter a rectangle for each phase of the strides, and more
// at the edges.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::CeilDiv;

namespace {

// One axis of a pool.
struct Axis {
  int64_t size, kernel, stride, pad, outputs;
};

// `count` windows from `first` on, with the taps [begin, end) inside the image.
struct Windows {
  int64_t first, count, begin, end;
  int64_t taps() const { return end - begin; }
};

std::vector<Windows> WindowsOf(const Axis& a) {
  std::vector<Windows> all;
  for (int64_t o = 0; o < a.outputs; ++o) {
    const int64_t origin = o * a.stride - a.pad;
    const int64_t begin = std::max<int64_t>(0, -origin);
    const int64_t end = std::min(a.kernel, a.size - origin);
    if (all.empty() || all.back().begin != begin || all.back().end != end)
      all.push_back({o, 0, begin, end});
    ++all.back().count;
  }
  return all;
}

// `count` positions from `first` on, a stride apart: each lies in `windows`
// windows, the first position in `window` and the next ones, first as tap
// `tap`.
struct Positions {
  int64_t first, count, windows, window, tap;
};

std::vector<Positions> PositionsOf(const Axis& a) {
  std::vector<Positions> all;
  for (int64_t phase = 0; phase < std::min(a.stride, a.size); ++phase) {
    for (int64_t i = phase; i < a.size; i += a.stride) {
      const int64_t before = i + a.pad - a.kernel;  // the last that ends before
      const int64_t window = before < 0 ? 0 : before / a.stride + 1;
      const int64_t end = std::min(a.outputs, (i + a.pad) / a.stride + 1);
      const int64_t windows = std::max<int64_t>(0, end - window);
      const int64_t tap = windows > 0 ? i + a.pad - window * a.stride : 0;
      if (i == phase || all.back().windows != windows || all.back().tap != tap)
        all.push_back({i, 0, windows, window, tap});
      ++all.back().count;
    }
  }
  return all;
}

Axis Vertical(const Layer& l) {
  return {l.oh, l.pool.window.h, l.pool.window.stride_y, l.pool.pad_top,
          l.pool.oh};
}

Axis Horizontal(const Layer& l) {
  return {l.ow, l.pool.window.w, l.pool.window.stride_x, l.pool.pad_left,
          l.pool.ow};
}

// Two fields of an argument.
int64_t Packed(int64_t high, int64_t low) { return high << 16 | low; }

int64_t UpToGroups(int64_t rows) { return CeilDiv(rows, 8) * 8; }

}  // namespace

void StepBuilder::EmitPool(const ir::Node& node) {
  const Layer l = PoolOf(node, node.operands[0].type());
  BeginOp(node);
  const bool max = l.pool.kind == PoolKind::kMax;
  PoolPass(l, {&ImageOf(node.operands[0]), &places_.at({node.name, 0}).image},
           0, [&](const PoolTile& tile) {
             PoolWindows(l, max ? "max_pool" : "average_pool", tile, tile.at[0],
                         tile.at[1]);
           });
}

// Of a max pool first where each window's gradient goes, of an average pool
// what it gives to each position; then each position gathers.
void StepBuilder::EmitPoolGradient(const ir::Node& node) {
  const Layer l = PoolOf(node, node.type);
  BeginOp(node);
  const int64_t scratch = 4 * l.outputs();
  std::vector<const ImageTensor*> tensors;
  for (const ir::Value& operand : node.operands)
    tensors.push_back(&ImageOf(operand));
  tensors.push_back(&places_.at({node.name, 0}).image);
  PoolPass(l, tensors, scratch, [&](const PoolTile& tile) {
    if (l.pool.kind == PoolKind::kMax) {
      PoolWindows(l, "max_pool_choice", tile, tile.at[0], tile.at[1]);
      PoolGather(l, tile, tile.at[2], tile.at[3]);
    } else {
      AverageShares(l, tile);
      PoolGather(l, tile, tile.at[0], tile.at[1]);
    }
  });
}

void StepBuilder::PoolPass(const Layer& l,
                           const std::vector<const ImageTensor*>& tensors,
                           int64_t scratch,
                           const std::function<void(const PoolTile&)>& run) {
  int64_t pitch = 0;
  for (const ImageTensor* t : tensors) pitch += t->pitch;
  const auto gaps = static_cast<int64_t>(tensors.size()) * Up(1);
  const int64_t room = work_bytes() - Up(scratch);
  // An image is loaded while another one is pooled, where two fit.
  const int turns = room >= 2 * (pitch + gaps) ? 2 : 1;
  const int64_t images =
      std::min({batch_, kMostImages, (room / turns - gaps) / pitch});
  if (room < pitch + gaps) {
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image of the pool needs %d bytes of the unified buffer, an "
        "operation has %d at preset '%s'",
        l.name, Up(scratch) + pitch + gaps, work_bytes(), preset_.name)));
  }
  std::vector<int64_t> slots[2];
  for (int turn = 0; turn < turns; ++turn) {
    for (const ImageTensor* t : tensors)
      slots[turn].push_back(Allocate(images * t->pitch));
  }
  const int64_t scratch_at = scratch > 0 ? Allocate(scratch) : 0;
  int turn = 0;
  for (int64_t n0 = 0; n0 < batch_; n0 += images, turn = turns - 1 - turn) {
    const int64_t n = std::min(images, batch_ - n0);
    const std::vector<int64_t>& slot = slots[turn];
    for (size_t t = 0; t + 1 < tensors.size(); ++t)
      LoadImages(*tensors[t], n0, n, slot[t]);
    for (int64_t image = 0; image < n; ++image) {
      for (int64_t tile = 0; tile < Tiles(l.co); ++tile) {
        PoolTile place = {
            TileCols(l.co, tile), scratch_at + 4 * tile * L(), {}};
        for (size_t t = 0; t < tensors.size(); ++t) {
          place.at.push_back(slot[t] + image * tensors[t]->pitch +
                             2 * tile * L());
        }
        run(place);
      }
    }
    StoreImages(*tensors.back(), n0, n, slot.back());
  }
}

// max_pool, average_pool, max_pool_choice.
void StepBuilder::PoolWindows(const Layer& l, const char* kernel,
                              const PoolTile& tile, int64_t image,
                              int64_t pooled) {
  const PoolWindow& window = l.pool.window;
  const bool choice = tile.at.size() == 4;
  const int64_t pitch = 2 * l.co, line = l.ow * pitch;
  const int64_t pooled_line = l.pool.ow * pitch;
  const int64_t step = window.stride_x * pitch;
  for (const Windows& y : WindowsOf(Vertical(l))) {
    for (const Windows& x : WindowsOf(Horizontal(l))) {
      const int64_t width = UpToGroups(x.count), taps = y.taps() * x.taps();
      // Of the first window, inside the image.
      const int64_t tap_y = choice ? y.end - 1 : y.begin;
      const int64_t tap_x = choice ? x.end - 1 : x.begin;
      const int64_t at_y = y.first * window.stride_y - l.pool.pad_top + tap_y;
      const int64_t at_x = x.first * window.stride_x - l.pool.pad_left + tap_x;
      const int64_t more = choice ? tile.scratch - 2 * pooled
                                  : FloatBits(1.0 / static_cast<double>(taps));
      Run(kernel, {{"full", image + at_y * line + at_x * pitch},
                   {"pooled", pooled + y.first * pooled_line + x.first * pitch},
                   {"pitch", pitch},
                   {"row_skip", line - x.taps() * pitch},
                   {"step", step},
                   {"line_skip", window.stride_y * line - width * step},
                   {"pooled_skip", pooled_line - width * pitch},
                   {"size", Packed(y.count, x.count)},
                   {"taps", Packed(y.taps(), x.taps())},
                   {"cols", tile.cols},
                   {"more", more},
                   {"index", tap_y * line + tap_x * pitch}});
    }
  }
}

void StepBuilder::AverageShares(const Layer& l, const PoolTile& tile) {
  const int64_t pitch = 2 * l.co, pooled_line = l.pool.ow * pitch;
  const int64_t grad = tile.at[0];
  for (const Windows& y : WindowsOf(Vertical(l))) {
    for (const Windows& x : WindowsOf(Horizontal(l))) {
      const int64_t at = y.first * pooled_line + x.first * pitch;
      const auto taps = static_cast<double>(y.taps() * x.taps());
      Run("average_share", {{"to", tile.scratch + 2 * at},
                            {"grad", grad + at},
                            {"pitch", pitch},
                            {"pooled_line", pooled_line},
                            {"size", Packed(y.count, x.count)},
                            {"index", FloatBits(1.0 / taps)},
                            {"cols", tile.cols}});
    }
  }
}

void StepBuilder::PoolGather(const Layer& l, const PoolTile& tile, int64_t grad,
                             int64_t to) {
  const bool max = l.pool.kind == PoolKind::kMax;
  const int64_t pitch = 2 * l.co, line = l.ow * pitch;
  // Of what the windows give: bf16, or fp32 in the scratch.
  const int64_t given_pitch = max ? pitch : 2 * pitch;
  const int64_t given_line = l.pool.ow * given_pitch;
  const int64_t given = max ? grad : tile.scratch;
  for (const Positions& y : PositionsOf(Vertical(l))) {
    for (const Positions& x : PositionsOf(Horizontal(l))) {
      const bool none = y.windows == 0 || x.windows == 0;
      Run(max ? "max_pool_gradient" : "average_pool_gradient",
          {{"to", to + y.first * line + x.first * pitch},
           {"grad", given + y.window * given_line + x.window * given_pitch},
           {"more", tile.scratch - 2 * grad},
           {"pitch", given_pitch},
           {"pooled_line", given_line},
           {"step", l.pool.window.stride_x * pitch},
           {"step_y", l.pool.window.stride_y * line},
           {"size", Packed(y.count, x.count)},
           {"windows", none ? 0 : Packed(y.windows, x.windows)},
           {"index", y.tap * line + x.tap * pitch},
           {"cols", tile.cols}});
    }
  }
}

}  // namespace systole::training
