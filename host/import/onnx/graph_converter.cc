// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/graph_converter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/files/printable.h"
#include "host/import/onnx/onnx_importer.h"
#include "host/import/onnx/operators.h"

namespace systole::import {
namespace {

using Kind = OnnxAttribute::Kind;
using onnx::AttributeProto;
using onnx::NodeProto;

constexpr int kMaxDepth = 64;

// "Conv '/features/0'", or the first output of a node without a name.
std::string NodeText(const NodeProto& node) {
  std::string name = node.name();
  for (int i = 0; name.empty() && i < node.output_size(); ++i)
    name = node.output(i);
  const std::string domain = DomainOf(node.domain());
  return absl::StrCat(domain.empty() ? "" : Printable(domain) + ".",
                      Printable(node.op_type()), " '", Printable(name), "'");
}

absl::Status Reported() { return absl::CancelledError("reported"); }

}  // namespace

std::string DomainOf(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Opsets OpsetsOf(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& list) {
  Opsets opsets;
  for (const auto& opset : list)
    opsets[DomainOf(opset.domain())] = opset.version();
  return opsets;
}

// Equal operators with the same reason are one obstacle, with a count.
void GraphConverter::Obstacle(const NodeProto& node, const absl::Status& why) {
  if (absl::IsCancelled(why)) return;
  if (!absl::IsUnimplemented(why)) ++context_.wrong;
  const std::string key =
      absl::StrCat(node.domain(), ".", node.op_type(), ": ", why.message());
  if (context_.more[key]++ == 0) {
    context_.obstacles.push_back(
        absl::StrCat(NodeText(node), ": ", why.message()));
  }
}

void GraphConverter::Define(const std::string& name, const Value& value) {
  slots_[name] = {value};
}

absl::Status GraphConverter::AddInitializers(const onnx::GraphProto& graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    Slot slot;
    slot.initializer = &tensor;
    if (!slots_.emplace(tensor.name(), slot).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two initializers '", Printable(tensor.name()), "'"));
    }
  }
  if (graph.sparse_initializer_size() > 0) {
    context_.obstacles.push_back(absl::StrCat(
        "initializer '", Printable(graph.sparse_initializer(0).values().name()),
        "': a sparse tensor"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> GraphConverter::Find(const std::string& name) {
  const auto found = slots_.find(name);
  if (found == slots_.end()) {
    if (later_.count(name) > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("reads '", Printable(name),
                       "', which it or a later node makes: the nodes are in no "
                       "order, or in a circle"));
    }
    if (outer_ == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("reads '", Printable(name),
                       "', which is no input, initializer or output of a node "
                       "before it"));
    }
    auto outside = outer_->Find(name);
    if (!outside.ok()) return outside;
    const Value here = b_.Here(*outside);
    slots_[name] = {here};
    return here;
  }
  Slot& slot = found->second;
  if (slot.initializer != nullptr) {
    auto tensor = context_.tensors.Read(*slot.initializer);
    slot.initializer = nullptr;
    if (!tensor.ok()) {
      if (!absl::IsUnimplemented(tensor.status())) ++context_.wrong;
      context_.obstacles.push_back(absl::StrCat(
          "initializer '", Printable(name), "': ", tensor.status().message()));
      return Reported();
    }
    slot.value = b_.Constant(tensor->type, tensor->data);
  }
  if (!slot.value) return Reported();
  return *slot.value;
}

absl::StatusOr<OnnxAttribute> GraphConverter::Attribute(
    const AttributeProto& from) {
  OnnxAttribute to;
  auto type = from.type();
  if (type == AttributeProto::UNDEFINED) {  // files of the first versions
    type = from.has_i()              ? AttributeProto::INT
           : from.has_f()            ? AttributeProto::FLOAT
           : from.has_s()            ? AttributeProto::STRING
           : from.has_t()            ? AttributeProto::TENSOR
           : from.has_g()            ? AttributeProto::GRAPH
           : from.floats_size() > 0  ? AttributeProto::FLOATS
           : from.strings_size() > 0 ? AttributeProto::STRINGS
                                     : AttributeProto::INTS;
  }
  switch (type) {
    case AttributeProto::INT:
      to.kind = Kind::kInteger;
      to.integer = from.i();
      break;
    case AttributeProto::FLOAT:
      to.kind = Kind::kNumber;
      to.number = from.f();
      break;
    case AttributeProto::STRING:
      to.kind = Kind::kText;
      to.text = from.s();
      break;
    case AttributeProto::INTS:
      to.kind = Kind::kIntegers;
      to.integers.assign(from.ints().begin(), from.ints().end());
      break;
    case AttributeProto::FLOATS:
      to.kind = Kind::kNumbers;
      to.numbers.assign(from.floats().begin(), from.floats().end());
      break;
    case AttributeProto::STRINGS:
      to.kind = Kind::kTexts;
      to.texts.assign(from.strings().begin(), from.strings().end());
      break;
    case AttributeProto::TENSOR: {
      auto tensor = context_.tensors.Read(from.t());
      if (!tensor.ok()) return tensor.status();
      to.kind = Kind::kTensor;
      to.tensor = *std::move(tensor);
      break;
    }
    case AttributeProto::GRAPH:
      to.kind = Kind::kGraph;
      to.graph = &from.g();
      break;
    default:
      break;
  }
  return to;
}

absl::StatusOr<std::map<std::string, OnnxAttribute>>
GraphConverter::AttributesOf(const NodeProto& node) {
  std::map<std::string, OnnxAttribute> attributes;
  for (const AttributeProto& from : node.attribute()) {
    if (!from.ref_attr_name().empty()) {
      const auto found = arguments_.find(from.ref_attr_name());
      if (found != arguments_.end()) attributes[from.name()] = found->second;
      continue;
    }
    auto attribute = Attribute(from);
    if (!attribute.ok()) {
      return absl::Status(attribute.status().code(),
                          absl::StrCat("attribute '", Printable(from.name()),
                                       "': ", attribute.status().message()));
    }
    attributes[from.name()] = *std::move(attribute);
  }
  return attributes;
}

absl::StatusOr<Values> GraphConverter::ConvertFunction(
    const onnx::FunctionProto& function, const OnnxNode& node) {
  if (context_.depth >= kMaxDepth) {
    return absl::UnimplementedError(
        "functions that call themselves, or are nested too deep");
  }
  std::map<std::string, OnnxAttribute> arguments;
  for (const AttributeProto& from : function.attribute_proto()) {
    auto attribute = Attribute(from);
    if (!attribute.ok()) return attribute.status();
    arguments[from.name()] = *std::move(attribute);
  }
  for (const auto& [name, value] : node.attributes) arguments[name] = value;
  const Opsets opsets = OpsetsOf(function.opset_import());
  GraphConverter body(context_, b_, opsets);
  body.SetArguments(std::move(arguments));
  for (int i = 0; i < function.input_size(); ++i) {
    if (node.Has(i)) {
      body.Define(function.input(i), *node.inputs[i]);
    } else {
      body.slots_[function.input(i)] = {};
      body.left_out_.insert(function.input(i));
    }
  }
  ++context_.depth;
  const absl::Status status = body.Convert(function.node());
  --context_.depth;
  if (!status.ok()) return status;
  Values results;
  for (int i = 0; i < function.output_size(); ++i) {
    if (!node.Wants(i)) {
      results.push_back(Value());
      continue;
    }
    const auto result = body.Find(function.output(i));
    if (!result.ok()) return result.status();
    results.push_back(*result);
  }
  return results;
}

Values GraphConverter::ConvertSubgraph(const onnx::GraphProto& graph,
                                       HloBuilder& b, const Values& inputs) {
  const auto failed = [&](const absl::Status& why) {
    return Values(std::max(graph.output_size(), 1), b.Fail(why));
  };
  if (context_.depth >= kMaxDepth)
    return failed(absl::UnimplementedError("graphs are nested too deep"));
  if (graph.input_size() != static_cast<int>(inputs.size())) {
    return failed(absl::InvalidArgumentError(absl::StrCat(
        "a graph of ", graph.input_size(), " inputs gets ", inputs.size())));
  }
  GraphConverter body(context_, b, opsets_, this);
  body.SetArguments(arguments_);
  absl::Status status = body.AddInitializers(graph);
  for (int i = 0; i < graph.input_size(); ++i)
    body.Define(graph.input(i).name(), inputs[i]);
  ++context_.depth;
  if (status.ok()) status = body.Convert(graph.node());
  --context_.depth;
  if (!status.ok()) return failed(status);
  Values results;
  for (const auto& output : graph.output()) {
    const auto result = body.Find(output.name());
    if (!result.ok()) return failed(result.status());
    results.push_back(*result);
  }
  return results;
}

absl::Status GraphConverter::ConvertNode(const NodeProto& node) {
  const std::string domain = DomainOf(node.domain());
  OnnxNode n(b_);
  n.op = node.op_type();
  for (const std::string& name : node.output())
    n.wanted.push_back(!name.empty());
  const auto function = context_.functions.find({domain, node.op_type()});
  const OnnxOperator* op = nullptr;
  if (function == context_.functions.end()) {
    if (domain.empty()) op = FindOnnxOperator(node.op_type());
    if (op == nullptr) return absl::UnimplementedError("not supported");
    const auto opset = opsets_.find("");
    if (opset == opsets_.end() || opset->second < kOldestOpset ||
        opset->second > kNewestOpset) {
      return absl::UnimplementedError("a function without a known opset");
    }
    n.opset = opset->second;
  }
  bool reported = false;
  for (const std::string& name : node.input()) {
    n.inputs.emplace_back();
    if (name.empty() || left_out_.count(name) > 0) continue;
    const auto value = Find(name);
    reported |= absl::IsCancelled(value.status());
    if (!value.ok() && !absl::IsCancelled(value.status()))
      return value.status();
    if (value.ok()) n.inputs.back() = *value;
  }
  if (reported) return Reported();
  auto attributes = AttributesOf(node);
  if (!attributes.ok()) return attributes.status();
  n.attributes = *std::move(attributes);
  const std::string name =
      node.output_size() > 0 ? Printable(node.output(0)) : std::string();
  b_.Begin(name, NodeText(node));
  Values results;
  if (op == nullptr) {
    auto called = ConvertFunction(*function->second, n);
    if (!called.ok()) return called.status();
    results = *std::move(called);
  } else {
    const auto count = static_cast<int>(n.inputs.size());
    if (count < op->least_inputs || count > op->most_inputs) {
      return absl::InvalidArgumentError(
          absl::StrCat(count, " inputs: ", op->least_inputs, " to ",
                       op->most_inputs, " are allowed"));
    }
    n.subgraph = [this, &name, &node](const void* graph, HloBuilder& b,
                                      const Values& inputs) {
      Values outputs = ConvertSubgraph(
          *static_cast<const onnx::GraphProto*>(graph), b, inputs);
      b.state().name = name;
      b.state().location = NodeText(node);
      return outputs;
    };
    n.counts = [](const void* graph) {
      const auto& g = *static_cast<const onnx::GraphProto*>(graph);
      return std::pair<int, int>(g.input_size(), g.output_size());
    };
    results = op->convert(n);
    if (b_.ok()) n.CheckAllRead();
  }
  if (!b_.ok()) return b_.status();
  if (!results.empty() && results[0].node != nullptr) b_.NameResult(results[0]);
  for (int i = 0; i < node.output_size(); ++i) {
    if (!n.Wants(i)) continue;
    if (i >= static_cast<int>(results.size()) || results[i].node == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("output ", i, " ('", Printable(node.output(i)), "')"));
    }
    slots_[node.output(i)] = {results[i]};
  }
  return absl::OkStatus();
}

absl::Status GraphConverter::Convert(
    const google::protobuf::RepeatedPtrField<NodeProto>& nodes) {
  for (const NodeProto& node : nodes) {
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      if (slots_.count(name) > 0 || !later_.insert(name).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(NodeText(node), " makes '", Printable(name),
                         "', which there is already"));
      }
    }
  }
  for (const NodeProto& node : nodes) {
    const absl::Status status = ConvertNode(node);
    b_.state().status = absl::OkStatus();
    if (absl::IsResourceExhausted(status)) return status;
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      later_.erase(name);
      if (!status.ok()) slots_[name] = {};
    }
    if (!status.ok()) Obstacle(node, status);
  }
  return absl::OkStatus();
}

}  // namespace systole::import
