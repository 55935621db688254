// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators whose other operands are shapes, axes or positions. Each is
// imported as one operation.
#include <tuple>

#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

constexpr size_t kMaxMask = 31;  // entries that a mask has bits for

// Begin and count of one dimension of a strided slice.
std::pair<int64_t, int64_t> Range(int64_t size, int64_t begin, int64_t end,
                                  int64_t stride, bool to_begin, bool to_end) {
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? size : size - 1;
  const auto position = [&](int64_t value) {
    return std::clamp(value < 0 ? value + size : value, low, high);
  };
  begin = to_begin ? (stride > 0 ? 0 : size - 1) : position(begin);
  end = to_end ? (stride > 0 ? size : -1) : position(end);
  const int64_t span = stride > 0 ? end - begin : begin - end;
  const int64_t step = std::abs(stride);
  return {begin, span <= 0 ? 0 : (span + step - 1) / step};
}

template <typename Options>
void Resize(Importer& in, Op op, const Options* options) {
  if (in.Read(options) == nullptr) return;
  const std::vector<int64_t> size = in.Integers(1);
  ir::Node* input = in.Value(0);
  if (!in.ok()) return;
  if (in.type().rank() != 4 || size.size() != 2 ||
      size[0] != in.type().shape[1] || size[1] != in.type().shape[2]) {
    in.Fail(
        Invalid("size ", ir::ShapeText(size), " is not that of the result"));
    return;
  }
  in.Emit(op, {input},
          ir::ResizeAttributes{options->align_corners(),
                               options->half_pixel_centers(),
                               op == Op::kResizeBilinear && in.IsUint8(0)});
}

}  // namespace

