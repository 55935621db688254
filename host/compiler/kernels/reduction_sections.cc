// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/reduction_sections.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/compiler/kernels/reduction_kernel.h"
#include "host/compiler/kernels/region_nodes.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/hlo/tree.h"
#include "host/ir/index.h"

namespace systole::lanes {
namespace {

// Bands of columns for which the unified buffer has room, at least.
constexpr int64_t kBands = 4;
// Twice it can be added.
constexpr int64_t kNotOnDevice = std::numeric_limits<int64_t>::max() / 4;

using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Value;

ir::TreeShape TreeOf(const Node& node) {
  return ir::TreeShapeOf(node.operands[0].type().shape,
                         node.attr<ir::HloDimensionsAttributes>().dimensions);
}

bool IsDivided(const Node& node) {
  if (!IsReduction(node)) return false;
  const ir::TreeShape tree = TreeOf(node);
  return ir::SectionOf(tree.count, tree.inner) > 0;
}

// What changes no element that it is combined with.
uint32_t IdentityBits(Op op, ElementType element) {
  const int width = element == ElementType::kBool
                        ? 1
                        : 8 * static_cast<int>(ir::ElementBytes(element));
  const uint32_t sign = uint32_t{1} << (width - 1);
  const uint32_t ones = sign - 1 + sign;
  if (ir::IsFloat(element)) {
    const bool half = element == ElementType::kFloat16;
    const int shift = 32 - width;
    const uint32_t one = half ? 0x3C00 : 0x3F800000U >> shift;
    const uint32_t infinity = half ? 0x7C00 : 0x7F800000U >> shift;
    return op == Op::kHloAdd        ? sign  // -0
           : op == Op::kHloMultiply ? one
           : op == Op::kHloMaximum  ? sign | infinity
                                    : infinity;
  }
  const bool is_signed = ir::IsSigned(element);
  switch (op) {
    case Op::kHloMultiply:
      return 1;
    case Op::kHloMaximum:
      return is_signed ? sign : 0;
    case Op::kHloMinimum:
      return is_signed ? sign - 1 : ones;
    case Op::kHloAnd:
      return ones;
    default:
      return 0;
  }
}

Value Identity(RegionNodes& nodes, const Node& reduction) {
  const ElementType element = reduction.type.element;
  const uint32_t bits =
      IdentityBits(*ir::CombinerOf(*reduction.regions[0]), element);
  std::array<uint8_t, 4> bytes = {};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(bits >> 8 * i);
  return nodes.Add(ir::MakeConstant(
      "", {element, {}, {}}, ir::Literal::FromBytes(element, 1, bytes.data())));
}

class Division {
 public:
  Division(ir::Module& module, const Node& node)
      : node_(node), nodes_(module, &node, node.name + ".sections") {}

  Value Make() {
    const auto [outer, count, inner, adjacent] = TreeOf(node_);
    Value value = node_.operands[0];
    const Ints& shape = value.type().shape;
    if (!adjacent) {
      const Ints order = ir::ReducedFirst(
          shape, node_.attr<ir::HloDimensionsAttributes>().dimensions);
      value = Make(Op::kHloTranspose, ir::Permuted(shape, order), {value},
                   ir::TransposeAttributes{order});
    }
    const Value identity = Identity(nodes_, node_);
    int64_t left = count;
    while (const int64_t section = ir::SectionOf(left, inner)) {
      const int64_t sections = (left + section - 1) / section;
      if (left % section != 0) {
        value = Reshaped(value, {outer, left, inner});
        left = sections * section;
        value = Make(
            Op::kHloPad, {outer, left, inner}, {value, identity},
            ir::HloPadAttributes{
                {0, 0, 0}, {0, left - value.type().shape[1], 0}, {0, 0, 0}});
      }
      value = Reshaped(value, {outer, sections, section, inner});
      value = Reduced(value, identity, 2);
      left = sections;
    }
    value =
        Reduced(Reshaped(value, {outer, left, inner}), node_.operands[1], 1);
    return Reshaped(value, node_.type.shape);
  }

