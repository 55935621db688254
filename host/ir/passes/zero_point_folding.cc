// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/passes/zero_point_folding.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace systole::ir {
namespace {

// The flag of an operation whose zero point can be folded, or null.
bool* FoldedOf(Node& node) {
  if (auto* conv = node.attributes.If<ConvAttributes>()) {
    return &conv->zero_point_folded;
  }
  if (auto* dense = node.attributes.If<DenseAttributes>()) {
    return &dense->zero_point_folded;
  }
  return nullptr;
}

// Sum of the weights of each output channel: the first dimension, or the last
// one for a depthwise convolution.
std::vector<int64_t> WeightSums(const Node& node) {
  const Node& weights = *node.operands[1];
  const bool last = node.op == Op::kDepthwiseConv2D;
  const auto& values = weights.literal().values<int8_t>();
  const size_t channels =
      last ? weights.type.shape.back() : weights.type.shape.front();
  std::vector<int64_t> sums(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[last ? i % channels : i / (values.size() / channels)] +=
        values[i] - weights.quantization().zero_point;
  }
  return sums;
}

// The bias that includes the zero point's part. It has the type of the old
// bias, or no scales if there was none.
absl::StatusOr<Node> FoldedBias(const Module& module, const Node& node) {
  const std::vector<int64_t> sums = WeightSums(node);
  const auto channels = static_cast<int64_t>(sums.size());
  std::vector<int32_t> bias(channels, 0);
  Type type{ElementType::kInt32, {channels}, std::nullopt};
  std::string name = node.name;
  if (node.operands.size() == 3) {
    bias = node.operands[2]->literal().values<int32_t>();
    type = node.operands[2]->type;
    name = node.operands[2]->name;
  }
  const int64_t zero_point = node.operands[0]->quantization().zero_point;
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t folded = bias[c] - zero_point * sums[c];
    if (folded < std::numeric_limits<int32_t>::min() ||
        folded > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "node '", node.name, "': the bias of channel ", c,
          " with the zero point in it is ", folded, ", not an int32"));
    }
    bias[c] = static_cast<int32_t>(folded);
  }
  return MakeConstant(module.UniqueName(name + ".folded"), std::move(type),
                      Literal(std::move(bias)));
}

}  // namespace

absl::StatusOr<bool> ZeroPointFolding::Run(Module& module) {
  std::vector<Node*> nodes;  // a copy, because the module changes
  for (const auto& node : module.nodes()) nodes.push_back(node.get());
  bool changed = false;
  for (Node* node : nodes) {
    bool* folded = FoldedOf(*node);
    if (folded == nullptr || *folded) continue;
    const bool constants =
        node->operands[1]->is_constant() &&
        (node->operands.size() < 3 || node->operands[2]->is_constant());
    if (!constants) continue;
    absl::StatusOr<Node> bias = FoldedBias(module, *node);
    if (!bias.ok()) return bias.status();
    node->operands.resize(3);
    node->operands[2] = module.InsertBefore(node, *std::move(bias));
    *folded = true;
    changed = true;
  }
  if (changed) module.RemoveUnused();
  return changed;
}

}  // namespace systole::ir
