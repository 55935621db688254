// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What random modules are made of: values so far, constants, and nodes of
// operations that work on each element, on rows or on matrices.
#ifndef SYSTOLE_TESTS_IR_RANDOM_NODES_H_
#define SYSTOLE_TESTS_IR_RANDOM_NODES_H_

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/ir/random_draw.h"
#include "tests/ir/random_module.h"

namespace systole::ir {

class RandomNodes : protected RandomDraw {
 public:
  RandomNodes(uint64_t seed, const RandomModuleOptions& options)
      : RandomDraw(seed),
        options_(options),
        module_(std::make_unique<Module>(absl::StrCat("random", seed))) {}

 protected:
  std::string Name(const char* base) {
    return absl::StrCat(base, module_->nodes().size());
  }

  void AddInput(const Ints& shape) {
    const std::string name = Name("x");
    values_.push_back(module_->Add({name,
                                    Op::kParameter,
                                    Int8(shape, Affine(Scale())),
                                    {},
                                    ParameterAttributes{name}}));
  }

  // A value, the newest ones more often; sometimes a constant.
  Node* Value() {
    const int64_t newest = static_cast<int64_t>(values_.size()) - 1;
    return values_[std::max(Between(0, newest), Between(0, newest))];
  }

  Node* Constant(const Ints& shape, const Quantization& q) {
    Type type = Int8(shape, q);
    Literal data = Bytes(type.elements());
    return module_->Add(
        MakeConstant(Name("c"), std::move(type), std::move(data)));
  }

  // Adds the node if its result is of a sensible size.
  void Emit(Op op, const Type& type, std::vector<ir::Value> operands,
            Attributes attributes) {
    for (int64_t size : type.shape) {
      if (size < 1) return;
    }
    if (type.elements() > options_.max_elements) return;
    Node* node = module_->Add({Name(OpName(op)), op, type, std::move(operands),
                               std::move(attributes)});
    const absl::Status status = VerifyNode(*node);
    if (!status.ok()) {
      std::fprintf(stderr, "illegal random node: %s\n%s\n",
                   status.ToString().c_str(), Print(*node).c_str());
      std::abort();
    }
    // What is not of i8 stays an output.
    if (type.quantization) values_.push_back(node);
    ++added_;
  }

  // Weights and bias for products with `input`; the scale of the sums.
  // `any_zero`: with one scale and any zero point.
  float Weights(const Node& input, const Ints& shape, int axis, bool bias,
                std::vector<ir::Value>& operands, bool any_zero = false) {
    const bool per_channel = Chance(2) && shape[axis] > 1 && !any_zero;
    Quantization q;
    for (int64_t c = 0; c < (per_channel ? shape[axis] : 1); ++c) {
      q.scales.push_back(Scale(0.01, 0.03));
    }
    if (per_channel) q.axis = axis;
    if (any_zero) q.zero_point = static_cast<int32_t>(Between(-128, 127));
    operands.push_back(Constant(shape, q));
    const float unit = input.quantization().scale();
    if (bias) {
      std::vector<int32_t> values(shape[axis]);
      for (int32_t& v : values) v = static_cast<int32_t>(Between(-9000, 9000));
      Type type{ElementType::kInt32, {shape[axis]}, Quantization{}};
      for (float s : q.scales) type.quantization->scales.push_back(s * unit);
      operands.push_back(module_->Add(
          MakeConstant(Name("b"), type, Literal(std::move(values)))));
    }
    const double depth = double(operands[1]->type.elements()) / shape[axis];
    return static_cast<float>(unit * 0.02 * 75 * 75 * std::sqrt(depth) / 50);
  }

  // Another value that fits, or a constant; of the same scale if `alike`.
  Node* Partner(Node* a, bool alike) {
    Node* b = Value();
    if (Chance(3) || !BroadcastShape(a->type.shape, b->type.shape) ||
        (alike && !(a->type.quantization == b->type.quantization))) {
      const bool row = a->type.rank() > 0;
      b = Constant(row ? Ints{a->type.shape.back()} : Ints{},
                   alike ? a->quantization() : Affine(Scale()));
    }
    return b;
  }

  void Binary(Op op, Node* a) {
    const bool alike = op == Op::kMaximum || op == Op::kMinimum;
    Node* b = Partner(a, alike);
    if (Chance(2) && op != Op::kPrelu) std::swap(a, b);
    const float left = a->quantization().scale();
    const float right = b->quantization().scale();
    Quantization q = Affine((left + right) * 0.6f);
    if (op == Op::kMul) q = Affine(left * right * 80);
    if (op == Op::kPrelu) q = Affine(left * 0.9f);
    if (op == Op::kSquaredDifference) {
      q = Affine(std::max(left, right) * std::max(left, right) * 70);
    }
    if (alike) q = a->quantization();
    Attributes attributes = InfoOf(op).defaults;
    if (attributes.If<ClampAttributes>()) {
      attributes = ClampAttributes{Clamp()};
    }
    Emit(op, Int8(*BroadcastShape(a->type.shape, b->type.shape), q), {a, b},
         attributes);
  }

