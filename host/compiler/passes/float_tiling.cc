// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/passes/float_tiling.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/float_tiles.h"
#include "host/compiler/row_blocks.h"
#include "systole/gen/vpu.h"

namespace systole::compiler {
namespace {

constexpr int64_t kMostLines = 8192;  // limit of a matmul's field

// The shortest blocks that let passes follow each other without a bubble: as
// many rows as a tile takes to enter the array.
std::vector<int64_t> CutRows(int64_t rows, int64_t most, const Preset& preset) {
  const int64_t way =
      preset.rows * std::max<int64_t>(2, preset.cell_stages - 1);
  const int64_t least = std::min(way + preset.rows / 8, rows / 2);
  return RowBlocks(rows, std::max(way, least), most);
}

}  // namespace

absl::StatusOr<bool> FloatTiling::Run(Plan& plan) {
  const Preset& preset = *plan.preset;
  PlanLayer& layer = plan.layers[0];
  const PlanTensor& c = plan.tensors[layer.output];
  const int64_t group = FloatTileGroup(c.c, c.element_bytes, preset);
  const int64_t a_pitch = plan.HbmPitch(layer.inputs[0]);
  const int64_t c_pitch =
      RoundUp(group * preset.cols * c.element_bytes, preset.beat_bytes());
  const int64_t code = RoundUp(8 * vpu::kImemWords, plan.align());
  const int64_t rows = layer.g.oh;
  std::vector<int64_t> blocks;
  int64_t a_bytes = 0, c_bytes = 0;
  for (int64_t most =
           std::min({rows, preset.acc_bank_rows() / group, kMostLines});
       ; most /= 2) {
    if (most == 0) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "a line of %d values of A and one of %d of C do not fit the "
          "unified buffer of %d bytes",
          plan.tensors[layer.inputs[0]].c, group * preset.cols, plan.ub_bytes));
    }
    blocks = CutRows(rows, most, preset);
    const int64_t longest = *std::max_element(blocks.begin(), blocks.end());
    a_bytes = RoundUp(longest * a_pitch, plan.align());
    c_bytes = RoundUp(longest * c_pitch, plan.align());
    const int64_t slots = blocks.size() > 1 ? kSlotCount : 1;
    if (code + slots * a_bytes + kSlotCount * c_bytes <= plan.ub_bytes) break;
  }
  const bool whole = blocks.size() == 1;
  plan.buffers = {{"kernels", code, 0, 0, {}, kNowhere},
                  {whole ? "a" : "a (slots)",
                   (whole ? 1 : kSlotCount) * a_bytes,
                   0,
                   0,
                   {},
                   kNowhere},
                  {"c (slots)", kSlotCount * c_bytes, 0, 0, {}, kNowhere}};
  InputPlacement in;
  in.mode = whole ? InputPlacement::Mode::kWhole : InputPlacement::Mode::kSlots;
  in.buffer = 1;
  in.pitch = a_pitch;
  (whole ? in.img_pitch : in.slot_bytes) = whole ? rows * a_pitch : a_bytes;
  layer.in = {in};
  layer.out.stored = true;
  layer.out.buffer = 2;
  layer.out.slot_bytes = c_bytes;
  layer.out.channels = group * preset.cols;
  int64_t line = 0;
  for (const int64_t count : blocks) {
    layer.blocks.push_back({0, 1, line, count, 0, 1});
    line += count;
  }
  for (PlanTensor& tensor : plan.tensors) tensor.in_hbm = true;
  return true;
}

}  // namespace systole::compiler
