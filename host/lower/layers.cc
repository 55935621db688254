// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/lower/layers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/quant/kernels.h"
#include "host/lower/means.h"
#include "host/lower/products.h"
#include "host/lower/requantise.h"
#include "host/lower/tensors.h"

namespace systole::lower {
namespace {

using ir::Node;
using ir::Op;

template <typename... Parts>
absl::Status Unsupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

bool SameShape(const model::Tensor& a, const model::Tensor& b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

// Builds one layer.
class Builder {
 public:
  Builder(const Node& node, const Tables& tables, const TensorIndices& tensors,
          const model::Network& network, const Target* target, int64_t images)
      : node_(node),
        tables_(tables),
        tensors_(tensors),
        network_(network),
        target_(target),
        images_(images) {
    layer_.name = node.name;
  }

  // Builds a mean, which may take several layers.
  absl::StatusOr<int> Mean(model::Network& network) {
    if (absl::Status s = AddInput(0, false); !s.ok()) return s;
    return AppendMean(node_, layer_.inputs[0], target_, images_, network);
  }

  absl::StatusOr<model::Layer> Run() {
    const Node* argument = tables_.ArgumentOf(&node_);
    const absl::Status status =
        argument != nullptr ? Table(*argument) : Dispatch();
    if (!status.ok()) return status;
    return std::move(layer_);
  }

 private:
  absl::Status Dispatch() {
    switch (node_.op) {
      case Op::kConv2D:
      case Op::kDepthwiseConv2D:
        return Convolution();
      case Op::kFullyConnected:
        return Dense();
      case Op::kDenseSums:
        return ProductSums();
      case Op::kAdd:
      case Op::kSub:
        return Add();
      case Op::kAveragePool:
      case Op::kMaxPool:
        return Pool();
      case Op::kMul:
        return Mul();
      case Op::kPad:
        return Pad();
      case Op::kConcatenate:
        return Concat();
      case Op::kStridedSlice:
        return Slice();
      default:
        return Unsupported("the device has no such operation");
    }
  }

  // Adds operand `i` as an input of the layer, in the shape that the node sees.
  // A reshape before it is only allowed where the shape does not matter.
  absl::Status AddInput(int i, bool any_shape) {
    return AddInput(*node_.operands[i], any_shape);
  }

  // For windows: the input must have one height.
  absl::Status AddImage() {
    const ir::Type& type = node_.operands[0]->type;
    if (OuterOf(type, images_) == 1) return AddInput(0, false);
    return Unsupported(ir::TypeText(type), " is of several images");
  }

  absl::Status AddInput(const Node& operand, bool any_shape) {
    const auto found = tensors_.find(&operand);
    if (found == tensors_.end()) {
      return Unsupported("operand '", operand.name,
                         "' is not a value of the device");
    }
    const absl::StatusOr<model::Tensor> seen = TensorOf(operand, images_);
    if (!seen.ok()) return seen.status();
    if (!any_shape && !SameShape(*seen, network_.tensors[found->second])) {
      return Unsupported("operand '", operand.name,
                         "' has another shape than in memory");
    }
    layer_.inputs.push_back(found->second);
    return absl::OkStatus();
  }

  void SetClamp(const ir::Ints& clamp) {
    layer_.clamp_min = static_cast<int>(clamp[0]);
    layer_.clamp_max = static_cast<int>(clamp[1]);
  }

  float ScaleOf(int operand) const {
    return node_.operands[operand]->quantization().scale();
  }

  // Adds the weights of a layer with `channels` channels; they must be
  // constants.
  absl::Status AddWeights(int64_t channels) {
    if (!std::all_of(node_.operands.begin() + 1, node_.operands.end(),
                     [](const Node* n) { return n->is_constant(); })) {
      return Unsupported("weights and bias are not constants");
    }
    layer_.weights = node_.operands[1]->literal().values<int8_t>();
    layer_.bias.assign(channels, 0);
    if (node_.operands.size() == 3)
      layer_.bias = node_.operands[2]->literal().values<int32_t>();
    layer_.weight_zero_point = node_.operands[1]->quantization().zero_point;
    if (node_.op == Op::kDepthwiseConv2D)
      layer_.weights = ByChannel(layer_.weights, channels);
    return CheckSums(node_, layer_.weights, layer_.bias);
  }

  absl::Status Convolution() {
    const auto& a = node_.attr<ir::ConvAttributes>();
    const ir::Ints& shape = node_.operands[1]->type.shape;
    const bool depthwise = node_.op == Op::kDepthwiseConv2D;
    layer_.op = depthwise ? model::Op::kDepthwise : model::Op::kConv2D;
    absl::Status status = AddImage();
    const int64_t channels = depthwise ? shape[3] : shape[0];
    if (status.ok()) status = AddWeights(channels);
    if (!status.ok()) return status;
    if (a.zero_point_folded) return Unsupported("a folded zero point");
    layer_.window = WindowOf({shape[1], shape[2]}, a.stride, a.padding);
    layer_.window.dilation_h = static_cast<int>(a.dilation[0]);
    layer_.window.dilation_w = static_cast<int>(a.dilation[1]);
    SetClamp(a.clamp);
    for (int64_t c = 0; c < channels; ++c) {
      const absl::StatusOr<model::Requant> requant =
          QuantiseMultiplier(ir::ProductFactor(node_, c));
      if (!requant.ok()) return requant.status();
      layer_.requant.push_back(*requant);
    }
    return absl::OkStatus();
  }

  absl::Status Dense() {
    const auto& a = node_.attr<ir::DenseAttributes>();
    const ir::Ints& shape = node_.operands[1]->type.shape;
    const bool one_row =
        node_.operands[0]->type.elements() == images_ * shape[1];
    layer_.op = one_row ? model::Op::kDense : model::Op::kConv2D;
    absl::Status status = AddInput(0, true);
    if (status.ok()) status = AddWeights(shape[0]);
    if (status.ok() && !one_row) status = CheckPixels(shape[1]);
    if (!status.ok()) return status;
    if (a.zero_point_folded) return Unsupported("a folded zero point");
    SetClamp(a.clamp);
    const absl::StatusOr<DenseRequant> requant = ExactDenseRequant(
        ChannelSums(node_, layer_.weights, layer_.bias),
        {node_.quantization().zero_point, layer_.clamp_min, layer_.clamp_max});
    if (!requant.ok()) return requant.status();
    layer_.requant = requant->channels;
    layer_.rounding = requant->rounding;
    return absl::OkStatus();
  }

  absl::Status ProductSums() {
    layer_.op = model::Op::kSums;
    if (absl::Status status = AddInput(0, false); !status.ok()) return status;
    if (!node_.operands[1]->is_constant())
      return Unsupported("weights are not constants");
    layer_.weights = node_.operands[1]->literal().values<int8_t>();
    return absl::OkStatus();
  }

  // A product with many rows is a convolution whose pixels are the rows, if a
  // pixel has the same length in memory.
  absl::Status CheckPixels(int64_t depth) const {
    if (network_.tensors[layer_.inputs[0]].channels == depth) {
      return absl::OkStatus();
    }
    return Unsupported("rows that are no pixels in memory");
  }

  // Adds the two operands. A vector of channels that is repeated over all
  // positions comes second. Returns the number of the first operand.
  absl::StatusOr<int> AddPair() {
    const int first =
        node_.operands[0]->type.elements() == node_.type.elements() ? 0 : 1;
    for (const int i : {first, 1 - first}) {
      const absl::Status status = AddInput(i, false);
      if (!status.ok()) return status;
    }
    const absl::StatusOr<model::Tensor> result = TensorOf(node_, images_);
    if (!result.ok()) return result.status();
    const model::Tensor& a = network_.tensors[layer_.inputs[0]];
    const model::Tensor& b = network_.tensors[layer_.inputs[1]];
    const bool repeated =
        b.height == 1 && b.width == 1 && b.channels == result->channels;
    if (!SameShape(a, *result) || !(repeated || SameShape(b, *result)))
      return Unsupported("shapes that differ but for a vector of channels");
    return first;
  }

  absl::Status Add() {
    layer_.op = model::Op::kAdd;
    const absl::StatusOr<int> first = AddPair();
    if (!first.ok()) return first.status();
    SetClamp(node_.attr<ir::ClampAttributes>().clamp);
    const double twice = 2 * std::max(ScaleOf(0), ScaleOf(1));
    const double factors[] = {
        ScaleOf(0) / twice, ScaleOf(1) / twice,
        twice / ((1 << 20) * double{node_.quantization().scale()})};
    for (int i = 0; i < 3; ++i) {
      const absl::StatusOr<model::Requant> requant =
          QuantiseMultiplier(factors[i]);
      if (!requant.ok()) return requant.status();
      layer_.add[i] = *requant;
    }
    // A difference adds the product with a negative factor.
    if (node_.op == Op::kSub)
      layer_.add[1].multiplier = -layer_.add[1].multiplier;
    if (*first == 1) std::swap(layer_.add[0], layer_.add[1]);
    return absl::OkStatus();
  }

  absl::Status Table(const Node& argument) {
    layer_.op = model::Op::kTable;
    if (absl::Status status = AddInput(argument, false); !status.ok())
      return status;
    layer_.table = tables_.TableOf(&node_);
    return absl::OkStatus();
  }

  absl::Status Mul() {
    layer_.op = model::Op::kMul;
    const absl::StatusOr<int> first = AddPair();
    if (!first.ok()) return first.status();
    SetClamp(node_.attr<ir::ClampAttributes>().clamp);
    // In single precision, as specified.
    const float real = ScaleOf(0) * ScaleOf(1) / node_.quantization().scale();
    const absl::StatusOr<model::Requant> requant = QuantiseMultiplier(real);
    if (!requant.ok()) return requant.status();
    layer_.requant = {*requant};
    return absl::OkStatus();
  }

  // Of channels, along the width, or of lines if the sizes before them are 1.
  absl::Status Concat() {
    layer_.op = model::Op::kConcat;
    const int64_t axis = node_.attr<ir::AxisAttributes>().axis;
    if ((axis + 2 < node_.type.rank() &&
         SizeBefore(node_.type, axis, images_) > 1) ||
        (images_ > 1 && axis == 0))
      return Unsupported("a concatenation of several parts of each operand");
    for (size_t i = 0; i < node_.operands.size(); ++i) {
      if (absl::Status s = AddInput(static_cast<int>(i), false); !s.ok())
        return s;
    }
    return absl::OkStatus();
  }

  // Lines and positions may be strided; channels must be contiguous.
  absl::Status Slice() {
    layer_.op = model::Op::kSlice;
    if (absl::Status status = AddInput(0, false); !status.ok()) return status;
    const auto& a = node_.attr<ir::SliceAttributes>();
    const int rank = node_.type.rank();
    int* const strides[] = {nullptr, &layer_.window.stride_w,
                            &layer_.window.stride_h};
    for (int i = 0; i < rank; ++i) {
      const int axis = rank - 1 - i;
      const bool one = node_.type.shape[axis] == 1;
      const int64_t stride = one ? 1 : a.stride[axis];
      if (stride < 1 || stride > model::kMaxDimension)
        return Unsupported("a slice that goes backwards");
      if (i == 0 && stride != 1)
        return Unsupported("a slice of channels that do not lie together");
      if (images_ > 1 && axis == 0) continue;  // stays whole
      const bool whole =
          a.begin[axis] == 0 && stride == 1 &&
          node_.type.shape[axis] == node_.operands[0]->type.shape[axis];
      if (i >= 2 && !whole && OuterOf(node_.operands[0]->type, images_) > 1)
        return Unsupported("a slice of several dimensions before the last two");
      if (i >= 3) continue;
      layer_.begin[2 - i] = static_cast<int>(a.begin[axis]);
      if (i > 0) *strides[i] = static_cast<int>(stride);
    }
    return absl::OkStatus();
  }

  // A depthwise convolution of one tap with weight 1 and a factor of exactly 1.
  // The padding is the zero point.
  absl::Status Pad() {
    const auto& a = node_.attr<ir::PadAttributes>();
    if (node_.type.rank() != 4 || a.low[0] + a.high[0] != 0 ||
        a.low[3] + a.high[3] != 0)
      return Unsupported("padding of other axes than height and width");
    if (a.value != node_.quantization().zero_point)
      return Unsupported("padding by another value than the zero point");
    layer_.op = model::Op::kDepthwise;
    if (absl::Status status = AddImage(); !status.ok()) return status;
    layer_.window =
        WindowOf({1, 1}, {1, 1}, {a.low[1], a.low[2], a.high[1], a.high[2]});
    const absl::StatusOr<model::Requant> one = QuantiseMultiplier(1);
    if (!one.ok()) return one.status();
    const size_t channels = network_.tensors[layer_.inputs[0]].channels;
    layer_.weights.assign(channels, 1);
    layer_.bias.assign(channels, 0);
    layer_.requant.assign(channels, *one);
    return absl::OkStatus();
  }

  absl::Status Pool() {
    const auto& a = node_.attr<ir::PoolAttributes>();
    const bool max = node_.op == Op::kMaxPool;
    layer_.op = max ? model::Op::kMaxPool : model::Op::kAveragePool;
    absl::Status status = AddImage();
    if (status.ok()) status = CheckPool(a);
    if (!status.ok()) return status;
    layer_.window = WindowOf(a.kernel, a.stride, a.padding);
    SetClamp(a.clamp);
    if (max || !a.uint8) return absl::OkStatus();
    const absl::StatusOr<model::Requant> requant = RequantOfAverage(node_);
    if (!requant.ok()) return requant.status();
    layer_.op = model::Op::kMean;
    layer_.requant = {*requant};
    return absl::OkStatus();
  }

  const Node& node_;
  const Tables& tables_;
  const TensorIndices& tensors_;
  const model::Network& network_;
  const Target* const target_;
  const int64_t images_;
  model::Layer layer_;
};

}  // namespace

absl::StatusOr<int> AddTensor(model::Network& network, const Node& node,
                              int64_t images) {
  absl::StatusOr<model::Tensor> tensor = TensorOf(node, images);
  if (!tensor.ok()) return tensor.status();
  network.tensors.push_back(*std::move(tensor));
  return static_cast<int>(network.tensors.size() - 1);
}

absl::Status AppendLayer(const Node& node, const Tables& tables,
                         const Target* target, int64_t images,
                         TensorIndices& tensors, model::Network& network) {
  Builder builder(node, tables, tensors, network, target, images);
  if ((node.op == Op::kMean || node.op == Op::kSum) && node.type.quantization &&
      tables.ArgumentOf(&node) == nullptr) {
    const absl::StatusOr<int> output = builder.Mean(network);
    if (output.ok()) tensors[&node] = *output;
    return output.status();
  }
  absl::StatusOr<model::Layer> layer = builder.Run();
  if (!layer.ok()) return layer.status();
  const absl::StatusOr<int> output = AddTensor(network, node, images);
  if (!output.ok()) return output.status();
  layer->output = *output;
  if (node.op == Op::kFullyConnected && layer->op == model::Op::kConv2D) {
    // A row stays at the position of its pixel.
    const model::Tensor& input = network.tensors[layer->inputs[0]];
    network.tensors[*output].height = input.height;
    network.tensors[*output].width = input.width;
  }
  if (layer->op == model::Op::kMaxPool ||
      layer->op == model::Op::kAveragePool) {
    // The scales of a pool may differ in the last bits.
    network.tensors[*output].scale = network.tensors[layer->inputs[0]].scale;
  }
  network.layers.push_back(*std::move(layer));
  tensors[&node] = *output;
  return absl::OkStatus();
}

}  // namespace systole::lower
