// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/compiler/plan.h"
#include "host/ir/reader.h"

namespace systole::compiler {
namespace {

using ir::NameText;
using Mode = InputPlacement::Mode;
using Pair = std::pair<int64_t, int64_t>;

std::string Text(const PlanTensor& t) {
  std::string text =
      absl::StrCat("%", NameText(t.name), " = ", t.h, "x", t.w, "x", t.c);
  if (t.element_bytes == 2) absl::StrAppend(&text, ", bf16");
  if (t.element_bytes == 4) absl::StrAppend(&text, ", raw");
  if (t.input) absl::StrAppend(&text, ", input");
  if (t.output) absl::StrAppend(&text, ", output");
  if (t.group > 0) absl::StrAppend(&text, ", group=", t.group);
  if (t.in_hbm) absl::StrAppend(&text, ", in_hbm");
  if (t.hbm != kNowhere) absl::StrAppendFormat(&text, ", hbm=0x%x", t.hbm);
  return text;
}

std::string Text(const PlanBuffer& b, size_t index) {
  std::string text =
      absl::StrFormat("&%d = \"%s\", bytes=%d, layers=[%d, %d]", index,
                      absl::CEscape(b.name), b.bytes, b.first, b.last);
  if (b.anywhere) text += ", anywhere";
  if (!b.over.empty()) {
    absl::StrAppend(&text, ", over=[&", absl::StrJoin(b.over, ", &"), "]");
  }
  if (b.at != kNowhere) absl::StrAppendFormat(&text, ", at=0x%x", b.at);
  return text;
}

std::string Text(const InputPlacement& in) {
  std::string text =
      absl::StrCat(ModeName(in.mode), "(&", in.buffer, ", ", in.pitch, ", ");
  absl::StrAppend(&text,
                  in.mode == Mode::kSlots ? in.slot_bytes : in.img_pitch);
  if (in.channels > 0) absl::StrAppend(&text, ", ", in.channels);
  return text + ")";
}

std::string Text(const OutputPlacement& out) {
  std::string text =
      out.resident
          ? absl::StrCat("resident(&", out.buffer, ", ", out.pitch, ", ",
                         out.img_pitch, ")")
          : absl::StrCat("slots(&", out.buffer, ", ", out.slot_bytes, ")");
  absl::StrAppend(&text, ", channels=", out.channels);
  if (out.stored) absl::StrAppend(&text, ", stored");
  return text;
}

std::string Text(const std::vector<Block>& blocks) {
  const auto format = [](std::string* text, const Block& b) {
    absl::StrAppend(text, "[", b.i0, ", ", b.ni, ", ", b.y0, ", ", b.ny, ", ",
                    b.x0, ", ", b.nx, "]");
  };
  return absl::StrCat("[", absl::StrJoin(blocks, ", ", format), "]");
}

std::string Text(const Plan& plan, const PlanLayer& layer) {
  const auto tensor = [&](int t) {
    return absl::StrCat("%", NameText(plan.tensors[t].name));
  };
  const auto append = [&](std::string* text, int t) { *text += tensor(t); };
  const Geometry& s = layer.shape;
  std::string text =
      absl::StrCat(NameText(layer.name), ": ", tensor(layer.output), " = ",
                   model::OpName(layer.op), "(",
                   absl::StrJoin(layer.inputs, ", ", append), ")");
  const auto pair = [&](const char* name, Pair value, Pair usual) {
    if (value != usual) {
      absl::StrAppend(&text, ", ", name, "=[", value.first, ", ", value.second,
                      "]");
    }
  };
  pair("kernel", {s.kh, s.kw}, {1, 1});
  pair("stride", {s.sh, s.sw}, {1, 1});
  pair("dilation", {s.dh, s.dw}, {1, 1});
  pair("padding", {s.pad_top, s.pad_left}, {0, 0});
  if (s.multiplier != 0) absl::StrAppend(&text, ", multiplier=", s.multiplier);
  if (s.groups > 1) absl::StrAppend(&text, ", groups=", s.groups);
  if (layer.planes > 1) absl::StrAppend(&text, ", planes=", layer.planes);
  if (layer.g.columns > 1)
    absl::StrAppend(&text, ", columns=", layer.g.columns);
  if (layer.fused) absl::StrAppend(&text, ", fused");
  if (layer.wide >= 0) absl::StrAppend(&text, ", wide=", layer.wide);
  if (layer.joined) absl::StrAppend(&text, ", joined");
  if (layer.stationary) absl::StrAppend(&text, ", stationary");
  if (layer.tile_row > 0) absl::StrAppend(&text, ", tile_row=", layer.tile_row);
  for (const InputPlacement& in : layer.in)
    absl::StrAppend(&text, &in == &layer.in[0] ? ",\n    from " : ", from ",
                    Text(in));
  if (!layer.blocks.empty()) {
    absl::StrAppend(&text, ", to ", Text(layer.out));
    if (layer.params.buffer != kNowhere) {
      absl::StrAppend(&text, ",\n    parameters ",
                      layer.params.whole ? "whole" : "turns", "(&",
                      layer.params.buffer, ", ", layer.params.slots, ")");
    }
    absl::StrAppend(&text, ",\n    blocks=", Text(layer.blocks));
  }
  return text;
}

}  // namespace

std::string Print(const Plan& plan) {
  std::string text = absl::StrCat(
      "plan @", NameText(plan.name), " on ", std::string(plan.preset->name),
      ", batch=", plan.batch, ", ub=", plan.ub_bytes);
  if (plan.keep_intermediates) absl::StrAppend(&text, ", keep_intermediates");
  if (!plan.allow_resident) absl::StrAppend(&text, ", nothing_resident");
  if (plan.loops) absl::StrAppend(&text, ", loops");
  absl::StrAppend(&text, " {\n");
  for (const PlanTensor& tensor : plan.tensors)
    absl::StrAppend(&text, "  ", Text(tensor), "\n");
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    absl::StrAppend(&text, "  ", Text(plan.buffers[b], b), "\n");
  for (const PlanLayer& layer : plan.layers)
    absl::StrAppend(&text, "  ", Text(plan, layer), "\n");
  return text + "}\n";
}

}  // namespace systole::compiler
