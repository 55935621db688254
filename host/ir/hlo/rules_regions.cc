// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <algorithm>

#include "host/ir/hlo/rules.h"
#include "host/ir/hlo/window.h"

namespace systole::ir {

absl::Status CheckRegion(const Node& node, int region,
                         const std::vector<Type>& parameters,
                         const std::vector<Type>& outputs, int captured) {
  std::vector<Type> expected = parameters;
  for (size_t i = captured; i < node.operands.size(); ++i) {
    expected.push_back(node.operands[i].type());
  }
  const Module& body = *node.regions[region];
  const std::vector<Node*> inputs = body.inputs();
  SYSTOLE_IR_CHECK(inputs.size() == expected.size(), "region ", region, " has ",
                   inputs.size(), " parameters, not ", expected.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    SYSTOLE_IR_CHECK(inputs[i]->type == expected[i], "parameter ", i,
                     " of region ", region, " is ", TypeText(inputs[i]->type),
                     ", not ", TypeText(expected[i]));
  }
  SYSTOLE_IR_CHECK(body.outputs.size() == outputs.size(), "region ", region,
                   " gives ", body.outputs.size(), " values, not ",
                   outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Type& type = body.outputs[i].node.type();
    SYSTOLE_IR_CHECK(type == outputs[i], "output ", i, " of region ", region,
                     " is ", TypeText(type), ", not ", TypeText(outputs[i]));
  }
  return absl::OkStatus();
}

namespace {

const Type kTruth{ElementType::kBool, {}, {}};

std::vector<Type> TypesOf(const Node& node, int first, int count) {
  std::vector<Type> types;
  for (int i = first; i < first + count; ++i) {
    types.push_back(node.operands[i].type());
  }
  return types;
}

std::vector<Type> Scalars(const std::vector<Type>& types) {
  std::vector<Type> scalars;
  for (const Type& type : types) scalars.push_back({type.element, {}, {}});
  return scalars;
}

std::vector<Type> Twice(std::vector<Type> types) {
  const std::vector<Type> once = types;
  types.insert(types.end(), once.begin(), once.end());
  return types;
}

// Checks that there are as many inputs as results, as many scalar initial
// values, and a region that combines two sets of scalars.
absl::Status CheckReduction(const Node& node) {
  const int count = node.results();
  SYSTOLE_IR_CHECK(static_cast<int>(node.operands.size()) >= 2 * count,
                   node.operands.size(), " operands for ", count, " results");
  const std::vector<Type> scalars = Scalars(TypesOf(node, 0, count));
  for (int i = 0; i < count; ++i) {
    const Type& init = node.operands[count + i].type();
    SYSTOLE_IR_CHECK(init == scalars[i], "an initial value is ", TypeText(init),
                     ", not ", TypeText(scalars[i]));
    SYSTOLE_IR_CHECK(
        node.operands[i].type().shape == node.operands[0].type().shape,
        "inputs differ in shape");
  }
  return CheckRegion(node, 0, Twice(scalars), scalars, 2 * count);
}

}  // namespace

Types InferReduce(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckReduction(node));
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  std::vector<Type> types;
  for (int i = 0; i < node.results(); ++i) {
    const Type& from = node.operands[i].type();
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckDimensions(dimensions, from.rank(), "dimensions"));
    Type type{from.element, {}, {}};
    for (int k = 0; k < from.rank(); ++k) {
      if (std::find(dimensions.begin(), dimensions.end(), k) ==
          dimensions.end()) {
        type.shape.push_back(from.shape[k]);
      }
    }
    types.push_back(type);
  }
  return types;
}

namespace {

absl::Status CheckWindows(const HloWindowAttributes& a, const Type& type) {
  for (const Ints* entries : {&a.window, &a.stride, &a.base_dilation,
                              &a.window_dilation, &a.low, &a.high}) {
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckLength(*entries, type.rank(), "the window's lists"));
  }
  for (int i = 0; i < type.rank(); ++i) {
    SYSTOLE_IR_RETURN_IF_ERROR(CheckWindow(WindowOf(a, type.shape, i)));
  }
  return absl::OkStatus();
}

Ints PositionsOf(const HloWindowAttributes& a, const Ints& shape) {
  Ints positions;
  for (size_t i = 0; i < shape.size(); ++i) {
    positions.push_back(WindowOf(a, shape, static_cast<int>(i)).positions());
  }
  return positions;
}

}  // namespace

