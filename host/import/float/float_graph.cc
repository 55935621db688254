// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/float/float_graph.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

constexpr int64_t kMostOperators = 1 << 16;  // including those in regions
constexpr int64_t kSmall = 16;               // larger splats are broadcast

std::optional<ElementType> ElementOf(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType_BOOL:
      return kI1;
    case tflite::TensorType_INT4:  // two in a byte
    case tflite::TensorType_INT8:
      return ElementType::kInt8;
    case tflite::TensorType_INT16:
      return ElementType::kInt16;
    case tflite::TensorType_INT32:
      return kI32;
    case tflite::TensorType_INT64:
      return ElementType::kInt64;
    case tflite::TensorType_UINT8:
      return ElementType::kUint8;
    case tflite::TensorType_UINT16:
      return ElementType::kUint16;
    case tflite::TensorType_UINT32:
      return ElementType::kUint32;
    case tflite::TensorType_UINT64:
      return ElementType::kUint64;
    case tflite::TensorType_BFLOAT16:
      return ElementType::kBfloat16;
    case tflite::TensorType_FLOAT16:
      return ElementType::kFloat16;
    case tflite::TensorType_FLOAT32:
      return kF32;
    default:
      return std::nullopt;
  }
}

// Two values per byte; the first is in the low half.
std::vector<uint8_t> Unpacked(absl::Span<const uint8_t> halves, int64_t count) {
  std::vector<uint8_t> values(count);
  for (int64_t i = 0; i < count; ++i) {
    const int half = halves[i / 2] >> (i % 2 * 4) & 15;
    values[i] = static_cast<uint8_t>(half >= 8 ? half - 16 : half);
  }
  return values;
}

}  // namespace

int64_t SizeOf(const Ints& shape) {
  int64_t size = 1;
  for (const int64_t s : shape) {
    if (s <= 0) return 0;
    if (size > ir::kMaxElements / s) return ir::kMaxElements + 1;
    size *= s;
  }
  return size;
}

bool FloatGraph::IsConstant(int index) const {
  const auto tensor = tensors_.At(index);
  if (!tensor.ok()) return false;
  if (values_[index]) return (*values_[index])->is_constant();
  const auto data = tensors_.Data(**tensor);
  return data.ok() && !data->empty();
}

bool FloatGraph::IsOpen(int index) const {
  const auto tensor = tensors_.At(index);
  if (!tensor.ok() || !context_.options.shapes.empty()) return true;
  const auto* signature = (*tensor)->shape_signature();
  return signature != nullptr &&
         std::count(signature->begin(), signature->end(), -1) > 0;
}

absl::StatusOr<ir::Type> FloatGraph::TypeOf(int index) const {
  const auto found = tensors_.At(index);
  if (!found.ok()) return found.status();
  const tflite::Tensor& tensor = **found;
  const std::string what =
      absl::StrCat("tensor ", index, " (", tensors_.Describe(index), ")");
  const auto element = ElementOf(tensor.type());
  if (!element) {
    return Unsupported(what, ": type ", TypeName(tensor.type()),
                       " is not supported");
  }
  if (tensor.external_buffer() != 0 || tensor.is_variable()) {
    return Unsupported(
        what, ": variables and buffers in other files are not supported");
  }
  ir::Type type{*element, {}, {}};
  if (tensor.shape() != nullptr) {
    if (tensor.shape()->size() > ir::kMaxRank)
      return Invalid(what, ": rank ", tensor.shape()->size());
    for (const int32_t size : *tensor.shape()) {
      if (size < 0) return Invalid(what, ": a size of ", size);
      type.shape.push_back(size);
    }
  }
  if (SizeOf(type.shape) > ir::kMaxElements)
    return Invalid(what, ": too many elements");
  return type;
}

