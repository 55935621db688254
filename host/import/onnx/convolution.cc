// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Convolutions. Dimension 1 has the features; the spatial dimensions follow.
#include <algorithm>

#include "host/import/onnx/operators.h"
#include "host/import/onnx/products.h"

namespace systole::import {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 31;

bool InRange(const Ints& values, int64_t least) {
  return std::all_of(values.begin(), values.end(), [least](int64_t value) {
    return value >= least && value <= kMostSize;
  });
}

ir::HloConvolutionAttributes Dimensions(int64_t rank) {
  ir::HloConvolutionAttributes how;
  how.input_batch = 0;
  how.input_feature = 1;
  how.kernel_output_feature = 0;
  how.kernel_input_feature = 1;
  how.output_batch = 0;
  how.output_feature = 1;
  how.input_spatial = how.kernel_spatial = how.output_spatial = Range(2, rank);
  const Ints ones(rank - 2, 1), zeros(rank - 2, 0);
  how.stride = how.lhs_dilation = how.rhs_dilation = ones;
  how.low = how.high = how.reversal = zeros;
  return how;
}

Value WithBias(OnnxNode& n, const Value& y, size_t input) {
  if (!n.Has(input)) return y;
  const Value bias = n.In(input);
  if (!n.Check(bias.type().rank() == 1, "a bias of ",
               ir::TypeText(bias.type())))
    return y;
  return n.b.Binary(Op::kHloAdd, y,
                    n.b.BroadcastInDim(bias, y.type().shape, {1}));
}

bool CheckOperands(OnnxNode& n, const Value& x, const Value& kernel) {
  const int64_t rank = x.type().rank();
  if (!n.Check(rank >= 3 && kernel.type().rank() == rank, "a convolution of ",
               ir::TypeText(x.type()), " by ", ir::TypeText(kernel.type())))
    return false;
  const Ints sizes(kernel.type().shape.begin() + 2, kernel.type().shape.end());
  return n.Check(n.List("kernel_shape", sizes) == sizes,
                 "kernel_shape is not that of ", ir::TypeText(kernel.type()));
}

Values Conv(OnnxNode& n) {
  return {WithBias(n, Convolve(n, n.In(0), n.In(1)), 2)};
}

// Reorders the kernel of ConvTranspose from [C, M / group, ...] to [C / group,
// M, ...].
Value Regrouped(HloBuilder& b, const Value& kernel, int64_t group) {
  if (group == 1) return kernel;
  const Ints shape = kernel.type().shape;
  Ints split = {group, shape[0] / group},
       joined = {shape[0] / group, shape[1] * group};
  split.insert(split.end(), shape.begin() + 1, shape.end());
  joined.insert(joined.end(), shape.begin() + 2, shape.end());
  Ints order = Range(0, static_cast<int64_t>(split.size()));
  std::swap(order[0], order[1]);
  return b.Reshape(b.Transpose(b.Reshape(kernel, split), order), joined);
}

Values ConvTranspose(OnnxNode& n) {
  HloBuilder& b = n.b;
  const Value x = n.In(0), kernel = n.In(1);
  if (!CheckOperands(n, x, kernel)) return {};
  const Ints shape = x.type().shape, window = kernel.type().shape;
  const int64_t rank = x.type().rank(), group = n.Int("group", 1);
  if (!n.Check(group >= 1 && window[0] % group == 0, "group ", group))
    return {};
  const Ints ones(rank - 2, 1), zeros(rank - 2, 0);
  const Ints strides = n.List("strides", ones),
             dilations = n.List("dilations", ones),
             more = n.List("output_padding", zeros),
             wanted = n.List("output_shape");
  Ints pads = n.List("pads", Ints(2 * (rank - 2), 0));
  const std::string automatic = n.Text("auto_pad", "NOTSET");
  const size_t spatial = rank - 2;
  if (!b.ok() ||
      !n.Check(strides.size() == spatial && dilations.size() == spatial &&
                   more.size() == spatial && pads.size() == 2 * spatial &&
                   (wanted.empty() || wanted.size() == spatial ||
                    wanted.size() == spatial + 2) &&
                   InRange(strides, 1) && InRange(dilations, 1) &&
                   InRange(more, 0) && InRange(pads, -kMostSize) &&
                   InRange(wanted, 0),
               "lists of the window"))
    return {};
  ir::HloConvolutionAttributes how = Dimensions(rank);
  how.kernel_input_feature = 0;
  how.kernel_output_feature = 1;
  how.feature_group_count = group;
  how.reversal = ones;
  how.lhs_dilation = strides;
  how.rhs_dilation = dilations;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t span = Span(window[i + 2], dilations[i]);
    const int64_t size = shape[i + 2];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    int64_t low = pads[i], high = pads[i + spatial];
    if (!wanted.empty() || same) {
      const int64_t out = wanted.empty() ? size * strides[i]
                                         : wanted[wanted.size() - spatial + i];
      const int64_t total = strides[i] * (size - 1) + more[i] + span - out;
      // An odd element of padding goes to the beginning, or to the end for
      // SAME_UPPER. A negative total is taken off the end.
      low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      if (total < 0) low = 0;
      high = total - low;
    }
    if (automatic == "VALID") low = high = 0;
    how.low[i] = span - 1 - low;
    how.high[i] = span - 1 - high + more[i];
  }
  return {WithBias(n, b.Convolution(x, Regrouped(b, kernel, group), how), 2)};
}

}  // namespace

