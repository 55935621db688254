// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Nodes are taken in order. Each goes to the earliest step that its operands
// allow: a layer to the first network that comes after the host parts it needs
// and not before the networks it needs; an operator that the device cannot run,
// to the first host part after them. Steps alternate: host part 0, network 0,
// part 1, network 1, and so on.
#include "host/lower/lowering.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/files/printable.h"
#include "host/files/refusals.h"
#include "host/lower/layers.h"
#include "host/lower/tensors.h"

namespace systole::lower {
namespace {

using ir::Node;
using ir::Op;

bool OnDevice(int step) { return step % 2 == 1; }

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
    case Op::kDenseSums:
    case Op::kPad:  // a depthwise convolution
      return "array";
    case Op::kReshape:
      return "nowhere";
    default:
      return "vector unit";
  }
}

class Lowering {
 public:
  Lowering(const ir::Module& module, const Target* target, bool alone)
      : module_(module),
        target_(target),
        alone_(alone),
        images_(ImagesOf(module)),
        tables_(module, images_) {}

  absl::StatusOr<Lowered> Run() {
    for (const auto& node : module_.nodes()) {
      if (node->is_constant()) continue;
      if (node->op == Op::kParameter) {
        step_[node.get()] = 0;
      } else if (tables_.Absorbed(node.get())) {
        step_[node.get()] = Earliest(*node, true);
        Report(*node, "vector unit", "part of a table");
      } else {
        Place(*node);
      }
    }
    if (!failed_.ok()) return failed_;
    if (lowered_.networks.empty()) {
      const auto computes = [](const Placement& p) { return p.unit == "host"; };
      if (!alone_ || std::none_of(lowered_.placements.begin(),
                                  lowered_.placements.end(), computes))
        return absl::UnimplementedError(Alone());
      lowered_.networks.emplace_back();
      lowered_.networks.back().name = module_.name;
      lowered_.networks.back().inputs.clear();
      lowered_.networks.back().outputs.clear();
    }
    lowered_.images = images_;
    HandOver();
    for (int part = 0; part <= Networks(); ++part) {
      lowered_.parts.push_back(MakePart(part));
    }
    return std::move(lowered_);
  }

 private:
  // Why nothing runs on the device.
  std::string Alone() const {
    std::vector<Refusal> reasons;
    std::vector<std::string> list;
    for (const Placement& p : lowered_.placements) {
      if (p.unit != "host") continue;
      reasons.push_back({p.op, p.node, p.reason});
      list.push_back(absl::StrCat("'", p.node, "' (", p.op, "): ", p.reason));
    }
    if (list.empty()) return "no operator computes anything";
    return absl::StrCat(
        "no operator runs on the device: ", ReasonsText(reasons),
        "; --host-operators=alone runs it on the host",
        list.size() > 1 ? PrintableList(list) : "");
  }

  int Networks() const { return static_cast<int>(lowered_.networks.size()); }

  // What a node reads where it runs; a function of one value reads only its
  // argument.
  std::vector<const Node*> OperandsOf(const Node& node) const {
    if (const Node* argument = tables_.ArgumentOf(&node)) return {argument};
    return {node.operands.begin(), node.operands.end()};
  }

  // The first step of device or host after all operands.
  int Earliest(const Node& node, bool device) const {
    int step = device ? 1 : 0;
    for (const Node* operand : OperandsOf(node)) {
      if (operand->is_constant()) continue;
      const int from = step_.at(operand);
      step = std::max(step, from + (OnDevice(from) != device));
    }
    return step;
  }

  // Whether a constant operand is a tensor of the device, not a parameter.
  bool ReadsConstant(const Node& node) const {
    return (node.op == Op::kAdd || node.op == Op::kSub || node.op == Op::kMul ||
            node.op == Op::kConcatenate) &&
           tables_.ArgumentOf(&node) == nullptr;
  }