  // Of two values, then, for `select`, a choice by the result.
  void Compare(Op op, Node* a) {
    const Op chosen = op == Op::kSelect ? Op::kLess : op;
    Node* b = Partner(a, Chance(2));
    for (const Node* operand : {a, b}) {
      if (operand->quantization().scale() > 1) return;
    }
    const Quantization truth{{1.0f}, 0, 0};
    const Ints shape = *BroadcastShape(a->type.shape, b->type.shape);
    const int added = added_;
    Emit(chosen, Int8(shape, truth), {a, b}, NoAttributes{});
    if (op != Op::kSelect || added_ == added) return;
    Node* condition = values_.back();
    Node* other = Partner(a, true);
    const auto all = BroadcastShape(shape, other->type.shape);
    if (!all) return;
    Emit(op, Int8(*all, a->quantization()), {condition, a, other},
         NoAttributes{});
  }

  void Function(Op op, Node* input) {
    if (op == Op::kSqrt || op == Op::kRsqrt) {  // of what is not negative
      const float scale = input->quantization().scale();
      const int added = added_;
      Emit(Op::kQuantize, Int8(input->type.shape, {{scale}, -128, 0}), {input},
           NoAttributes{});
      if (added_ == added) return;
      input = values_.back();
    }
    Quantization q = Affine(input->quantization().scale() * Scale(0.5, 2));
    if (op == Op::kRsqrt || op == Op::kSqrt || op == Op::kLog) {
      q = Affine(Scale());
    }
    if (op == Op::kExp) {
      const Quantization& from = input->quantization();
      const double top = from.scale() * (127 - from.zero_point);
      if (top > 15) return;
      q = Affine(static_cast<float>(std::exp(top) / 200));
    }
    Attributes attributes = InfoOf(op).defaults;
    if (op == Op::kGelu) attributes = GeluAttributes{Chance(2)};
    if (op == Op::kLeakyRelu) attributes = SlopeAttributes{Scale(0.01, 1)};
    Emit(op, Int8(input->type.shape, q), {input}, attributes);
  }

  void Rows(Op op, Node* input) {
    if (input->type.rank() == 0) return;
    Quantization q{{1.0f / 128}, 0, 0};
    if (op == Op::kLogSoftmax) q = {{1.0f / 16}, 127, 0};
    Attributes attributes = InfoOf(op).defaults;
    if (op == Op::kL2Normalize) attributes = RowAttributes{Chance(2)};
    Emit(op, Int8(input->type.shape, q), {input}, attributes);
  }

  void Argument(Op op, Node* input) {
    if (input->type.rank() == 0) return;
    Ints shape = input->type.shape;
    const int64_t axis = Between(0, input->type.rank() - 1);
    shape.erase(shape.begin() + axis);
    Emit(op, {ElementType::kInt32, shape, std::nullopt}, {input},
         AxisAttributes{axis});
  }

  void Matmul(Node* input) {
    if (input->type.rank() < 2) return;
    MatmulAttributes a{Chance(2), Chance(2)};
    Ints shape = input->type.shape;
    const int64_t rows = shape[shape.size() - (a.transpose_left ? 1 : 2)];
    const int64_t depth = shape[shape.size() - (a.transpose_left ? 2 : 1)];
    const int64_t columns = Between(1, 6);
    Ints right = {depth, columns};
    if (a.transpose_right) std::swap(right[0], right[1]);
    if (shape.size() > 2 && Chance(2)) {
      right.insert(right.begin(), shape[shape.size() - 3]);
    }
    Node* b = Constant(right, Affine(Scale(0.01, 0.03)));
    const double spread = input->quantization().scale() *
                          b->quantization().scale() * 75 * 75 / 50;
    shape[shape.size() - 2] = rows;
    shape.back() = columns;
    Emit(Op::kBatchMatmul,
         Int8(shape, Affine(static_cast<float>(spread * std::sqrt(depth)))),
         {input, b}, a);
  }

  void Gather(Node* input) {
    if (input->type.rank() == 0) return;
    const int64_t axis = Between(0, input->type.rank() - 1);
    const int64_t batch = Between(0, axis);
    Ints shape = input->type.shape;
    Type type{ElementType::kInt32, shape, std::nullopt};
    type.shape.resize(batch);
    type.shape.push_back(Between(1, 4));
    std::vector<int32_t> indices(type.elements());
    for (int32_t& i : indices)
      i = static_cast<int32_t>(Between(0, shape[axis] - 1));
    shape[axis] = type.shape.back();
    Node* where = module_->Add(MakeConstant(Name("i"), type, Literal(indices)));
    Emit(Op::kGather, Int8(shape, input->quantization()), {input, where},
         GatherAttributes{axis, batch});
  }

  const RandomModuleOptions& options_;
  std::unique_ptr<Module> module_;
  std::vector<Node*> values_;  // int8, one scale, at least one dimension
  int added_ = 0;
};

}  // namespace systole::ir

#endif  // SYSTOLE_TESTS_IR_RANDOM_NODES_H_