NodeWindows WindowsOf(OnnxNode& n, const Ints& sizes, const Ints& kernel) {
  const size_t spatial = sizes.size();
  const Ints ones(spatial, 1);
  NodeWindows w;
  w.kernel = kernel;
  w.strides = n.List("strides", ones);
  w.dilations = n.List("dilations", ones);
  const Ints pads = n.List("pads", Ints(2 * spatial, 0));
  const std::string automatic = n.Text("auto_pad", "NOTSET");
  const bool ceil = n.HasAttribute("ceil_mode") && n.Int("ceil_mode", 0) != 0;
  if (!n.Check(
          w.kernel.size() == spatial && w.strides.size() == spatial &&
              w.dilations.size() == spatial && pads.size() == 2 * spatial &&
              InRange(w.kernel, 1) && InRange(w.strides, 1) &&
              InRange(w.dilations, 1) && InRange(pads, 0) && InRange(sizes, 1),
          "a window of ", ir::ShapeText(w.kernel), ", strides ",
          ir::ShapeText(w.strides), ", dilations ", ir::ShapeText(w.dilations),
          ", pads ", ir::ShapeText(pads), " of ", ir::ShapeText(sizes)))
    return {};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t span = Span(w.kernel[i], w.dilations[i]),
                  stride = w.strides[i], size = sizes[i];
    int64_t low = pads[i], high = pads[i + spatial], extra = 0;
    if (automatic == "VALID") low = high = 0;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const int64_t out = (size + stride - 1) / stride;
      const int64_t total =
          std::max<int64_t>((out - 1) * stride + span - size, 0);
      low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    } else if (ceil && size + low + high >= span) {
      int64_t out = (size + low + high - span + stride - 1) / stride + 1;
      // The last window must begin inside the input.
      if ((out - 1) * stride >= size + low) --out;
      extra =
          std::max<int64_t>((out - 1) * stride + span - (size + low + high), 0);
    }
    if (!n.Check(size + low + high + extra >= span, "a window of ",
                 ir::ShapeText(w.kernel), " is larger than ",
                 ir::ShapeText(sizes)))
      return {};
    w.low.push_back(low);
    w.high.push_back(high);
    w.extra.push_back(extra);
  }
  return w;
}

Value Convolve(OnnxNode& n, const Value& x, const Value& kernel) {
  if (!CheckOperands(n, x, kernel)) return n.b.Fail({});
  const Ints sizes(x.type().shape.begin() + 2, x.type().shape.end()),
      window(kernel.type().shape.begin() + 2, kernel.type().shape.end());
  const NodeWindows w = WindowsOf(n, sizes, window);
  if (!n.b.ok()) return n.b.Fail({});
  ir::HloConvolutionAttributes how = Dimensions(x.type().rank());
  how.stride = w.strides;
  how.rhs_dilation = w.dilations;
  how.low = w.low;
  how.high = w.high;
  how.feature_group_count = n.Int("group", 1);
  return n.b.Convolution(x, kernel, how);
}

OnnxOperators ConvolutionOperators() {
  return {{"Conv", 2, 3, Conv}, {"ConvTranspose", 2, 3, ConvTranspose}};
}

}  // namespace systole::import