  void Place(const Node& node) {
    const bool moves = node.op == Op::kReshape;
    if (moves) {
      const Node* operand = node.operands[0];
      const int step = operand->is_constant() ? 0 : step_.at(operand);
      step_[&node] = step;
      if (OnDevice(step)) {
        TensorIndices& tensors = tensors_[step / 2];
        tensors[&node] = tensors.at(operand);
        values_[&node] = ValueOf(operand);
      }
      Report(node, UnitOf(node.op), "the bytes stay as they lie");
      return;
    }
    int step = Earliest(node, true);
    absl::Status status = AddLayer(node, step);
    // If a layer must see a value in another shape than it has in memory, the
    // host passes the value on.
    if (!status.ok() && step / 2 < Networks() &&
        AddLayer(node, step + 2).ok()) {
      step += 2;
      status = absl::OkStatus();
    }
    if (status.ok()) {
      step_[&node] = step;
      Report(node, UnitOf(node.op), "");
      return;
    }
    step_[&node] = Earliest(node, false);
    // The host computes whatever the device does not support.
    if (!absl::IsUnimplemented(status) && failed_.ok()) {
      failed_ = Prefixed(node, status);
    }
    Report(node, "host", std::string(status.message()));
  }

  void Report(const Node& node, std::string unit, std::string reason) {
    lowered_.placements.push_back(
        {node.name, OpName(node.op), std::move(unit), std::move(reason),
         step_.at(&node), Macs(node),
         node.type.elements() * ir::ElementBytes(node.type.element)});
  }

  // The node that computed the bytes of a node of the device.
  const Node* ValueOf(const Node* node) const {
    const auto found = values_.find(node);
    return found == values_.end() ? node : found->second;
  }

  // Values of earlier steps that the layer reads become inputs of the network.
  absl::Status AddLayer(const Node& node, int step) {
    const size_t index = step / 2;
    if (index == lowered_.networks.size()) {
      lowered_.networks.emplace_back();
      tensors_.emplace_back();
      model::Network& network = lowered_.networks.back();
      network.name =
          index == 0 ? module_.name : absl::StrCat(module_.name, ".", index);
      network.inputs.clear();
      network.outputs.clear();
    }
    model::Network& network = lowered_.networks[index];
    TensorIndices& tensors = tensors_[index];
    const size_t inputs = network.inputs.size();
    std::vector<const Node*> added;
    absl::Status status;
    for (const Node* operand : OperandsOf(node)) {
      if (operand->is_constant()) {
        if (!ReadsConstant(node)) continue;
        step_.emplace(operand, 0);  // the first host part passes it on
      }
      if (tensors.count(operand) > 0) continue;
      // A value with several shapes is added once.
      const Node* value = ValueOf(operand);
      if (tensors.count(value) == 0) {
        const absl::StatusOr<int> tensor =
            AddTensor(network, *operand, images_);
        status = tensor.status();
        if (!status.ok()) break;
        network.tensors[*tensor].name = value->name;
        network.inputs.push_back(*tensor);
        tensors[value] = *tensor;
        added.push_back(value);
      }
      if (operand != value) {
        tensors[operand] = tensors.at(value);
        added.push_back(operand);
      }
    }
    if (status.ok())
      status = AppendLayer(node, tables_, target_, images_, tensors, network);
    if (status.ok()) return status;
    for (const Node* operand : added) tensors.erase(operand);
    network.tensors.resize(network.tensors.size() -
                           (network.inputs.size() - inputs));
    network.inputs.resize(inputs);
    if (network.layers.empty()) {
      lowered_.networks.pop_back();
      tensors_.pop_back();
    }
    return status;
  }

  // Finds the values that other steps read.
  void HandOver() {
    const auto need = [&](const Node* node, int step) {
      const bool handed =
          !node->is_constant() || (OnDevice(step) && step_.count(node) > 0);
      if (!handed || step_.at(node) == step) return;
      const Node* value = ValueOf(node);
      if (!leaves_.insert(value).second) return;
      const int from = step_.at(value);
      if (!OnDevice(from)) return;
      model::Network& network = lowered_.networks[from / 2];
      const int tensor = tensors_[from / 2].at(value);
      if (!network.IsOutput(tensor)) network.outputs.push_back(tensor);
    };
    for (const auto& node : module_.nodes()) {
      if (node->is_constant() || node->op == Op::kParameter ||
          tables_.Absorbed(node.get()))
        continue;
      for (const Node* operand : OperandsOf(*node)) {
        need(operand, step_.at(node.get()));
      }
    }
    for (const ir::Output& output : module_.outputs) {
      need(output.node, 2 * Networks());
    }
  }

  std::string PartName(int part) const {
    if (part == 0) return module_.name + ".head";
    if (part == Networks()) return module_.name + ".tail";
    return absl::StrCat(module_.name, ".part", part);
  }

