// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/ir/random_module.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/ir/random_nodes.h"

namespace systole::ir {
namespace {

class Generator : private RandomNodes {
 public:
  using RandomNodes::RandomNodes;

  std::unique_ptr<Module> Run() {
    const Ints image = {options_.one_image ? 1 : Between(1, 2), Between(2, 9),
                        Between(2, 9), Between(1, options_.max_channels)};
    AddInput(image);
    if (!options_.one_image && Chance(4))
      AddInput(Chance(2) ? image : Ints{1, 1, 1, image[3]});
    for (int i = 1; i < options_.inputs; ++i) AddInput(image);
    for (int left = 4 * options_.operations;
         testing_options::More(left > 0 && added_ < options_.operations);
         --left) {
      const testing_options::Span span;
      Try(RandomOp());
    }
    for (const auto& node : module_->nodes()) {
      if (!node->is_constant() && node->op != Op::kParameter &&
          module_->Users(node.get()).empty()) {
        module_->outputs.push_back(
            {absl::StrCat("out", module_->outputs.size()), node.get()});
      }
    }
    if (module_->outputs.empty()) {
      module_->outputs.push_back({"out0", module_->inputs()[0]});
    }
    module_->RemoveUnused();
    return std::move(module_);
  }

 private:
  Op RandomOp() {
    // Convolutions, and what passes look for, more often than the others.
    static constexpr Op kAll[] = {Op::kConv2D,
                                  Op::kConv2D,
                                  Op::kDepthwiseConv2D,
                                  Op::kPad,
                                  Op::kPad,
                                  Op::kRelu,
                                  Op::kRelu,
                                  Op::kReshape,
                                  Op::kReshape,
                                  Op::kAdd,
                                  Op::kAdd,
                                  Op::kSub,
                                  Op::kMul,
                                  Op::kFullyConnected,
                                  Op::kAveragePool,
                                  Op::kMaxPool,
                                  Op::kMean,
                                  Op::kSoftmax,
                                  Op::kLogistic,
                                  Op::kTanh,
                                  Op::kHardSwish,
                                  Op::kQuantize,
                                  Op::kConcatenate,
                                  Op::kTranspose,
                                  Op::kTranspose,
                                  Op::kStridedSlice,
                                  Op::kResizeNearest,
                                  Op::kResizeBilinear,
                                  Op::kMaximum,
                                  Op::kMinimum,
                                  Op::kSquaredDifference,
                                  Op::kPrelu,
                                  Op::kEqual,
                                  Op::kNotEqual,
                                  Op::kLess,
                                  Op::kLessEqual,
                                  Op::kSelect,
                                  Op::kSum,
                                  Op::kReduceMax,
                                  Op::kReduceMin,
                                  Op::kArgMax,
                                  Op::kArgMin,
                                  Op::kBatchMatmul,
                                  Op::kLogSoftmax,
                                  Op::kL2Normalize,
                                  Op::kAbs,
                                  Op::kExp,
                                  Op::kLog,
                                  Op::kSqrt,
                                  Op::kRsqrt,
                                  Op::kElu,
                                  Op::kGelu,
                                  Op::kLeakyRelu,
                                  Op::kRescale,
                                  Op::kGather};
    if (!options_.operators.empty()) {
      return options_.operators[Between(0, options_.operators.size() - 1)];
    }
    constexpr int64_t kOften = 28;  // operations at the front
    return kAll[Between(0, Chance(2) ? kOften - 1 : std::size(kAll) - 1)];
  }

  void Convolution(Op op, Node* input) {
    const Ints& s = input->type.shape;
    if (s.size() != 4) return;
    const bool depthwise = op == Op::kDepthwiseConv2D;
    const Ints kernel = {Between(1, 4), Between(1, 4)};
    ConvAttributes a;
    a.stride = {Between(1, 3), Between(1, 3)};
    if (Chance(3)) a.dilation = {Between(1, 2), Between(1, 2)};
    for (int64_t& pad : a.padding) pad = Between(0, 2);
    a.clamp = Clamp();
    const int64_t channels =
        depthwise ? s[3] * Between(1, 2) : Between(1, options_.max_channels);
    Ints shape = {s[0], 0, 0, channels};
    for (int i = 0; i < 2; ++i) {
      shape[1 + i] =
          WindowPositions(s[1 + i], kernel[i], a.stride[i], a.dilation[i],
                          a.padding[i], a.padding[i + 2]);
      if (shape[1 + i] == 0) return;
    }
    std::vector<ir::Value> operands = {input};
    const Ints weights = depthwise ? Ints{1, kernel[0], kernel[1], channels}
                                   : Ints{channels, kernel[0], kernel[1], s[3]};
    a.uint8 = Chance(4);
    const float scale = Weights(*input, weights, depthwise ? 3 : 0, !Chance(4),
                                operands, a.uint8);
    Emit(op, Int8(shape, Affine(scale)), operands, a);
  }

