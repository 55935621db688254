// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions, and the windows that pools share with them.
#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

// Converts the weights of a convolution with one group per channel to those of
// a depthwise convolution: [o,h,w,1] to [1,h,w,o].
ir::Node* DepthwiseWeights(Importer& in, const ir::Node& weights,
                           int64_t channels) {
  const Ints& shape = weights.type.shape;
  if (shape[0] % channels != 0) {
    in.Fail(Invalid(channels, " channels for weights ",
                    ir::TypeText(weights.type)));
    return nullptr;
  }
  ir::Type type = weights.type;
  type.shape = {1, shape[1], shape[2], shape[0]};
  if (type.quantization && type.quantization->per_channel())
    type.quantization->axis = 3;
  const std::vector<int8_t>& from = weights.literal().values<int8_t>();
  std::vector<int8_t> values(from.size());
  const int64_t taps = shape[1] * shape[2];
  for (int64_t o = 0; o < shape[0]; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap)
      values[tap * shape[0] + o] = from[o * taps + tap];
  }
  return in.Constant(type, ir::Literal(std::move(values)));
}

// Expands the weights of groups to weights of all channels. Weights between
// groups are 0.
ir::Node* Ungrouped(Importer& in, const ir::Node& weights, int64_t channels) {
  const Ints& shape = weights.type.shape;
  const int64_t depth = shape[3], groups = channels / depth;
  if (channels % depth != 0 || shape[0] % groups != 0) {
    in.Fail(Invalid(channels, " channels for weights ",
                    ir::TypeText(weights.type)));
    return nullptr;
  }
  ir::Type type = weights.type;
  type.shape[3] = channels;
  if (type.elements() > ir::kMaxElements) {
    in.Fail(Invalid("weights ", ir::TypeText(type), " are too large"));
    return nullptr;
  }
  if (!weights.is_constant() || type.element != ir::ElementType::kInt8) {
    in.Fail(Unsupported("groups with weights ", ir::TypeText(weights.type),
                        " that are not constants of i8"));
    return nullptr;
  }
  const std::vector<int8_t>& from = weights.literal().values<int8_t>();
  std::vector<int8_t> values(
      type.elements(), static_cast<int8_t>(type.quantization->zero_point));
  const int64_t taps = shape[1] * shape[2];
  for (int64_t o = 0; o < shape[0]; ++o) {
    const int64_t first = o / (shape[0] / groups) * depth;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const auto begin = from.begin() + (o * taps + tap) * depth;
      std::copy(begin, begin + depth,
                values.begin() + (o * taps + tap) * channels + first);
    }
  }
  return in.Constant(type, ir::Literal(std::move(values)));
}

// A bias may have further dimensions of size 1.
ir::Node* Bias(Importer& in, int i) {
  ir::Node* const bias = in.Value(i);
  if (!in.ok() || bias->type.rank() == 1) return bias;
  ir::Type type = bias->type;
  type.shape = {type.elements()};
  if (type.quantization) type.quantization->axis = 0;
  if (bias->is_constant()) return in.Constant(type, bias->literal());
  return in.Emit(Op::kReshape, type, {bias}, ir::NoAttributes{});
}

// Whether the images may be stacked as rows of one image: then no window spans
// two of them.
bool RowsAreApart(const ir::ConvAttributes& a, const ir::Type& input,
                  const ir::Type& weights, const ir::Type& result) {
  return input.shape[0] > 1 && weights.shape[1] == 1 && a.stride[0] == 1 &&
         a.padding[0] == 0 && a.padding[2] == 0 && result.rank() == 4 &&
         result.shape[0] == input.shape[0] && result.shape[1] == input.shape[1];
}

// The device processes the number of images that all inputs have. Other batches
// are stacked as rows of one image.
void EmitAsOneImage(Importer& in, Op op, std::vector<ir::Value> operands,
                    const ir::ConvAttributes& a) {
  const auto one_image = [](ir::Type type) {
    type.shape[1] *= type.shape[0];
    type.shape[0] = 1;
    return type;
  };
  operands[0] = in.Emit(Op::kReshape, one_image(operands[0]->type),
                        {operands[0]}, ir::NoAttributes{});
  ir::Node* rows = in.Emit(op, one_image(in.type()), operands, a);
  in.Emit(Op::kReshape, {rows}, ir::NoAttributes{});
}

