// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/op_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/ir/hlo/fold.h"
#include "host/partition/op_rules_parts.h"

namespace systole::partition {
namespace {

using ir::Ints;
using ir::Node;
using ir::Op;

bool Has(const Ints& list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// Every dimension is a factor, of operands of the same rank too. Scalars go to
// all elements.
void Elementwise(const Node& node, RuleMaker& make) {
  for (int d = 0; d < node.type.rank(); ++d) {
    const int factor = make.New();
    for (int r = 0; r < node.results(); ++r) make.Result(r, d, factor);
    for (size_t i = 0; i < node.operands.size(); ++i)
      if (node.operands[i].type().rank() == node.type.rank())
        make.Operand(i, d, factor);
  }
}

void Barrier(const Node& node, RuleMaker& make) {
  for (int r = 0; r < node.results(); ++r) {
    for (int d = 0; d < node.result_type(r).rank(); ++d) {
      const int factor = make.New();
      make.Result(r, d, factor);
      make.Operand(r, d, factor);
    }
  }
}

void Dot(const Node& node, RuleMaker& make) {
  const auto& a = node.attr<ir::HloDotAttributes>();
  int result = 0;
  for (size_t i = 0; i < a.lhs_batching.size(); ++i) {
    const int factor = make.New();
    make.Operand(0, a.lhs_batching[i], factor);
    make.Operand(1, a.rhs_batching[i], factor);
    make.Result(0, result++, factor);
  }
  for (int side = 0; side < 2; ++side) {
    const Ints& batching = side == 0 ? a.lhs_batching : a.rhs_batching;
    const Ints& contracting = side == 0 ? a.lhs_contracting : a.rhs_contracting;
    for (int d = 0; d < node.operands[side].type().rank(); ++d) {
      if (Has(batching, d) || Has(contracting, d)) continue;
      const int factor = make.New();
      make.Operand(side, d, factor);
      make.Result(0, result++, factor);
    }
  }
  for (size_t i = 0; i < a.lhs_contracting.size(); ++i) {
    const int factor = make.New();
    make.Operand(0, a.lhs_contracting[i], factor);
    make.Operand(1, a.rhs_contracting[i], factor);
  }
}

void Convolution(const Node& node, RuleMaker& make) {
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  if (a.batch_group_count == 1) {
    const int batch = make.New();
    make.Operand(0, a.input_batch, batch);
    make.Result(0, a.output_batch, batch);
  }
  if (a.feature_group_count != 1 || a.batch_group_count != 1) return;
  const int outputs = make.New();
  make.Operand(1, a.kernel_output_feature, outputs);
  make.Result(0, a.output_feature, outputs);
  const int inputs = make.New();
  make.Operand(0, a.input_feature, inputs);
  make.Operand(1, a.kernel_input_feature, inputs);
}

// Whether combining with the initial value changes nothing.
bool IsIdentity(Op op, const ir::Literal& value) {
  return value.Visit([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const T x = values[0];
    if constexpr (std::is_same_v<T, ir::Bool>) {
      return x == (op == Op::kHloMultiply || op == Op::kHloMinimum ||
                   op == Op::kHloAnd);
    } else if constexpr (ir::IsFloat(ir::ElementOf<T>::kType)) {
      const float f = static_cast<float>(x);
      // -0 + x and +0 + x differ for x = -0 alone, and so would their sum.
      if (op == Op::kHloAdd) return f == 0;
      if (op == Op::kHloMultiply) return f == 1;
      if (op == Op::kHloMaximum) return f == -HUGE_VALF;
      return op == Op::kHloMinimum && f == HUGE_VALF;
    } else {
      using L = std::numeric_limits<T>;
      switch (op) {
        case Op::kHloAdd:
        case Op::kHloOr:
        case Op::kHloXor:
          return x == 0;
        case Op::kHloMultiply:
          return x == 1;
        case Op::kHloAnd:
          return x == static_cast<T>(~T{0});
        case Op::kHloMaximum:
          return x == L::min();
        default:
          return op == Op::kHloMinimum && x == L::max();
      }
    }
  });
}

void Reduce(const Node& node, RuleMaker& make) {
  const Ints& reduced = node.attr<ir::HloDimensionsAttributes>().dimensions;
  const auto inputs = static_cast<size_t>(node.results());
  const std::optional<Op> op = ir::CombinerOf(*node.regions[0]);
  bool parts = op.has_value() && inputs == 1;
  if (parts) {
    const std::optional<ir::Literal> initial = UniformValue(node.operands[1]);
    parts = initial.has_value() && IsIdentity(*op, *initial);
    make.rule().combines = *op;
  }
  int result = 0;
  for (int d = 0; d < node.operands[0].type().rank(); ++d) {
    const bool kept = !Has(reduced, d);
    if (!kept && !parts) continue;
    const int factor = make.New();
    for (size_t i = 0; i < inputs; ++i) {
      make.Operand(i, d, factor);
      if (kept) make.Result(static_cast<int>(i), result, factor);
    }
    if (kept) ++result;
  }
}

void Window(const Node& node, RuleMaker& make) {
  const auto& a = node.attr<ir::HloWindowAttributes>();
  const bool scatters = node.op == Op::kHloSelectAndScatter;
  const size_t inputs = scatters ? 2 : static_cast<size_t>(node.results());
  for (int d = 0; d < node.type.rank(); ++d) {
    if (a.window[d] != 1 || a.stride[d] != 1 || a.base_dilation[d] != 1 ||
        a.low[d] != 0 || a.high[d] != 0)
      continue;
    const int factor = make.New();
    for (size_t i = 0; i < inputs; ++i) make.Operand(i, d, factor);
    for (int r = 0; r < node.results(); ++r) make.Result(r, d, factor);
  }
}

void Sort(const Node& node, RuleMaker& make) {
  int64_t along = node.attr<ir::HloSortAttributes>().dimension;
  if (along < 0) along += node.type.rank();
  for (int d = 0; d < node.type.rank(); ++d) {
    if (d == along) continue;
    const int factor = make.New();
    for (int r = 0; r < node.results(); ++r) {
      make.Operand(r, d, factor);
      make.Result(r, d, factor);
    }
  }
}

// All but the matrices.
void Batches(const Node& node, RuleMaker& make) {
  for (int d = 0; d + 2 < node.type.rank(); ++d) {
    const int factor = make.New();
    for (size_t i = 0; i < node.operands.size(); ++i)
      make.Operand(i, d, factor);
    make.Result(0, d, factor);
  }
}

}  // namespace

bool OpRule::Combines(int factor) const {
  return std::all_of(results.begin(), results.end(), [&](const auto& dims) {
    return std::find(dims.begin(), dims.end(), factor) == dims.end();
  });
}

std::optional<ir::Literal> UniformValue(ir::Value value) {
  const Node* node = value.node;
  while (node->op == Op::kHloBroadcastInDim || node->op == Op::kHloReshape)
    node = node->operands[0].node;
  if (!node->is_constant() || node->literal().size() != 1) return std::nullopt;
  return node->literal();
}

OpRule RuleOf(const Node& node) {
  RuleMaker make(node);
  switch (node.op) {
    case Op::kHloDotGeneral:
      Dot(node, make);
      break;
    case Op::kHloConvolution:
      Convolution(node, make);
      break;
    case Op::kHloReduce:
      Reduce(node, make);
      break;
    case Op::kHloReduceWindow:
    case Op::kHloSelectAndScatter:
      Window(node, make);
      break;
    case Op::kHloSort:
      Sort(node, make);
      break;
    case Op::kHloMap:
      Elementwise(node, make);
      break;
    case Op::kHloOptimizationBarrier:
      Barrier(node, make);
      break;
    case Op::kHloCholesky:
    case Op::kHloTriangularSolve:
      Batches(node, make);
      break;
    default:
      if (ir::IsElementwiseOp(node.op)) {
        Elementwise(node, make);
      } else {
        MoveRule(node, make);
      }
  }
  return make.rule();
}

}  // namespace systole::partition