  // Of lines; nothing where that takes more cycles, or the rows do not fit.
  std::optional<Value> Cut(const Preset& preset) {
    const auto [outer, count, inner, adjacent] = TreeOf(node_);
    const int64_t beat =
        preset.beat_bytes() / ir::ElementBytes(node_.type.element);
    const int64_t rows = preset.ub_bytes / (kBands * preset.beat_bytes());
    int64_t width = beat;
    while (width * rows < count) width *= 2;
    if (width > ir::FirstHalf(count)) return std::nullopt;
    const Value identity = Identity(nodes_, node_);
    Value value = Reshaped(node_.operands[0], {outer, count});
    const int64_t whole = (count + width - 1) / width * width;
    if (whole > count) {
      value = Make(Op::kHloPad, {outer, whole}, {value, identity},
                   ir::HloPadAttributes{{0, 0}, {0, whole - count}, {0, 0}});
    }
    value = Reshaped(value, {outer, whole / width, width});
    value = Reduced(value, identity, 1);
    const Value last = Reduced(value, node_.operands[1], 1);
    const auto cycles = [&](const Node& node) {
      const auto kernel = CompileReduction(node, preset);
      return kernel.ok() ? kernel->expected_cycles : kNotOnDevice;
    };
    if (cycles(*value.node) + cycles(*last.node) >= cycles(node_))
      return std::nullopt;
    return Reshaped(last, node_.type.shape);
  }

 private:
  Value Make(Op op, Ints shape, std::vector<Value> operands,
             ir::Attributes attributes = ir::NoAttributes{}) {
    return nodes_.Make(op, {node_.type.element, std::move(shape), {}},
                       std::move(operands), std::move(attributes));
  }
  Value Reshaped(const Value& value, const Ints& shape) {
    return value.type().shape == shape ? value
                                       : Make(Op::kHloReshape, shape, {value});
  }
  Value Reduced(const Value& value, const Value& first, int64_t dimension) {
    Node reduce = node_;
    reduce.operands = {value, first};
    reduce.attributes = ir::HloDimensionsAttributes{{dimension}};
    reduce.type.shape = value.type().shape;
    reduce.type.shape.erase(reduce.type.shape.begin() + dimension);
    return nodes_.Add(std::move(reduce));
  }

  const Node& node_;
  RegionNodes nodes_;
};

bool IsLongLine(const Node& node, const Preset& preset) {
  if (!IsReduction(node)) return false;
  const ir::TreeShape tree = TreeOf(node);
  return tree.inner == 1 && tree.adjacent &&
         tree.count * ir::ElementBytes(node.type.element) >
             static_cast<int64_t>(preset.ub_bytes) / kBands;
}

bool HasDivided(const ir::Module& module) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(), [](const auto& node) {
        return IsDivided(*node) ||
               std::any_of(node->regions.begin(), node->regions.end(),
                           [](const auto& r) { return HasDivided(*r); });
      });
}

}  // namespace

void DivideReductions(ir::Module& module) {
  if (!HasDivided(module)) return;
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes()) nodes.push_back(node.get());
  for (Node* node : nodes) {
    for (std::shared_ptr<const ir::Module>& region : node->regions) {
      if (!HasDivided(*region)) continue;
      std::shared_ptr<ir::Module> copy = region->Clone();
      DivideReductions(*copy);
      region = std::move(copy);
    }
    if (IsDivided(*node))
      module.ReplaceUses(node, Division(module, *node).Make());
  }
  module.RemoveUnused();
}

void CutLongLines(ir::Module& module, const Preset& preset) {
  std::vector<Node*> nodes;
  for (const auto& node : module.nodes()) {
    if (IsLongLine(*node, preset)) nodes.push_back(node.get());
  }
  for (Node* node : nodes) {
    const std::optional<Value> value = Division(module, *node).Cut(preset);
    if (value) module.ReplaceUses(node, *value);
  }
  if (!nodes.empty()) module.RemoveUnused();
}

}  // namespace systole::lanes
