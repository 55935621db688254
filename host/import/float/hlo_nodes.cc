// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/float/hlo_nodes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/import/tflite_tensors.h"
#include "host/ir/evaluate.h"
#include "host/ir/hlo/ops.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

constexpr int64_t kMostFolded = 4096;

bool IsKnown(Value value) { return value->is_constant(); }

// Parameters and result of a region that combines two numbers.
std::shared_ptr<const ir::Module> Combining(Op op, const ir::Type& scalar) {
  auto region = std::make_shared<ir::Module>();
  ir::Node* const a =
      region->Add({"a", Op::kParameter, scalar, {}, ir::ParameterAttributes{}});
  ir::Node* const b =
      region->Add({"b", Op::kParameter, scalar, {}, ir::ParameterAttributes{}});
  region->outputs.push_back(
      {"", region->Add({"c", op, scalar, {a, b}, ir::NoAttributes{}})});
  return region;
}

}  // namespace

int64_t SizeOf(const Ints& shape) {
  int64_t size = 1;
  for (const int64_t s : shape) {
    if (s <= 0) return 0;
    if (size > ir::kMaxElements / s) return ir::kMaxElements + 1;
    size *= s;
  }
  return size;
}

void HloNodes::Begin(std::string name, std::string location) {
  name_ = std::move(name);
  location_ = std::move(location);
  status_ = absl::OkStatus();
}

std::string HloNodes::TakeName(const std::string& base) {
  std::string name = base;
  while (names_[name]++ > 0) name = absl::StrCat(base, ".", names_[base] - 1);
  return name;
}

Value HloNodes::Fallback() {
  if (fallback_.node == nullptr) {
    fallback_ = module_.Add(ir::MakeConstant(TakeName("none"), {kF32, {}, {}},
                                             ir::Literal::Zeros(kF32, 1)));
  }
  return fallback_;
}

Value HloNodes::Make(Op op, std::vector<Value> operands,
                     ir::Attributes attributes, const ir::Type* hint) {
  if (!ok()) return Fallback();
  ir::Node node;
  node.op = op;
  node.type =
      hint ? *hint
           : ir::Type{operands[0].type().element, operands[0].type().shape, {}};
  node.operands = std::move(operands);
  node.attributes = std::move(attributes);
  const auto types = ir::InferTypes(node);
  if (!types.ok()) {
    Fail(types.status());
    return Fallback();
  }
  node.type = (*types)[0];
  return Add(std::move(node));
}

Value HloNodes::Add(ir::Node node) {
  if (!ok()) return Fallback();
  for (int i = 0; i < node.results(); ++i) {
    if (SizeOf(node.result_type(i).shape) > ir::kMaxElements) {
      Fail(Invalid("a value of ", ir::ShapeText(node.result_type(i).shape)));
      return Fallback();
    }
  }
  const std::string kind =
      ir::SetOf(node.op) == ir::OpSet::kHlo ? ir::OpName(node.op) + 4 : "value";
  node.name = TakeName(absl::StrCat(name_, ".", kind));
  node.location = location_;
  const absl::Status status = ir::VerifyNode(node);
  if (!status.ok()) {
    Fail(status);
    return Fallback();
  }
  return Folded(module_.Add(std::move(node)));
}

Value HloNodes::Folded(ir::Node* node) {
  if (node->results() > 1 || IsKnown(node) || node->op == Op::kParameter ||
      ir::IsFloat(node->type.element) || SizeOf(node->type.shape) > kMostFolded)
    return node;
  std::vector<const ir::Literal*> operands;
  for (const Value& operand : node->operands) {
    if (!IsKnown(operand)) return node;
    operands.push_back(&operand->literal());
  }
  auto result = ir::Evaluate(*node, operands);
  if (!result.ok()) {
    Fail(result.status());
    return Fallback();
  }
  const std::string location = node->location;
  *node = ir::MakeConstant(node->name, node->type, *std::move(result));
  node->location = location;
  return node;
}

void HloNodes::Rename(Value value) {
  // Nodes of other operators keep their names.
  if (ok() && absl::string_view(value->name).substr(0, name_.size()) == name_ &&
      value->location == location_)
    value->name = TakeName(name_);
}

Value HloNodes::Constant(ir::Type type, ir::Literal values) {
  if (!ok()) return Fallback();
  return Add(ir::MakeConstant("", std::move(type), std::move(values)));
}

Value HloNodes::Number(ElementType element, double number, const Ints& shape) {
  if (!ok()) return Fallback();
  ir::Literal one = ir::WithElement(element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      return ir::Literal(std::vector<T>{static_cast<T>(number)});
    } else if constexpr (std::is_same_v<T, ir::Bool>) {
      return ir::Literal(std::vector<T>{ir::Bool(number != 0)});
    } else {
      return ir::Literal(std::vector<T>{T(static_cast<float>(number))});
    }
  });
  return BroadcastIn(Constant({element, {}, {}}, std::move(one)), shape, {});
}

