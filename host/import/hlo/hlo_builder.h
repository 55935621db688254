// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Builds a module of the operations of hlo/ value by value, for importers whose
// operators are several of these. Types follow from the rules of the operations
// (host/ir/hlo/rules.h). What depends on constants alone is computed at once,
// so that shapes which a model computes are known.
//
//   BuildState state;
//   HloBuilder b(module, state);
//   b.Begin("scores", "operator 3 FULLY_CONNECTED");
//   Value y = b.Binary(Op::kHloAdd, b.Binary(Op::kHloMultiply, x, w), bias);
//   if (!state.status.ok()) return state.status;
//
// The first error is kept in the state. After it every function returns a
// value of kMaxRank dimensions of size 1, which stands for no result.
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

// What the builders of a module and of its regions share.
struct BuildState {
  absl::Status status;
  ir::Precision precision = ir::Precision::kDefault;
  // Whether floats that depend on constants alone are computed, too. Otherwise
  // weights stay as they are stored.
  bool folds_floats = true;
  // Of the nodes that are added: what their names begin with, and where in the
  // model they come from.
  std::string name, location;
  int64_t nodes = 0;
};

class HloBuilder {
 public:
  // All must outlive the builder, the only one of its module. outer: of the
  // module around a region.
  HloBuilder(ir::Module& module, BuildState& state, HloBuilder* outer = nullptr)
      : module_(module), state_(state), outer_(outer) {}

  bool ok() const { return state_.status.ok(); }
  BuildState& state() { return state_; }
  ir::Module& module() { return module_; }
  const absl::Status& status() const { return state_.status; }
  // Keeps the error, if it is the first; the value that stands for no result.
  Value Fail(const absl::Status& status);
  // An operator of the model begins, without an error.
  void Begin(std::string name, std::string location);
  // The operator's result gets the operator's own name, if the operator made
  // it.
  void NameResult(const Value& value);

  Value Parameter(const std::string& name, const ir::Type& type,
                  const std::string& input = "");
  // A value of this module, or of one around it: that becomes a parameter.
  Value Here(const Value& value);
  // Values of outer modules that became parameters, in their order.
  const Values& captured() const { return captured_; }
  // Adds parameters for values that another region of the node captured.
  void Capture(const Values& values);

  Value Constant(const ir::Type& type, Literal data);
  Value Scalar(ir::ElementType element, double value);
  Value Integers(const Ints& values,
                 ir::ElementType element = ir::ElementType::kInt64);  // [n]
  Value Floats(const std::vector<float>& values);                     // f32 [n]
  // One number in every element.
  Value Filled(const ir::Type& type, double value);
  Value Like(const Value& x, double value) { return Filled(x.type(), value); }
  // The value if it depends on constants alone and has at most 2^24 elements.
  std::optional<Literal> ConstantOf(const Value& value);

  // Elementwise, the smaller shape stretched as NumPy does.
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
  // Elements first to limit - 1 of one dimension.
  Value SliceIn(const Value& x, int64_t dimension, int64_t first, int64_t limit,
                int64_t stride = 1);
  Value Concatenate(const Values& values, int64_t dimension);
  Value Pad(const Value& x, const Value& with, const Ints& low,
            const Ints& high, const Ints& interior = {});
  Value Reverse(const Value& x, const Ints& dimensions);
  Value Iota(const ir::Type& type, int64_t dimension);

  // Combines the elements by add, multiply, maximum, minimum, and, or; the
  // dimensions stay with size 1 if `keep`.
  Value Reduce(Op op, const Value& x, const Ints& dimensions,
               bool keep = false);
  Value ReduceWindow(Op op, const Value& x,
                     const ir::HloWindowAttributes& window);
  Value DotGeneral(const Value& x, const Value& y, ir::HloDotAttributes how);
  Value Convolution(const Value& x, const Value& kernel,
                    ir::HloConvolutionAttributes how);

  // Any operation. shaped: the type of a result that does not follow from the
  // operands alone (constants, reshape, convert, products).
  Values Add(Op op, const Values& operands, ir::Attributes attributes = {},
             std::optional<ir::Type> shaped = std::nullopt,
             std::vector<std::shared_ptr<const ir::Module>> regions = {});
  Value AddOne(Op op, const Values& operands, ir::Attributes attributes = {},
               std::optional<ir::Type> shaped = std::nullopt,
               std::vector<std::shared_ptr<const ir::Module>> regions = {}) {
    return Add(op, operands, std::move(attributes), std::move(shaped),
               std::move(regions))[0];
  }
  // A region with scalar parameters, or of these types.
  std::shared_ptr<const ir::Module> Region(
      const std::vector<ir::Type>& parameters,
      const std::function<Values(HloBuilder&, const Values&)>& body);
  // body(inner, i, states) for i = 0 to count - 1 (i32): the states at the end.
  // The body may read values of this module through inner.Here.
  Values Repeat(int64_t count, const Values& states,
                const std::function<Values(HloBuilder&, const Value& i,
                                           const Values&)>& body);
  // While the condition of the states holds: the states at the end.
  Values While(
      const Values& states,
      const std::function<Value(HloBuilder&, const Values&)>& condition,
      const std::function<Values(HloBuilder&, const Values&)>& body);

 private:
  Value NoResult();
  // The name, with a number if the module has it already.
  std::string Unique(const std::string& base);
  std::string NameOf(const std::string& kind);
  // Counted and known as one of this module.
  ir::Node* Own(ir::Node node);
  // The values of the operands, if the operation is to be computed at once.
  std::optional<std::vector<Literal>> Folded(Op op, const Values& operands,
                                             int64_t elements, bool floats);

  ir::Module& module_;
  BuildState& state_;
  HloBuilder* outer_;
  Values captured_;
  std::unordered_set<const ir::Node*> own_;
  std::unordered_map<std::string, int> names_;  // uses of each
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
