// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/train/rules.h"

#include <algorithm>
#include <utility>

#include "host/ir/verifier.h"

namespace systole::ir {
namespace {

using Shape = std::vector<int64_t>;

Type Bf16(Shape shape) {
  return {ElementType::kBfloat16, std::move(shape), {}};
}
Type F32(Shape shape) { return {ElementType::kFloat32, std::move(shape), {}}; }
const Type& Operand(const Node& node, int i) { return node.operands[i].type(); }

absl::Status CheckIs(const Node& node, int i, const Type& wanted) {
  SYSTOLE_IR_CHECK(Operand(node, i) == wanted, "operand ", i, " is ",
                   TypeText(Operand(node, i)), ", not ", TypeText(wanted));
  return absl::OkStatus();
}

// Checks that operand i holds images of positions, or samples.
absl::Status CheckImages(const Node& node, int i) {
  const Type& type = Operand(node, i);
  SYSTOLE_IR_CHECK(
      type.element == ElementType::kBfloat16 &&
          (type.rank() == 4 || type.rank() == 2) && type.elements() > 0,
      "operand ", i, " is ", TypeText(type), ", not images or samples of bf16");
  return absl::OkStatus();
}

// Shape of the windows over images of that shape, with `channels` channels.
absl::StatusOr<Shape> WindowsOf(const Shape& images, int64_t channels,
                                const TrainWindowAttributes& a) {
  if (images.size() == 2) {
    SYSTOLE_IR_CHECK(Equal(a, TrainWindowAttributes{}),
                     "windows of samples, which have one position");
    return Shape{images[0], channels};
  }
  SYSTOLE_IR_CHECK(
      a.kernel.size() == 2 && a.stride.size() == 2 && a.padding.size() == 4 &&
          *std::min_element(a.kernel.begin(), a.kernel.end()) > 0 &&
          *std::min_element(a.stride.begin(), a.stride.end()) > 0 &&
          *std::min_element(a.padding.begin(), a.padding.end()) >= 0,
      "kernel, stride or padding is not that of windows");
  Shape shape = {images[0], 0, 0, channels};
  for (int d = 0; d < 2; ++d) {
    SYSTOLE_IR_CHECK(
        a.padding[d] < a.kernel[d] && a.padding[d + 2] < a.kernel[d],
        "a window lies in the padding alone");
    shape[d + 1] = WindowPositions(images[d + 1], a.kernel[d], a.stride[d], 1,
                                   a.padding[d], a.padding[d + 2]);
    SYSTOLE_IR_CHECK(shape[d + 1] > 0, "a window of ", a.kernel[d],
                     " does not fit ", images[d + 1], " positions");
  }
  return shape;
}

absl::Status CheckArray(const TrainArrayAttributes& array) {
  SYSTOLE_IR_CHECK(array.rows > 0 && (array.rows & (array.rows - 1)) == 0,
                   "an array of ", array.rows, " rows, not a power of two");
  return absl::OkStatus();
}

// Shape of the weights `w` for images of that shape.
Shape WeightsOf(const Shape& images, int64_t out,
                const TrainWindowAttributes& a) {
  if (images.size() == 2) return {images[1], out};
  return {a.kernel[0], a.kernel[1], images[3], out};
}

}  // namespace

Types InferTrainProduct(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type &x = Operand(node, 0), &w = Operand(node, 1);
  const auto& a = node.attr<TrainProductAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckArray(a));
  SYSTOLE_IR_CHECK(w.rank() > 0, "weights without channels");
  const int64_t out = w.shape.back();
  const absl::StatusOr<Shape> shape = WindowsOf(x.shape, out, a);
  if (!shape.ok()) return shape.status();
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckIs(node, 1, Bf16(WeightsOf(x.shape, out, a))));
  return std::vector<Type>{Bf16(*shape)};
}

Types InferTrainClassify(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type &x = Operand(node, 0), &w = Operand(node, 1);
  SYSTOLE_IR_CHECK(x.rank() == 2 && w.rank() == 2, "classes are of samples");
  const int64_t classes = w.shape[1];
  const auto& array = node.attr<TrainArrayAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckArray(array));
  SYSTOLE_IR_CHECK(classes <= array.rows, classes, " classes, an array of ",
                   array.rows, " columns");
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 1, Bf16({x.shape[1], classes})));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 2, F32({classes})));
  const Type samples = Bf16({x.shape[0], classes});
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 3, samples));
  return std::vector<Type>{samples, F32({}), F32({})};
}

Types InferTrainNorm(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type& z = Operand(node, 0);
  const Type row = F32({z.shape.back()});
  for (int i = 1; i < 4; ++i) SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, i, row));
  return std::vector<Type>{z, row, row, row, row};
}

