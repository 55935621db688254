// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Nodes are taken in order. Those that the device can run become layers until
// the first that it cannot; from there on, all must depend on one value, the
// network's output, and are the host's module.
#include "host/lower/lowering.h"

#include <algorithm>
#include <optional>
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
    const std::vector<Node*> inputs = module_.inputs();
    if (inputs.size() != 1 || module_.outputs.size() != 1) {
      return absl::UnimplementedError(
          absl::StrCat(inputs.size(), " inputs and ", module_.outputs.size(),
                       " outputs; one of each is supported"));
    }
    lowered_.network.name = module_.name;
    absl::StatusOr<int> input = AddTensor(lowered_.network, *inputs[0]);
    if (!input.ok()) return Prefixed(*inputs[0], input.status());
    lowered_.network.input = *input;
    tensors_[inputs[0]] = *input;
    for (const auto& node : module_.nodes()) {
      if (node->is_constant() || node->op == Op::kParameter) continue;
      const absl::Status status = Place(*node);
      if (!status.ok()) return status;
    }
    return Finish();
  }

 private:
  bool OnHost(const Node* node) const { return host_.count(node) > 0; }

  absl::Status Place(const Node& node) {
    const auto behind =
        std::find_if(node.operands.begin(), node.operands.end(),
                     [&](const Node* operand) { return OnHost(operand); });
    const absl::Status status =
        behind == node.operands.end()
            ? AddLayer(node)
            : absl::UnimplementedError(absl::StrCat(
                  "the host computes its operand '", (*behind)->name, "'"));
    if (status.ok()) {
      lowered_.placements.push_back(
          {node.name, OpName(node.op), UnitOf(node.op),
           node.op == Op::kReshape ? "the bytes stay as they lie" : ""});
      return status;
    }
    if (status.code() != absl::StatusCode::kUnimplemented ||
        !ir::HostComputes(node.op)) {
      return Prefixed(node, status);
    }
    host_.insert(&node);
    lowered_.placements.push_back(
        {node.name, OpName(node.op), "host", std::string(status.message())});
    return absl::OkStatus();
  }

  absl::Status AddLayer(const Node& node) {
    if (node.op == Op::kReshape) {
      tensors_[&node] = tensors_.at(node.operands[0]);
      return absl::OkStatus();
    }
    return AppendLayer(node, tensors_, lowered_.network);
  }

  // The value that goes from the device to the host.
  absl::StatusOr<const Node*> Boundary() const {
    const Node* boundary = nullptr;
    const auto take = [&](const Node* value) {
      if (boundary != nullptr && boundary != value) return false;
      boundary = value;
      return true;
    };
    for (const auto& node : module_.nodes()) {
      if (!OnHost(node.get())) continue;
      for (const Node* operand : node->operands) {
        if (OnHost(operand) || operand->is_constant()) continue;
        if (take(operand)) continue;
        return Prefixed(*node, absl::UnimplementedError(absl::StrCat(
                                   "the host would need '", operand->name,
                                   "' and '", boundary->name, "'")));
      }
    }
    const Node* output = module_.outputs[0].node;
    if (!OnHost(output) && !take(output)) {
      return Prefixed(*output, absl::UnimplementedError(
                                   "the output and the host's operators need "
                                   "different values"));
    }
    return boundary;
  }

  absl::StatusOr<Lowered> Finish() {
    const absl::StatusOr<const Node*> boundary = Boundary();
    if (!boundary.ok()) return boundary.status();
    if (lowered_.network.layers.empty()) {
      return absl::UnimplementedError("no operator runs on the device");
    }
    lowered_.network.output = tensors_.at(*boundary);
    const absl::Status pruned = CheckUsed();
    if (!pruned.ok()) return pruned;
    lowered_.host = HostModule(**boundary);
    return std::move(lowered_);
  }

  // Layers whose result neither a layer nor the host reads would be for
  // nothing: then the boundary is wrong.
  absl::Status CheckUsed() const {
    std::unordered_set<int> used = {lowered_.network.output};
    for (const model::Layer& layer : lowered_.network.layers) {
      used.insert(layer.inputs.begin(), layer.inputs.end());
    }
    for (const model::Layer& layer : lowered_.network.layers) {
      if (used.count(layer.output) == 0) {
        return absl::InternalError(
            absl::StrCat("layer '", layer.name, "' is for nothing"));
      }
    }
    return absl::OkStatus();
  }

  std::unique_ptr<ir::Module> HostModule(const Node& boundary) const {
    auto host = std::make_unique<ir::Module>(module_.name + ".host");
    std::unordered_map<const Node*, Node*> copies;
    copies[&boundary] = host->Add({boundary.name,
                                   Op::kParameter,
                                   boundary.type,
                                   {},
                                   ir::ParameterAttributes{boundary.name}});
    for (const auto& node : module_.nodes()) {
      if (!OnHost(node.get()) && !node->is_constant()) continue;
      Node* copy = host->Add(*node);
      for (Node*& operand : copy->operands) operand = copies.at(operand);
      copies[node.get()] = copy;
    }
    const ir::Output& output = module_.outputs[0];
    host->outputs.push_back({output.name, copies.at(output.node)});
    host->RemoveUnused();
    return host;
  }

  const ir::Module& module_;
  Lowered lowered_;
  TensorIndices tensors_;  // of what the device computes
  std::unordered_set<const Node*> host_;
};

}  // namespace

absl::StatusOr<Lowered> LowerModule(const ir::Module& module) {
  return Lowering(module).Run();
}

}  // namespace systole::lower
