// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Nodes are taken in order. What the device can run from its own values and
// those of the head becomes a layer. What it cannot run belongs to the head
// while it needs nothing of the device, otherwise to the tail, as does all
// behind that.
#include "host/lower/lowering.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/lower/layers.h"

namespace systole::lower {
namespace {

using ir::Node;
using ir::Op;

enum class Part { kHead, kDevice, kTail };

absl::Status Prefixed(const Node& node, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("node '", node.name, "' (", OpName(node.op),
                                   "): ", status.message()));
}

std::string UnitOf(Op op) {
  switch (op) {
    case Op::kConv2D:
    case Op::kDepthwiseConv2D:
    case Op::kFullyConnected:
      return "array";
    case Op::kReshape:
      return "nowhere";
    default:
      return "vector unit";
  }
}

class Lowering {
 public:
  explicit Lowering(const ir::Module& module) : module_(module) {}

  absl::StatusOr<Lowered> Run() {
    lowered_.network.name = module_.name;
    lowered_.network.inputs.clear();
    lowered_.network.outputs.clear();
    for (const auto& node : module_.nodes()) {
      if (node->is_constant()) continue;
      if (node->op == Op::kParameter) {
        part_[node.get()] = Part::kHead;
        continue;
      }
      const absl::Status status = Place(*node);
      if (!status.ok()) return status;
    }
    if (lowered_.network.layers.empty()) {
      return absl::UnimplementedError("no operator runs on the device");
    }
    lowered_.tail = MakeTail();
    lowered_.head = MakeHead();
    return std::move(lowered_);
  }

 private:
  bool In(const Node* node, Part part) const {
    const auto found = part_.find(node);
    return found != part_.end() && found->second == part;
  }

  absl::Status Place(const Node& node) {
    const bool on_device = In(node.operands[0], Part::kDevice);
    if (node.op == Op::kReshape &&
        (on_device || In(node.operands[0], Part::kHead))) {
      part_[&node] = on_device ? Part::kDevice : Part::kHead;
      if (on_device) {
        tensors_[&node] = tensors_.at(node.operands[0]);
      }
      Report(node, UnitOf(node.op), "the bytes stay as they lie");
      return absl::OkStatus();
    }
    const absl::Status status = AddLayer(node);
    if (status.ok()) {
      part_[&node] = Part::kDevice;
      Report(node, UnitOf(node.op), "");
      return absl::OkStatus();
    }
    if (status.code() != absl::StatusCode::kUnimplemented ||
        !ir::HostComputes(node.op)) {
      return Prefixed(node, status);
    }
    const bool behind = std::any_of(
        node.operands.begin(), node.operands.end(), [&](const Node* operand) {
          return In(operand, Part::kDevice) || In(operand, Part::kTail);
        });
    part_[&node] = behind ? Part::kTail : Part::kHead;
    Report(node, "host", std::string(status.message()));
    return absl::OkStatus();
  }

  void Report(const Node& node, std::string unit, std::string reason) {
    lowered_.placements.push_back(
        {node.name, OpName(node.op), std::move(unit), std::move(reason)});
  }

  // Values of the head that the layer reads become inputs of the network.
  absl::Status AddLayer(const Node& node) {
    model::Network& network = lowered_.network;
    std::vector<const Node*> added;
    absl::Status status;
    for (const Node* operand : node.operands) {
      if (In(operand, Part::kTail)) {
        status = absl::UnimplementedError(absl::StrCat(
            "the host computes its operand '", operand->name, "'"));
      }
      if (!status.ok()) break;
      if (!In(operand, Part::kHead) || tensors_.count(operand) > 0) continue;
      const absl::StatusOr<int> tensor = AddTensor(network, *operand);
      status = tensor.status();
      if (!status.ok()) break;
      tensors_[operand] = *tensor;
      network.inputs.push_back(*tensor);
      added.push_back(operand);
    }
    if (status.ok()) status = AppendLayer(node, tensors_, network);
    if (status.ok()) return status;
    for (const Node* operand : added) {
      tensors_.erase(operand);
      network.inputs.pop_back();
      network.tensors.pop_back();
    }
    return status;
  }

  // The name by which the value of a node gets to the tail; makes sure that it
  // does.
  std::string HandOver(const Node& node) {
    if (In(&node, Part::kHead)) {
      for_tail_.insert(&node);
      return node.name;
    }
    model::Network& network = lowered_.network;
    const int tensor = tensors_.at(&node);
    if (!network.IsOutput(tensor)) network.outputs.push_back(tensor);
    return network.tensors[tensor].name;
  }

  std::unique_ptr<ir::Module> MakeTail() {
    auto tail = std::make_unique<ir::Module>(module_.name + ".tail");
    std::unordered_map<const Node*, Node*> copies;
    std::unordered_map<std::string, Node*> parameters;  // by value
    const auto need = [&](const Node* node) {
      if (copies.count(node) > 0) return;
      const std::string value = HandOver(*node);
      Node*& parameter = parameters[value];
      if (parameter == nullptr) {
        parameter = tail->Add({node->name,
                               Op::kParameter,
                               node->type,
                               {},
                               ir::ParameterAttributes{value}});
        copies[node] = parameter;
      } else {  // the same bytes in another shape
        copies[node] = tail->Add({node->name,
                                  Op::kReshape,
                                  node->type,
                                  {parameter},
                                  ir::NoAttributes{}});
      }
    };
    for (const auto& node : module_.nodes()) {
      if (!node->is_constant() && !In(node.get(), Part::kTail)) continue;
      for (const Node* operand : node->operands) need(operand);
      Node* copy = tail->Add(*node);
      for (Node*& operand : copy->operands) operand = copies.at(operand);
      copies[node.get()] = copy;
    }
    for (const ir::Output& output : module_.outputs) {
      need(output.node);
      tail->outputs.push_back({output.name, copies.at(output.node)});
    }
    tail->RemoveUnused();
    return tail;
  }

  std::unique_ptr<ir::Module> MakeHead() const {
    auto head = std::make_unique<ir::Module>(module_.name + ".head");
    std::unordered_map<const Node*, Node*> copies;
    for (const auto& node : module_.nodes()) {
      if (!node->is_constant() && !In(node.get(), Part::kHead)) continue;
      Node* copy = head->Add(*node);
      for (Node*& operand : copy->operands) operand = copies.at(operand);
      copies[node.get()] = copy;
    }
    for (const auto& node : module_.nodes()) {
      if (!In(node.get(), Part::kHead)) continue;
      if (tensors_.count(node.get()) > 0 || for_tail_.count(node.get()) > 0) {
        head->outputs.push_back({node->name, copies.at(node.get())});
      }
    }
    head->RemoveUnused();
    return head;
  }

  const ir::Module& module_;
  Lowered lowered_;
  std::unordered_map<const Node*, Part> part_;  // of all but constants
  TensorIndices tensors_;  // of what the device reads and computes
  std::unordered_set<const Node*> for_tail_;  // of the head
};

}  // namespace

absl::StatusOr<Lowered> LowerModule(const ir::Module& module) {
  return Lowering(module).Run();
}

}  // namespace systole::lower
