// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/compiler/kernels/product_nodes.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace systole::lanes {
namespace {

// Runs shorter than this take many passes.
constexpr int64_t kShortRun = 8, kManyPasses = 4;
constexpr int64_t kMovedElements = 4;  // in a cycle

}  // namespace

using ir::Attributes;
using ir::ElementType;
using ir::Ints;
using ir::Node;
using ir::Op;
using ir::Type;
using ir::Value;

int64_t SizeOf(const Ints& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

bool Walkable(const Walk& walk, size_t lines, int64_t columns,
              const Preset& preset) {
  for (const int64_t stride : walk.strides)
    if (stride < 0) return false;
  int64_t run = 1, depth = 1;
  bool dense = true;  // from this dimension on
  for (size_t i = walk.sizes.size(); i-- > lines;) {
    depth *= walk.sizes[i];
    if (walk.sizes[i] == 1) continue;
    dense = dense && walk.strides[i] == run;
    if (dense) run *= walk.sizes[i];
  }
  if (run >= kShortRun) return true;
  const int64_t rows = std::min<int64_t>(preset.rows, preset.segments * run);
  const int64_t passes = (depth + rows - 1) / rows;
  if (passes > kManyPasses) return false;
  const int64_t more = passes - (depth + preset.rows - 1) / preset.rows;
  const int64_t strips = (columns + preset.cols - 1) / preset.cols;
  const int64_t all = SizeOf(walk.sizes);
  return more * strips * (all / depth) <= all / kMovedElements;
}

Walk Ordered(const Ints& shape, const std::vector<Ints>& order) {
  const Ints strides = ir::StridesOf(shape);
  Walk walk;
  for (const Ints& group : order)
    for (const int64_t d : group) walk.Add(shape[d], strides[d]);
  return walk;
}

Value ProductNodes::Make(Op op, Type type, std::vector<Value> operands,
                         Attributes attributes) {
  Node node;
  node.name = module_.UniqueName(node_.name + "." +
                                 std::string(ir::OpName(op)).substr(4));
  node.op = op;
  node.type = std::move(type);
  node.operands = std::move(operands);
  node.attributes = std::move(attributes);
  node.location = node_.location;
  return module_.InsertBefore(&node_, std::move(node));
}

Value ProductNodes::Convert(Value value, ElementType element) {
  if (value.type().element == element) return value;
  return Make(Op::kHloConvert, {element, value.type().shape, {}}, {value});
}

Value ProductNodes::Reshape(Value value, const Ints& shape) {
  if (value.type().shape == shape) return value;
  return Make(Op::kHloReshape, {value.type().element, shape, {}}, {value});
}

Value ProductNodes::Walked(Value value, const Walk& walk) {
  if (walk.Dense() && SizeOf(walk.sizes) == value.type().elements())
    return Reshape(value, walk.sizes);
  return Make(Op::kHloStrided, {value.type().element, walk.sizes, {}}, {value},
              ir::HloStridedAttributes{walk.sizes, walk.strides, walk.offset});
}

Value ProductNodes::Part(Value value, int part) {
  const bool whole = part == 0 && ir::IsFloat(value.type().element);
  value = whole ? value : Convert(value, kF32);
  const Ints shape = value.type().shape;
  for (int i = 0; i < part; ++i) {
    const Value rounded = Convert(Convert(value, kBf16), kF32);
    const Value finite =
        Make(Op::kHloIsFinite, {ElementType::kBool, shape, {}}, {rounded});
    const Value rest =
        Make(Op::kHloSubtract, {kF32, shape, {}}, {value, rounded});
    value = Make(Op::kHloSelect, {kF32, shape, {}},
                 {finite, rest, Number(kF32, 0, shape)});
  }
  return Convert(value, kBf16);
}

Value ProductNodes::Digit(Value value, int digit) {
  ElementType type = value.type().element;
  const bool last = digit + 1 == ir::ElementBytes(type);
  const bool negative = ir::IsSigned(type);
  if (ir::ElementBytes(type) < 4) {
    type = ElementType::kInt32;
    value = Convert(value, type);
  }
  const Ints shape = value.type().shape;
  if (digit > 0) {
    value = Make(
        negative ? Op::kHloShiftRightArithmetic : Op::kHloShiftRightLogical,
        {type, shape, {}}, {value, Number(type, 8 * digit, shape)});
  }
  if (!last)
    value =
        Make(Op::kHloAnd, {type, shape, {}}, {value, Number(type, 255, shape)});
  return Convert(Convert(value, kF32), kBf16);
}

std::vector<Value> ProductNodes::Inlined(const ir::Module& other,
                                         const std::vector<Value>& operands) {
  std::unordered_map<const Node*, Value> made;
  size_t next = 0;
  for (const Node* input : other.inputs()) made[input] = operands[next++];
  const auto of = [&](const Value& value) {
    const Value& found = made.at(value.node);
    return value->op == Op::kParameter ? found : Value(found.node, value.index);
  };
  for (const auto& inside : other.nodes()) {
    if (inside->op == Op::kParameter) continue;
    Node copy = *inside;
    copy.name = module_.UniqueName(node_.name + ".inlined");
    copy.location = node_.location;
    for (Value& operand : copy.operands) operand = of(operand);
    made[inside.get()] = module_.InsertBefore(&node_, std::move(copy));
  }
  std::vector<Value> results;
  for (const ir::Output& output : other.outputs)
    results.push_back(of(output.node));
  return results;
}

Value ProductNodes::Number(ElementType type, int32_t number,
                           const Ints& shape) {
  uint8_t bits[4];
  std::memcpy(bits, &number, sizeof(bits));
  const Value one = module_.InsertBefore(
      &node_,
      ir::MakeConstant(module_.UniqueName(node_.name + ".number"),
                       {type, {}, {}}, ir::Literal::FromBytes(type, 1, bits)));
  if (shape.empty()) return one;
  return Make(Op::kHloBroadcastInDim, {type, shape, {}}, {one},
              ir::HloDimensionsAttributes{});
}

}  // namespace systole::lanes
