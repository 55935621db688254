// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/hlo/interpreter.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/processes.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

using ir::Op;

bool IsBetween(Op first, Op op, Op last) { return first <= op && op <= last; }

// Element i. A scalar stands for all elements (in clamp and select).
uint64_t Entry(const Tensor& tensor, int64_t i) {
  return tensor.bits[tensor.rank() == 0 ? 0 : i];
}

uint64_t Elementwise(const Node& node, const Tensors& operands, int64_t i) {
  const Tensor& first = operands[0];
  const Op op = node.op;
  if (IsBetween(Op::kHloAdd, op, Op::kHloShiftRightArithmetic))
    return Binary(op, first.element, first.bits[i], operands[1].bits[i]);
  switch (op) {
    case Op::kHloReducePrecision:
      return ReducePrecision(node.attr<ir::HloReducePrecisionAttributes>(),
                             first.element, first.bits[i]);
    case Op::kHloCompare:
      return Compare(node.attr<ir::HloCompareAttributes>(), first.element,
                     first.bits[i], operands[1].bits[i])
                 ? 1
                 : 0;
    case Op::kHloSelect: {
      const Tensor& chosen = operands[Entry(first, i) != 0 ? 1 : 2];
      // A 16-bit NaN becomes canonical; fp32 keeps its bits.
      return Width(chosen.element) == 16 && IsReal(chosen.element)
                 ? FromReal(chosen.element,
                            Real(chosen.element, chosen.bits[i]))
                 : chosen.bits[i];
    }
    case Op::kHloClamp: {
      const Element element = node.type.element;
      return Binary(Op::kHloMinimum, element,
                    Binary(Op::kHloMaximum, element, operands[1].bits[i],
                           Entry(first, i)),
                    Entry(operands[2], i));
    }
    case Op::kHloConvert:
      return Convert(first.element, node.type.element, first.bits[i]);
    default:
      return Unary(op, first.element, first.bits[i]);
  }
}

}  // namespace

Tensors Rest(const Tensors& operands, size_t first) {
  return {operands.begin() + static_cast<int64_t>(first), operands.end()};
}

void Evaluation::Refuse(const Node& node, const std::string& why) {
  if (!status_.ok()) return;
  status_ = absl::UnimplementedError(
      absl::StrCat("golden model: node '", node.name, "': ", why));
}

Tensors Evaluation::Other(const Node& node, const Tensors& operands) {
  std::vector<ir::Literal> literals;
  for (const Tensor& operand : operands) literals.push_back(ToLiteral(operand));
  std::vector<const ir::Literal*> pointers;
  for (const ir::Literal& literal : literals) pointers.push_back(&literal);
  const absl::StatusOr<ir::Literal> result = other_(node, pointers);
  if (result.ok()) return {FromLiteral(*result, node.type.shape)};
  if (status_.ok()) status_ = result.status();
  return {Tensor(node.type.element, node.type.shape)};
}

Tensors Evaluation::Results(const Node& node, const Tensors& operands) {
  const Op op = node.op;
  if (other_ && ir::SetOf(op) == ir::OpSet::kQuant)
    return Other(node, operands);
  if (IsBetween(Op::kHloAdd, op, Op::kHloConvert)) {
    Tensor result(node.type.element, node.type.shape);
    for (int64_t i = 0; i < result.size(); ++i)
      result.bits[i] = Elementwise(node, operands, i);
    return {result};
  }
  if (IsBetween(Op::kHloBitcastConvert, op, Op::kHloSlice) ||
      IsBetween(Op::kHloConcatenate, op, Op::kHloReverse))
    return {Moved(node, operands)};
  if (IsBetween(Op::kHloReduce, op, Op::kHloMap))
    return Regions(node, operands, *this);
  switch (op) {
    case Op::kConstant:
      return {FromLiteral(node.literal(), node.type.shape)};
    case Op::kHloDynamicSlice:
    case Op::kHloDynamicUpdateSlice:
    case Op::kHloGather:
      return {Indexed(node, operands)};
    case Op::kHloScatter:
      return Scatter(node, operands, *this);
    case Op::kHloDotGeneral:
      return {DotGeneral(node, operands)};
    case Op::kHloConvolution:
      return {Convolution(node, operands)};
    case Op::kHloWhile: {
      const Tensors captured = Rest(operands, node.results());
      Tensors state = operands;
      while (true) {
        const Tensors goes_on = Run(*node.regions[0], state);
        if (!status_.ok() || goes_on[0].bits[0] == 0) break;
        state = Run(*node.regions[1], state);
        state.insert(state.end(), captured.begin(), captured.end());
      }
      state.resize(node.results());
      return state;
    }
    case Op::kHloIf:
      return Run(*node.regions[operands[0].bits[0] != 0 ? 0 : 1],
                 Rest(operands, 1));
    case Op::kHloCase: {
      const auto branches = static_cast<int64_t>(node.regions.size());
      const int64_t branch = Whole(Element::kInt32, operands[0].bits[0]);
      const bool exists = 0 <= branch && branch < branches;
      return Run(*node.regions[exists ? branch : branches - 1],
                 Rest(operands, 1));
    }
    case Op::kHloRngBitGenerator:
      return RandomBits(node, operands);
    case Op::kHloRng:
      return {RandomNumbers(node, operands, NextRandom())};
    case Op::kHloBatchNormTraining:
    case Op::kHloBatchNormInference:
    case Op::kHloBatchNormGrad:
      return Normalised(node, operands);
    case Op::kHloCholesky:
    case Op::kHloTriangularSolve:
      return {Factor(node, operands)};
    case Op::kHloOptimizationBarrier:
      return operands;
    case Op::kHloCustomCall: {
      const std::string& target =
          node.attr<ir::HloCustomCallAttributes>().target;
      if (target == "Qr" ||
          target == "ProductOfElementaryHouseholderReflectors")
        return Householder(node, operands);
      if (target == "TFLite_Detection_PostProcess") {
        auto detections = Detections(node, operands);
        if (detections.ok()) return *std::move(detections);
        if (status_.ok()) status_ = detections.status();
        break;
      }
      if (target == "Sharding" || target == "SPMDFullToShardShape" ||
          target == "SPMDShardToFullShape")
        return operands;
      Refuse(node, absl::StrCat("calls of '", target, "'"));
      break;
    }
    default:
      Refuse(node, ir::OpName(op));
  }
  Tensors zeros;
  for (int i = 0; i < node.results(); ++i) {
    const ir::Type& type = node.result_type(i);
    zeros.emplace_back(type.element, type.shape);
  }
  return zeros;
}

