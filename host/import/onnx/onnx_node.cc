// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/onnx_node.h"

#include <algorithm>

#include "host/files/printable.h"

namespace systole::import {

using Kind = OnnxAttribute::Kind;

Value OnnxNode::In(size_t i) {
  if (Has(i)) return *inputs[i];
  return Wrong("input ", i, " is left out");
}

Values OnnxNode::All() {
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(In(i));
  return values;
}

Ints OnnxNode::Integers(size_t i, const char* what) {
  const Value value = In(i);
  if (!b.ok()) return {};
  if (!ir::IsInteger(value.type().element)) {
    Wrong(what, " is ", ir::TypeText(value.type()));
    return {};
  }
  if (const auto known = b.ConstantOf(value)) return IntegersOf(*known);
  Refuse(what, " depends on the model's inputs");
  return {};
}

std::vector<double> OnnxNode::Numbers(size_t i, const char* what) {
  const Value value = In(i);
  if (!b.ok()) return {};
  if (const auto known = b.ConstantOf(value)) return NumbersOf(*known);
  Refuse(what, " depends on the model's inputs");
  return {};
}

const OnnxAttribute* OnnxNode::Find(const std::string& name) {
  read_.insert(name);
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

const OnnxAttribute* OnnxNode::OfKind(const std::string& name, Kind kind,
                                      const char* what) {
  const OnnxAttribute* const found = Find(name);
  if (found == nullptr || found->kind == kind) return found;
  Wrong("attribute '", name, "' is not ", what);
  return nullptr;
}

int64_t OnnxNode::Int(const std::string& name, int64_t otherwise) {
  const auto* found = OfKind(name, Kind::kInteger, "a whole number");
  return found ? found->integer : otherwise;
}

int64_t OnnxNode::Int(const std::string& name) {
  if (!HasAttribute(name)) Wrong("no attribute '", name, "'");
  return Int(name, 0);
}

float OnnxNode::Float(const std::string& name, float otherwise) {
  const auto* found = OfKind(name, Kind::kNumber, "a number");
  return found ? found->number : otherwise;
}

std::string OnnxNode::Text(const std::string& name,
                           const std::string& otherwise) {
  const auto* found = OfKind(name, Kind::kText, "a text");
  return found ? found->text : otherwise;
}

Ints OnnxNode::List(const std::string& name, const Ints& otherwise) {
  const auto* found = OfKind(name, Kind::kIntegers, "a list of whole numbers");
  return found ? found->integers : otherwise;
}

std::vector<float> OnnxNode::Floats(const std::string& name) {
  const auto* found = OfKind(name, Kind::kNumbers, "a list of numbers");
  return found ? found->numbers : std::vector<float>();
}

std::vector<std::string> OnnxNode::Texts(const std::string& name) {
  const auto* found = OfKind(name, Kind::kTexts, "a list of texts");
  return found ? found->texts : std::vector<std::string>();
}

int64_t OnnxNode::Axis(int64_t axis, int64_t rank) {
  if (-rank <= axis && axis < rank) return axis < 0 ? axis + rank : axis;
  Wrong("axis ", axis, " of a tensor of rank ", rank);
  return 0;
}

Ints OnnxNode::Axes(const Ints& axes, int64_t rank) {
  Ints all;
  for (const int64_t axis : axes) {
    all.push_back(Axis(axis, rank));
    if (std::count(all.begin(), all.end(), all.back()) > 1) {
      Wrong("axis ", axis, " twice");
      return {};
    }
  }
  return b.ok() ? all : Ints();
}

bool OnnxNode::CheckRank(size_t i, int64_t least) {
  const Value value = In(i);
  return Check(value.type().rank() >= least, "input ", i, " is ",
               ir::TypeText(value.type()), ", of a rank below ", least);
}

void OnnxNode::CheckAllRead() {
  for (const auto& [name, attribute] : attributes) {
    if (read_.count(name) == 0)
      Refuse("attribute '", Printable(name), "' is not known");
  }
}

}  // namespace systole::import
