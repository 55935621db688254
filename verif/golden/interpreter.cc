// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/interpreter.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/verifier.h"
#include "verif/golden/hlo/interpreter.h"
#include "verif/golden/interpreter_nodes.h"
#include "verif/golden/rows.h"

namespace systole::golden {
namespace {

Geometry GeometryOf(const ir::Ints& stride, const ir::Ints& dilation,
                    const ir::Ints& padding) {
  Geometry g;
  g.stride_h = stride[0];
  g.stride_w = stride[1];
  g.dilation_h = dilation[0];
  g.dilation_w = dilation[1];
  g.pad_top = padding[0];
  g.pad_left = padding[1];
  g.pad_bottom = padding[2];
  g.pad_right = padding[3];
  return g;
}

// s_in * s_w[c] / s_out for each output channel. `single`: rounds the product
// to single precision.
std::vector<double> WeightedFactors(const Node& node, int64_t channels,
                                    bool single = false) {
  std::vector<double> factors;
  for (int64_t c = 0; c < channels; ++c) {
    double product = double{ScaleOf(*node.operands[0])} *
                     node.operands[1]->quantization().scale(c);
    if (single) product = static_cast<float>(product);
    factors.push_back(product / ScaleOf(node));
  }
  return factors;
}

// Sum of the weights of each output channel, which is the first or the last
// dimension.
std::vector<int64_t> WeightSums(const Node& weights, const Literal& values,
                                bool last) {
  const ir::Ints& shape = weights.type.shape;
  const int64_t channels = last ? shape.back() : shape.front();
  const int64_t each = values.size() / channels;
  std::vector<int64_t> sums(channels);
  for (int64_t i = 0; i < values.size(); ++i) {
    sums[last ? i % channels : i / each] +=
        values.values<int8_t>()[i] - ZeroOf(weights);
  }
  return sums;
}

// Adds the bias to sums of products. The zero point's part of a folded bias is
// subtracted first.
absl::Status AddOptionalBias(const Node& node, const Operands& operands,
                             bool folded, TensorI32& acc) {
  if (operands.size() < 3) return absl::OkStatus();
  std::vector<int32_t> bias = operands[2]->values<int32_t>();
  if (folded) {
    const std::vector<int64_t> sums = WeightSums(
        *node.operands[1], *operands[1], node.op == Op::kDepthwiseConv2D);
    for (size_t c = 0; c < bias.size(); ++c) {
      const int64_t unfolded = bias[c] + ZeroOf(*node.operands[0]) * sums[c];
      if (unfolded != Saturate32(unfolded)) {
        return absl::OutOfRangeError("a bias is not an int32");
      }
      bias[c] = static_cast<int32_t>(unfolded);
    }
  }
  // int32 sums are added modulo 2^32.
  std::vector<int32_t>& sums = acc.data();
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                   static_cast<uint32_t>(bias[i % acc.c()]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Convolution(const Node& node,
                                    const Operands& operands) {
  const ir::ConvAttributes& a = node.attr<ir::ConvAttributes>();
  const TensorI8 input = Tensor4(*node.operands[0], *operands[0]);
  const TensorI8 weights = Tensor4(*node.operands[1], *operands[1]);
  const Geometry geometry = GeometryOf(a.stride, a.dilation, a.padding);
  const int zero_point = ZeroOf(*node.operands[0]),
            of_weights = ZeroOf(*node.operands[1]);
  absl::StatusOr<TensorI32> acc =
      node.op == Op::kConv2D
          ? Conv2D(input, weights, geometry, zero_point, of_weights)
          : DepthwiseConv2D(input, weights, geometry, zero_point, of_weights);
  if (!acc.ok()) return acc.status();
  const absl::Status status =
      AddOptionalBias(node, operands, a.zero_point_folded, *acc);
  if (!status.ok()) return status;
  std::vector<Multiplier> multipliers;
  for (double factor : WeightedFactors(node, acc->c(), a.uint8)) {
    const absl::StatusOr<Multiplier> m = QuantizeMultiplier(factor);
    if (!m.ok()) return m.status();
    multipliers.push_back(*m);
  }
  return Values(RequantizeChannels(*acc, multipliers, Rounding::kDouble,
                                   RangeOf(node, a.clamp)));
}

absl::StatusOr<Literal> FullyConnected(const Node& node,
                                       const Operands& operands) {
  const ir::Ints& shape = node.operands[1]->type.shape;
  const Eigen::Map<const Matrix<int8_t>> input(
      operands[0]->values<int8_t>().data(), operands[0]->size() / shape[1],
      shape[1]);
  const Eigen::Map<const Matrix<int8_t>> weights(
      operands[1]->values<int8_t>().data(), shape[0], shape[1]);
  const absl::StatusOr<Matrix<int32_t>> sums = Matmul(
      input, weights, ZeroOf(*node.operands[0]), ZeroOf(*node.operands[1]));
  if (!sums.ok()) return sums.status();
  TensorI32 acc(sums->rows(), 1, 1, sums->cols(),
                {sums->data(), sums->data() + sums->size()});
  const absl::Status status = AddOptionalBias(
      node, operands, node.attr<ir::DenseAttributes>().zero_point_folded, acc);
  if (!status.ok()) return status;
  return Values(
      RequantizeReal(acc, WeightedFactors(node, shape[0]),
                     RangeOf(node, node.attr<ir::DenseAttributes>().clamp)));
}

absl::StatusOr<Literal> Pool(const Node& node, const Operands& operands) {
  const ir::PoolAttributes& a = node.attr<ir::PoolAttributes>();
  const auto pool = node.op == Op::kMaxPool ? MaxPool
                    : a.uint8               ? AveragePoolUint8
                                            : AveragePool;
  return Values(pool(Tensor4(*node.operands[0], *operands[0]), a.kernel[0],
                     a.kernel[1], GeometryOf(a.stride, {1, 1}, a.padding),
                     RangeOf(node, a.clamp)));
}

absl::StatusOr<Literal> Resize(const Node& node, const Operands& operands) {
  const auto& a = node.attr<ir::ResizeAttributes>();
  const auto resize = node.op == Op::kResizeNearest ? ResizeNearest
                      : a.uint8                     ? ResizeBilinearUint8
                                                    : ResizeBilinear;
  return Values(absl::StatusOr<TensorI8>(
      resize(Tensor4(*node.operands[0], *operands[0]), node.type.shape[1],
             node.type.shape[2], {a.align_corners, a.half_pixel_centers})));
}

// An operation that moves values of any type.
template <typename T>
absl::StatusOr<Literal> Move(const Node& node, const Operands& operands) {
  std::vector<Array<T>> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.push_back({node.operands[i]->type.shape, operands[i]->values<T>()});
  }
  switch (node.op) {
    case Op::kReshape:
      return Literal(std::move(inputs[0].values));
    case Op::kPad: {
      const auto& a = node.attr<ir::PadAttributes>();
      return Literal(
          Pad<T>(inputs[0], a.low, a.high, static_cast<T>(a.value)).values);
    }
    case Op::kTranspose:
      return Literal(
          Transpose(inputs[0], node.attr<ir::TransposeAttributes>().permutation)
              .values);
    case Op::kStridedSlice: {
      const auto& a = node.attr<ir::SliceAttributes>();
      return Literal(
          StridedSlice(inputs[0], a.begin, a.stride, node.type.shape).values);
    }
    default:
      return Literal(
          Concatenate(inputs, node.attr<ir::AxisAttributes>().axis).values);
  }
}

absl::StatusOr<Literal> Unary(const Node& node, const Operands& operands) {
  const Node& from = *node.operands[0];
  const Array<int8_t> input = ArrayOf(from, *operands[0]);
  switch (node.op) {
    case Op::kMean:
      return Values(Mean(input, node.attr<ir::ReduceAttributes>().axes,
                         AffineOf(from), AffineOf(node)));
    case Op::kSum:
      return Values<int8_t>(Sum(input, node.attr<ir::ReduceAttributes>().axes,
                                AffineOf(from), AffineOf(node)));
    case Op::kLogSoftmax:
      return Values<int8_t>(LogSoftmax(input, ScaleOf(from)));
    case Op::kL2Normalize:
      return Values(L2Normalize(input, AffineOf(from),
                                node.attr<ir::RowAttributes>().uint8));
    case Op::kSoftmax:
      if (node.type.element == ir::ElementType::kInt16) {
        return Values(Softmax<int16_t>(
            input, ScaleOf(from), node.attr<ir::SoftmaxAttributes>().beta));
      }
      return Values(Softmax<int8_t>(input, ScaleOf(from),
                                    node.attr<ir::SoftmaxAttributes>().beta));
    case Op::kHardSwish:
      return Values(HardSwish(input, AffineOf(from), AffineOf(node)));
    default:
      // Single precision, as specified.
      return Values(
          Rescale(input, ZeroOf(from), ScaleOf(from) / ScaleOf(node),
                  RangeOf(node, node.attr<ir::ClampAttributes>().clamp)));
  }
}

absl::StatusOr<std::vector<Literal>> Alone(absl::StatusOr<Literal> result) {
  if (!result.ok()) return result.status();
  return std::vector<Literal>{*std::move(result)};
}

}  // namespace

absl::StatusOr<Literal> EvaluateNode(const Node& node,
                                     const Operands& operands) {
  switch (node.op) {
    case Op::kParameter:
      return absl::InvalidArgumentError("an input has no value of its own");
    case Op::kConstant:
      return node.literal();
    case Op::kConv2D:
    case Op::kDepthwiseConv2D:
      return Convolution(node, operands);
    case Op::kFullyConnected:
      return FullyConnected(node, operands);
    case Op::kConv3D:
      return VolumeConvolution(node, operands);
    case Op::kDiv:
    case Op::kPow:
      return Quotients(node, operands);
    case Op::kDenseSums:
    case Op::kBitcast:
    case Op::kLstmCell:
    case Op::kLstmOutput:
      return Recurrent(node, operands);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      return Arithmetic(node, operands);
    case Op::kSquaredDifference:
    case Op::kPrelu:
      return Pairwise(node, operands);
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessEqual:
      return Compare(node, operands);
    case Op::kAbs:
    case Op::kNeg:
    case Op::kExp:
    case Op::kLog:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kElu:
    case Op::kGelu:
    case Op::kLeakyRelu:
    case Op::kSin:
    case Op::kCos:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRescale:
    case Op::kLogistic:
    case Op::kTanh:
      return Function(node, operands);
    case Op::kArgMax:
    case Op::kArgMin:
      return Argument(node, operands);
    case Op::kBatchMatmul:
      return MatrixProduct(node, operands);
    case Op::kAveragePool:
    case Op::kMaxPool:
      return Pool(node, operands);
    case Op::kResizeNearest:
    case Op::kResizeBilinear:
      return Resize(node, operands);
    case Op::kMaximum:
    case Op::kMinimum:
    case Op::kSelect:
    case Op::kReduceProd:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kGather:
      return OfAnyType(node, operands);
    case Op::kSvdfState:
      return SvdfState(node, operands);
    case Op::kSvdfOutput:
      return SvdfOutput(node, operands);
    case Op::kCast:
      return Cast(node, operands);
    case Op::kReshape:
    case Op::kPad:
    case Op::kConcatenate:
    case Op::kTranspose:
    case Op::kStridedSlice:
      return operands[0]->VisitQuant([&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return Move<T>(node, operands);
      });
    case Op::kSum:
      if (!node.type.quantization) return OfAnyType(node, operands);
      return Unary(node, operands);
    case Op::kMean:
    case Op::kSoftmax:
    case Op::kLogSoftmax:
    case Op::kL2Normalize:
    case Op::kHardSwish:
    case Op::kRelu:
      return Unary(node, operands);
    case Op::kQuantize:
    case Op::kDequantize:
      return Converted(node, operands);
    default:
      return absl::InvalidArgumentError("unknown operation");
  }
}

absl::StatusOr<NodeValues> RunNodes(const ir::Module& module,
                                    const std::vector<Literal>& inputs) {
  const absl::Status status = ir::Verify(module);
  if (!status.ok()) return status;
  const std::vector<Node*> parameters = module.inputs();
  if (inputs.size() != parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs.size(), " inputs for ", parameters.size(), " parameters"));
  }
  NodeValues values;
  // Operations of hlo/: the second and further results.
  std::map<std::pair<const Node*, int>, Literal> more;
  const auto value_of = [&](const ir::Value& value) {
    return value.index == 0 ? &values.at(value.node)
                            : &more.at({value.node, value.index});
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = parameters[i]->type;
    if (inputs[i].element() != type.element ||
        inputs[i].size() != type.elements()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", parameters[i]->name, "': ", inputs[i].size(),
                       " values of ", ElementTypeName(inputs[i].element()),
                       " for ", TypeText(type)));
    }
    values[parameters[i]] = inputs[i];
  }
  for (const auto& node : module.nodes()) {
    if (node->op == Op::kParameter) continue;
    Operands operands;
    for (const ir::Value& operand : node->operands)
      operands.push_back(value_of(operand));
    absl::StatusOr<std::vector<Literal>> results =
        ir::SetOf(node->op) == ir::OpSet::kHlo
            ? RunHloNode(*node, operands, EvaluateNode)
            : Alone(EvaluateNode(*node, operands));
    if (!results.ok()) {
      return absl::Status(results.status().code(),
                          absl::StrCat("node '", node->name,
                                       "': ", results.status().message()));
    }
    for (size_t i = 1; i < results->size(); ++i)
      more[{node.get(), static_cast<int>(i)}] = std::move((*results)[i]);
    values[node.get()] = std::move((*results)[0]);
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> RunModule(
    const ir::Module& module, const std::vector<Literal>& inputs) {
  absl::StatusOr<NodeValues> values = RunNodes(module, inputs);
  if (!values.ok()) return values.status();
  std::vector<Literal> outputs;
  for (const ir::Output& output : module.outputs) {
    outputs.push_back(values->at(output.node));
  }
  return outputs;
}

}  // namespace systole::golden
