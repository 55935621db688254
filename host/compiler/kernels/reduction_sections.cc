// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/reduction_sections.h"

#include <algorithm>
#include <array>
#include <iterator>
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

bool HasSections(const Node& node) {
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

// The operand of a reduction as [kept][first][between][second] elements, of
// which `first` and `second` are reduced, as groups of neighbouring features
// are over an image.
struct Interleaved {
  int64_t kept = 1, first = 1, between = 1, second = 1;
};

std::optional<Interleaved> InterleavedOf(const Node& node) {
  const Ints& shape = node.operands[0].type().shape;
  const Ints& dimensions = node.attr<ir::HloDimensionsAttributes>().dimensions;
  Interleaved sizes;
  int64_t* const places[] = {&sizes.kept, &sizes.first, &sizes.between,
                             &sizes.second};
  size_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const bool reduced = std::count(dimensions.begin(), dimensions.end(),
                                    static_cast<int64_t>(d)) > 0;
    if (reduced != (place % 2 == 1)) ++place;
    if (place == std::size(places)) return std::nullopt;
    *places[place] *= shape[d];
  }
  if (sizes.first == 1 || sizes.between == 1 || sizes.second == 1)
    return std::nullopt;
  return sizes;
}

bool IsDivided(const Node& node) {
  return IsReduction(node) && (HasSections(node) || InterleavedOf(node));
}

class Division {
 public:
  Division(ir::Module& module, const Node& node)
      : node_(node), nodes_(module, &node, node.name + ".sections") {}

  // Nothing if the reduction stays one.
  std::optional<Value> Make() {
    if (const auto sizes = InterleavedOf(node_)) {
      if (const std::optional<Value> value = InPlace(*sizes)) return value;
    }
    if (!HasSections(node_)) return std::nullopt;
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
  // Each section where its elements are. Nothing if that would not be pairs of
  // the tree: elements of the second dimension are combined before those of the
  // first where a section lies in it, and behind them where it has all of the
  // second, which then has to be a power of two.
  std::optional<Value> InPlace(Interleaved sizes) {
    auto& [kept, first, between, second] = sizes;
    Value value = node_.operands[0];
    const Value identity = Identity(nodes_, node_);
    const bool power = (second & (second - 1)) == 0;
    while (const int64_t section = ir::SectionOf(first * second, between)) {
      if (second % section == 0) {
        second /= section;
        value = Reshaped(value, {kept * first * between * second, section});
        value = Reduced(value, identity, 1);
      } else if (power && section % second == 0 &&
                 first * second % section == 0) {
        const int64_t rows = section / second;
        first /= rows;
        value = Reshaped(value, {kept * first, rows, between * second});
        value = Reduced(value, identity, 1);
        value = Reshaped(value, {kept * first * between, second});
        value = Reduced(value, identity, 1);
        second = 1;
      } else {
        return std::nullopt;
      }
    }
    if (second > 1 && first > 1 && (second & (second - 1)) != 0)
      return std::nullopt;
    if (first > 1) {
      value = Reshaped(value, {kept, first, between * second});
      value = Reduced(value, second > 1 ? identity : node_.operands[1], 1);
    }
    if (second > 1 || first == 1) {
      value = Reshaped(value, {kept * between, second});
      value = Reduced(value, node_.operands[1], 1);
    }
    return Reshaped(value, node_.type.shape);
  }
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
    if (!IsDivided(*node)) continue;
    const std::optional<Value> value = Division(module, *node).Make();
    if (value) module.ReplaceUses(node, *value);
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