Types InferReduceWindow(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckReduction(node));
  const auto& a = node.attr<HloWindowAttributes>();
  std::vector<Type> types;
  for (int i = 0; i < node.results(); ++i) {
    const Type& from = node.operands[i].type();
    SYSTOLE_IR_RETURN_IF_ERROR(CheckWindows(a, from));
    types.push_back({from.element, PositionsOf(a, from.shape), {}});
  }
  return types;
}

Types InferSelectAndScatter(const Node& node) {
  const auto& a = node.attr<HloWindowAttributes>();
  const Type& operand = node.operands[0].type();
  const Type& source = node.operands[1].type();
  const Type scalar{operand.element, {}, {}};
  SYSTOLE_IR_RETURN_IF_ERROR(CheckWindows(a, operand));
  for (int i = 0; i < operand.rank(); ++i) {
    SYSTOLE_IR_CHECK(a.base_dilation[i] == 1 && a.window_dilation[i] == 1,
                     "a dilated window");
  }
  SYSTOLE_IR_CHECK(source.element == operand.element &&
                       source.shape == PositionsOf(a, operand.shape),
                   "the source is ", TypeText(source), " for windows of ",
                   TypeText(operand));
  SYSTOLE_IR_CHECK(node.operands[2].type() == scalar, "the initial value is ",
                   TypeText(node.operands[2].type()));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckRegion(node, 0, {scalar, scalar}, {kTruth}, 3));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckRegion(node, 1, {scalar, scalar}, {scalar}, 3));
  return std::vector<Type>{operand};
}

Types InferSort(const Node& node) {
  const int count = node.results();
  SYSTOLE_IR_CHECK(static_cast<int>(node.operands.size()) >= count,
                   node.operands.size(), " operands for ", count, " results");
  const std::vector<Type> types = TypesOf(node, 0, count);
  const int64_t dimension = node.attr<HloSortAttributes>().dimension;
  std::vector<Type> pairs;
  for (const Type& type : types) {
    SYSTOLE_IR_CHECK(type.shape == types[0].shape, "inputs differ in shape");
    SYSTOLE_IR_CHECK(-type.rank() <= dimension && dimension < type.rank(),
                     "dimension ", dimension, " of ", TypeText(type));
    pairs.push_back({type.element, {}, {}});
    pairs.push_back({type.element, {}, {}});
  }
  SYSTOLE_IR_RETURN_IF_ERROR(CheckRegion(node, 0, pairs, {kTruth}, count));
  return types;
}

Types InferMap(const Node& node) {
  // Captured values follow the mapped ones.
  const Type& first = node.operands[0].type();
  const Ints& dimensions = node.attr<HloDimensionsAttributes>().dimensions;
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckLength(dimensions, first.rank(), "dimensions"));
  std::vector<Type> types;
  for (const Value& operand : node.operands) {
    SYSTOLE_IR_CHECK(operand.type().shape == first.shape,
                     "inputs differ in shape");
    types.push_back(operand.type());
  }
  const Type scalar{node.type.element, {}, {}};
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckRegion(node, 0, Scalars(types), {scalar},
                  static_cast<int>(node.operands.size())));
  return std::vector<Type>{{node.type.element, first.shape, {}}};
}

Types InferWhile(const Node& node) {
  const int count = node.results();
  SYSTOLE_IR_CHECK(static_cast<int>(node.operands.size()) >= count,
                   node.operands.size(), " operands for ", count, " results");
  const std::vector<Type> types = TypesOf(node, 0, count);
  SYSTOLE_IR_RETURN_IF_ERROR(CheckRegion(node, 0, types, {kTruth}, count));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckRegion(node, 1, types, types, count));
  return types;
}

namespace {

// Checks that all regions return the node's result types.
Types CheckBranches(const Node& node, const Type& wanted) {
  const Type& index = node.operands[0].type();
  SYSTOLE_IR_CHECK(index == wanted, "the branch is chosen by ", TypeText(index),
                   ", not ", TypeText(wanted));
  std::vector<Type> types;
  for (int i = 0; i < node.results(); ++i) {
    types.push_back(node.result_type(i));
  }
  for (size_t i = 0; i < node.regions.size(); ++i) {
    SYSTOLE_IR_RETURN_IF_ERROR(
        CheckRegion(node, static_cast<int>(i), {}, types, 1));
  }
  return types;
}

}  // namespace

Types InferIf(const Node& node) { return CheckBranches(node, kTruth); }

Types InferCase(const Node& node) {
  return CheckBranches(node, {ElementType::kInt32, {}, {}});
}

}  // namespace systole::ir
