// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/product_kernel.h"

#include <utility>

#include "host/compiler/kernels/fused_kernel.h"
#include "host/compiler/kernels/wide_product.h"

namespace systole::lanes {

absl::StatusOr<KernelProgram> CompileProduct(const ir::Node& node,
                                             const Preset& preset,
                                             int64_t origin) {
  FusedSpec spec;
  spec.rows = node.type.elements() / node.type.shape.back();
  for (const ir::Value& operand : node.operands) {
    FusedSpec::Value& value = spec.values.emplace_back();
    value.bytes = operand.type().bytes();
    value.by_stage = true;
  }
  FusedSpec::Value& result = spec.values.emplace_back();
  result.bytes = node.type.bytes();
  result.by_rows = spec.rows > 1;
  result.stored = true;
  spec.stages.emplace_back(FusedSpec::Product{&node, 0, 1, 2});
  absl::StatusOr<KernelProgram> whole = CompileFused(spec, preset, origin);
  if (node.operands[1].type().bytes() <=
      static_cast<int64_t>(preset.ub_bytes) / 4)
    return whole;
  absl::StatusOr<KernelProgram> wide = CompileWideProduct(node, preset, origin);
  // The memory is slower with parts of rows than the cost model expects.
  const bool better =
      wide.ok() &&
      (!whole.ok() || wide->expected_cycles < whole->expected_cycles * 3 / 4);
  return better ? std::move(wide) : std::move(whole);
}

}  // namespace systole::lanes