Value HloNodes::Floats(const std::vector<float>& values) {
  return Constant({kF32, {static_cast<int64_t>(values.size())}, {}},
                  ir::Literal(values));
}

Value HloNodes::Integers(const Ints& values, ElementType element) {
  const ir::Type type{element, {static_cast<int64_t>(values.size())}, {}};
  return element == ElementType::kInt64
             ? Constant(type, ir::Literal(values))
             : Constant(type, ir::Literal(std::vector<int32_t>(values.begin(),
                                                               values.end())));
}

Value HloNodes::Iota(const Ints& shape, int64_t dimension,
                     ElementType element) {
  const ir::Type type{element, shape, {}};
  return Make(Op::kHloIota, {}, ir::HloDimensionAttributes{dimension}, &type);
}

Value HloNodes::Convert(Value value, ElementType element) {
  if (!ok() || value.type().element == element) return value;
  const ir::Type type{element, value.type().shape, {}};
  return Make(Op::kHloConvert, {value}, ir::NoAttributes{}, &type);
}

Value HloNodes::Binary(Op op, Value a, Value b) {
  if (!ok()) return Fallback();
  const auto shape = ir::BroadcastShape(a.type().shape, b.type().shape);
  if (!shape) {
    Fail(Invalid(ir::TypeText(a.type()), " and ", ir::TypeText(b.type()),
                 " do not go together"));
    return Fallback();
  }
  a = BroadcastTo(a, *shape);
  b = BroadcastTo(b, *shape);
  return Make(op, {a, b});
}

Value HloNodes::Compare(ir::Direction direction, Value a, Value b) {
  if (!ok()) return Fallback();
  const auto shape = ir::BroadcastShape(a.type().shape, b.type().shape);
  if (!shape) {
    Fail(Invalid(ir::TypeText(a.type()), " and ", ir::TypeText(b.type()),
                 " do not go together"));
    return Fallback();
  }
  a = BroadcastTo(a, *shape);
  b = BroadcastTo(b, *shape);
  return Make(Op::kHloCompare, {a, b}, ir::HloCompareAttributes{direction, {}});
}

Value HloNodes::Select(Value condition, Value yes, Value no) {
  if (!ok()) return Fallback();
  auto shape = ir::BroadcastShape(yes.type().shape, no.type().shape);
  if (shape) shape = ir::BroadcastShape(*shape, condition.type().shape);
  if (!shape) {
    Fail(Invalid("a selection from ", ir::TypeText(yes.type()), " and ",
                 ir::TypeText(no.type()), " by ",
                 ir::TypeText(condition.type())));
    return Fallback();
  }
  condition = BroadcastTo(condition, *shape);
  yes = BroadcastTo(yes, *shape);
  no = BroadcastTo(no, *shape);
  const ir::Type type = yes.type();
  return Make(Op::kHloSelect, {condition, yes, no}, ir::NoAttributes{}, &type);
}

Value HloNodes::Reshape(Value value, const Ints& shape) {
  if (!ok() || value.type().shape == shape) return value;
  if (SizeOf(shape) != SizeOf(value.type().shape)) {
    Fail(Invalid(ir::TypeText(value.type()), " in the shape ",
                 ir::ShapeText(shape)));
    return Fallback();
  }
  const ir::Type type{value.type().element, shape, {}};
  return Make(Op::kHloReshape, {value}, ir::NoAttributes{}, &type);
}

Value HloNodes::BroadcastTo(Value value, const Ints& shape) {
  if (!ok() || value.type().shape == shape) return value;
  const Ints& from = value.type().shape;
  if (from.size() > shape.size()) {
    Fail(Invalid(ir::TypeText(value.type()), " has a higher rank than ",
                 ir::ShapeText(shape)));
    return Fallback();
  }
  // Sizes of 1 that stretch are dropped first: a broadcast only adds.
  const size_t added = shape.size() - from.size();
  Ints kept, dimensions;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1 && shape[added + i] != 1) continue;
    kept.push_back(from[i]);
    dimensions.push_back(static_cast<int64_t>(added + i));
  }
  return BroadcastIn(Reshape(value, kept), shape, dimensions);
}

Value HloNodes::BroadcastIn(Value value, const Ints& shape,
                            const Ints& dimensions) {
  if (!ok() || value.type().shape == shape) return value;
  const ir::Type type{value.type().element, shape, {}};
  return Make(Op::kHloBroadcastInDim, {value},
              ir::HloDimensionsAttributes{dimensions}, &type);
}

Value HloNodes::Transpose(Value value, const Ints& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return value;
  return Make(Op::kHloTranspose, {value}, ir::TransposeAttributes{permutation});
}

