// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Adds operations of hlo/ to a module. Types follow from the operands, shapes
// broadcast as NumPy's do. Integers and truth values that depend only on
// constants are computed at once, so that shapes are known.
//
//   HloNodes nodes(module);
//   nodes.Begin("conv", "operator 3 CONV_2D");
//   ir::Value y = nodes.Binary(ir::Op::kHloAdd, x, bias);
//   if (!nodes.status().ok()) ...
#ifndef SYSTOLE_HOST_IMPORT_FLOAT_HLO_NODES_H_
#define SYSTOLE_HOST_IMPORT_FLOAT_HLO_NODES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "host/ir/module.h"

namespace systole::import {

using ir::ElementType;
using ir::Ints;
using ir::Op;
using ir::Value;

constexpr ElementType kF32 = ElementType::kFloat32;
constexpr ElementType kI32 = ElementType::kInt32;
constexpr ElementType kI1 = ElementType::kBool;

// The product of the sizes, at most ir::kMaxElements + 1.
int64_t SizeOf(const Ints& shape);

class HloNodes {
 public:
  explicit HloNodes(ir::Module& module) : module_(module) {}

  ir::Module& module() { return module_; }

  // The next nodes have names that begin with `name`, and this location.
  void Begin(std::string name, std::string location);
  // The first error since Begin. After an error every method returns a scalar,
  // and adds nothing.
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  void Fail(const absl::Status& status) {
    if (ok()) status_ = status;
  }

  // A node with one result; `hint` is its type if the operation does not infer
  // it.
  Value Make(Op op, std::vector<Value> operands,
             ir::Attributes attributes = ir::NoAttributes{},
             const ir::Type* hint = nullptr);
  // A node whose types and regions are set.
  Value Add(ir::Node node);
  // Gives a node of this operator the operator's own name.
  void Rename(Value value);

  Value Constant(ir::Type type, ir::Literal values);
  // One number in every element.
  Value Number(ElementType element, double number, const Ints& shape = {});
  Value Like(Value value, double number) {
    return Number(value.type().element, number, value.type().shape);
  }
  // A vector.
  Value Floats(const std::vector<float>& values);
  Value Integers(const Ints& values, ElementType element = kI32);
  Value Iota(const Ints& shape, int64_t dimension, ElementType element);

  Value Convert(Value value, ElementType element);
  Value Unary(Op op, Value value) { return Make(op, {value}); }
  Value Binary(Op op, Value a, Value b);
  // With a number on the right.
  Value With(Op op, Value a, double number) {
    return Make(op, {a, Like(a, number)});
  }
  Value Compare(ir::Direction direction, Value a, Value b);
  Value Select(Value condition, Value yes, Value no);

  Value Reshape(Value value, const Ints& shape);
  Value BroadcastTo(Value value, const Ints& shape);
  // Dimension i of the value is dimension dimensions[i] of the shape.
  Value BroadcastIn(Value value, const Ints& shape, const Ints& dimensions);
  Value Transpose(Value value, const Ints& permutation);
  Value Slice(Value value, const Ints& start, const Ints& limit,
              const Ints& strides);
  // From `begin` to `end` along one dimension.
  Value Part(Value value, int64_t dimension, int64_t begin, int64_t end,
             int64_t stride = 1);
  Value Pad(Value value, Value filling, const Ints& low, const Ints& high);
  Value Join(const std::vector<Value>& values, int64_t dimension);
  Value Reverse(Value value, const Ints& dimensions);
  // The slices of these indices along a dimension.
  Value Take(Value value, int64_t dimension, const Ints& indices);

  // By one operation (add, multiply, maximum, minimum, and, or).
  Value Reduce(Op op, Value value, const Ints& dimensions);
  Value ReduceWindow(Op op, Value value,
                     const ir::HloWindowAttributes& windows);

 private:
  Value Fallback();
  std::string TakeName(const std::string& base);
  Value InitialOf(Op op, ElementType element);
  Value Folded(ir::Node* node);

  ir::Module& module_;
  std::string name_, location_;
  absl::Status status_;
  Value fallback_;
  std::unordered_map<std::string, int> names_;
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_FLOAT_HLO_NODES_H_
