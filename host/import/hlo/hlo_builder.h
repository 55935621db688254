// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds a module of hlo/ value by value, for importers whose operators expand
// to several operations. The rules of the operations (host/ir/hlo/rules.h)
// infer the types. What depends only on constants is computed at once, so
// shapes that a model computes are known.
//
//   BuildState state;
//   HloBuilder b(module, state);
//   b.Begin("scores", "operator 3 FULLY_CONNECTED");
//   Value y = b.Binary(Op::kHloAdd, b.Binary(Op::kHloMultiply, x, w), bias);
//   if (!state.status.ok()) return state.status;
//
// The state keeps the first error. After an error, every function returns a
// placeholder: a value of kMaxRank dimensions of size 1.
#ifndef SYSTOLE_HOST_IMPORT_HLO_HLO_BUILDER_H_
#define SYSTOLE_HOST_IMPORT_HLO_HLO_BUILDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "host/ir/attributes.h"
#include "host/ir/literal.h"
#include "host/ir/module.h"
#include "host/ir/op.h"

namespace systole::import {

using ir::Ints;
using ir::Literal;
using ir::Op;
using ir::Value;
using Values = std::vector<Value>;

// State that the builders of a module and of its regions share.
struct BuildState {
  absl::Status status;
  ir::Precision precision = ir::Precision::kDefault;
  // Whether floats that depend only on constants are computed, too. Otherwise
  // weights stay as they are stored.
  bool folds_floats = true;
  // For the nodes that are added next: the prefix of their names, and their
  // location in the model.
  std::string name, location;
  int64_t nodes = 0;
};

class HloBuilder {
 public:
  // All arguments must outlive the builder. A module has one builder. outer:
  // the builder of the module around a region.
  HloBuilder(ir::Module& module, BuildState& state, HloBuilder* outer = nullptr)
      : module_(module), state_(state), outer_(outer) {}

  bool ok() const { return state_.status.ok(); }
  BuildState& state() { return state_; }
  ir::Module& module() { return module_; }
  const absl::Status& status() const { return state_.status; }
  // Keeps the error if it is the first. Returns the placeholder.
  Value Fail(const absl::Status& status);
  // Begins an operator of the model.
  void Begin(std::string name, std::string location);
  // Gives the result the operator's own name, if one of the operator's nodes
  // computes it.
  void NameResult(const Value& value);

  Value Parameter(const std::string& name, const ir::Type& type,
                  const std::string& input = "");
  // The value in this module. A value of an outer module becomes a parameter.
  Value Here(const Value& value);
  // The values of outer modules that became parameters, in order.
  const Values& captured() const { return captured_; }
  // Adds parameters for values that another region of the node captured.
  void Capture(const Values& values);

  Value Constant(const ir::Type& type, Literal data);
  Value Scalar(ir::ElementType element, double value);
  Value Integers(const Ints& values,
                 ir::ElementType element = ir::ElementType::kInt64);  // [n]
  Value Floats(const std::vector<float>& values);                     // f32 [n]
  // A tensor whose elements are all this number.
  Value Filled(const ir::Type& type, double value);
  Value Like(const Value& x, double value) { return Filled(x.type(), value); }
  // The value, if it depends only on constants and has at most 2^24 elements.
  std::optional<Literal> ConstantOf(const Value& value);

  // Elementwise operations, with broadcasting as in NumPy.
  Value Unary(Op op, const Value& x);
  Value Binary(Op op, const Value& x, const Value& y);
  Value Binary(Op op, const Value& x, double y);
  Value Compare(ir::Direction direction, const Value& x, const Value& y);
  Value Compare(ir::Direction direction, const Value& x, double y);
  Value Select(const Value& condition, const Value& x, const Value& y);
  Value Convert(const Value& x, ir::ElementType element);
  Value Clamp(double low, const Value& x, double high);