  void Dense(Node* input) {
    // Rows of the last dimension, or one of all.
    const int64_t depth =
        Chance(2) ? input->type.shape.back() : input->type.elements();
    const int64_t outputs = Between(1, 2 * options_.max_channels);
    std::vector<ir::Value> operands = {input};
    const float scale =
        Weights(*input, {outputs, depth}, 0, !Chance(4), operands, Chance(4));
    Emit(Op::kFullyConnected,
         Int8({input->type.elements() / depth, outputs}, Affine(scale)),
         operands, DenseAttributes{Clamp()});
  }

  void Pool(Op op, Node* input) {
    const Ints& s = input->type.shape;
    if (s.size() != 4) return;
    PoolAttributes a;
    Ints shape = s;
    for (int i = 0; i < 2; ++i) {
      a.kernel[i] = Between(1, std::min<int64_t>(4, s[1 + i]));
      a.stride[i] = Between(1, 3);
      a.padding[i] = Between(0, a.kernel[i] - 1);
      a.padding[i + 2] = Between(0, a.kernel[i] - 1);
      shape[1 + i] = WindowPositions(s[1 + i], a.kernel[i], a.stride[i], 1,
                                     a.padding[i], a.padding[i + 2]);
    }
    a.clamp = Clamp();
    a.uint8 = op == Op::kAveragePool && Chance(2);
    Emit(op, Int8(shape, input->quantization()), {input}, a);
  }

  void Reduce(Op op, Node* input) {
    ReduceAttributes a;
    Ints kept, removed;
    for (int i = 0; i < input->type.rank(); ++i) {
      const bool reduced = Chance(2);
      if (reduced) a.axes.push_back(i);
      if (!reduced) removed.push_back(input->type.shape[i]);
      kept.push_back(reduced ? 1 : input->type.shape[i]);
    }
    if (removed.empty()) return;
    const float scale = input->quantization().scale() * Scale(0.2, 1);
    Quantization q = Affine(op == Op::kSum ? 9 * scale : scale);
    if (op == Op::kReduceMax || op == Op::kReduceMin) q = input->quantization();
    Emit(op, Int8(Chance(2) ? kept : removed, q), {input}, a);
  }

  void Elementwise(Op op, Node* input) {
    Quantization q{{1.0f / 256}, -128, 0};
    if (op == Op::kTanh) q = {{1.0f / 128}, 0, 0};
    if (op == Op::kRelu || op == Op::kRescale || op == Op::kQuantize ||
        op == Op::kHardSwish) {
      q = Affine(input->quantization().scale() * Scale(0.5, 2));
      if (Chance(2)) q = input->quantization();
    }
    Attributes attributes = InfoOf(op).defaults;
    if (op == Op::kRelu) attributes = ClampAttributes{Clamp()};
    if (op == Op::kSoftmax) attributes = SoftmaxAttributes{Scale(0.3, 3)};
    Emit(op, Int8(input->type.shape, q), {input}, attributes);
  }

  void Reshape(Node* input) {
    // Moves factors between dimensions, adds or drops sizes of 1.
    Ints shape = input->type.shape;
    if (Chance(3) && shape.size() < 5) {
      shape.insert(shape.begin() + Between(0, shape.size()), 1);
    } else if (Chance(2) && shape.size() > 1) {
      shape[1] *= shape[0];
      shape.erase(shape.begin());
    } else if (shape.size() > 1 && shape.back() % 2 == 0) {
      shape.back() /= 2;
      shape.front() *= 2;
    }
    Emit(Op::kReshape, Int8(shape, input->quantization()), {input},
         NoAttributes{});
  }

  void Pad(Node* input) {
    const bool image = input->type.rank() == 4 && !Chance(4);
    PadAttributes a;
    Ints shape = input->type.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool padded = image ? i == 1 || i == 2 : Chance(2);
      a.low.push_back(padded ? Between(0, 2) : 0);
      a.high.push_back(padded ? Between(0, 2) : 0);
      shape[i] += a.low[i] + a.high[i];
    }
    a.value = Chance(4) ? Between(-128, 127) : input->quantization().zero_point;
    Emit(Op::kPad, Int8(shape, input->quantization()), {input}, a);
  }

  void Concatenate(Node* input) {
    if (input->type.rank() == 0) return;
    const int64_t axis = Between(0, input->type.rank() - 1);
    Ints shape = input->type.shape;
    std::vector<ir::Value> operands = {input};
    shape[axis] = Between(1, 3);
    operands.push_back(Chance(2) ? input
                                 : Constant(shape, input->quantization()));
    if (Chance(2)) std::swap(operands.front(), operands.back());
    shape[axis] = operands[0]->type.shape[axis] + operands[1]->type.shape[axis];
    Emit(Op::kConcatenate, Int8(shape, input->quantization()), operands,
         AxisAttributes{axis});
  }