Value HloNodes::Slice(Value value, const Ints& start, const Ints& limit,
                      const Ints& strides) {
  if (!ok()) return Fallback();
  if (limit == value.type().shape &&
      std::all_of(start.begin(), start.end(), [](int64_t v) { return !v; }) &&
      std::all_of(strides.begin(), strides.end(),
                  [](int64_t v) { return v == 1; }))
    return value;
  return Make(Op::kHloSlice, {value},
              ir::HloSliceAttributes{start, limit, strides});
}

Value HloNodes::Part(Value value, int64_t dimension, int64_t begin, int64_t end,
                     int64_t stride) {
  if (!ok()) return Fallback();
  Ints start(value.type().rank(), 0), limit = value.type().shape,
                                      strides(value.type().rank(), 1);
  start[dimension] = begin;
  limit[dimension] = end;
  strides[dimension] = stride;
  return Slice(value, start, limit, strides);
}

Value HloNodes::Pad(Value value, Value filling, const Ints& low,
                    const Ints& high) {
  const auto zero = [](int64_t v) { return v == 0; };
  if (std::all_of(low.begin(), low.end(), zero) &&
      std::all_of(high.begin(), high.end(), zero))
    return value;
  return Make(Op::kHloPad, {value, filling},
              ir::HloPadAttributes{low, high, Ints(low.size(), 0)});
}

Value HloNodes::Join(const std::vector<Value>& values, int64_t dimension) {
  if (!ok()) return Fallback();
  if (values.size() == 1) return values[0];
  return Make(Op::kHloConcatenate, values,
              ir::HloDimensionAttributes{dimension});
}

Value HloNodes::Reverse(Value value, const Ints& dimensions) {
  if (!ok() || dimensions.empty()) return value;
  return Make(Op::kHloReverse, {value},
              ir::HloDimensionsAttributes{dimensions});
}

Value HloNodes::Take(Value value, int64_t dimension, const Ints& indices) {
  if (!ok()) return Fallback();
  const auto count = static_cast<int64_t>(indices.size());
  const auto rises = [&](int64_t by) {
    for (int64_t i = 1; i < count; ++i)
      if (indices[i] != indices[i - 1] + by) return false;
    return true;
  };
  if (count > 0 && rises(1))
    return Part(value, dimension, indices[0], indices[0] + count);
  ir::HloGatherAttributes a;
  a.slice_sizes = value.type().shape;
  for (int64_t i = 0; i < value.type().rank(); ++i)
    if (i != dimension) a.offset_dims.push_back(i);
  a.slice_sizes[dimension] = 1;
  a.collapsed_slice_dims = {dimension};
  a.start_index_map = {dimension};
  a.index_vector_dim = 1;
  return Make(Op::kHloGather, {value, Integers(indices)}, a);
}

Value HloNodes::InitialOf(Op op, ElementType element) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == Op::kHloAdd || op == Op::kHloOr) return Number(element, 0);
  if (op == Op::kHloMultiply || op == Op::kHloAnd) return Number(element, 1);
  const bool largest = op == Op::kHloMaximum;
  if (ir::IsFloat(element))
    return Number(element, largest ? -kInfinity : kInfinity);
  return ir::WithElement(element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      return Constant(
          {element, {}, {}},
          ir::Literal(std::vector<T>{largest ? std::numeric_limits<T>::min()
                                             : std::numeric_limits<T>::max()}));
    } else {
      return Number(element, largest ? 0 : 1);
    }
  });
}

Value HloNodes::Reduce(Op op, Value value, const Ints& dimensions) {
  if (!ok() || dimensions.empty()) return value;
  const ElementType element = value.type().element;
  ir::Node node;
  node.op = Op::kHloReduce;
  node.operands = {value, InitialOf(op, element)};
  node.attributes = ir::HloDimensionsAttributes{dimensions};
  node.regions = {Combining(op, {element, {}, {}})};
  node.type.element = element;
  for (int64_t i = 0; i < value.type().rank(); ++i)
    if (std::find(dimensions.begin(), dimensions.end(), i) == dimensions.end())
      node.type.shape.push_back(value.type().shape[i]);
  return Add(std::move(node));
}

Value HloNodes::ReduceWindow(Op op, Value value,
                             const ir::HloWindowAttributes& windows) {
  if (!ok()) return Fallback();
  const ElementType element = value.type().element;
  ir::Node node;
  node.op = Op::kHloReduceWindow;
  node.operands = {value, InitialOf(op, element)};
  node.attributes = windows;
  node.regions = {Combining(op, {element, {}, {}})};
  node.type.element = element;
  const auto types = ir::InferTypes(node);
  if (!types.ok()) {
    Fail(types.status());
    return Fallback();
  }
  node.type = (*types)[0];
  return Add(std::move(node));
}

}  // namespace systole::import