Types InferTrainNormInference(const Node& node) {
  Types types = InferTrainNorm(node);
  if (types.ok()) types->resize(1);
  return types;
}

Types InferTrainPool(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type& a = Operand(node, 0);
  SYSTOLE_IR_CHECK(a.rank() == 4, "a pool of samples");
  const absl::StatusOr<Shape> shape =
      WindowsOf(a.shape, a.shape.back(), node.attr<TrainWindowAttributes>());
  if (!shape.ok()) return shape.status();
  return std::vector<Type>{Bf16(*shape)};
}

Types InferTrainAdd(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 1, Operand(node, 0)));
  return std::vector<Type>{Operand(node, 0)};
}

Types InferTrainNormGradient(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type& z = Operand(node, 0);
  const Type row = F32({z.shape.back()});
  for (int i = 1; i < 4; ++i) SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, i, row));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 4, z));
  return std::vector<Type>{z, row};
}

Types InferTrainMaxPoolGradient(const Node& node) {
  const Types pooled = InferTrainPool(node);
  if (!pooled.ok()) return pooled.status();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 1, (*pooled)[0]));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 2, (*pooled)[0]));
  return std::vector<Type>{Operand(node, 0)};
}

Types InferTrainAveragePoolGradient(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  SYSTOLE_IR_CHECK(node.type.rank() == 4, "a pool of samples");
  const absl::StatusOr<Shape> pooled =
      WindowsOf(node.type.shape, node.type.shape.back(),
                node.attr<TrainWindowAttributes>());
  if (!pooled.ok()) return pooled.status();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 0, Bf16(*pooled)));
  return std::vector<Type>{Bf16(node.type.shape)};
}

Types InferTrainBiasGradient(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  SYSTOLE_IR_CHECK(Operand(node, 0).rank() == 2, "a bias is of samples");
  return std::vector<Type>{F32({Operand(node, 0).shape.back()})};
}

Types InferTrainWeightGradient(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 1));
  const Type &x = Operand(node, 0), &dz = Operand(node, 1);
  const auto& a = node.attr<TrainProductAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckArray(a));
  const absl::StatusOr<Shape> shape = WindowsOf(x.shape, dz.shape.back(), a);
  if (!shape.ok()) return shape.status();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 1, Bf16(*shape)));
  return std::vector<Type>{F32(WeightsOf(x.shape, dz.shape.back(), a))};
}

Types InferTrainInputGradient(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckImages(node, 0));
  const Type& dz = Operand(node, 0);
  const auto& a = node.attr<TrainProductAttributes>();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckArray(a));
  SYSTOLE_IR_CHECK(node.type.rank() == 2 || node.type.rank() == 4,
                   TypeText(node.type), " is not images or samples");
  const absl::StatusOr<Shape> shape =
      WindowsOf(node.type.shape, dz.shape.back(), a);
  if (!shape.ok()) return shape.status();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 0, Bf16(*shape)));
  SYSTOLE_IR_RETURN_IF_ERROR(
      CheckIs(node, 1, Bf16(WeightsOf(node.type.shape, dz.shape.back(), a))));
  return std::vector<Type>{Bf16(node.type.shape)};
}

Types InferTrainSumCores(const Node& node) {
  SYSTOLE_IR_CHECK(Operand(node, 0).element == ElementType::kFloat32,
                   "gradients are f32");
  return std::vector<Type>{Operand(node, 0)};
}

Types InferTrainAdamPowers(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 0, F32({2})));
  return std::vector<Type>{Operand(node, 0)};
}

namespace {

// Result types of an update. Operands are the parameter, `states` tensors of
// its size, and the gradient. The working weights follow the results if the
// node has them.
absl::StatusOr<std::vector<Type>> Updated(const Node& node, int states) {
  const Type& w = Operand(node, 0);
  SYSTOLE_IR_CHECK(w.element == ElementType::kFloat32, "operand 0 is ",
                   TypeText(w), ", a parameter is f32");
  for (int i = 1; i <= states + 1; ++i)
    SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, i, w));
  std::vector<Type> types(1 + states, w);
  if (node.results() > 1 + states) types.push_back(Bf16(w.shape));
  return types;
}

}  // namespace

Types InferTrainAdam(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 4, F32({2})));
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 5, F32({})));
  return Updated(node, 2);
}

Types InferTrainSgd(const Node& node) {
  SYSTOLE_IR_RETURN_IF_ERROR(CheckIs(node, 3, F32({})));
  return Updated(node, 1);
}

}  // namespace systole::ir
