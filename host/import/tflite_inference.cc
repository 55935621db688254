// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Infers result shapes that the file leaves open, from the operands. Invalid
// operands are reported later, by the import of the operator.
#include <algorithm>
#include <numeric>

#include "host/import/tflite_operator.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using ir::Ints;
using B = tflite::BuiltinOperator;

int64_t ElementsOf(const Ints& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size > 0 && product > ir::kMaxElements / size) return 0;
    product *= size;
  }
  return product;
}

// A size of -1 stands for the remaining elements.
Ints Resolved(Ints shape, int64_t elements) {
  for (int64_t size : shape) {
    if (size > 0) elements /= size;
  }
  std::replace(shape.begin(), shape.end(), int64_t{-1}, elements);
  return shape;
}

int64_t Bounded(int64_t size) {
  return std::clamp<int64_t>(size, 0, ir::kMaxElements);
}

class Inference {
 public:
  Inference(Importer& in, B code) : in_(in), code_(code) {}

  // The shape of output `i`.
  Ints Run(int i) {
    switch (code_) {
      case B::BuiltinOperator_RESHAPE:
        // If the shape operand is not constant, the shape in the file may still
        // be right.
        if (in_.inputs() < 2 || !in_.IsKnown(1)) return in_.type(i).shape;
        return Resolved(in_.Integers(1), ElementsOf(Shape(0)));
      case B::BuiltinOperator_SQUEEZE:
        return Squeezed();
      case B::BuiltinOperator_EXPAND_DIMS:
        return With(in_.Integers(1), 1);
      case B::BuiltinOperator_CONV_2D:
        return Convolved(in_.op().options_as_Conv2DOptions(), 0);
      case B::BuiltinOperator_DEPTHWISE_CONV_2D:
        return Convolved(in_.op().options_as_DepthwiseConv2DOptions(), 3);
      case B::BuiltinOperator_CONV_3D:
        return Conv3DShape(in_);
      case B::BuiltinOperator_UNIDIRECTIONAL_SEQUENCE_LSTM:
        return LstmShape(in_);
      case B::BuiltinOperator_AVERAGE_POOL_2D:
      case B::BuiltinOperator_MAX_POOL_2D:
        return Pooled();
      case B::BuiltinOperator_FULLY_CONNECTED:
        return Dense();
      case B::BuiltinOperator_BATCH_MATMUL:
        return Multiplied();
      case B::BuiltinOperator_TRANSPOSE_CONV:
      case B::BuiltinOperator_FILL:
        return in_.Integers(0);
      case B::BuiltinOperator_BROADCAST_TO:
        return in_.Integers(1);
      case B::BuiltinOperator_MEAN:
      case B::BuiltinOperator_SUM:
      case B::BuiltinOperator_REDUCE_PROD:
      case B::BuiltinOperator_REDUCE_MAX:
      case B::BuiltinOperator_REDUCE_MIN:
        return Reduced();
      case B::BuiltinOperator_ARG_MAX:
      case B::BuiltinOperator_ARG_MIN:
        return Without(in_.Integers(1));
      case B::BuiltinOperator_PAD:
      case B::BuiltinOperator_PADV2:
      case B::BuiltinOperator_MIRROR_PAD:
        return Grown(false);
      case B::BuiltinOperator_TRANSPOSE:
        return Transposed();
      case B::BuiltinOperator_TILE:
        return Grown(true);
      case B::BuiltinOperator_CONCATENATION:
        return Joined();
      case B::BuiltinOperator_PACK:
        return With({in_.op().options_as_PackOptions()
                         ? in_.op().options_as_PackOptions()->axis()
                         : 0},
                    in_.inputs());
      case B::BuiltinOperator_UNPACK:
        return Without({in_.op().options_as_UnpackOptions()
                            ? in_.op().options_as_UnpackOptions()->axis()
                            : 0});
      case B::BuiltinOperator_SPLIT:
        return Split();
      case B::BuiltinOperator_SPLIT_V:
        return SplitTo(i);
      case B::BuiltinOperator_SLICE:
        return Sliced();
      case B::BuiltinOperator_GATHER:
        return Gathered();
      case B::BuiltinOperator_RESIZE_BILINEAR:
      case B::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR:
        return Resized();
      case B::BuiltinOperator_SPACE_TO_BATCH_ND:
      case B::BuiltinOperator_BATCH_TO_SPACE_ND:
        return Blocked();
      case B::BuiltinOperator_SPACE_TO_DEPTH:
      case B::BuiltinOperator_DEPTH_TO_SPACE:
        return Deepened();
      case B::BuiltinOperator_STRIDED_SLICE:
        return in_.type(i).shape;  // the import determines it
      default:
        return Elementwise();
    }
  }

 private:
  Ints Shape(int operand) {
    const ir::Node* node = in_.Value(operand);
    return node == nullptr ? Ints{} : node->type.shape;
  }