absl::StatusOr<std::optional<Affine>> FloatGraph::AffineOf(int index) const {
  const auto found = tensors_.At(index);
  if (!found.ok()) return found.status();
  const tflite::Quantization* const stored = (*found)->quantization();
  const auto element = ElementOf((*found)->type());
  std::optional<Affine> none;
  if (stored == nullptr || stored->scale() == nullptr ||
      stored->scale()->size() == 0 || !element ||
      (!ir::IsSigned(*element) && *element != ElementType::kUint8))
    return none;
  const std::string what =
      absl::StrCat("tensor ", index, " (", tensors_.Describe(index), ")");
  if (stored->details_type() != 0)
    return Unsupported(what, ": a quantisation that is not affine");
  Affine affine;
  affine.scales.assign(stored->scale()->begin(), stored->scale()->end());
  affine.zeros.resize(affine.scales.size());
  const size_t zeros = stored->zero_point() ? stored->zero_point()->size() : 0;
  if (zeros != 0 && zeros != 1 && zeros != affine.scales.size())
    return Invalid(what, ": ", affine.scales.size(), " scales and ", zeros,
                   " zero points");
  for (size_t i = 0; i < affine.zeros.size() && zeros > 0; ++i) {
    // The alignment of these values to 8 bytes is not verified.
    const size_t from = zeros == 1 ? 0 : i;
    std::memcpy(&affine.zeros[i],
                reinterpret_cast<const uint8_t*>(stored->zero_point()->Data()) +
                    8 * from,
                8);
    const bool inside = ir::WithElement(*element, [&](auto tag) {
      using T = typename decltype(tag)::type;
      return std::is_integral_v<T> &&
             affine.zeros[i] >=
                 static_cast<int64_t>(std::numeric_limits<T>::min()) &&
             affine.zeros[i] <=
                 static_cast<int64_t>(std::numeric_limits<T>::max());
    });
    if (!inside) return Invalid(what, ": zero point ", affine.zeros[i]);
  }
  for (const float scale : affine.scales)
    if (!(scale > 0) || scale > 1e30f) return Invalid(what, ": scale ", scale);
  if (!affine.per_channel()) return std::optional<Affine>(affine);
  const auto type = TypeOf(index);
  if (!type.ok()) return type.status();
  // A vector has only one dimension, whatever the file says.
  affine.axis = type->rank() == 1 ? 0 : stored->quantized_dimension();
  if (affine.axis < 0 || affine.axis >= type->rank() ||
      type->shape[affine.axis] != static_cast<int64_t>(affine.scales.size())) {
    return Invalid(what, ": ", affine.scales.size(), " scales along dimension ",
                   affine.axis);
  }
  return std::optional<Affine>(affine);
}

absl::StatusOr<Value> FloatGraph::ValueOf(int index) {
  const auto tensor = tensors_.At(index);
  if (!tensor.ok()) return tensor.status();
  if (values_[index]) return *values_[index];
  auto value = ConstantOf(index, **tensor);
  if (!value.ok()) {
    return absl::StartsWith(value.status().message(), "tensor ")
               ? value.status()
               : Prefixed(absl::StrCat("tensor ", index, " (",
                                       tensors_.Describe(index), ")"),
                          value.status());
  }
  values_[index] = *value;
  return *value;
}

absl::StatusOr<Value> FloatGraph::ConstantOf(int index,
                                             const tflite::Tensor& tensor) {
  auto type = TypeOf(index);
  if (!type.ok()) return type.status();
  auto stored = tensors_.Data(tensor);
  if (!stored.ok()) return stored.status();
  const int64_t count = type->elements();
  if (stored->empty() && count > 0)
    return Invalid("is read before it is computed");
  std::vector<uint8_t> other;
  if (tensor.sparsity() != nullptr) {
    if (tensor.type() == tflite::TensorType_INT4)
      return Unsupported("sparse numbers of 4 bits");
    auto dense = Densified(tensor, *stored, type->shape,
                           ir::ElementBytes(type->element));
    if (!dense.ok()) return dense.status();
    other = *std::move(dense);
    stored = absl::MakeConstSpan(other);
  } else if (tensor.type() == tflite::TensorType_INT4) {
    if (static_cast<int64_t>(stored->size()) != (count + 1) / 2)
      return Invalid("a buffer of ", stored->size(), " bytes");
    other = Unpacked(*stored, count);
    stored = absl::MakeConstSpan(other);
  }
  if (static_cast<int64_t>(stored->size()) != type->bytes()) {
    return Invalid("a buffer of ", stored->size(), " bytes instead of ",
                   type->bytes());
  }
  if (type->element == kI1) {
    if (other.empty()) other.assign(stored->begin(), stored->end());
    for (uint8_t& byte : other) byte = byte != 0;
    stored = absl::MakeConstSpan(other);
  }
  const ir::Literal values =
      ir::Literal::FromBytes(type->element, count, stored->data());
  const int64_t bytes = ir::ElementBytes(type->element);
  const bool splat =
      count > kSmall &&
      std::equal(stored->begin() + bytes, stored->end(), stored->begin());
  const Value value =
      splat ? nodes_.BroadcastTo(
                  nodes_.Constant({type->element, {}, {}}, values.Slice(0, 1)),
                  type->shape)
            : nodes_.Constant(*type, values);
  if (!nodes_.ok()) return nodes_.status();
  return value;
}

absl::Status FloatGraph::Define(int index, Value value) {
  const auto tensor = tensors_.At(index);
  if (!tensor.ok()) return tensor.status();
  if (values_[index]) {
    return Invalid("tensor ", index, " (", tensors_.Describe(index),
                   ") has a value already");
  }
  values_[index] = value;
  return absl::OkStatus();
}