Tensors Evaluation::Run(const ir::Module& module, const Tensors& inputs) {
  std::map<const Node*, Tensors> values;
  size_t next = 0;
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kParameter) {
      values[node.get()] = {inputs[next++]};
      continue;
    }
    Tensors operands;
    for (const ir::Value& operand : node->operands)
      operands.push_back(values[operand.node][operand.index]);
    values[node.get()] = Results(*node, operands);
  }
  Tensors outputs;
  for (const ir::Output& output : module.outputs)
    outputs.push_back(values[output.node.node][output.node.index]);
  return outputs;
}

Combiner::Combiner(const ir::Module& region, Tensors captured,
                   Evaluation& evaluation)
    : region_(region), captured_(std::move(captured)), evaluation_(evaluation) {
  if (!captured_.empty() || region.nodes().size() != 3 ||
      region.outputs.size() != 1)
    return;
  const Node* node = region.outputs[0].node.node;
  const std::vector<Node*> inputs = region.inputs();
  if (inputs.size() != 2 || node->operands.size() != 2) return;
  const auto reads = [&](int a, int b) {
    return node->operands[0] == inputs[a] && node->operands[1] == inputs[b];
  };
  switch (node->op) {
    case Op::kHloAdd:
    case Op::kHloMultiply:
    case Op::kHloMaximum:
    case Op::kHloMinimum:
    case Op::kHloAnd:
    case Op::kHloOr:
    case Op::kHloXor:
      if (reads(0, 1) || reads(1, 0)) single_ = node;
      break;
    default:
      break;
  }
}

uint64_t Combiner::Single(uint64_t a, uint64_t b) const {
  return Binary(single_->op, single_->type.element, a, b);
}

std::vector<uint64_t> Combiner::Call(const std::vector<Element>& types,
                                     const std::vector<uint64_t>& parameters) {
  if (single()) return {Single(parameters[0], parameters[1])};
  Tensors inputs;
  for (size_t i = 0; i < types.size(); ++i) {
    inputs.emplace_back(types[i], Index());
    inputs.back().bits[0] = parameters[i];
  }
  inputs.insert(inputs.end(), captured_.begin(), captured_.end());
  std::vector<uint64_t> bits;
  for (const Tensor& output : evaluation_.Run(region_, inputs))
    bits.push_back(output.bits[0]);
  return bits;
}

}  // namespace systole::golden::hlo

namespace systole::golden {

absl::StatusOr<std::vector<ir::Literal>> RunHlo(
    const ir::Module& module, const std::vector<ir::Literal>& inputs) {
  auto outputs = RunHlo(module, 1, 1, {inputs});
  if (!outputs.ok()) return outputs.status();
  return std::move((*outputs)[0]);
}

absl::StatusOr<std::vector<std::vector<ir::Literal>>> RunHlo(
    const ir::Module& module, int replicas, int partitions,
    const std::vector<std::vector<ir::Literal>>& inputs) {
  if (replicas < 1 || partitions < 1 ||
      static_cast<int64_t>(inputs.size()) != int64_t{replicas} * partitions) {
    return absl::InvalidArgumentError(
        absl::StrCat("inputs of ", inputs.size(), " processes instead of ",
                     replicas, " x ", partitions));
  }
  const std::vector<ir::Node*> parameters = module.inputs();
  hlo::Processes processes(replicas, partitions);
  std::map<int, hlo::Tensors> tensors;
  for (size_t process = 0; process < inputs.size(); ++process) {
    const std::vector<ir::Literal>& own = inputs[process];
    if (parameters.size() != own.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(own.size(), " inputs instead of ", parameters.size()));
    }
    hlo::Tensors& to = tensors[static_cast<int>(process)];
    for (size_t i = 0; i < own.size(); ++i)
      to.push_back(hlo::FromLiteral(own[i], parameters[i]->type.shape));
  }
  const std::map<int, hlo::Tensors> outputs = processes.Run(module, tensors);
  if (absl::Status s = processes.status(); !s.ok()) return s;
  std::vector<std::vector<ir::Literal>> literals(inputs.size());
  for (const auto& [process, values] : outputs) {
    for (const hlo::Tensor& output : values)
      literals[process].push_back(hlo::ToLiteral(output));
  }
  return literals;
}

absl::StatusOr<std::vector<ir::Literal>> RunHloNode(
    const ir::Node& node, const std::vector<const ir::Literal*>& operands,
    const OtherOperation& other) {
  hlo::Tensors tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    tensors.push_back(
        hlo::FromLiteral(*operands[i], node.operands[i].type().shape));
  }
  hlo::Evaluation evaluation(other);
  const hlo::Tensors results = evaluation.Results(node, tensors);
  if (!evaluation.status().ok()) return evaluation.status();
  std::vector<ir::Literal> literals;
  for (const hlo::Tensor& result : results)
    literals.push_back(hlo::ToLiteral(result));
  return literals;
}

}  // namespace systole::golden