  // The size along the axis; 0 if there is no such axis.
  static size_t Along(const Ints& shape, int64_t axis) {
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis < 0) axis += rank;
    return 0 <= axis && axis < rank ? static_cast<size_t>(axis) : 0;
  }

  Ints Elementwise() {
    Ints shape;
    for (int i = 0; in_.ok() && i < in_.inputs(); ++i) {
      const auto both = ir::BroadcastShape(shape, Shape(i));
      if (!both) return shape;
      shape = *both;
    }
    return shape;
  }

  // Without options, all dimensions of size 1 are removed.
  Ints Squeezed() {
    const auto* options = in_.op().options_as_SqueezeOptions();
    Ints axes;
    if (options != nullptr && options->squeeze_dims() != nullptr) {
      axes.assign(options->squeeze_dims()->begin(),
                  options->squeeze_dims()->end());
    }
    if (!axes.empty()) return Without(axes);
    Ints shape = Shape(0);
    shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
    return shape;
  }

  // The shape with an axis inserted; the axis is a position in the result.
  Ints With(const Ints& axis, int64_t size) {
    Ints shape = Shape(0);
    if (axis.size() != 1) return shape;
    shape.push_back(size);
    std::rotate(shape.begin() + static_cast<int64_t>(Along(shape, axis[0])),
                shape.end() - 1, shape.end());
    return shape;
  }

  // Height and width of the result of a window.
  Ints Windowed(int64_t kernel_h, int64_t kernel_w, int64_t stride_h,
                int64_t stride_w, int64_t dilation_h, int64_t dilation_w,
                tflite::Padding padding) {
    Ints shape = Shape(0);
    if (shape.size() != 4) return shape;
    const bool same = padding == tflite::Padding_SAME;
    shape[1] = Positions(shape[1], kernel_h, stride_h, dilation_h, same);
    shape[2] = Positions(shape[2], kernel_w, stride_w, dilation_w, same);
    return shape;
  }

  template <typename Options>
  Ints Convolved(const Options* o, size_t channels) {
    const Ints w = Shape(1);
    if (o == nullptr || w.size() != 4) return Shape(0);
    Ints shape = Windowed(w[1], w[2], o->stride_h(), o->stride_w(),
                          o->dilation_h(), o->dilation_w(), o->padding());
    if (shape.size() == 4) shape[3] = w[channels];
    return shape;
  }

  Ints Pooled() {
    const auto* o = in_.op().options_as_Pool2DOptions();
    if (o == nullptr) return Shape(0);
    return Windowed(o->filter_height(), o->filter_width(), o->stride_h(),
                    o->stride_w(), 1, 1, o->padding());
  }

  Ints Dense() {
    Ints shape = Shape(0);
    const Ints weights = Shape(1);
    const auto* options = in_.op().options_as_FullyConnectedOptions();
    if (weights.size() != 2 || shape.empty()) return shape;
    if (options == nullptr || !options->keep_num_dims()) {
      shape = {ElementsOf(shape) / weights[1], weights[0]};
    }
    shape.back() = weights[0];
    return shape;
  }

  Ints Multiplied() {
    const auto* options = in_.op().options_as_BatchMatMulOptions();
    const Ints left = Shape(0), right = Shape(1);
    if (options == nullptr || left.size() < 2 || right.size() < 2) return left;
    const auto outer = ir::BroadcastShape({left.begin(), left.end() - 2},
                                          {right.begin(), right.end() - 2});
    if (!outer) return left;
    Ints shape = *outer;
    shape.push_back(left[left.size() - (options->adj_x() ? 1 : 2)]);
    shape.push_back(right[right.size() - (options->adj_y() ? 2 : 1)]);
    return shape;
  }

  Ints Reduced() {
    const auto* options = in_.op().options_as_ReducerOptions();
    const Ints axes = in_.Integers(1);
    if (options == nullptr || !options->keep_dims()) return Without(axes);
    Ints shape = Shape(0);
    for (int64_t axis : axes) {
      if (!shape.empty()) shape[Along(shape, axis)] = 1;
    }
    return shape;
  }

  Ints Without(const Ints& axes) {
    const Ints from = Shape(0);
    std::vector<bool> dropped(from.size());
    for (int64_t axis : axes) {
      if (!from.empty()) dropped[Along(from, axis)] = true;
    }
    Ints shape;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!dropped[i]) shape.push_back(from[i]);
    }
    return shape;
  }

  // Pads or repeats: each axis grows by the second operand, which has one or
  // two numbers per axis.
  Ints Grown(bool times) {
    Ints shape = Shape(0);
    const Ints by = in_.Integers(1);
    for (size_t i = 0; i < shape.size() && i < by.size(); ++i) {
      if (times) {
        shape[i] *= std::clamp<int64_t>(by[i], 0, 1 << 16);
      } else if (2 * i + 1 < by.size()) {
        shape[i] += Bounded(by[2 * i]) + Bounded(by[2 * i + 1]);
      }
    }
    return shape;
  }

  Ints Transposed() {
    const Ints from = Shape(0);
    Ints shape;
    for (int64_t axis : in_.Integers(1)) {
      if (!from.empty()) shape.push_back(from[Along(from, axis)]);
    }
    return shape;
  }

  Ints Joined() {
    const auto* options = in_.op().options_as_ConcatenationOptions();
    Ints shape = Shape(0);
    if (options == nullptr || shape.empty()) return shape;
    const size_t axis = Along(shape, options->axis());
    for (int i = 1; in_.ok() && i < in_.inputs(); ++i) {
      const Ints other = Shape(i);
      if (axis < other.size()) shape[axis] += other[axis];
    }
    return shape;
  }

  Ints Split() {
    Ints shape = Shape(1);
    const Ints axis = in_.Integers(0);
    if (axis.size() == 1 && !shape.empty()) {
      shape[Along(shape, axis[0])] /= in_.outputs();
    }
    return shape;
  }

  Ints SplitTo(int part) {
    Ints shape = Shape(0);
    const Ints sizes = in_.Integers(1), axis = in_.Integers(2);
    if (axis.size() != 1 || shape.empty() ||
        part >= static_cast<int>(sizes.size())) {
      return shape;
    }
    int64_t& size = shape[Along(shape, axis[0])];
    int64_t given = 0;
    for (int64_t other : sizes) given += Bounded(other);
    size = sizes[part] >= 0 ? sizes[part] : size - given;
    return shape;
  }

  Ints Sliced() {
    const Ints from = Shape(0), begin = in_.Integers(1);
    Ints shape = in_.Integers(2);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == -1 && i < from.size() && i < begin.size()) {
        shape[i] = from[i] - Bounded(begin[i]);
      }
    }
    return shape;
  }

  Ints Gathered() {
    const auto* options = in_.op().options_as_GatherOptions();
    Ints shape = Shape(0), indices = Shape(1);
    if (shape.empty()) return shape;
    const int64_t axis = Along(shape, options ? options->axis() : 0);
    const auto rank = static_cast<int64_t>(indices.size());
    int64_t batch = options ? options->batch_dims() : 0;
    batch = std::clamp<int64_t>(batch < 0 ? batch + rank : batch, 0, rank);
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indices.begin() + batch, indices.end());
    return shape;
  }

  Ints Resized() {
    Ints shape = Shape(0);
    const Ints size = in_.Integers(1);
    if (shape.size() != 4 || size.size() != 2) return shape;
    shape[1] = size[0];
    shape[2] = size[1];
    return shape;
  }

  Ints Blocked() {
    Ints shape = Shape(0);
    const Ints block = in_.Integers(1), borders = in_.Integers(2);
    const bool to_space = code_ == B::BuiltinOperator_BATCH_TO_SPACE_ND;
    for (size_t i = 0; i < block.size(); ++i) {
      if (1 + i >= shape.size() || 2 * i + 1 >= borders.size()) break;
      const int64_t b = std::clamp<int64_t>(block[i], 1, 1 << 15);
      const int64_t border =
          Bounded(borders[2 * i]) + Bounded(borders[2 * i + 1]);
      if (to_space) {
        shape[0] /= b;
        shape[1 + i] = shape[1 + i] * b - border;
      } else {
        shape[0] *= b;
        shape[1 + i] = (shape[1 + i] + border) / b;
      }
    }
    return shape;
  }

  Ints Deepened() {
    Ints shape = Shape(0);
    const auto* deep = in_.op().options_as_SpaceToDepthOptions();
    const auto* wide = in_.op().options_as_DepthToSpaceOptions();
    const int64_t b = deep ? deep->block_size() : wide ? wide->block_size() : 0;
    if (shape.size() != 4 || b < 1 || b > (1 << 15)) return shape;
    for (int i : {1, 2}) shape[i] = deep ? shape[i] / b : shape[i] * b;
    shape[3] = deep ? shape[3] * b * b : shape[3] / (b * b);
    return shape;
  }

  Importer& in_;
  const B code_;
};

}  // namespace

void InferShapes(Importer& in, B code) {
  for (int i = 0; in.ok() && i < in.outputs(); ++i) {
    if (!in.IsOpen(i)) continue;
    Ints shape = Inference(in, code).Run(i);
    if (!in.ok()) return;
    const bool sane = shape.size() <= ir::kMaxQuantRank &&
                      std::all_of(shape.begin(), shape.end(),
                                  [](int64_t size) { return size > 0; }) &&
                      ElementsOf(shape) > 0;
    if (!sane) {
      in.Fail(Invalid("the operands make a result of ", ir::ShapeText(shape)));
      return;
    }
    in.SetShape(i, std::move(shape));
  }
}

}  // namespace systole::import
