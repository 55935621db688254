// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Attributes of the operations of quant/ (docs/tflite.md).
#ifndef SYSTOLE_HOST_IR_QUANT_ATTRIBUTES_H_
#define SYSTOLE_HOST_IR_QUANT_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

namespace systole::ir {

// Pairs are [height, width], paddings [top, left, bottom, right], clamps
// [min, max] of the quantised output.
using Ints = std::vector<int64_t>;
using Reals = std::vector<float>;

// A sliding window whose kernel is the shape of the weights. If the zero point
// is folded, the bias includes -zero_point * (sum of the weights). The sum is
// then one of plain products, and taps in the padding read the zero point.
// `uint8`: the arithmetic of TensorFlow Lite's uint8 kernels, which has its own
// factor and allows any zero point of the weights (docs/numerics.md).
struct ConvAttributes {
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  Ints padding = {0, 0, 0, 0};
  Ints clamp = {-128, 127};
  bool zero_point_folded = false;
  bool uint8 = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("stride", self.stride);
    visit("dilation", self.dilation);
    visit("padding", self.padding);
    visit("clamp", self.clamp);
    visit("zero_point_folded", self.zero_point_folded);
    visit("uint8", self.uint8);
  }
};

// [depth, height, width]; paddings [front, top, left, back, bottom, right].
struct Conv3DAttributes {
  Ints stride = {1, 1, 1};
  Ints dilation = {1, 1, 1};
  Ints padding = {0, 0, 0, 0, 0, 0};

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("stride", self.stride);
    visit("dilation", self.dilation);
    visit("padding", self.padding);
  }
};

// For a dense layer; its zero point may be folded like that of a convolution.
struct DenseAttributes {
  Ints clamp = {-128, 127};
  bool zero_point_folded = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("clamp", self.clamp);
    visit("zero_point_folded", self.zero_point_folded);
  }
};

// `uint8`: averages round halves up.
struct PoolAttributes {
  Ints kernel = {1, 1};
  Ints stride = {1, 1};
  Ints padding = {0, 0, 0, 0};
  Ints clamp = {-128, 127};
  bool uint8 = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("padding", self.padding);
    visit("clamp", self.clamp);
    visit("uint8", self.uint8);
  }
};

struct ClampAttributes {
  Ints clamp = {-128, 127};

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("clamp", self.clamp);
  }
};

struct ReduceAttributes {
  Ints axes;  // ascending

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("axes", self.axes);
  }
};

struct SoftmaxAttributes {
  float beta = 1;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("beta", self.beta);
  }
};

// For L2 normalisation. `uint8`: the arithmetic of TensorFlow Lite's uint8
// kernel.
struct RowAttributes {
  bool uint8 = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("uint8", self.uint8);
  }
};

// Elements to add before and after each dimension, and their stored value.
struct PadAttributes {
  Ints low;
  Ints high;
  int64_t value = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("low", self.low);
    visit("high", self.high);
    visit("value", self.value);
  }
};

// For operations along one dimension.
struct AxisAttributes {
  int64_t axis = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
  }
};

// The first `batch` dimensions of values and indices correspond.
struct GatherAttributes {
  int64_t axis = 0, batch = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("axis", self.axis);
    visit("batch", self.batch);
  }
};

// Dimension i of the output is dimension permutation[i] of the input.
struct TransposeAttributes {
  Ints permutation;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("permutation", self.permutation);
  }
};

// Index i of a dimension reads begin + i * stride; strides may be negative.
struct SliceAttributes {
  Ints begin;
  Ints stride;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("begin", self.begin);
    visit("stride", self.stride);
  }
};

// For a leaky ReLU: the slope below zero.
struct SlopeAttributes {
  float slope = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("slope", self.slope);
  }
};

struct GeluAttributes {
  bool approximate = false;  // by tanh

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("approximate", self.approximate);
  }
};

// Whether the last two dimensions are transposed.
struct MatmulAttributes {
  bool transpose_left = false;
  bool transpose_right = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("transpose_left", self.transpose_left);
    visit("transpose_right", self.transpose_right);
  }
};

// `uint8`: bilinear values are computed in single precision.
struct ResizeAttributes {
  bool align_corners = false;
  bool half_pixel_centers = false;
  bool uint8 = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("align_corners", self.align_corners);
    visit("half_pixel_centers", self.half_pixel_centers);
    visit("uint8", self.uint8);
  }
};

// Scales of the sums of products, of the input and of the recurrent state, in
// steps of 2^-12. Each has three, for input gate, forget gate and candidate.
// `clip` bounds the stored values of the cell; 0: no bound.
struct LstmCellAttributes {
  Reals input_factors = {1, 1, 1};
  Reals recurrent_factors = {1, 1, 1};
  int64_t clip = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("input_factors", self.input_factors);
    visit("recurrent_factors", self.recurrent_factors);
    visit("clip", self.clip);
  }
};

// The same for the output gate, and the scale and zero point with which the
// hidden value is stored, independent of the result's type.
struct LstmOutputAttributes {
  float input_factor = 1, recurrent_factor = 1;
  float hidden_scale = 1;
  int64_t hidden_zero = 0;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("input_factor", self.input_factor);
    visit("recurrent_factor", self.recurrent_factor);
    visit("hidden_scale", self.hidden_scale);
    visit("hidden_zero", self.hidden_zero);
  }
};

// Scale of the sums in steps of the result, and the number of filters that make
// one unit.
struct SvdfAttributes {
  float factor = 1;
  int64_t rank = 1;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor);
    visit("rank", self.rank);
  }
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_QUANT_ATTRIBUTES_H_