// Both kinds of convolution; their options have the same fields.
template <typename Options>
void Convolution(Importer& in, Op op, const Options* options) {
  if (in.Read(options) == nullptr) return;
  std::vector<ir::Value> operands = WeightedOperands(in);
  ir::ConvAttributes a;
  a.uint8 = in.IsUint8(0);
  a.stride = {options->stride_h(), options->stride_w()};
  a.dilation = {options->dilation_h(), options->dilation_w()};
  a.clamp = in.Clamp(options->activation());
  if (!in.ok()) return;
  const ir::Type& weights = operands[1]->type;
  if (weights.rank() != 4) {
    in.Fail(Invalid("weights ", ir::TypeText(weights), " not of rank 4"));
    return;
  }
  const ir::Type& input = operands[0]->type;
  if (op == Op::kConv2D && input.rank() == 4 &&
      input.shape[3] != weights.shape[3]) {
    const bool each = weights.shape[3] == 1 && operands[1]->is_constant() &&
                      weights.element == ir::ElementType::kInt8;
    if (each) op = Op::kDepthwiseConv2D;
    operands[1] = each ? DepthwiseWeights(in, *operands[1], input.shape[3])
                       : Ungrouped(in, *operands[1], input.shape[3]);
    if (!in.ok()) return;
  }
  a.padding =
      PaddingOf(in, input, options->padding(),
                {weights.shape[1], weights.shape[2]}, a.stride, a.dilation);
  if (in.ok() && input.shape[0] != in.Images() &&
      RowsAreApart(a, input, weights, in.type())) {
    EmitAsOneImage(in, op, operands, a);
    return;
  }
  in.Emit(op, operands, a);
}

}  // namespace

