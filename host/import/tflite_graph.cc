// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_graph.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

std::optional<ir::ElementType> ElementOf(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType_INT4:  // two in a byte
    case tflite::TensorType_INT8:
    case tflite::TensorType_UINT8:  // re-centred
    case tflite::TensorType_BOOL:   // 0 or 1
      return ir::ElementType::kInt8;
    case tflite::TensorType_INT16:
      return ir::ElementType::kInt16;
    case tflite::TensorType_INT32:
    case tflite::TensorType_INT64:  // narrowed
      return ir::ElementType::kInt32;
    case tflite::TensorType_FLOAT32:
      return ir::ElementType::kFloat32;
    default:
      return std::nullopt;
  }
}

// A missing shape means a scalar.
absl::StatusOr<std::vector<int64_t>> ShapeOf(const tflite::Tensor& tensor) {
  std::vector<int64_t> shape;
  if (tensor.shape() == nullptr) return shape;
  if (tensor.shape()->size() > ir::kMaxQuantRank) {
    return Invalid("rank ", tensor.shape()->size(), " is more than ",
                   ir::kMaxQuantRank);
  }
  int64_t elements = 1;
  for (int32_t size : *tensor.shape()) {
    if (size <= 0 || elements * size > ir::kMaxElements) {
      return Invalid("a size of ", size, ", or too many elements");
    }
    elements *= size;
    shape.push_back(size);
  }
  return shape;
}

// The size in the file, in bytes, of the values of a type.
int64_t StoredBytes(tflite::TensorType type, const ir::Type& of) {
  if (type == tflite::TensorType_INT4) return (of.elements() + 1) / 2;
  return of.bytes() * (type == tflite::TensorType_INT64 ? 2 : 1);
}

// Converts the values of the file to the element type of the graph.
absl::StatusOr<ir::Literal> Converted(tflite::TensorType type,
                                      const ir::Type& of,
                                      absl::Span<const uint8_t> data) {
  if (type != tflite::TensorType_UINT8 && type != tflite::TensorType_INT64 &&
      type != tflite::TensorType_BOOL && type != tflite::TensorType_INT4)
    return ir::Literal::FromBytes(of.element, of.elements(), data.data());
  if (type == tflite::TensorType_INT4) {
    std::vector<int8_t> values;
    for (int64_t i = 0; i < of.elements(); ++i) {  // the low half first
      const int half = data[i / 2] >> (i % 2 * 4) & 15;
      values.push_back(static_cast<int8_t>(half >= 8 ? half - 16 : half));
    }
    return ir::Literal(std::move(values));
  }
  if (type == tflite::TensorType_INT64) {
    std::vector<int64_t> wide(data.size() / 8);
    std::memcpy(wide.data(), data.data(), data.size());
    std::vector<int32_t> values(wide.begin(), wide.end());
    if (!std::equal(values.begin(), values.end(), wide.begin())) {
      return absl::UnimplementedError("an integer beyond 32 bits");
    }
    return ir::Literal(std::move(values));
  }
  std::vector<int8_t> values;
  for (uint8_t byte : data) {
    values.push_back(type == tflite::TensorType_BOOL
                         ? byte != 0
                         : static_cast<int8_t>(byte - 128));
  }
  return ir::Literal(std::move(values));
}

// Empty if the tensor has no scale.
absl::StatusOr<std::optional<ir::Quantization>> QuantizationOf(
    const tflite::Tensor& tensor) {
  std::optional<ir::Quantization> none;
  if (tensor.type() == tflite::TensorType_BOOL) {
    return std::optional<ir::Quantization>({{1.0f}, 0, 0});
  }
  const tflite::Quantization* stored = tensor.quantization();
  if (stored == nullptr) return none;
  if (stored->details_type() != 0) {
    return absl::UnimplementedError("a quantisation that is not affine");
  }
  const size_t scales = stored->scale() ? stored->scale()->size() : 0;
  const size_t zeros = stored->zero_point() ? stored->zero_point()->size() : 0;
  if (scales != zeros) {
    return Invalid(scales, " scales and ", zeros, " zero points");
  }
  if (scales == 0 || tensor.type() == tflite::TensorType_FLOAT32 ||
      tensor.type() == tflite::TensorType_INT64) {
    return none;
  }
  ir::Quantization q;
  q.scales.assign(stored->scale()->begin(), stored->scale()->end());
  // A vector has only one axis, whatever the file says.
  const bool list = tensor.shape() != nullptr && tensor.shape()->size() == 1;
  if (scales > 1 && !list) q.axis = stored->quantized_dimension();
  // The alignment of these values to 8 bytes is not verified.
  std::vector<int64_t> zero_points(zeros);
  std::memcpy(zero_points.data(), stored->zero_point()->Data(), 8 * zeros);
  const int64_t zero = zero_points[0];
  if (std::count(zero_points.begin(), zero_points.end(), zero) !=
      static_cast<int64_t>(zeros)) {
    return Invalid("zero points that differ");
  }
  if (zero < -32768 || zero > 32767) return Invalid("zero point ", zero);
  q.zero_point = static_cast<int32_t>(zero);
  if (tensor.type() == tflite::TensorType_UINT8) q.zero_point -= 128;
  return std::optional<ir::Quantization>(std::move(q));
}

}  // namespace