absl::Status FloatGraph::AddInputs(const std::vector<ir::Type>* parameters) {
  const auto* const inputs = tensors_.subgraph().inputs();
  const size_t count = inputs ? inputs->size() : 0;
  if (parameters != nullptr && parameters->size() != count)
    return Invalid("a subgraph of ", count, " inputs gets ",
                   parameters->size());
  std::map<std::string, Ints> shapes =
      parameters ? std::map<std::string, Ints>() : context_.options.shapes;
  for (size_t i = 0; i < count; ++i) {
    const int index = inputs->Get(i);
    auto type = TypeOf(index);
    if (!type.ok()) return Prefixed("input", type.status());
    const std::string name = tensors_.NameOf(index);
    if (parameters != nullptr) {
      if ((*parameters)[i].element != type->element)
        return Invalid("input ", i, " of a subgraph is ", ir::TypeText(*type),
                       ", not ", ir::TypeText((*parameters)[i]));
      *type = (*parameters)[i];
    }
    auto shape = shapes.find(name);
    if (shape == shapes.end() && count == 1) shape = shapes.find("");
    if (shape != shapes.end()) {
      if (shape->second.size() != type->shape.size())
        return Invalid("input '", name, "' is ", ir::TypeText(*type),
                       ": not of the shape ", ir::ShapeText(shape->second));
      type->shape = shape->second;
      shapes.erase(shape);
    }
    const Value value = nodes_.Parameter(name, *type);
    // Names are unique: the second of two inputs with the same name gets
    // another one.
    if (parameters == nullptr)
      value->attr<ir::ParameterAttributes>().name = value->name;
    const absl::Status status = Define(index, value);
    if (!status.ok()) return Prefixed("input", status);
  }
  if (shapes.empty()) return absl::OkStatus();
  return Invalid("there is no input '", shapes.begin()->first, "'");
}

// Replaces the results of an unsupported operator by parameters, so that the
// import can continue.
void FloatGraph::StandIn(const tflite::Operator& op) {
  const size_t outputs = op.outputs() ? op.outputs()->size() : 0;
  for (size_t i = 0; i < outputs; ++i) {
    const int index = op.outputs()->Get(i);
    const auto type = TypeOf(index);
    if (!type.ok()) continue;
    nodes_.Begin(tensors_.NameOf(index), "");
    Define(index, nodes_.Parameter(tensors_.NameOf(index), *type))
        .IgnoreError();
  }
}

absl::Status FloatGraph::AddOperators() {
  const auto* const operators = tensors_.subgraph().operators();
  const size_t count = operators ? operators->size() : 0;
  for (size_t i = 0; i < count; ++i) {
    const tflite::Operator* const op = operators->Get(i);
    if (op == nullptr) return Invalid("operator ", i, " is missing");
    if (++context_.operators > kMostOperators)
      return Unsupported("more than ", kMostOperators, " operators");
    const auto code = CodeOf(context_.model, *op);
    if (!code.ok())
      return Prefixed(absl::StrCat("operator ", i), code.status());
    const std::string name = OperatorName(**code);
    const int output =
        op->outputs() && op->outputs()->size() > 0 ? op->outputs()->Get(0) : -1;
    nodes_.Begin(tensors_.NameOf(output),
                 absl::StrCat("operator ", i, " ", name));
    absl::Status status = ImportFloatOperator(*this, *op, BuiltinOf(**code));
    if (status.ok()) continue;
    const std::string place =
        absl::StrCat("operator ", i, " ", tensors_.Signature(name, *op));
    if (absl::IsUnimplemented(status)) {
      context_.refused.push_back({name, place, std::string(status.message())});
      StandIn(*op);
    } else if (context_.refused.empty()) {
      return Prefixed(place, status);
    } else {
      StandIn(*op);  // otherwise a stand-in may be the cause
    }
  }
  return absl::OkStatus();
}

absl::Status FloatGraph::Import(const std::vector<ir::Type>* parameters) {
  absl::Status status = AddInputs(parameters);
  if (status.ok()) status = AddOperators();
  if (!status.ok()) return status;
  const auto* const outputs = tensors_.subgraph().outputs();
  if (outputs == nullptr) return Invalid("no outputs");
  std::map<std::string, int> names;
  for (const int index : *outputs) {
    nodes_.Begin(tensors_.NameOf(index), "");
    auto value = ValueOf(index);
    if (!value.ok()) return Prefixed("output", value.status());
    std::string name = parameters ? "" : tensors_.NameOf(index);
    const int used = parameters ? 0 : names[name]++;
    if (used > 0) absl::StrAppend(&name, ".", used);
    nodes_.module().outputs.push_back({name, *value});
  }
  nodes_.module().RemoveUnused();
  return absl::OkStatus();
}

}  // namespace systole::import
