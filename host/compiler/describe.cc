// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/compiler/describe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "host/compiler/pass_plan.h"

namespace systole::compiler {
namespace {

std::string Count(int64_t count, const char* one, const char* many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

const char* ModeText(InputPlacement::Mode mode) {
  switch (mode) {
    case InputPlacement::Mode::kResident:
      return "resident";
    case InputPlacement::Mode::kWhole:
      return "loaded whole";
    case InputPlacement::Mode::kSlots:
      return "in slots";
  }
  return "";
}

}  // namespace

std::string DescribeTiling(const PlanLayer& plan, const Preset& preset,
                           bool matmul) {
  if (plan.joined) return "with the requantise of the layer before";
  const Geometry& g = plan.g;
  const Block& largest = *std::max_element(
      plan.blocks.begin(), plan.blocks.end(),
      [](const Block& a, const Block& b) { return a.rows() < b.rows(); });
  const bool alike =
      std::all_of(plan.blocks.begin(), plan.blocks.end(),
                  [&](const Block& b) { return b.rows() == largest.rows(); });
  std::string text =
      Count(static_cast<int64_t>(plan.blocks.size()), "block", "blocks");
  absl::StrAppend(&text, alike ? " of " : " of up to ");
  if (largest.ni > 1) absl::StrAppend(&text, largest.ni, "x");
  absl::StrAppend(&text, largest.ny, "x", largest.nx, " positions");
  if (matmul) {
    absl::StrAppend(
        &text, ", ",
        Count(CeilDiv(g.oc, preset.cols), "column tile", "column tiles"),
        " of ",
        Count(MakePassPlan(g, {0, g.kh, 0, g.kw}, preset).passes(), "pass",
              "passes"));
  }
  if (plan.fused) absl::StrAppend(&text, ", between those of the layer before");
  if (g.columns > 1)
    absl::StrAppend(&text, ", ", g.columns, " outputs a position");
  if (g.group > 0)
    absl::StrAppend(&text, " in groups of ", g.group, " channels");
  for (const InputPlacement& in : plan.in) {
    absl::StrAppend(&text, &in == &plan.in.front() ? "; input " : ", ",
                    ModeText(in.mode));
  }
  return absl::StrCat(text, "; output ",
                      plan.out.resident ? "resident" : "in slots",
                      plan.out.resident && plan.out.stored ? ", stored" : "");
}

}  // namespace systole::compiler