Ints PaddingOf(Importer& in, const ir::Type& input, tflite::Padding padding,
               const Ints& kernel, const Ints& stride, const Ints& dilation) {
  Ints pads = {0, 0, 0, 0};
  if (!in.ok()) return pads;
  if (input.rank() != 4) {
    in.Fail(Invalid("input ", ir::TypeText(input), " not of rank 4"));
    return pads;
  }
  for (const Ints& values : {kernel, stride, dilation}) {
    for (int64_t value : values) {
      if (value < 1 || value > kMaxWindow) {
        in.Fail(Invalid("kernel ", ir::ShapeText(kernel), ", stride ",
                        ir::ShapeText(stride), ", dilation ",
                        ir::ShapeText(dilation)));
        return pads;
      }
    }
  }
  if (padding == tflite::Padding_VALID) return pads;
  if (padding != tflite::Padding_SAME) {
    in.Fail(Invalid("padding ", static_cast<int>(padding)));
    return pads;
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t total =
        SamePadding(input.shape[1 + i], kernel[i], stride[i], dilation[i]);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  return pads;
}

int64_t Positions(int64_t size, int64_t kernel, int64_t stride,
                  int64_t dilation, bool same) {
  if (stride < 1) return 0;
  const int64_t extent = same ? 1 : (kernel - 1) * dilation + 1;
  return size < extent ? 0 : (size - extent) / stride + 1;
}

int64_t SamePadding(int64_t size, int64_t kernel, int64_t stride,
                    int64_t dilation) {
  const int64_t positions = (size + stride - 1) / stride;
  const int64_t extent = dilation * (kernel - 1) + 1;
  return std::max<int64_t>((positions - 1) * stride + extent - size, 0);
}

std::vector<ir::Value> WeightedOperands(Importer& in) {
  std::vector<ir::Value> operands = {in.Value(0), in.Value(1)};
  if (in.inputs() > 3) in.Fail(Invalid(in.inputs(), " operands"));
  if (in.Index(2) != -1) operands.push_back(Bias(in, 2));
  return operands;
}

void ImportConvolution(Importer& in) {
  Convolution(in, Op::kConv2D, in.op().options_as_Conv2DOptions());
}

void ImportDepthwise(Importer& in) {
  const auto* options = in.op().options_as_DepthwiseConv2DOptions();
  const ir::Node* input = in.Value(0);
  const ir::Node* weights = in.Value(1);
  if (in.Read(options) == nullptr || !in.ok()) return;
  const int64_t multiplier = options->depth_multiplier();
  if (multiplier != 0 && input->type.rank() == 4 && weights->type.rank() == 4 &&
      input->type.shape[3] * multiplier != weights->type.shape[3]) {
    in.Fail(Invalid("depth multiplier ", multiplier, " does not fit the ",
                    "shapes"));
  }
  Convolution(in, Op::kDepthwiseConv2D, options);
}

// Imported as a convolution with mirrored weights, over the input with zeros
// between its values.
void ImportTransposeConvolution(Importer& in) {
  const auto* options = in.op().options_as_TransposeConvOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* weights = in.Value(1);
  ir::Node* input = in.Value(2);
  ir::ConvAttributes a;
  a.uint8 = in.IsUint8(2);
  a.clamp = in.Clamp(options->activation());
  if (!in.ok()) return;
  const ir::Type from = input->type, result = in.type();
  const ir::Type type = weights->type;
  if (from.rank() != 4 || result.rank() != 4 || type.rank() != 4) {
    in.Fail(Invalid(ir::TypeText(from), " by ", ir::TypeText(type), " to ",
                    ir::TypeText(result)));
    return;
  }
  if (!weights->is_constant() || type.element != ir::ElementType::kInt8 ||
      !from.quantization) {
    in.Fail(Unsupported("weights ", ir::TypeText(type),
                        " that are not constants of i8"));
    return;
  }
  const Ints stride = {options->stride_h(), options->stride_w()};
  const Ints kernel = {type.shape[1], type.shape[2]};
  Ints high;  // padding after the last value; negative: cropped
  for (int i = 0; i < 2; ++i) {
    const int64_t size = from.shape[1 + i], wanted = result.shape[1 + i];
    if (stride[i] < 1 || stride[i] > kMaxWindow || kernel[i] > kMaxWindow ||
        size * stride[i] > ir::kMaxElements) {
      in.Fail(Invalid("kernel ", ir::ShapeText(kernel), ", stride ",
                      ir::ShapeText(stride)));
      return;
    }
    int64_t before = 0;
    if (options->padding() == tflite::Padding_SAME) {
      const int64_t extent = (size - 1) * stride[i] + kernel[i];
      before = std::max<int64_t>(extent - wanted, 0) / 2;
    }
    if (before >= kernel[i]) {
      in.Fail(
          Unsupported("a padding of ", before, " for a kernel of ", kernel[i]));
      return;
    }
    a.padding[i] = kernel[i] - 1 - before;
    high.push_back(wanted - size * stride[i] - a.padding[i] + kernel[i] - 1);
    a.padding[i + 2] = std::max<int64_t>(high[i], 0);
  }
  ir::Node* spread = input;
  if (stride != Ints{1, 1}) {
    const Ints& s = from.shape;
    ir::Type shape = from;
    const auto emit = [&](Op op, Ints sizes, ir::Attributes attributes) {
      shape.shape = std::move(sizes);
      spread = in.Emit(op, shape, {spread}, std::move(attributes));
    };
    emit(Op::kReshape, {s[0], s[1], 1, s[2], 1, s[3]}, ir::NoAttributes{});
    emit(Op::kPad, {s[0], s[1], stride[0], s[2], stride[1], s[3]},
         ir::PadAttributes{{0, 0, 0, 0, 0, 0},
                           {0, 0, stride[0] - 1, 0, stride[1] - 1, 0},
                           from.quantization->zero_point});
    emit(Op::kReshape, {s[0], s[1] * stride[0], s[2] * stride[1], s[3]},
         ir::NoAttributes{});
    if (high[0] < 0 || high[1] < 0) {
      const auto cut = [&](int i) {
        return s[1 + i] * stride[i] + std::min<int64_t>(high[i], 0);
      };
      emit(Op::kStridedSlice, {s[0], cut(0), cut(1), s[3]},
           ir::SliceAttributes{{0, 0, 0, 0}, {1, 1, 1, 1}});
    }
  }
  if (!in.ok()) return;
  const std::vector<int8_t>& taps = weights->literal().values<int8_t>();
  std::vector<int8_t> mirrored(taps.size());
  const int64_t window = kernel[0] * kernel[1], depth = type.shape[3];
  for (int64_t o = 0; o < type.shape[0]; ++o) {
    for (int64_t tap = 0; tap < window; ++tap) {
      const auto begin = taps.begin() + (o * window + tap) * depth;
      std::copy(begin, begin + depth,
                mirrored.begin() + (o * window + window - 1 - tap) * depth);
    }
  }
  std::vector<ir::Value> operands = {
      spread, in.Constant(type, ir::Literal(std::move(mirrored)))};
  if (in.Index(3) != -1) operands.push_back(Bias(in, 3));
  in.Emit(Op::kConv2D, operands, a);
}

}  // namespace systole::import