int64_t AxisOf(Importer& in, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    in.Fail(Invalid("axis ", axis, " of rank ", rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

void ImportReduce(Importer& in, Op op) {
  ir::Node* input = in.Value(0);
  ir::ReduceAttributes a;
  for (int64_t axis : in.Integers(1)) {
    if (!in.ok()) return;
    a.axes.push_back(AxisOf(in, axis, input->type.rank()));
  }
  std::sort(a.axes.begin(), a.axes.end());
  a.axes.erase(std::unique(a.axes.begin(), a.axes.end()), a.axes.end());
  in.Emit(op, {input}, a);
}

// PAD and PADV2; the latter has a value operand.
void ImportPad(Importer& in) {
  ir::Node* input = in.Value(0);
  const std::vector<int64_t> pads = in.Integers(1);
  if (!in.ok()) return;
  if (pads.size() != 2 * input->type.shape.size()) {
    in.Fail(Invalid(pads.size(), " paddings for ", ir::TypeText(input->type)));
    return;
  }
  ir::PadAttributes a;
  for (size_t i = 0; i < pads.size(); i += 2) {
    a.low.push_back(pads[i]);
    a.high.push_back(pads[i + 1]);
  }
  a.value = input->type.quantization ? input->type.quantization->zero_point : 0;
  if (in.Index(2) != -1) {
    const ir::Node* value = in.Value(2);
    if (!in.ok()) return;
    if (!value->is_constant() || value->type.elements() != 1 ||
        value->type.element == ir::ElementType::kFloat32 ||
        !(value->type.quantization == input->type.quantization)) {
      in.Fail(Unsupported("a padding value of ", ir::TypeText(value->type)));
      return;
    }
    a.value = value->literal().Visit(
        [](const auto& v) { return static_cast<int64_t>(v[0]); });
  }
  in.Emit(Op::kPad, {input}, a);
}

// For uint8, the kernel converts the operands to the scale of the result.
ir::Node* Rescaled(Importer& in, ir::Node* value) {
  if (!in.type().quantization || !value->type.quantization ||
      *value->type.quantization == *in.type().quantization)
    return value;
  ir::Type type = value->type;
  type.quantization = in.type().quantization;
  return in.Emit(Op::kRescale, type, {value}, ir::NoAttributes{});
}

void ImportConcatenation(Importer& in) {
  const auto* options = in.op().options_as_ConcatenationOptions();
  if (in.Read(options) == nullptr) return;
  if (options->activation() != tflite::Activation_NONE) {
    in.Fail(Unsupported("a fused activation"));
  }
  std::vector<ir::Value> operands;
  for (int i = 0; in.ok() && i < in.inputs(); ++i) {
    if (in.IsEmpty(i)) continue;
    ir::Node* value = in.Value(i);
    if (in.ok() && in.IsUint8(i)) value = Rescaled(in, value);
    operands.push_back(value);
  }
  if (!in.ok()) return;
  const int64_t axis = AxisOf(in, options->axis(), in.type().rank());
  in.Emit(Op::kConcatenate, operands, ir::AxisAttributes{axis});
}

void ImportTranspose(Importer& in) {
  ir::Node* input = in.Value(0);
  ir::TransposeAttributes a;
  for (int64_t axis : in.Integers(1)) {
    if (!in.ok()) return;
    a.permutation.push_back(AxisOf(in, axis, input->type.rank()));
  }
  in.Emit(Op::kTranspose, {input}, a);
}

void ImportStridedSlice(Importer& in) {
  const auto* options = in.op().options_as_StridedSliceOptions();
  if (in.Read(options) == nullptr) return;
  ir::Node* input = in.Value(0);
  const std::vector<int64_t> begin = in.Integers(1), end = in.Integers(2),
                             stride = in.Integers(3);
  if (!in.ok()) return;
  ir::Type sliced = input->type;
  if (end.size() != begin.size() || stride.size() != begin.size() ||
      begin.size() > kMaxMask) {
    in.Fail(Invalid(begin.size(), " begins, ", end.size(), " ends, ",
                    stride.size(), " strides for ", ir::TypeText(sliced)));
    return;
  }
  const auto masked = [](int32_t mask, size_t i) {
    return (mask >> i & 1) != 0;
  };
  const auto is_new = [&](size_t i) {
    return masked(options->new_axis_mask(), i) &&
           !masked(options->ellipsis_mask(), i);
  };
  // Counts the entries for dimensions of the input. An ellipsis stands for all
  // other dimensions.
  size_t given = 0, ellipses = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    ellipses += masked(options->ellipsis_mask(), i);
    given += !masked(options->ellipsis_mask(), i) && !is_new(i);
  }
  const size_t rank = sliced.shape.size();
  if (given > rank || ellipses > 1) {
    in.Fail(Invalid(given, " ranges and ", ellipses, " ellipses for ",
                    ir::TypeText(sliced)));
    return;
  }
  ir::SliceAttributes a;
  a.begin.resize(rank);
  a.stride.assign(rank, 1);
  Ints shape;     // of the result
  size_t at = 0;  // dimension of the input
  for (size_t i = 0; i < begin.size(); ++i) {
    if (masked(options->ellipsis_mask(), i)) {
      for (size_t n = given; n < rank; ++n) shape.push_back(sliced.shape[at++]);
      continue;
    }
    if (is_new(i)) {
      shape.push_back(1);
      continue;
    }
    const auto sane = [](int64_t value) {
      return -ir::kMaxElements <= value && value <= ir::kMaxElements;
    };
    if (stride[i] == 0 || !sane(stride[i]) || !sane(begin[i]) ||
        !sane(end[i])) {
      in.Fail(Invalid("dimension ", at, " from ", begin[i], " to ", end[i],
                      " by ", stride[i]));
      return;
    }
    int64_t& size = sliced.shape[at];
    a.stride[at] = stride[i];
    if (masked(options->shrink_axis_mask(), i)) {
      a.begin[at] = begin[i] < 0 ? begin[i] + size : begin[i];
      a.stride[at] = 1;
      size = 1;
    } else {
      std::tie(a.begin[at], size) =
          Range(size, begin[i], options->offset() ? begin[i] + end[i] : end[i],
                stride[i], masked(options->begin_mask(), i),
                masked(options->end_mask(), i));
      shape.push_back(size);
    }
    ++at;
  }
  for (; at < rank; ++at) shape.push_back(sliced.shape[at]);
  if (in.IsOpen(0)) {
    in.SetShape(0, shape);
  } else if (shape != in.type().shape) {
    in.Fail(Invalid("the slice is ", ir::ShapeText(shape)));
    return;
  }
  in.Emit(Op::kStridedSlice, sliced, {input}, a);
  in.Fold();
  if (in.ok() && sliced.shape != shape) {
    ir::Node* slice = in.last();
    in.Emit(Op::kReshape, in.type(), {slice}, ir::NoAttributes{});
  }
  in.Finish();
}

// The shape is static, so the result is a constant.
void ImportShape(Importer& in) {
  const ir::Node* input = in.Value(0);
  if (!in.ok()) return;
  const Ints& shape = input->type.shape;
  if (in.type().element != ir::ElementType::kInt32 ||
      in.type().shape != Ints{static_cast<int64_t>(shape.size())}) {
    in.Fail(Invalid("the shape of ", ir::TypeText(input->type), " is no ",
                    ir::TypeText(in.type())));
    return;
  }
  in.Emit(Op::kConstant, {},
          ir::MakeConstant(
              "", in.type(),
              ir::Literal(std::vector<int32_t>(shape.begin(), shape.end())))
              .attributes);
}

// Each operand gets the new axis, then the operands are concatenated.
void ImportPack(Importer& in) {
  const auto* options = in.op().options_as_PackOptions();
  if (in.Read(options) == nullptr) return;
  const int64_t axis = AxisOf(in, options->axis(), in.type().rank());
  std::vector<ir::Value> operands;
  for (int i = 0; in.ok() && i < in.inputs(); ++i) {
    ir::Node* value = in.Value(i);
    if (!in.ok()) return;
    if (value->type.rank() + 1 != in.type().rank()) {
      in.Fail(Invalid("operand ", i, " is ", ir::TypeText(value->type)));
      return;
    }
    ir::Type type = value->type;
    type.shape.insert(type.shape.begin() + axis, 1);
    operands.push_back(
        in.Emit(Op::kReshape, type, {value}, ir::NoAttributes{}));
    in.Fold();
  }
  in.Emit(Op::kConcatenate, operands, ir::AxisAttributes{axis});
}

void ImportResize(Importer& in, Op op) {
  if (op == Op::kResizeNearest) {
    Resize(in, op, in.op().options_as_ResizeNearestOptions());
  } else {
    Resize(in, op, in.op().options_as_ResizeBilinearOptions());
  }
}

}  // namespace systole::import
