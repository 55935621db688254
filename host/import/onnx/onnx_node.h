// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One node of an ONNX graph during conversion: its inputs as values of the
// module, its attributes, and the errors that refuse it.
//
//   Values Convert(OnnxNode& n) {
//     const int64_t axis = n.Axis(n.Int("axis", 0), n.In(0).type().rank());
//     ...
//     return {n.b.Concatenate(n.Inputs(), axis)};
//   }
#ifndef SYSTOLE_HOST_IMPORT_ONNX_ONNX_NODE_H_
#define SYSTOLE_HOST_IMPORT_ONNX_ONNX_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "host/import/hlo/hlo_builder.h"

namespace systole::import {

struct OnnxTensor {
  ir::Type type;
  Literal data;
};

struct OnnxAttribute {
  enum class Kind {
    kInteger,
    kNumber,
    kText,
    kIntegers,
    kNumbers,
    kTexts,
    kTensor,
    kGraph,
    kOther,
  };
  Kind kind = Kind::kOther;
  int64_t integer = 0;
  float number = 0;
  std::string text;
  Ints integers;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  OnnxTensor tensor;
  const void* graph = nullptr;  // an onnx::GraphProto
};

class OnnxNode {
 public:
  // Converts a subgraph with these input values and returns its outputs. The
  // builder may be that of a region.
  using Subgraph = std::function<Values(const void* graph, HloBuilder& b,
                                        const Values& inputs)>;

  explicit OnnxNode(HloBuilder& builder) : b(builder) {}

  HloBuilder& b;
  int64_t opset = 0;
  std::string op;
  std::vector<std::optional<Value>> inputs = {};
  std::vector<bool> wanted = {};  // whether each output has a name
  std::map<std::string, OnnxAttribute> attributes = {};
  Subgraph subgraph = {};
  // The numbers of inputs and outputs of a subgraph.
  std::function<std::pair<int, int>(const void* graph)> counts = {};

  bool Has(size_t i) const { return i < inputs.size() && inputs[i]; }
  bool Wants(size_t i) const { return i < wanted.size() && wanted[i]; }
  // The input; an error if it is omitted.
  Value In(size_t i);
  // All inputs; an error if one is omitted.
  Values All();
  int64_t Rank(size_t i) { return In(i).type().rank(); }
  Ints Shape(size_t i) { return In(i).type().shape; }
  ir::ElementType Element(size_t i) { return In(i).type().element; }

  // The values of an input that must be known at import. Refuses an input that
  // depends on the model's inputs.
  Ints Integers(size_t i, const char* what);
  std::vector<double> Numbers(size_t i, const char* what);

  bool HasAttribute(const std::string& name) const {
    return attributes.count(name) > 0;
  }
  int64_t Int(const std::string& name, int64_t otherwise);
  int64_t Int(const std::string& name);  // required
  float Float(const std::string& name, float otherwise);
  std::string Text(const std::string& name, const std::string& otherwise);
  Ints List(const std::string& name, const Ints& otherwise = {});
  std::vector<float> Floats(const std::string& name);
  std::vector<std::string> Texts(const std::string& name);
  const OnnxAttribute* Find(const std::string& name);
  // Accepts an attribute that does not affect the results here.
  void Ignore(const std::string& name) { read_.insert(name); }

  // Maps -rank .. rank - 1 to 0 .. rank - 1.
  int64_t Axis(int64_t axis, int64_t rank);
  Ints Axes(const Ints& axes, int64_t rank);

  // Unimplemented: valid ONNX that this importer does not support.
  template <typename... Parts>
  Value Refuse(const Parts&... parts) {
    return b.Fail(absl::UnimplementedError(absl::StrCat(parts...)));
  }
  // InvalidArgument: invalid ONNX.
  template <typename... Parts>
  Value Wrong(const Parts&... parts) {
    return b.Fail(absl::InvalidArgumentError(absl::StrCat(parts...)));
  }
  // Returns the condition. If it does not hold, the node is invalid.
  template <typename... Parts>
  bool Check(bool condition, const Parts&... parts) {
    if (!condition) Wrong(parts...);
    return condition && b.ok();
  }
  bool CheckRank(size_t i, int64_t least);

  // Refuses the node if the conversion has not read one of its attributes.
  void CheckAllRead();

 private:
  const OnnxAttribute* OfKind(const std::string& name, OnnxAttribute::Kind kind,
                              const char* what);

  std::set<std::string> read_ = {};
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_ONNX_NODE_H_