  void Transpose(Node* input) {
    TransposeAttributes a;
    for (int i = 0; i < input->type.rank(); ++i) a.permutation.push_back(i);
    if (!Chance(4)) {
      std::shuffle(a.permutation.begin(), a.permutation.end(), random_);
    }
    Ints shape;
    for (int64_t axis : a.permutation) {
      shape.push_back(input->type.shape[axis]);
    }
    Emit(Op::kTranspose, Int8(shape, input->quantization()), {input}, a);
  }

  void Slice(Node* input) {
    SliceAttributes a;
    Ints shape;
    for (int64_t size : input->type.shape) {
      const int64_t stride = Chance(4) ? -Between(1, 2) : Between(1, 2);
      const int64_t begin =
          Chance(2) ? (stride > 0 ? 0 : size - 1) : Between(0, size - 1);
      const int64_t room = stride > 0 ? size - 1 - begin : begin;
      a.begin.push_back(begin);
      a.stride.push_back(stride);
      shape.push_back(Between(1, room / std::abs(stride) + 1));
    }
    Emit(Op::kStridedSlice, Int8(shape, input->quantization()), {input}, a);
  }

  void Resize(Op op, Node* input) {
    Ints shape = input->type.shape;
    if (shape.size() != 4) return;
    ResizeAttributes a;
    a.align_corners = Chance(3);
    a.half_pixel_centers = !a.align_corners && Chance(2);
    for (int i : {1, 2}) {
      if (!Chance(4)) shape[i] = Between(1, 2 * shape[i]);
    }
    a.uint8 = op == Op::kResizeBilinear && Chance(2);
    Emit(op, Int8(shape, input->quantization()), {input}, a);
  }

  void Try(Op op) {
    Node* input = Value();
    // Constants are there to be folded.
    if (options_.operators.empty() && Chance(8)) {
      input = Constant({1, Between(1, 4), Between(1, 4), Between(1, 4)},
                       Affine(Scale()));
    }
    switch (op) {
      case Op::kConv2D:
      case Op::kDepthwiseConv2D:
        return Convolution(op, input);
      case Op::kFullyConnected:
        return Dense(input);
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
        return Binary(op, input);
      case Op::kAveragePool:
      case Op::kMaxPool:
        return Pool(op, input);
      case Op::kMaximum:
      case Op::kMinimum:
      case Op::kSquaredDifference:
      case Op::kPrelu:
        return Binary(op, input);
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kSelect:
        return Compare(op, input);
      case Op::kAbs:
      case Op::kExp:
      case Op::kLog:
      case Op::kSqrt:
      case Op::kRsqrt:
      case Op::kElu:
      case Op::kGelu:
      case Op::kLeakyRelu:
        return Function(op, input);
      case Op::kLogSoftmax:
      case Op::kL2Normalize:
        return Rows(op, input);
      case Op::kArgMax:
      case Op::kArgMin:
        return Argument(op, input);
      case Op::kBatchMatmul:
        return Matmul(input);
      case Op::kGather:
        return Gather(input);
      case Op::kMean:
      case Op::kSum:
      case Op::kReduceMax:
      case Op::kReduceMin:
        return Reduce(op, input);
      case Op::kSoftmax:
      case Op::kLogistic:
      case Op::kTanh:
      case Op::kHardSwish:
      case Op::kRescale:
      case Op::kRelu:
      case Op::kQuantize:
        return Elementwise(op, input);
      case Op::kReshape:
        return Reshape(input);
      case Op::kPad:
        return Pad(input);
      case Op::kConcatenate:
        return Concatenate(input);
      case Op::kTranspose:
        return Transpose(input);
      case Op::kStridedSlice:
        return Slice(input);
      case Op::kResizeNearest:
      case Op::kResizeBilinear:
        return Resize(op, input);
      default:  // no operation on int8 values
        return;
    }
  }
};

}  // namespace

bool DrawsOp(Op op) {
  for (const Op never :
       {Op::kConv3D, Op::kDenseSums, Op::kDiv, Op::kReduceProd, Op::kNeg,
        Op::kDequantize, Op::kBitcast, Op::kLstmCell, Op::kLstmOutput,
        Op::kSvdfState, Op::kSvdfOutput, Op::kCast, Op::kPow, Op::kSin,
        Op::kCos, Op::kFloor, Op::kCeil, Op::kRound}) {
    if (op == never) return false;
  }
  return SetOf(op) < OpSet::kHlo;
}

std::unique_ptr<Module> RandomModule(uint64_t seed,
                                     const RandomModuleOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace systole::ir