TfliteGraph::TfliteGraph(absl::Span<const uint8_t> file,
                         const tflite::Model& model,
                         const tflite::SubGraph& subgraph)
    : tensors_(file, model, subgraph), values_(tensors_.size()) {}

std::string TfliteGraph::TakeName(int index) {
  const std::string base = tensors_.NameOf(index);
  std::string name = base;
  while (names_[name]++ > 0) name = absl::StrCat(base, ".", names_[base] - 1);
  return name;
}

absl::StatusOr<ir::Quantization> TfliteGraph::QuantizationAt(int index) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = TensorAt(index);
  if (!tensor.ok()) return tensor.status();
  const auto q = QuantizationOf(**tensor);
  if (!q.ok()) return q.status();
  if (!*q || (*q)->per_channel()) {
    return Invalid("tensor ", index, " (", Describe(index), ") has no scale");
  }
  return **q;
}

absl::StatusOr<ir::Type> TfliteGraph::TypeOf(int index, Kind kind) const {
  const absl::StatusOr<const tflite::Tensor*> found = TensorAt(index);
  if (!found.ok()) return found.status();
  const tflite::Tensor& tensor = **found;
  const auto failed = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat("tensor ", index, " (", Describe(index),
                                     "): ", status.message()));
  };
  ir::Type type;
  const auto element = ElementOf(tensor.type());
  if (!element) {
    return failed(absl::UnimplementedError(
        absl::StrCat("type ", TypeName(tensor.type()), " is not supported")));
  }
  if (tensor.is_variable() != (kind == Kind::kVariable) ||
      tensor.sparsity() != nullptr || tensor.external_buffer() != 0) {
    return failed(absl::UnimplementedError(
        "variables, sparse tensors and buffers in other files are not "
        "supported"));
  }
  type.element = *element;
  absl::StatusOr<std::vector<int64_t>> shape = ShapeOf(tensor);
  if (!shape.ok()) return failed(shape.status());
  type.shape = *std::move(shape);
  absl::StatusOr<std::optional<ir::Quantization>> q = QuantizationOf(tensor);
  if (!q.ok()) return failed(q.status());
  type.quantization = *std::move(q);
  return type;
}

std::string TfliteGraph::StoredType(int index) const {
  const auto tensor = TensorAt(index);
  if (!tensor.ok()) return "";
  switch ((*tensor)->type()) {
    case tflite::TensorType_UINT8:
      return ir::ElementTypeName(ir::ElementType::kUint8);
    case tflite::TensorType_INT64:
      return ir::ElementTypeName(ir::ElementType::kInt64);
    case tflite::TensorType_BOOL:
      return ir::ElementTypeName(ir::ElementType::kBool);
    default:
      return "";
  }
}

int64_t TfliteGraph::Images() const {
  int64_t images = 0;
  const auto* const inputs = tensors_.subgraph().inputs();
  for (size_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const auto type = TypeOf(inputs->Get(i));
    if (!type.ok() || type->rank() == 0) continue;
    if (images != 0 && type->shape[0] != images) return 1;
    images = type->shape[0];
  }
  return std::max<int64_t>(images, 1);
}

bool TfliteGraph::IsConstant(int index) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = TensorAt(index);
  if (!tensor.ok() || values_[index] != nullptr) return false;
  const absl::StatusOr<absl::Span<const uint8_t>> data =
      tensors_.Data(**tensor);
  return data.ok() && !data->empty();
}

bool TfliteGraph::IsOpen(int index) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = TensorAt(index);
  if (!tensor.ok()) return false;
  const auto* signature = (*tensor)->shape_signature();
  return signature != nullptr &&
         std::count(signature->begin(), signature->end(), -1) > 0;
}

absl::StatusOr<ir::Node*> TfliteGraph::Value(int index) {
  const absl::StatusOr<const tflite::Tensor*> tensor = TensorAt(index);
  if (!tensor.ok()) return tensor.status();
  if (values_[index] != nullptr) return values_[index];
  const absl::StatusOr<absl::Span<const uint8_t>> stored =
      tensors_.Data(**tensor);
  if (!stored.ok()) return stored.status();
  if (stored->empty()) {
    return Invalid("tensor ", index, " (", Describe(index),
                   ") is read before it is computed");
  }
  absl::StatusOr<ir::Type> type = TypeOf(index);
  if (!type.ok()) return type.status();
  const absl::StatusOr<absl::Span<const uint8_t>> data =
      tensors_.ExactData(index, StoredBytes((*tensor)->type(), *type));
  if (!data.ok()) return data.status();
  absl::StatusOr<ir::Literal> literal =
      Converted((*tensor)->type(), *type, *data);
  if (!literal.ok()) {
    return absl::Status(literal.status().code(),
                        absl::StrCat("tensor ", index, " (", Describe(index),
                                     "): ", literal.status().message()));
  }
  absl::StatusOr<ir::Node*> node = Add(
      ir::MakeConstant(TakeName(index), *std::move(type), *std::move(literal)));
  if (node.ok()) values_[index] = *node;
  return node;
}

