// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/module_lowering.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/compiler/kernels/branch_lowering.h"
#include "host/compiler/kernels/broadcast_split.h"
#include "host/compiler/kernels/depthwise_lowering.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/dilation_lowering.h"
#include "host/compiler/kernels/gradient_lowering.h"
#include "host/compiler/kernels/householder_lowering.h"
#include "host/compiler/kernels/image_layout.h"
#include "host/compiler/kernels/loop_lowering.h"
#include "host/compiler/kernels/permutation_split.h"
#include "host/compiler/kernels/product_lowering.h"
#include "host/compiler/kernels/random_lowering.h"
#include "host/compiler/kernels/reduction_sections.h"
#include "host/compiler/kernels/region_lowering.h"
#include "host/compiler/kernels/shard_lowering.h"
#include "host/compiler/kernels/top_k_lowering.h"
#include "host/compiler/kernels/transpose_folding.h"
#include "host/compiler/kernels/window_order.h"
#include "host/ir/duplicates.h"
#include "host/ir/identities.h"
#include "host/ir/invariants.h"

namespace systole::lanes {
namespace {

using ir::Node;

bool IsLowered(const ir::Module& module, const Preset& preset);

bool IsLowered(const Node& node, const Preset& preset) {
  return IsProduct(node) || IsCheapBranch(node) || IsRandomBits(node) ||
         IsHouseholder(node) || IsLiftedRegion(node, preset) ||
         HasInnerWindow(node) || node.op == ir::Op::kHloSort ||
         std::any_of(
             node.regions.begin(), node.regions.end(),
             [&](const auto& region) { return IsLowered(*region, preset); });
}

bool IsLowered(const ir::Module& module, const Preset& preset) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(),
      [&](const auto& node) { return IsLowered(*node, preset); });
}

void Lower(ir::Module& module, const Preset& preset) {
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes()) {
    if (IsLowered(*node, preset)) nodes.push_back(node.get());
  }
  for (Node* node : nodes) {
    for (std::shared_ptr<const ir::Module>& region : node->regions) {
      if (!IsLowered(*region, preset)) continue;
      std::shared_ptr<ir::Module> copy = region->Clone();
      Lower(*copy, preset);
      region = std::move(copy);
    }
    if (HasInnerWindow(*node)) node = MoveWindowOut(module, *node);
    if (IsDilated(*node)) {
      for (Node* part : LowerDilated(module, *node)) {
        if (!LowerDepthwise(module, *part, preset))
          LowerProduct(module, *part, preset);
      }
    } else if (IsProduct(*node) && !LowerDepthwise(module, *node, preset) &&
               !LowerDepthwiseGradient(module, *node, preset)) {
      LowerProduct(module, *node, preset);
    }
    if (IsCheapBranch(*node)) LowerBranch(module, *node);
    if (IsRandomBits(*node)) LowerRandomBits(module, *node);
    if (IsHouseholder(*node)) LowerHouseholder(module, *node);
    if (IsTopK(module, *node)) LowerTopK(module, *node, preset);
    if (IsLiftedRegion(*node, preset)) LowerLiftedRegion(module, *node, preset);
  }
  if (!nodes.empty()) module.RemoveUnused();
}

// Applies it to the module and to the regions of its loops and branches.
template <typename Pass>
void Everywhere(ir::Module& module, const Pass& pass) {
  for (const auto& node : module.nodes()) {
    if (!IsControl(*node)) continue;
    for (std::shared_ptr<const ir::Module>& region : node->regions) {
      std::shared_ptr<ir::Module> copy = region->Clone();
      Everywhere(*copy, pass);
      region = std::move(copy);
    }
  }
  pass(module);
}

}  // namespace

void LowerModule(ir::Module& module, const Preset& preset) {
  const auto simplify = [&preset](ir::Module& part) {
    ir::RemoveIdentities(part);
    FoldTransposes(part, preset);
    ir::RemoveDuplicates(part);
  };
  Everywhere(module, simplify);
  LowerRandomNumbers(module);
  LowerShards(module, preset);
  Everywhere(module, MoveChannelsLast);
  if (ir::HoistInvariants(module) > 0) ir::RemoveDuplicates(module);
  LiftProducts(module, preset);
  Lower(module, preset);
  Everywhere(module, [&](ir::Module& part) { SplitBroadcasts(part, preset); });
  DivideReductions(module);
  CutLongLines(module, preset);
  SplitPermutations(module, preset);
  Everywhere(module, ir::RemoveDuplicates);
  if (ir::HoistInvariants(module) > 0) ir::RemoveDuplicates(module);
  CarryConversions(module);
}

}  // namespace systole::lanes