  Value BroadcastTo(const Value& x, const Ints& shape);
  Value BroadcastInDim(const Value& x, const Ints& shape, const Ints& dims);
  Value Reshape(const Value& x, const Ints& shape);
  Value Transpose(const Value& x, const Ints& permutation);
  Value Slice(const Value& x, const Ints& start, const Ints& limit,
              const Ints& strides);
  // Elements first .. limit - 1 along one dimension.
  Value SliceIn(const Value& x, int64_t dimension, int64_t first, int64_t limit,
                int64_t stride = 1);
  Value Concatenate(const Values& values, int64_t dimension);
  Value Pad(const Value& x, const Value& with, const Ints& low,
            const Ints& high, const Ints& interior = {});
  Value Reverse(const Value& x, const Ints& dimensions);
  Value Iota(const ir::Type& type, int64_t dimension);

  // Reduces by add, multiply, maximum, minimum, and, or. With `keep`, the
  // reduced dimensions stay, with size 1.
  Value Reduce(Op op, const Value& x, const Ints& dimensions,
               bool keep = false);
  Value ReduceWindow(Op op, const Value& x,
                     const ir::HloWindowAttributes& window);
  Value DotGeneral(const Value& x, const Value& y, ir::HloDotAttributes how);
  Value Convolution(const Value& x, const Value& kernel,
                    ir::HloConvolutionAttributes how);

  // Adds any operation. shaped: the result's type, if it does not follow from
  // the operands (constants, reshape, convert, products).
  Values Add(Op op, const Values& operands, ir::Attributes attributes = {},
             std::optional<ir::Type> shaped = std::nullopt,
             std::vector<std::shared_ptr<const ir::Module>> regions = {});
  Value AddOne(Op op, const Values& operands, ir::Attributes attributes = {},
               std::optional<ir::Type> shaped = std::nullopt,
               std::vector<std::shared_ptr<const ir::Module>> regions = {}) {
    return Add(op, operands, std::move(attributes), std::move(shaped),
               std::move(regions))[0];
  }
  // Builds a region, with parameters of these types or scalar ones.
  std::shared_ptr<const ir::Module> Region(
      const std::vector<ir::Type>& parameters,
      const std::function<Values(HloBuilder&, const Values&)>& body);
  // A loop: calls body(inner, i, states) for i = 0 .. count - 1 (i32) and
  // returns the final states. The body may read values of this module through
  // inner.Here.
  Values Repeat(int64_t count, const Values& states,
                const std::function<Values(HloBuilder&, const Value& i,
                                           const Values&)>& body);
  // A loop that runs while the condition of the states holds. Returns the final
  // states.
  Values While(
      const Values& states,
      const std::function<Value(HloBuilder&, const Values&)>& condition,
      const std::function<Values(HloBuilder&, const Values&)>& body);

 private:
  Value NoResult();
  // The name, with a number appended if the module already has it.
  std::string Unique(const std::string& base);
  std::string NameOf(const std::string& kind);
  // Adds a node and records that it belongs to this module.
  ir::Node* Own(ir::Node node);
  // The values of the operands, if the operation can be computed at once.
  std::optional<std::vector<Literal>> Folded(Op op, const Values& operands,
                                             int64_t elements, bool floats);

  ir::Module& module_;
  BuildState& state_;
  HloBuilder* outer_;
  Values captured_;
  std::unordered_set<const ir::Node*> own_;
  std::unordered_map<std::string, int> names_;  // number of uses of each
  std::unordered_map<const ir::Node*, std::vector<std::pair<int, Value>>> here_;
  std::unordered_map<const ir::Node*, std::vector<Literal>> known_;
  std::unique_ptr<ir::Module> scratch_;
};

// A literal of that type with the values rounded.
Literal LiteralOf(ir::ElementType element, const std::vector<double>& values);
Ints IntegersOf(const Literal& literal);
std::vector<double> NumbersOf(const Literal& literal);

int64_t Product(const Ints& values, size_t first = 0, size_t limit = SIZE_MAX);
Ints Range(int64_t first, int64_t limit);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_HLO_HLO_BUILDER_H_