  // A constant of the device, once for each image.
  Node* Repeated(ir::Module& made, Node* constant) const {
    ir::Type one = constant->type;
    if (one.shape.empty() || one.shape[0] != 1)
      one.shape.insert(one.shape.begin(), 1);
    Node* image = made.Add({made.UniqueName(constant->name),
                            Op::kReshape,
                            one,
                            {constant},
                            ir::NoAttributes{}});
    one.shape[0] = images_;
    return made.Add({made.UniqueName(constant->name), Op::kConcatenate, one,
                     std::vector<ir::Value>(images_, image),
                     ir::AxisAttributes{0}});
  }

  std::unique_ptr<ir::Module> MakePart(int part) const {
    auto made = std::make_unique<ir::Module>(PartName(part));
    std::unordered_map<const Node*, Node*> copies;
    std::unordered_map<const Node*, Node*> parameters;  // by value
    const auto need = [&](const Node* node) {
      if (copies.count(node) > 0) return;
      const Node* value = ValueOf(node);
      Node*& parameter = parameters[value];
      if (parameter == nullptr) {
        parameter = made->Add({node->name,
                               Op::kParameter,
                               node->type,
                               {},
                               ir::ParameterAttributes{value->name}});
        copies[node] = parameter;
      } else {  // the same bytes in another shape
        copies[node] = made->Add({node->name,
                                  Op::kReshape,
                                  node->type,
                                  {parameter},
                                  ir::NoAttributes{}});
      }
    };
    for (const auto& node : module_.nodes()) {
      if (!node->is_constant() &&
          (step_.at(node.get()) != 2 * part || tables_.Absorbed(node.get())))
        continue;
      for (const Node* operand : node->operands) need(operand);
      Node* copy = made->Add(*node);
      for (ir::Value& operand : copy->operands)
        operand.node = copies.at(operand.node);
      copies[node.get()] = copy;
    }
    if (part == Networks()) {
      for (const ir::Output& output : module_.outputs) {
        need(output.node);
        made->outputs.push_back(
            {output.name, copies.at(output.node), output.stored});
      }
    } else {
      for (const auto& node : module_.nodes()) {
        if (leaves_.count(node.get()) > 0 && step_.at(node.get()) == 2 * part) {
          Node* copy = copies.at(node.get());
          if (node->is_constant() && images_ > 1) copy = Repeated(*made, copy);
          made->outputs.push_back({node->name, copy});
        }
      }
    }
    made->RemoveUnused();
    return made;
  }

  const ir::Module& module_;
  const Target* const target_;
  const bool alone_;
  const int64_t images_;
  const Tables tables_;
  Lowered lowered_;
  absl::Status failed_;  // the first error, other than unsupported nodes
  // Step of each node, without constants that are parameters.
  std::unordered_map<const Node*, int> step_;
  std::vector<TensorIndices> tensors_;  // for each network
  // For nodes that the device only moves: the node that computed the bytes.
  std::unordered_map<const Node*, const Node*> values_;
  std::unordered_set<const Node*> leaves_;  // values that other steps read
};

}  // namespace

int64_t Macs(const Node& node) {
  if (node.op == Op::kBatchMatmul) {
    const ir::Ints& left = node.operands[0]->type.shape;
    const bool transposed = node.attr<ir::MatmulAttributes>().transpose_left;
    return node.type.elements() * left[left.size() - (transposed ? 2 : 1)];
  }
  if (node.op == Op::kDenseSums) {
    return node.type.elements() / 4 * node.operands[1]->type.shape[1];
  }
  if (node.op == Op::kConv3D) {
    const ir::Ints& window = node.operands[1]->type.shape;
    return node.type.elements() * window[0] * window[1] * window[2] * window[3];
  }
  if (node.op != Op::kConv2D && node.op != Op::kDepthwiseConv2D &&
      node.op != Op::kFullyConnected) {
    return 0;
  }
  const ir::Ints& shape = node.operands[1]->type.shape;
  const int64_t channels =
      node.op == Op::kDepthwiseConv2D ? shape[3] : shape[0];
  return node.type.elements() * (node.operands[1]->type.elements() / channels);
}

absl::StatusOr<Lowered> LowerModule(const ir::Module& module,
                                    const Target* target, bool alone) {
  return Lowering(module, target, alone).Run();
}

}  // namespace systole::lower
