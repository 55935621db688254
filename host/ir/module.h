// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A module: a graph of nodes, each with one result or several, in an executable
// order.
//
//   Module module("twice");
//   Node* x = module.Add({"x", Op::kParameter, type, {},
//                         ParameterAttributes{"input"}});
//   Node* y = module.Add({"y", Op::kAdd, type, {x, x}, ClampAttributes{}});
//   module.outputs.push_back({"output", y});
//   absl::Status status = Verify(module);
#ifndef SYSTOLE_HOST_IR_MODULE_H_
#define SYSTOLE_HOST_IR_MODULE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/ir/attributes.h"
#include "host/ir/op.h"
#include "host/ir/type.h"

namespace systole::ir {

struct Node;
class Module;

// One result of a node. For a node with one result, Value and Node* convert
// into each other.
struct Value {
  Node* node = nullptr;
  int index = 0;

  Value() = default;
  Value(Node* n, int i = 0) : node(n), index(i) {}  // NOLINT: converts
  operator Node*() const { return node; }           // NOLINT: converts
  Node* operator->() const { return node; }
  Node& operator*() const { return *node; }
  const Type& type() const;

  friend bool operator==(const Value& a, const Value& b) {
    return a.node == b.node && a.index == b.index;
  }
  friend bool operator!=(const Value& a, const Value& b) { return !(a == b); }
  // Any result of the node.
  friend bool operator==(const Value& a, const Node* b) { return a.node == b; }
  friend bool operator==(const Value& a, Node* b) { return a.node == b; }
  friend bool operator!=(const Value& a, const Node* b) { return a.node != b; }
  friend bool operator!=(const Value& a, Node* b) { return a.node != b; }
};

struct Node {
  std::string name;  // unique in the module
  Op op = Op::kParameter;
  Type type;  // of the first result
  std::vector<Value> operands;
  Attributes attributes;  // of the kind in InfoOf(op)
  // Shared by copies of the node. A region is a module of its own and reads
  // only its parameters. Outside values that it needs are further operands of
  // the node, after those of the operation, and further parameters of each
  // region, in the same order. Inputs and outputs of a region have empty names.
  std::vector<std::shared_ptr<const Module>> regions = {};
  std::vector<Type> more_types = {};  // of the second result and so on
  std::string location =
      {};  // in the source, for messages; not part of the text

  int results() const { return 1 + static_cast<int>(more_types.size()); }
  const Type& result_type(int i) const {
    return i == 0 ? type : more_types[i - 1];
  }
  template <typename T>
  const T& attr() const {
    return attributes.Get<T>();
  }
  template <typename T>
  T& attr() {
    return attributes.Get<T>();
  }
  bool is_constant() const { return op == Op::kConstant; }
  // For a constant: its values.
  const Literal& literal() const { return *attr<ConstantAttributes>().data; }
  const Quantization& quantization() const { return *type.quantization; }
};

inline const Type& Value::type() const { return node->result_type(index); }

struct Output {
  std::string name;  // name for callers
  Value node;
  std::string stored = {};  // type for callers (ParameterAttributes)
};

class Module {
 public:
  explicit Module(std::string name = "") : name(std::move(name)) {}

  std::string name;
  std::vector<Output> outputs;

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  // Parameters, in order.
  std::vector<Node*> inputs() const;
  // The node of that name or null.
  Node* Find(std::string_view name) const;
  // The nodes that read a result of the node. An output of the module is no
  // user.
  std::vector<Node*> Users(const Node* node) const;
  bool IsOutput(const Node* node) const;
  // `base`, with a number appended if that name is in use.
  std::string UniqueName(std::string_view base) const;

  // Appends a node; the pointer stays valid until the node is removed.
  Node* Add(Node node);
  // Inserts a node before another.
  Node* InsertBefore(const Node* position, Node node);
  // Of a region, which has one at least: one more parameter behind the others.
  Node* AddParameter(std::string_view base, const Type& type);
  // Moves a node before one that precedes it.
  void MoveBefore(const Node* position, const Node* node);
  // Keeps these nodes, in this order, and removes the others, which must be
  // unused.
  void Reorder(const std::vector<Node*>& order);
  // Replaces `from` by `to` in every operand and output.
  void ReplaceUses(Value from, Value to);
  // Removes unused nodes, except parameters and calls with side effects
  // (calls.h). Returns their number.
  int RemoveUnused();

  std::unique_ptr<Module> Clone() const;

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

// Same names, same order of nodes, constants with the same bits.
bool Equal(const Module& a, const Module& b);

// The parts of a constant node.
Node MakeConstant(std::string name, Type type, Literal data);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_MODULE_H_