absl::StatusOr<std::vector<int64_t>> TfliteGraph::Integers(int index) const {
  const absl::StatusOr<const tflite::Tensor*> found = TensorAt(index);
  if (!found.ok()) return found.status();
  const tflite::Tensor& tensor = **found;
  const ir::Node* const computed = values_[index];
  if (computed != nullptr && computed->is_constant() &&
      computed->type.element == ir::ElementType::kInt32) {
    const std::vector<int32_t>& v = computed->literal().values<int32_t>();
    return std::vector<int64_t>(v.begin(), v.end());
  }
  const bool wide = tensor.type() == tflite::TensorType_INT64;
  if (!IsConstant(index) ||
      (!wide && tensor.type() != tflite::TensorType_INT32)) {
    return absl::UnimplementedError(
        absl::StrCat("tensor ", index, " (", Describe(index),
                     ") is not a constant of integers"));
  }
  const absl::StatusOr<std::vector<int64_t>> shape = ShapeOf(tensor);
  if (!shape.ok()) return shape.status();
  int64_t count = 1;
  for (int64_t size : *shape) count *= size;
  const absl::StatusOr<absl::Span<const uint8_t>> data =
      tensors_.ExactData(index, count * (wide ? 8 : 4));
  if (!data.ok()) return data.status();
  std::vector<int64_t> values(count);
  for (int64_t i = 0; i < count; ++i) {
    int32_t narrow = 0;
    if (wide) {
      std::memcpy(&values[i], data->data() + 8 * i, 8);
    } else {
      std::memcpy(&narrow, data->data() + 4 * i, 4);
      values[i] = narrow;
    }
  }
  return values;
}

absl::StatusOr<ir::Node*> TfliteGraph::AddState(int index, ir::Type type,
                                                ir::Literal first) {
  if (region_) return absl::UnimplementedError("a state inside IF or WHILE");
  const std::string name = TakeName(index);
  const absl::StatusOr<ir::Node*> constant = Add(
      ir::MakeConstant(absl::StrCat(name, ".first"), type, std::move(first)));
  if (!constant.ok()) return constant.status();
  auto state = Add({name,
                    ir::Op::kParameter,
                    std::move(type),
                    {*constant},
                    ir::ParameterAttributes{name}});
  if (state.ok()) states_.emplace_back(*state, *state);
  return state;
}

void TfliteGraph::SetState(const ir::Node* state, ir::Node* next) {
  for (auto& [now, then] : states_) {
    if (now == state) then = next;
  }
}

void TfliteGraph::FinishStates() {
  for (const auto& [now, next] : states_)
    module_->outputs.push_back({now->name, next});
}

absl::StatusOr<ir::Node*> TfliteGraph::Add(ir::Node node) {
  ir::Node* added = module_->Add(std::move(node));
  const absl::Status status = ir::VerifyNode(*added);
  if (!status.ok()) return status;
  return added;
}

absl::Status TfliteGraph::FoldIntegers(ir::Node& node) const {
  constexpr int64_t kMaxElements = 1024;  // limit for shapes
  if (node.is_constant() || node.type.element != ir::ElementType::kInt32 ||
      node.type.quantization || node.type.elements() > kMaxElements ||
      !ir::HostComputes(node.op) ||
      !std::all_of(node.operands.begin(), node.operands.end(),
                   [](const ir::Node* n) { return n->is_constant(); })) {
    return absl::OkStatus();
  }
  std::vector<const ir::Literal*> operands;
  for (const ir::Node* operand : node.operands) {
    operands.push_back(&operand->literal());
  }
  absl::StatusOr<ir::Literal> result = ir::Evaluate(node, operands);
  if (!result.ok()) return result.status();
  node = ir::MakeConstant(node.name, node.type, *std::move(result));
  return absl::OkStatus();
}

absl::Status TfliteGraph::Define(int index, ir::Node* node) {
  const absl::StatusOr<const tflite::Tensor*> tensor = TensorAt(index);
  if (!tensor.ok()) return tensor.status();
  if (values_[index] != nullptr) {
    return Invalid("tensor ", index, " (", Describe(index),
                   ") has a value already");
  }
  values_[index] = node;
  return absl::OkStatus();
}

}  // namespace systole::import
